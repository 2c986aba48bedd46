/* SPDX-License-Identifier: Apache-2.0
 *
 * The loader's lock belongs to a thread and tells nobody who has it, so a thread of its own
 * tries it. Where this very thread is inside the loader, the lock is its own and dlopen goes
 * on: in a constructor, which is seen by where its stack leads back to, or in dlclose, which
 * is ours. What an older constructor left on the stack may look so as well; then nobody is
 * asked, as if the process had one thread. */
#define _GNU_SOURCE
#include "intercept/loader_wait.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdint.h>
#include <string.h>
#include <time.h>

#include "intercept/loaded.h"

#define WAIT_SECONDS 5 /* without anything loaded meanwhile */
#define WAITS_MAX 12

extern void *__libc_stack_end __attribute__((weak));      /* of the main thread */
extern char __libc_single_threaded __attribute__((weak)); /* glibc 2.32 */

struct range {
    uintptr_t start, end;
};

/* Where the loader goes on after a constructor, of ours as of any other library. */
static uintptr_t after_constructor; /* written by the loader's thread at the start */
static _Thread_local int closing __attribute__((tls_model("initial-exec")));

__attribute__((constructor)) static void meet_loader(void)
{
    after_constructor = (uintptr_t)__builtin_return_address(0);
}

void vs_loader_closes(int depth)
{
    closing += depth;
}

static bool own_stack(uintptr_t here, struct range *stack)
{
    pthread_attr_t attr;
    void *at;
    size_t bytes;
    if (&__libc_stack_end && here < (uintptr_t)__libc_stack_end &&
        (uintptr_t)__libc_stack_end - here < ((uintptr_t)64 << 20)) {
        *stack = (struct range){here, (uintptr_t)__libc_stack_end};
        return true;
    }
    if (pthread_getattr_np(pthread_self(), &attr))
        return false;
    bool known = !pthread_attr_getstack(&attr, &at, &bytes);
    pthread_attr_destroy(&attr);
    *stack = (struct range){here, (uintptr_t)at + bytes};
    return known && here >= (uintptr_t)at && here < stack->end;
}

/* Other frames' memory is read, whatever a sanitizer thinks of it. The upper bits of a
 * return address may hold a signature (arm64). */
__attribute__((no_sanitize("address", "thread", "undefined"), noinline)) static bool
inside_loader(void)
{
    struct range stack;
    uintptr_t here = (uintptr_t)__builtin_frame_address(0) & ~(sizeof(uintptr_t) - 1);
    if (closing || !own_stack(here, &stack))
        return true;
    for (uintptr_t at = stack.start; at + sizeof(uintptr_t) <= stack.end; at += sizeof(uintptr_t)) {
        if ((*(const volatile uintptr_t *)at ^ after_constructor) << 16 == 0)
            return true;
    }
    return false;
}

static sem_t has_lock;

static void *try(void *arg)
{
    (void)dlsym(RTLD_DEFAULT, "vramscope_version");
    sem_post(&has_lock);
    return arg;
}

static bool start_trying(void)
{
    pthread_attr_t attr;
    pthread_t thread;
    if (sem_init(&has_lock, 0, 0) || pthread_attr_init(&attr))
        return false;
    pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
    bool started = !pthread_create(&thread, &attr, try, NULL);
    pthread_attr_destroy(&attr);
    return started;
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

bool vs_loader_waits(void)
{
    uint64_t before = 0, now = 0;
    if ((&__libc_single_threaded && __libc_single_threaded) || inside_loader() || !start_trying())
        return false;
    dl_iterate_phdr(read_generation, &now);
    for (int i = 0; i < WAITS_MAX && before != now; i++) {
        if (has_lock_in_time())
            return false;
        before = now;
        dl_iterate_phdr(read_generation, &now);
    }
    return true;
}
