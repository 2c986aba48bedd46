/* SPDX-License-Identifier: Apache-2.0
 *
 * The state of a traced process, rebuilt one event at a time: live memory by device, family and
 * call site; memory held from the device; each thread's place; the peaks so far. Memory: the live
 * set and the tables, never the history. The report, the post-mortem and the timeline use
 * the same replay, so that all of them show the same numbers. Not thread-safe.
 *
 * Device bytes are counted by the rules of ledger/ledger.h; pinned and registered memory belongs to
 * the host. */
#ifndef VS_REPLAY_H
#define VS_REPLAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/naming/naming.h"
#include "analysis/state/device_usage.h"
#include "analysis/state/failures.h"
#include "analysis/state/live_memory.h"
#include "analysis/state/phases.h"
#include "analysis/state/replay_totals.h"
#include "analysis/state/segment_index.h"
#include "analysis/state/sites.h"
#include "base/vs_err.h"
#include "base/vs_map.h"
#include "ledger/ledger.h"
#include "trace/format/event.h"
#include "trace/read/reader.h"


/* Figures of a family that the ledger does not have. */
struct vs_family_account {
    uint64_t failures;
    uint64_t bytes; /* sum of requested */
};

/* The highest value of one metric and the other figures at that time. */
struct vs_peak {
    uint64_t bytes;
    uint64_t event;   /* 1-based index of the event that reached it; 0 = never */
    uint64_t time_ns;
    struct vs_place place;
    uint64_t allocated, requested, reserved;
};

/* A reading of the device: a device_sample, or that of a failure. */
struct vs_sample_mark {
    uint64_t used, free, total;
    uint64_t event; /* 1-based index; 0 = never */
    uint64_t time_ns;
    struct vs_place place;
};

/* An account as its user sees it (user_level.h): tensors, and memory of the device that does not hold
 * them. Kept from the first sign of a framework on; until then it is the device's level. */
struct vs_user_account {
    bool split;       /* there was such a sign */
    bool reports;     /* a framework has reported blocks */
    uint64_t backing; /* live bytes of the device that hold the framework's blocks */
    struct vs_peak peak;
    uint64_t step_peak, steps_peak, step_largest, steps_largest, largest, freed_bytes;
    struct vs_growth growth;
};

struct vs_account {
    uint64_t device; /* the trace's number */
    bool described;  /* a `device` event was seen */
    uint64_t name, uuid; /* string ids */
    uint64_t total_bytes, sm_count, cc_major, cc_minor, simulated, driver_version;
    struct vs_ledger sums; /* allocated, requested, reserved, families, and the highest of each */
    /* The second level: the figures of a framework's own allocator; never added to the device's
     * bytes. Its highest reserved is the framework's own figure. */
    struct vs_ledger framework;
    uint64_t framework_ooms;
    uint64_t framework_retries; /* requests that the device refused until the framework had emptied
                                 * its cache: not failures */
    struct vs_user_account user;
    struct vs_family_account family[VS_FAMILY_COUNT];
    uint64_t segment_count, segment_allocs, segment_frees;
    uint64_t graph_used_peak, graph_reserved_peak; /* as reported by the driver */
    struct vs_peak peak_allocated, peak_requested; /* when sums.peak was reached */
    /* Of all times at the highest reserved, the one with most allocated. */
    struct vs_peak peak_reserved;
    uint64_t peak_reserved_first_ns; /* when that height was first reached */
    struct vs_place peak_reserved_first_place;
    uint64_t lost_bytes, lost_count; /* still live when their context was destroyed */
    uint64_t sample_free, sample_total; /* latest device_sample */
    struct vs_sample_mark peak_used, last_used; /* the readings of highest use, and the last */
    struct vs_device_usage usage;
    struct vs_between_readings between;
    /* highest use of the device: readings, and allocations recorded since the latest one; use_possible
     * also counts memory that may not be on the device */
    struct vs_sample_mark use_known, use_possible;
    uint64_t step_peak;      /* highest allocated in the current step */
    uint64_t steps_peak;     /* highest allocated in completed steps */
    uint64_t step_largest, steps_largest; /* single allocations, likewise */
    uint64_t freed_bytes;    /* sum of size over frees */
    uint64_t largest;        /* largest single size ever */
    struct vs_growth growth; /* of allocated at step ends */
    /* of all the unrecorded allocations above */
    struct vs_unrecorded unrecorded[VS_LEVEL_COUNT][VS_WHY_COUNT];
};

