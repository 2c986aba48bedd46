/* SPDX-License-Identifier: Apache-2.0
 *
 * See the header. The handler makes two system calls at most and touches only the table below. It
 * marks the loss before it maps memory, so that a thread that reads zeros from there finds the mark
 * afterwards. */
#define _GNU_SOURCE
#include "trace/record/live_guard.h"

#include <errno.h>
#include <linux/fs.h>
#include <linux/magic.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/vs_cancel.h"

#define GUARDED_MAX 4
#define CLAIMED ((uintptr_t)1)

static struct {
    _Atomic uintptr_t start; /* 0: free; CLAIMED: being filled; release pairs with acquire */
    _Atomic size_t bytes;
    _Atomic bool lost;
} guarded[GUARDED_MAX];

static bool answer(uintptr_t address)
{
    for (unsigned i = 0; i < GUARDED_MAX; i++) {
        uintptr_t start = atomic_load_explicit(&guarded[i].start, memory_order_acquire);
        size_t bytes = atomic_load_explicit(&guarded[i].bytes, memory_order_relaxed);
        if (start <= CLAIMED || address < start || address - start >= bytes)
            continue;
        atomic_store(&guarded[i].lost, true);
        return syscall(SYS_mmap, start, bytes, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == (long)start;
    }
    return false;
}

static void on_bus_error(int number, siginfo_t *info, void *context)
{
    VS_KEEP_ERRNO();
    (void)context;
    if (info->si_code <= 0 || !answer((uintptr_t)info->si_addr)) {
        /* A fault is raised again on return; a signal that was sent has to be sent again. */
        struct sigaction by_default = {.sa_handler = SIG_DFL};
        sigaction(number, &by_default, NULL);
        if (info->si_code <= 0 || info->si_code == BUS_MCEERR_AO)
            syscall(SYS_rt_tgsigqueueinfo, getpid(), (pid_t)syscall(SYS_gettid), number, info);
    }
}

void vs_live_guard_prepare(int fd)
{
    struct statfs fs;
    int flags = 0, saved_errno = errno;
    if (!fstatfs(fd, &fs) && fs.f_type == BTRFS_SUPER_MAGIC &&
        !ioctl(fd, FS_IOC_GETFLAGS, &flags)) {
        flags |= FS_NOCOW_FL;
        ioctl(fd, FS_IOC_SETFLAGS, &flags);
    }
    errno = saved_errno;
}

void vs_live_guard_add(void *map, size_t bytes)
{
    for (unsigned i = 0; i < GUARDED_MAX; i++) {
        uintptr_t unused = 0;
        if (!atomic_compare_exchange_strong(&guarded[i].start, &unused, CLAIMED))
            continue;
        atomic_store_explicit(&guarded[i].lost, false, memory_order_relaxed);
        atomic_store_explicit(&guarded[i].bytes, bytes, memory_order_relaxed);
        atomic_store_explicit(&guarded[i].start, (uintptr_t)map, memory_order_release);
        struct sigaction now, was, ours = {.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART};
        ours.sa_sigaction = on_bus_error;
        if (!sigaction(SIGBUS, NULL, &now) && now.sa_handler == SIG_DFL &&
            !sigaction(SIGBUS, &ours, &was) && was.sa_handler != SIG_DFL &&
            was.sa_sigaction != on_bus_error)
            sigaction(SIGBUS, &was, NULL); /* the program set it between the two calls */
        return;
    }
}

void vs_live_guard_remove(const void *map)
{
    for (unsigned i = 0; map && i < GUARDED_MAX; i++) {
        uintptr_t start = (uintptr_t)map;
        if (atomic_compare_exchange_strong(&guarded[i].start, &start, 0))
            return;
    }
}

bool vs_live_guard_lost(const void *map)
{
    for (unsigned i = 0; map && i < GUARDED_MAX; i++) {
        if (atomic_load_explicit(&guarded[i].start, memory_order_acquire) == (uintptr_t)map)
            return atomic_load(&guarded[i].lost);
    }
    return false;
}

void vs_live_guard_awake(bool awake)
{
    sigset_t bus;
    sigemptyset(&bus);
    sigaddset(&bus, SIGBUS);
    pthread_sigmask(awake ? SIG_UNBLOCK : SIG_BLOCK, &bus, NULL);
}
