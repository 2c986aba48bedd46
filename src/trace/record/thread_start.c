/* SPDX-License-Identifier: Apache-2.0
 *
 * A thread that a thread of the program starts inherits three things. Thread-local data of all
 * libraries lies on each stack: without extra room it uses ours, or more than there is. A thread of
 * a real-time program would compress at the program's own priority, ahead of its work. And signals
 * that its starter has unblocked could be delivered to it: the program's handlers must not run on
 * our thread. */
#define _GNU_SOURCE
#include "trace/record/thread_start.h"

#include <link.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>

#include "trace/stacks/elf_symbols.h"

#ifndef SCHED_RESET_ON_FORK
#define SCHED_RESET_ON_FORK 0x40000000
#endif

typedef size_t minstack_fn(const pthread_attr_t *);

/* glibc's own minimum, which includes the space reserved for libraries loaded later (Rust's std and
 * OpenJDK use the same function). */
static int look_for_minstack(struct dl_phdr_info *info, size_t size, void *arg)
{
    struct vs_elf_symbols s;
    (void)size;
    uintptr_t at = vs_elf_symbols_read(info->dlpi_addr, vs_elf_dynamic(info), &s)
                       ? vs_elf_symbols_address(&s, "__pthread_get_minstack", NULL)
                       : 0;
    minstack_fn *fn = (minstack_fn *)at;
    memcpy(arg, &fn, sizeof fn);
    return fn != NULL;
}

static size_t taken_by_libc(const pthread_attr_t *attr)
{
    minstack_fn *minstack = NULL;
    dl_iterate_phdr(look_for_minstack, &minstack);
    return minstack ? minstack(attr) : 0;
}

static void leave_real_time(pthread_attr_t *attr)
{
    const struct sched_param param = {0};
    int policy = sched_getscheduler(0);
    if (policy < 0)
        return;
    policy &= ~SCHED_RESET_ON_FORK;
    if (policy != SCHED_FIFO && policy != SCHED_RR)
        return;
    pthread_attr_setinheritsched(attr, PTHREAD_EXPLICIT_SCHED);
    pthread_attr_setschedpolicy(attr, SCHED_OTHER);
    pthread_attr_setschedparam(attr, &param);
}

static int start_deaf(pthread_t *thread, const pthread_attr_t *attr, void *(*fn)(void *), void *arg)
{
    sigset_t all, before;
    sigfillset(&all);
    /* a blocked SIGSYS would kill the process in a sandbox that serves system calls by it */
    sigdelset(&all, SIGSYS);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int rc = pthread_create(thread, attr, fn, arg);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return rc;
}

int vs_thread_start(pthread_t *thread, size_t stack_bytes, void *(*fn)(void *), void *arg)
{
    pthread_attr_t attr;
    int rc = pthread_attr_init(&attr);
    if (rc)
        return rc;
    pthread_attr_setstacksize(&attr, stack_bytes + taken_by_libc(&attr));
    leave_real_time(&attr);
    rc = start_deaf(thread, &attr, fn, arg);
    if (rc) { /* some sandboxes forbid changing the policy */
        pthread_attr_setinheritsched(&attr, PTHREAD_INHERIT_SCHED);
        rc = start_deaf(thread, &attr, fn, arg);
    }
    pthread_attr_destroy(&attr);
    return rc;
}
