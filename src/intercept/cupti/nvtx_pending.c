/* SPDX-License-Identifier: Apache-2.0
 *
 * Ranges open before the recording, of all threads in one list, in the order in which they were opened.
 * A thread keeps the number that it had then, also in the child of a fork, where it has another one. Ranges
 * without room are not recorded. The lock is not one of ours (vs_lock.h): programs fork while nothing is
 * recorded, and the child continues to use NVTX; the holder's pid identifies a lock that will never be released. */
#define _GNU_SOURCE
#include "intercept/cupti/nvtx_pending.h"

#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/vs_arena.h"
#include "base/vs_option.h"
#include "intercept/cupti/kernel_switch.h"
#include "intercept/process/process.h"

#define NAME_MAX_BYTES 64
#define RANGES_MAX 16384 /* pages of those that are never used are not touched */

/* All guarded by holder. */
static struct pending_range {
    pid_t tid;   /* as *own_tid* of its thread; 0: of none, started with an id */
    uint64_t id;
    const char *domain;
    char name[NAME_MAX_BYTES]; /* if it fits */
    char *long_name; /* otherwise pages of its own; NULL: none */
    size_t long_bytes;
} ranges[RANGES_MAX];
static unsigned count;
static bool replayed;

static _Thread_local pid_t own_tid __attribute__((tls_model("initial-exec")));

static _Atomic pid_t holder; /* 0: free */

static void acquire(void)
{
    pid_t self = getpid();
    for (pid_t seen = 0; !atomic_compare_exchange_weak_explicit(
             &holder, &seen, self, memory_order_acquire, memory_order_relaxed);) {
        if (seen == self) {
            sched_yield();
            seen = 0;
        } /* else free, or of the process that forked: reused */
    }
}

static void release(void)
{
    atomic_store_explicit(&holder, 0, memory_order_release);
}

bool vs_nvtx_pending_begin(uint64_t id, const char *name, const char *domain)
{
    acquire();
    bool keep = !replayed;
    if (!own_tid)
        own_tid = (pid_t)syscall(SYS_gettid);
    if (keep && count < (id ? RANGES_MAX / 2 : RANGES_MAX)) { /* started ones leave room for nested ones */
        struct pending_range *range = &ranges[count++];
        *range = (struct pending_range){.tid = id ? 0 : own_tid, .id = id, .domain = domain};
        /* A name is recorded in full: the same range is pushed again during the recording. */
        size_t length = strnlen(name, VS_NVTX_NAME_MAX);
        range->long_bytes = length + 1;
        range->long_name = length >= sizeof range->name ? vs_pages_map(range->long_bytes) : NULL;
        if (range->long_name)
            memcpy(range->long_name, name, length);
        snprintf(range->name, sizeof range->name, "%s", name);
    }
    release();
    return keep;
}

bool vs_nvtx_pending_end(uint64_t id, const char *domain)
{
    acquire();
    bool keep = !replayed;
    unsigned i = keep ? count : 0;
    /* The innermost of *domain*; those of other domains stay. */
    while (i > 0 && (id ? ranges[i - 1].id != id
                        : !own_tid || ranges[i - 1].tid != own_tid || ranges[i - 1].domain != domain))
        i--;
    if (i) {
        if (ranges[i - 1].long_name)
            vs_pages_unmap(ranges[i - 1].long_name, ranges[i - 1].long_bytes);
        memmove(&ranges[i - 1], &ranges[i], (--count - (i - 1)) * sizeof *ranges);
    }
    release();
    return keep;
}

void vs_nvtx_pending_replay(void)
{
    bool wanted = vs_process_options()->number[VS_OPT_nvtx];
    acquire();
    for (unsigned i = 0; wanted && i < 2 * count; i++) { /* those of threads first */
        const struct pending_range *r = &ranges[i % count];
        if ((r->tid != 0) == (i >= count))
            continue;
        const char *name = r->long_name ? r->long_name : r->name;
        bool own = r->tid && r->tid == own_tid;
        pid_t tid = own ? (pid_t)syscall(SYS_gettid) : r->tid;
        if (!r->tid) {
            VS_RECORD(range_start, .range = r->id, .name = vs_process_string(name),
                      .domain = vs_process_string(r->domain));
        } else if (own || syscall(SYS_tgkill, getpid(), tid, 0) == 0) {
            /* not of threads that ended with open ranges or did not survive a fork */
            struct vs_event event = {.kind = VS_EVENT_range_push, .tid = (uint32_t)tid,
                                     .range_push = {.name = vs_process_string(name),
                                                    .domain = vs_process_string(r->domain)}};
            vs_recorder_event(vs_process_recorder(), &event);
        }
        if (own)
            vs_switch_pushed(name, r->domain);
    }
    replayed = wanted;
    release();
}
