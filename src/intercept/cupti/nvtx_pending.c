/* SPDX-License-Identifier: Apache-2.0
 *
 * Ranges open before the recording. Each thread that has some uses one slot; ranges that belong to
 * no thread have a separate table. Ranges without room are recorded as "range", or not at all. The
 * lock is not one of ours (vs_lock.h): programs fork while nothing is recorded, and the child
 * continues to use NVTX; the holder's pid identifies a lock that will never be released. */
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
#define DEPTH_MAX 8
#define THREADS_MAX 128
#define STARTED_MAX 64

struct nvtx_pending_range {
    const char *domain;
    uint64_t id; /* of a started one */
    char name[NAME_MAX_BYTES]; /* if it fits */
    char *long_name; /* otherwise pages of its own; NULL: none */
    size_t long_bytes;
};

/* All guarded by holder. */
static struct slot {
    pid_t tid;      /* 0: free */
    unsigned depth; /* open ranges; those beyond DEPTH_MAX have no names */
    struct nvtx_pending_range ranges[DEPTH_MAX];
} slots[THREADS_MAX];
static struct nvtx_pending_range started[STARTED_MAX]; /* id 0: free */
static bool replayed;

static _Thread_local struct slot *mine __attribute__((tls_model("initial-exec")));

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

/* The slot of the parent's thread belongs to this thread in the child, under another tid. */
static struct slot *slot_locked(void)
{
    pid_t tid = (pid_t)syscall(SYS_gettid);
    if (mine) {
        mine->tid = tid;
        return mine;
    }
    for (struct slot *s = slots; s < slots + THREADS_MAX; s++) {
        if (!s->tid) {
            s->tid = tid;
            return mine = s;
        }
    }
    return NULL;
}

static void forget_name(struct nvtx_pending_range *range)
{
    if (range->long_name)
        vs_pages_unmap(range->long_name, range->long_bytes);
    range->long_name = NULL;
}

/* A name is recorded in full: the same range is pushed again during the recording. */
static void fill(struct nvtx_pending_range *range, uint64_t id, const char *name, const char *domain)
{
    size_t length = strnlen(name, VS_NVTX_NAME_MAX);
    forget_name(range);
    range->id = id;
    range->domain = domain;
    if (length >= sizeof range->name) {
        range->long_bytes = length + 1;
        range->long_name = vs_pages_map(length + 1);
    }
    if (range->long_name)
        memcpy(range->long_name, name, length);
    snprintf(range->name, sizeof range->name, "%s", name);
}

static const char *name_of(const struct nvtx_pending_range *range)
{
    return range->long_name ? range->long_name : range->name;
}

static struct nvtx_pending_range *find_started_locked(uint64_t id)
{
    for (struct nvtx_pending_range *r = started; r < started + STARTED_MAX; r++) {
        if (r->id == id)
            return r;
    }
    return NULL;
}

bool vs_nvtx_pending_begin(uint64_t id, const char *name, const char *domain)
{
    acquire();
    bool keep = !replayed;
    struct slot *slot = keep && !id ? slot_locked() : NULL;
    struct nvtx_pending_range *range = keep && id ? find_started_locked(0) : NULL;
    if (slot && slot->depth++ < DEPTH_MAX)
        range = &slot->ranges[slot->depth - 1];
    if (range)
        fill(range, id, name, domain);
    release();
    return keep;
}

/* Ends the innermost range of *domain*; those of other domains stay. */
static void pop_locked(struct slot *slot, const char *domain)
{
    unsigned named = slot->depth < DEPTH_MAX ? slot->depth : DEPTH_MAX, i = named;
    if (slot->depth > DEPTH_MAX) { /* a range without a name, assumed to be of this domain */
        slot->depth--;
        return;
    }
    while (i > 0 && slot->ranges[i - 1].domain != domain)
        i--;
    if (!i)
        return;
    forget_name(&slot->ranges[i - 1]);
    for (; i < named; i++)
        slot->ranges[i - 1] = slot->ranges[i];
    slot->ranges[named - 1].long_name = NULL; /* it moved down, or is gone */
    if (!--slot->depth) {
        slot->tid = 0;
        mine = NULL;
    }
}

bool vs_nvtx_pending_end(uint64_t id, const char *domain)
{
    acquire();
    bool keep = !replayed;
    struct nvtx_pending_range *range = keep && id ? find_started_locked(id) : NULL;
    if (range) {
        forget_name(range);
        range->id = 0;
    }
    if (keep && domain && mine)
        pop_locked(mine, domain);
    release();
    return keep;
}

static void record_push(const struct slot *slot, unsigned i)
{
    bool named = i < DEPTH_MAX;
    struct vs_event event = {
        .kind = VS_EVENT_range_push,
        .tid = (uint32_t)slot->tid,
        .range_push = {.name = vs_process_string(named ? name_of(&slot->ranges[i]) : "range"),
                       .domain = vs_process_string(named ? slot->ranges[i].domain : "")}};
    vs_recorder_event(vs_process_recorder(), &event);
    if (named && slot == mine)
        vs_switch_pushed(name_of(&slot->ranges[i]), slot->ranges[i].domain);
}

void vs_nvtx_pending_replay(void)
{
    bool wanted = vs_process_options()->number[VS_OPT_nvtx];
    acquire();
    for (const struct slot *s = slots; wanted && s < slots + THREADS_MAX; s++) {
        /* not of threads that ended with open ranges or did not survive a fork */
        bool lives = s->tid && syscall(SYS_tgkill, getpid(), s->tid, 0) == 0;
        for (unsigned i = 0; lives && i < s->depth; i++)
            record_push(s, i);
    }
    for (const struct nvtx_pending_range *r = started; wanted && r < started + STARTED_MAX; r++) {
        if (r->id)
            VS_RECORD(range_start, .range = r->id,
                      .name = vs_process_string(name_of(r)),
                      .domain = vs_process_string(r->domain));
    }
    replayed = wanted;
    release();
}
