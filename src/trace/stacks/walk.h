/* SPDX-License-Identifier: Apache-2.0
 *
 * Call stacks by the frame rules of cfi.h, and a cache of stacks already walked. The result of a
 * walk depends only on the registers it starts with and on the stack words it reads. A trail
 * stores both, with the resulting stack id: when the same start finds the same words in the same
 * places, the walk would give the same stack, frame by frame, and is skipped. Trails belong to a
 * thread. */
#ifndef VS_WALK_H
#define VS_WALK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Start of a walk: a return address and the registers after that return. */
struct vs_walk_start {
    uint64_t pc, sp, fp;
    uint64_t python; /* vs_python_key of the stack's Python frames; 0: none */
};

/* Owner of the stacks: a recorder, and how many frames of a stack it omits. */
struct vs_walk_owner {
    uint32_t recorder; /* unique in the process, from 1 */
    uint32_t skip;
};

#define VS_TRAIL_WORDS 192u

struct vs_trail {
    struct vs_walk_start start;
    struct vs_walk_owner owner;
    uint64_t id;     /* 0: empty */
    uint32_t epoch;  /* of the rules */
    uint32_t next;   /* index of the trail that followed this one last time */
    uint32_t words;  /* more than VS_TRAIL_WORDS: did not fit */
    uint32_t offset[VS_TRAIL_WORDS]; /* from start.sp, in the order of reading */
    uint64_t value[VS_TRAIL_WORDS];
};

/* vs_walk_cached: the id of the stack that begins at *start*, from the calling thread's cache; 0
 * when it is not cached. Cost: one comparison per word. */
uint64_t vs_walk_cached(struct vs_walk_owner owner, const struct vs_walk_start *start);

/* How a stack ends. */
enum vs_walk_end {
    VS_WALK_BOTTOM, /* where the thread or coroutine started */
    VS_WALK_MORE,   /* there are more frames than requested */
    VS_WALK_LOST,   /* the last frame's caller cannot be determined */
};

/* vs_walk_stack: return addresses from *start* on, that one first, at most *max*; 0 when some frame
 * has no rule (use libunwind). For code interrupted by a signal the value is the instruction's
 * address plus one, because a return address comes after the call. *sps* (may be NULL) receives the
 * start of each frame on the stack. **trail* is to be passed to vs_walk_cache with the id; NULL
 * when there is nothing to cache. The thread's stack above start.sp must be in use by the caller.
 * The caller must hold no lock. */
size_t vs_walk_stack(struct vs_walk_owner owner, const struct vs_walk_start *start, void **pcs,
                     uint64_t *sps, size_t max, enum vs_walk_end *end, struct vs_trail **trail);
/* vs_walk_nothing: the trail of a stack without native frames. */
struct vs_trail *vs_walk_nothing(struct vs_walk_owner owner, const struct vs_walk_start *start);
void vs_walk_cache(struct vs_trail *trail, uint64_t id);

/* vs_walk_check: adapts another unwinder's frames to the result of vs_walk_stack: cuts guessed
 * frames after the first one whose caller cannot be determined. Returns the number of frames left.
 * *end*: BOTTOM or LOST. Takes the loader's lock. */
size_t vs_walk_check(void **pcs, size_t count, enum vs_walk_end *end);

/* vs_walk_mark: the value that represents VS_STACK_MORE or _LOST among return addresses. */
static inline void *vs_walk_mark(uint64_t pc)
{
    return (void *)(uintptr_t)(pc + 1);
}

/* vs_walk_saw_unknown: whether frames outside any object occurred since vs_walk_discard_all; an
 * object loaded now may take their addresses. */
bool vs_walk_saw_unknown(void);

/* vs_walk_discard_all: code was unloaded: discards all rules and trails. */
void vs_walk_discard_all(void);
/* vs_walk_discard_trails: code may have been unloaded: discards all trails. */
void vs_walk_discard_trails(void);
/* vs_walk_epoch: changes with each of these two. */
uint32_t vs_walk_epoch(void);

/* --- unwind.c: stacks by libunwind, for frames without a rule --- */

/* vs_unwind_load: loads libunwind privately, once per process. Returns false when it is not
 * available. */
bool vs_unwind_load(void);

/* vs_unwind_capture: return addresses of the calling thread, innermost first (beginning with that
 * of its own caller), at most *max*. */
size_t vs_unwind_capture(void **pcs, size_t max);

#endif
