/* SPDX-License-Identifier: Apache-2.0
 *
 * Phases and steps, from the NVTX ranges of a trace. Every thread has a stack of open ranges; an
 * event's place is its thread's stack or, for a thread that never opened a range, the main
 * thread's. A phase is a path of range names without step numbers ("step / forward"), so that there
 * are few of them however many steps there were; a place is a phase with the step's number.
 *
 * Steps are the outermost ranges with a step-like name ("step 12", "iteration 3", "ProfilerStep#7",
 * "train_step") on the first thread that opens one. Not thread-safe. */
#ifndef VS_PHASES_H
#define VS_PHASES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/vs_arena.h"
#include "base/vs_err.h"
#include "base/vs_map.h"
#include "base/steps/vs_step_name.h"

#define VS_PHASES_MAX 65536  /* further distinct paths are merged; a test of a suite is one */
#define VS_RANGE_DEPTH_MAX 64 /* deeper ranges are counted, not shown */
#define VS_THREADS_MAX 65536    /* for further ones only their held memory is counted */
#define VS_RANGES_ROOM_MAX 262144 /* open ranges kept, for all threads together */
#define VS_PLACE_TEXT_MAX 512
#define VS_AFTER_LAST_STEP "after the last step"

/* Place of an event. Zero: outside any range. */
struct vs_place {
    uint32_t phase;  /* index into vs_phases.items; 0 = outside any range */
    bool step_known;
    uint64_t step;   /* the program's number, or counted from 1 if it has none */
};

struct vs_phase {
    uint32_t parent;
    bool is_step;
    const char *name;   /* without the step's number */
    const char *prefix; /* of a step: the text before the number */
    uint64_t times;     /* ranges opened */
    uint64_t time_ns;   /* sum of their lengths, inner ranges included */
    uint64_t allocs, alloc_bytes; /* made while this was the innermost range */
    uint64_t *peaks;    /* highest allocated per device index while open; may be NULL */
    unsigned peak_count;
    /* The user's level (user_level.h), from the first sign of a framework on: highest sums likewise,
     * and allocations beyond those above, modulo 2^64. */
    uint64_t *user_peaks;
    unsigned user_count;
    uint64_t user_allocs, user_bytes;
};

/* A peak of a phase before a step raised it. */
struct vs_phase_raise {
    uint32_t phase;
    unsigned device;
    bool user; /* of user_peaks */
    uint64_t before;
};

struct vs_range {
    uint64_t domain;
    uint64_t time_ns;
    struct vs_place place;
    bool is_step;
};

struct vs_thread {
    uint32_t tid;
    uint32_t depth;    /* open ranges, including those too deep to keep */
    uint32_t capacity; /* of ranges: at most VS_RANGE_DEPTH_MAX, grows with the depth */
    struct vs_range *ranges; /* the outermost min(depth, capacity) */
    uint64_t last_alloc; /* address of the thread's latest allocation, until it is freed */
    uint64_t last_framework_alloc; /* likewise of a framework's block */
};

struct vs_steps {
    bool open;
    uint32_t tid;       /* thread whose ranges count; 0 = none yet */
    uint64_t range;     /* id of the start/end range that is the step; 0 = a pushed one */
    uint64_t begun, done;
    uint64_t number;    /* of the current step, or of the latest */
    uint64_t time_ns;   /* when it began */
    uint64_t total_ns, shortest_ns, longest_ns; /* over completed steps */
    uint64_t longest_number;
};

/* Zero-initialise, then vs_phases_init. */
struct vs_phases {
    struct vs_phase *items; /* [0] stands for "outside any range" */
    size_t count, capacity;
    struct vs_map by_key;   /* hash of (parent, name) -> index + 1 */
    struct vs_thread *threads;
    size_t thread_count, thread_capacity;
    size_t ranges_room; /* sum of the threads' capacities */
    struct vs_thread others; /* all beyond VS_THREADS_MAX */
    struct vs_map by_tid;
    size_t last_thread;
    uint32_t main_tid;      /* 0 until known */
    struct vs_map open_steps; /* start/end ranges with a step's name: range id -> number + 1 */
    struct vs_steps steps;
    struct vs_phase_raise *raised; /* by the latest step unless it is the first: it may turn out to be none */
    size_t raised_count, raised_capacity;
    struct vs_arena names;
    uint64_t unmatched_pops;
    struct vs_place after_last; /* the step that was only prepared (vs_phases_prepared); 0: none */
};

void vs_phases_init(struct vs_phases *phases);

/* vs_phases_thread: the thread's record, added when new; beyond VS_THREADS_MAX the shared record,
 * which has no ranges. Valid until the next call with another tid. */
struct vs_thread *vs_phases_find_thread(struct vs_phases *phases, uint32_t tid);
static inline struct vs_thread *vs_phases_thread(struct vs_phases *phases, uint32_t tid)
{
    return phases->thread_count && phases->threads[phases->last_thread].tid == tid
               ? &phases->threads[phases->last_thread] : vs_phases_find_thread(phases, tid);
}

