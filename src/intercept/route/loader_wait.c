/* SPDX-License-Identifier: Apache-2.0
 *
 * Whether another thread keeps the loader's lock is found out by a thread of its own that
 * tries it. Where this thread has the lock itself, as in a constructor, a DT_INIT function,
 * a resolver or dlclose, dlopen goes on and nobody is asked: that is read off the lock, a
 * recursive mutex among the loader's variables, wherever a version of it has it. */
#define _GNU_SOURCE
#include "intercept/route/loader_wait.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/vs_cancel.h"
#include "trace/record/thread_start.h"

#define WAIT_SECONDS 5 /* without anything loaded meanwhile */
#define WAITS_MAX 12
#define STACK_BYTES ((size_t)256 << 10)

extern char __libc_single_threaded __attribute__((weak)); /* glibc 2.32 */

/* How a mutex of glibc begins. */
struct mutex {
    int lock;
    unsigned count;
    int owner;
    unsigned users;
    int kind;
};

/* Other threads change what is read here. */
__attribute__((no_sanitize("address", "thread", "undefined"))) static bool
holds_one_in(uintptr_t at, uintptr_t end, int tid)
{
    for (; at + sizeof(struct mutex) <= end; at += sizeof(void *)) {
        const volatile struct mutex *m = (const volatile struct mutex *)at;
        if (m->owner == tid && m->lock && m->count && m->users == 1 &&
            m->kind == PTHREAD_MUTEX_RECURSIVE_NP)
            return true;
    }
    return false;
}

struct loader_wait_range {
    uintptr_t start, end;
};

static int find_variables(struct dl_phdr_info *info, size_t size, void *arg)
{
    struct loader_wait_range *all = arg;
    (void)size;
    if (info->dlpi_addr != _r_debug.r_ldbase)
        return 0;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];
        uintptr_t at = info->dlpi_addr + p->p_vaddr;
        if (p->p_type == PT_LOAD && p->p_flags & PF_W)
            *all = (struct loader_wait_range){(at + 7) & ~(uintptr_t)7, at + p->p_memsz};
    }
    return 1;
}

/* Looked at outside the callback, which has a lock of its own taken. */
static bool inside_loader(void)
{
    struct loader_wait_range all = {0, 0};
    dl_iterate_phdr(find_variables, &all);
    return holds_one_in(all.start, all.end, (int)syscall(SYS_gettid));
}

static sem_t has_lock;

static void *try(void *arg)
{
    (void)dlsym(RTLD_DEFAULT, "vramscope_version");
    sem_post(&has_lock);
    return arg;
}

static int read_generation(struct dl_phdr_info *info, size_t size, void *arg)
{
    (void)size;
    *(uint64_t *)arg = info->dlpi_adds + info->dlpi_subs;
    return 1;
}

static bool has_lock_in_time(void)
{
    struct timespec until;
    int rc;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += WAIT_SECONDS;
    while ((rc = sem_timedwait(&has_lock, &until)) && errno == EINTR)
        ;
    return rc == 0;
}

/* A thread that has the lock by now is gone on return; another one ends by itself as soon
 * as the loader lets it. */
static bool others_keep_lock(void)
{
    uint64_t before = 0, now = 0;
    pthread_t thread;
    bool had = false;
    if (sem_init(&has_lock, 0, 0) || vs_thread_start(&thread, STACK_BYTES, try, NULL))
        return false;
    dl_iterate_phdr(read_generation, &now);
    for (int i = 0; i < WAITS_MAX && before != now && !had; i++) {
        had = has_lock_in_time();
        before = now;
        dl_iterate_phdr(read_generation, &now);
    }
    if (had)
        pthread_join(thread, NULL);
    else
        pthread_detach(thread);
    return !had;
}

bool vs_loader_waits(void)
{
    if ((&__libc_single_threaded && __libc_single_threaded) || inside_loader())
        return false;
    int cancel = vs_cancel_hold();
    bool waits = others_keep_lock();
    vs_cancel_restore(cancel);
    return waits;
}
