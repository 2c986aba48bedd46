/* SPDX-License-Identifier: Apache-2.0
 *
 * A helper thread takes the loader's lock and releases it. While it waits, the kernel reports the
 * mutex it waits for, and the mutex contains its holder: if that is this thread itself, as in a
 * constructor, a DT_INIT function, a resolver or dlclose, dlopen works; if it is another thread
 * that loads nothing more, dlopen might never return. */
#define _GNU_SOURCE
#include "intercept/process/process_internal.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/vs_cancel.h"
#include "trace/record/thread_start.h"

#define POLL_MS 10
#define POLLS 500 /* 5 seconds without a library loaded meanwhile */
#define WAITS_MAX 12
#define STACK_BYTES ((size_t)256 << 10)

extern char __libc_single_threaded __attribute__((weak)); /* glibc 2.32 */

static sem_t has_lock;
static atomic_int helper; /* its thread id, 0: not yet started */

static void *try(void *arg)
{
    atomic_store(&helper, (int)syscall(SYS_gettid));
    (void)dlsym(RTLD_DEFAULT, "vramscope_version");
    sem_post(&has_lock);
    return arg;
}

/* Does the helper wait for a mutex that this thread has locked? False also if the kernel does not
 * report it. The mutex is read while other threads change it. */
__attribute__((no_sanitize("address", "thread", "undefined"))) static bool waits_for_us(void)
{
    char path[64], text[128] = "";
    snprintf(path, sizeof path, "/proc/self/task/%d/syscall", atomic_load(&helper));
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    ssize_t length = read(fd, text, sizeof text - 1);
    close(fd);
    char *arguments;
    if (length <= 0 || strtol(text, &arguments, 10) != SYS_futex)
        return false;
    const volatile pthread_mutex_t *mutex =
        (const volatile pthread_mutex_t *)(uintptr_t)strtoull(arguments, NULL, 16);
    return mutex && mutex->__data.__owner == (int)syscall(SYS_gettid);
}

static int read_generation(struct dl_phdr_info *info, size_t size, void *arg)
{
    (void)size;
    *(uint64_t *)arg = info->dlpi_adds + info->dlpi_subs;
    return 1;
}

enum answer { HAS_LOCK, IS_OURS, OTHERS_KEEP_IT };

static enum answer wait_in_time(void)
{
    for (int i = 0; i < POLLS; i++) {
        struct timespec until;
        int rc;
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_nsec += POLL_MS * 1000000L;
        until.tv_sec += until.tv_nsec / 1000000000L;
        until.tv_nsec %= 1000000000L;
        while ((rc = sem_timedwait(&has_lock, &until)) && errno == EINTR)
            ;
        if (!rc)
            return HAS_LOCK;
        if (waits_for_us())
            return IS_OURS;
    }
    return OTHERS_KEEP_IT;
}

/* On return the helper has ended if it got the lock; otherwise it ends when the loader releases the
 * lock. */
bool vs_loader_waits(void)
{
    if (&__libc_single_threaded && __libc_single_threaded)
        return false;
    VS_CANCEL_SCOPE();
    uint64_t before = 0, now = 0;
    pthread_t thread;
    enum answer answer = OTHERS_KEEP_IT;
    if (sem_init(&has_lock, 0, 0) || vs_thread_start(&thread, STACK_BYTES, try, NULL))
        return false;
    dl_iterate_phdr(read_generation, &now);
    for (int i = 0; i < WAITS_MAX && before != now && answer == OTHERS_KEEP_IT; i++) {
        answer = wait_in_time();
        before = now;
        dl_iterate_phdr(read_generation, &now);
    }
    if (answer == HAS_LOCK)
        pthread_join(thread, NULL);
    else
        pthread_detach(thread);
    return answer == OTHERS_KEEP_IT;
}