/* What an event changed, published while the replay applies it. A subscriber must not change the replay.
 *
 * A live block has a slot from its birth to its end, which is then reused: subscribers keep
 * arrays by slot. vs_replay_slot gives the slot of a block of either level. */
enum vs_change_kind {
    VS_CHANGE_BORN = 1,     /* the row of a block is complete, and counted */
    VS_CHANGE_ENDED = 2,    /* the program freed a block, which is still in its table, or */
    VS_CHANGE_LOST = 4,     /* the block was lost with its context */
    VS_CHANGE_HELD = 8,     /* a segment, or a piece of one; a piece may be released in other parts */
    VS_CHANGE_RELEASED = 16,
    VS_CHANGE_REFUSED = 32, /* a failure: the last of replay->failures */
    VS_CHANGE_FORGOTTEN = 64, /* a failure that makes room for a later one */
    VS_CHANGE_OF_TENSORS = 128, /* with kinds above: only a framework's blocks are wanted; others come too where
                                 * another subscriber wants them */
};
struct vs_published {
    enum vs_change_kind kind;
    uint32_t slot;              /* of a block */
    const struct vs_live *live; /* valid during the call, as the following */
    const struct vs_replay_segment *piece;
    const struct vs_failure *failure;
    const struct vs_event *event; /* the one that is being applied */
};
struct vs_subscriber {
    unsigned kinds; /* bits of enum vs_change_kind */
    void (*on)(void *context, const struct vs_replay *replay, const struct vs_published *change);
    void *context;
};
#define VS_SUBSCRIBERS_MAX 8
#define VS_POOLS_MAX 64

struct vs_replay {
    const struct vs_reader *reader; /* for strings; not owned */
    const struct vs_event *event;   /* while it is applied */
    struct vs_subscriber subscribers[VS_SUBSCRIBERS_MAX];
    /* the kinds of change that somebody asked for, and those of blocks of a framework */
    unsigned subscriber_count, subscribed, tensors_subscribed;
    uint64_t events;                /* applied so far */
    uint64_t first_ns, now_ns;
    bool has_process, has_end;
    struct vs_event process, end;   /* meaningful when has_… */
    unsigned account_count;
    struct vs_account *accounts[VS_DEVICES_MAX + 1]; /* [VS_HOST_INDEX] always there */
    struct vs_live_table device_live;    /* memory of the driver, blocks in segments, host memory */
    struct vs_live_table framework_live; /* blocks of a framework's own allocator */
    struct vs_line_mark mark; /* the user's line in force, for threads without Python frames */
    uint64_t pools[VS_POOLS_MAX]; /* stacks that took memory for blocks, outside of libc10 (user_level.h) */
    size_t pool_count;
    struct vs_segments segments;
    struct vs_segments mappings;
    struct vs_sites sites;
    struct vs_phases phases;
    struct vs_failure *failures;
    size_t failure_count, failure_capacity;
    uint64_t failure_total;
    size_t failures_open; /* kept failures from which the program has not recovered so far */
    struct vs_failure_firsts firsts; /* of those that are no longer kept */
    /* by account: the event of the latest allocation while a failure was open, at any level */
    uint64_t latest_allocation[VS_HOST_INDEX + 1];
    uint64_t unmatched_frees; /* frees of memory whose allocation is not in the trace */
    struct vs_recording_state recording;
    uint64_t window_ns;       /* begin of the window (vs_replay_window); 0: none */
    uint64_t totals_ns, totals_before_ns; /* the latest `unrecorded`, and the group before it */
    bool unsettled;           /* sums changed, and the level is not yet counted as a peak */
    bool peak_raised;         /* by the latest event */
    struct vs_peak_states *peak_states; /* NULL: states at peaks are not kept (peak_states.h) */
    uint64_t ignored;         /* events of devices beyond VS_DEVICES_MAX */
    /* the latest event's effect, for charts */
    unsigned changed;         /* account whose bytes changed, or VS_ACCOUNT_NONE */
    uint32_t changed_site;    /* index in *sites* of the block that it allocated or freed, of either
                               * level, or VS_SITE_NONE */
    bool step_ended;
};
#define VS_ACCOUNT_NONE UINT32_MAX
#define VS_SITE_NONE UINT32_MAX