/* vs_phases_room: reserve *depth* ranges for *thread* (at most VS_RANGE_DEPTH_MAX). False: all threads
 * together reached the maximum. */
bool vs_phases_room(struct vs_phases *phases, struct vs_thread *thread, uint32_t depth);

/* vs_phases_push, _pop: range_push, which returns the new place, and range_pop on *tid*. *name*: NULL: the
 * range is no phase (of_library in replay.c). A pop without an open range of its domain is counted and ignored.
 * It returns whether that ended a step. */
struct vs_place vs_phases_push(struct vs_phases *phases, uint32_t tid, const char *name,
                               uint64_t domain, uint64_t time_ns);
bool vs_phases_pop(struct vs_phases *phases, uint32_t tid, uint64_t domain, uint64_t time_ns);

/* vs_phases_mark: a mark of *tid*. If it says that the step that tid's ranges opened is none, it and
 * its inner ranges no longer count. */
void vs_phases_mark(struct vs_phases *phases, uint32_t tid, const char *name, const char *domain);

/* vs_phases_start, _end: start/end ranges; they only delimit steps. _end returns whether a step ended. */
void vs_phases_start(struct vs_phases *phases, uint64_t range, uint32_t tid,
                     const char *name, uint64_t time_ns);
bool vs_phases_end(struct vs_phases *phases, uint64_t range, uint64_t time_ns);

/* vs_phases_place: the present place of *tid*. (_inside: where there are ranges.) */
struct vs_place vs_phases_place_inside(const struct vs_phases *phases, uint32_t tid);
static inline struct vs_place vs_phases_place(const struct vs_phases *phases, uint32_t tid)
{
    if (phases->count == 1 && !phases->steps.open)
        return (struct vs_place){0};
    return vs_phases_place_inside(phases, tid);
}

/* vs_phases_level: *allocated* bytes are live on *device* (index) while *phase* is open; raises the
 * peaks of the phase and of its ancestors (_raise). vs_phases_user_level: likewise at the user's level. */
void vs_phases_raise(struct vs_phases *phases, uint32_t phase, unsigned device, uint64_t allocated);
static inline void vs_phases_level(struct vs_phases *phases, uint32_t phase, unsigned device,
                                   uint64_t allocated)
{
    const struct vs_phase *p = &phases->items[phase];
    if (device >= p->peak_count || allocated > p->peaks[device])
        vs_phases_raise(phases, phase, device, allocated);
}
void vs_phases_user_level(struct vs_phases *phases, uint32_t phase, unsigned device,
                          uint64_t allocated);

/* vs_phases_user_split: the user's level of *device* is kept from now on; so far it was the device's,
 * less *backing* bytes. */
void vs_phases_user_split(struct vs_phases *phases, unsigned device, uint64_t backing);

/* vs_phases_prepared: the program ended in the open step of a pushed range, which was only prepared:
 * from now on, places in it are after the last step. */
void vs_phases_prepared(struct vs_phases *phases);
bool vs_phases_after_last(const struct vs_phases *phases, struct vs_place place);

/* vs_phases_in: whether *phase* is *outer*, not 0, or inside it. */
bool vs_phases_in(const struct vs_phases *phases, uint32_t phase, uint32_t outer);

/* vs_phases_finish: count the time of ranges that are still open; *drop*: without the open step and
 * the ranges in it, whose peaks are taken back (vs_replay_step_prepared). Call once. */
void vs_phases_finish(struct vs_phases *phases, uint64_t time_ns, bool drop);

/* vs_phases_restore: add *phase* as number *index*: 0, of which only the figures are used, or the
 * next one, with *name* and *prefix* (NULL: same as *name*), which need no NUL. Takes over its
 * peaks. False for any other index. */
bool vs_phases_restore(struct vs_phases *phases, uint64_t index, const struct vs_phase *phase,
                       const char *name, size_t length, const char *prefix, size_t prefix_length);

/* vs_phases_window: restart times and peaks here. */
void vs_phases_window(struct vs_phases *phases, uint64_t time_ns);

/* vs_phases_text: "step 12 / forward", "after the last step"; "" outside any range. *out* has
 * VS_PLACE_TEXT_MAX bytes; longer paths lose their outer end, longer names their last part;
 * control characters become '?'. Returns out. */
char *vs_phases_text(const struct vs_phases *phases, struct vs_place place, char *out);
/* vs_place_text: the same in memory of the enclosing block, valid until its end. */
#define vs_place_text(phases, place) vs_phases_text(phases, place, (char[VS_PLACE_TEXT_MAX]){""})

/* vs_phases_path: "step / forward", the whole path of *phase* without numbers of steps, whatever its
 * length; control characters become '?'. The caller frees it. */
char *vs_phases_path(const struct vs_phases *phases, uint32_t phase);

void vs_phases_free(struct vs_phases *phases);

#endif
