/* SPDX-License-Identifier: Apache-2.0
 *
 * Child processes. A child of fork has no CUDA and shares the parent's trace file: it drops both.
 * pthread_atfork reports glibc's fork; a child made by the system call itself is not reported, so
 * the state is in a page that the kernel zeroes in every child with memory of its own
 * (MADV_WIPEONFORK): there the state is IDLE again, the first hook calls this file, and the process
 * id identifies a child. Children of vfork run in our memory and are identified by their process id
 * alone.
 *
 * Nothing is locked before a fork: the runtime takes its own lock there, and calls us with it held.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/vs_log.h"
#include "intercept/process/process_internal.h"
#include "intercept/route/hook.h"

#if defined(__x86_64__)
#define PAGE_BYTES 4096
#else
#define PAGE_BYTES 65536 /* the largest page size */
#endif

enum entered { NOT_ENTERED, ENTERING, ENTERED };

static union {
    struct {
        _Atomic int state;   /* enum vs_process_state; release on change pairs with acquire */
        _Atomic int entered; /* enum entered */
    };
    char page[PAGE_BYTES];
} own __attribute__((aligned(PAGE_BYTES)));

static _Atomic pid_t entered_pid; /* atomic; 0 before begin; kept by children */
static _Atomic bool forked;       /* atomic; never reset */

enum vs_process_state vs_process_state(void)
{
    return (enum vs_process_state)atomic_load_explicit(&own.state, memory_order_acquire);
}

void vs_process_set_state(enum vs_process_state state)
{
    atomic_store_explicit(&own.state, (int)state, memory_order_release);
}

bool vs_process_own(void)
{
    return atomic_load_explicit(&entered_pid, memory_order_relaxed) == getpid();
}

bool vs_process_forked(void)
{
    /* a child that has not called begin yet is identified by its zeroed page */
    return atomic_load_explicit(&forked, memory_order_relaxed) ||
           (atomic_load_explicit(&own.entered, memory_order_relaxed) == NOT_ENTERED &&
            atomic_load_explicit(&entered_pid, memory_order_relaxed));
}

/* Also if another thread of the parent was just starting the recording. */
static void in_child(void)
{
    atomic_store(&forked, true);
    vs_process_set_state(VS_PROCESS_SILENT);
    vs_process_abandon();
}

void vs_process_enter(void)
{
    int now = NOT_ENTERED;
    /* first: a fork from now on must not leave the child half entered */
    if (sysconf(_SC_PAGESIZE) <= PAGE_BYTES && madvise(&own, sizeof own, MADV_WIPEONFORK))
        vs_log(VS_LOG_DEBUG, "the kernel does not wipe pages in children");
    if (!atomic_compare_exchange_strong(&own.entered, &now, ENTERING)) {
        while (atomic_load(&own.entered) != ENTERED)
            sched_yield();
        return;
    }
    if (atomic_load(&entered_pid)) {
        in_child();
    } else {
        pthread_atfork(NULL, NULL, in_child);
        atomic_store(&entered_pid, getpid());
    }
    atomic_store(&own.entered, ENTERED);
}