/* vs_replay_open: an empty state. *reader* must outlive it. */
struct vs_replay *vs_replay_open(const struct vs_reader *reader);

/* vs_replay_event: apply the next event. Inconsistent events (a free of unknown memory) are counted. */
void vs_replay_event(struct vs_replay *replay, const struct vs_event *event);

/* vs_replay_subscribe: *on* is called with every change of *kinds* from now on. */
void vs_replay_subscribe(struct vs_replay *replay, unsigned kinds,
                         void (*on)(void *, const struct vs_replay *, const struct vs_published *),
                         void *context);

/* vs_replay_slot: of a live block of either level. */
static inline uint32_t vs_replay_slot(const struct vs_replay *replay, const struct vs_live *live)
{
    bool tensor = live->level == VS_LEVEL_FRAMEWORK;
    const struct vs_live_table *table = tensor ? &replay->framework_live : &replay->device_live;
    return (uint32_t)(live - table->items) * 2 + tensor;
}

/* vs_replay_finish: after the last event; closes open ranges' times. */
void vs_replay_finish(struct vs_replay *replay);

/* vs_replay_step_prepared: the program ended well, and the step that is open was only prepared (a step
 * begins where the one before ends): vs_replay_finish does not count it. False if it
 * ran out of memory in that step. */
bool vs_replay_step_prepared(const struct vs_replay *replay);

/* vs_replay_start_ns: the time that counts as 0: the process's start, or the first event's time. */
uint64_t vs_replay_start_ns(const struct vs_replay *replay);

/* vs_replay_since: *time_ns* of the trace's clock, counted from there; 0 for times before. */
static inline uint64_t vs_replay_since(const struct vs_replay *replay, uint64_t time_ns)
{
    uint64_t start = vs_replay_start_ns(replay);
    return time_ns > start ? time_ns - start : 0;
}

/* vs_replay_account: the index of the trace's device number; VS_ACCOUNT_NONE when
 * it never appeared. */
unsigned vs_replay_account(const struct vs_replay *replay, uint64_t device);

/* vs_replay_epoch: a number that changes whenever a step begins or ends; 0 before
 * the first step. */
static inline uint64_t vs_replay_epoch(const struct vs_replay *replay)
{
    return replay->phases.steps.begun + replay->phases.steps.done;
}

/* vs_replay_policy: "caching" (with PyTorch's rules), "caching (compact)", "observe", or ""
 * when the trace does not say. */
const char *vs_replay_policy(const struct vs_replay *replay);

/* The free space inside a device's segments now. */
struct vs_holes {
    uint64_t free_bytes;  /* cached and not in use */
    uint64_t largest;     /* largest single piece */
    uint64_t count;
    uint64_t empty_bytes; /* in segments without any live block */
};
/* vs_replay_window: sums, peaks and failures count from *time_ns* on (0: the latest event's; it
 * must not be after the next one's); live memory stays, and its present level is the first peak. */
void vs_replay_window(struct vs_replay *replay, uint64_t time_ns);

/* vs_replay_holes: *account* is a device index. Cost: sorts the live blocks. */
void vs_replay_holes(const struct vs_replay *replay, unsigned account,
                     struct vs_holes *out);

/* vs_holes_walk: adds the holes of one segment between *blocks*, sorted by address, from blocks[*at] on; sets *at* to
 * the first block behind it. Blocks before it have lost their segment. */
struct vs_holes_block {
    uint64_t addr, size;
};
void vs_holes_walk(uint64_t addr, uint64_t size, const struct vs_holes_block *blocks, size_t count, size_t *at,
                   struct vs_holes *holes);

/* vs_replay_check: the invariants, for tests: true when every sum matches the live memory. Cost:
 * the live set times the devices. */
bool vs_replay_check(const struct vs_replay *replay);

void vs_replay_close(struct vs_replay *replay); /* NULL does nothing */

#endif
