/* SPDX-License-Identifier: Apache-2.0
 *
 * Call stacks by the frame rules of cfi.h, and the memory of stacks already seen.
 * Where a walk leads is decided by the registers it starts with and the words of
 * the stack it reads on its way. A trail keeps both, with the stack id they led to:
 * when the same start finds the same words in the same places, the walk is known to
 * lead to the same end, frame by frame, and is not made. Trails belong to a thread. */
#ifndef VS_WALK_H
#define VS_WALK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Where a walk begins: a return address and the registers after that return. */
struct vs_walk_start {
    uint64_t pc, sp, fp;
    uint64_t python; /* vs_python_key of the Python frames the stack has; 0: none */
};

/* Whose stacks: a recorder, and how many frames of a stack it leaves out. */
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
    uint32_t next;   /* index of the trail that came after this one last time */
    uint32_t words;  /* more than VS_TRAIL_WORDS: did not fit */
    uint32_t offset[VS_TRAIL_WORDS]; /* from start.sp, in the order of reading */
    uint64_t value[VS_TRAIL_WORDS];
};

/* vs_walk_known: the id of the stack that begins at *start*, when the calling thread
 * has seen it before; 0 otherwise. Cost: a comparison per word. */
uint64_t vs_walk_known(struct vs_walk_owner owner, const struct vs_walk_start *start);

/* How a stack ends. */
enum vs_walk_end {
    VS_WALK_BOTTOM, /* where the thread or coroutine began */
    VS_WALK_MORE,   /* there are frames beyond those asked for */
    VS_WALK_LOST,   /* nothing says who called the last frame */
};

/* vs_walk_stack: return addresses from *start* on, that one first, at most *max*; 0
 * when some frame cannot be walked by rules (ask libunwind). What a signal interrupted
 * is one above the instruction, as a return address lies behind the call. *sps* (may be
 * NULL) gets where each frame's part of the stack begins. **trail* is what to give
 * to vs_walk_keep with the id; NULL when there is nothing to keep. The thread's
 * stack above start.sp must be in use by the caller. No lock may be held. */
size_t vs_walk_stack(struct vs_walk_owner owner, const struct vs_walk_start *start, void **pcs,
                     uint64_t *sps, size_t max, enum vs_walk_end *end, struct vs_trail **trail);
/* vs_walk_nothing: the trail of a stack without native frames. */
struct vs_trail *vs_walk_nothing(struct vs_walk_owner owner, const struct vs_walk_start *start);
void vs_walk_keep(struct vs_trail *trail, uint64_t id);

/* vs_walk_check: another unwinder's frames made to be what vs_walk_stack would give: cut
 * behind the first of which nothing says who called it, where they are a guess; how many
 * are left. *end*: BOTTOM or LOST. Takes the loader's lock. */
size_t vs_walk_check(void **pcs, size_t count, enum vs_walk_end *end);

/* vs_walk_mark: what stands for VS_STACK_MORE or _LOST among return addresses. */
static inline void *vs_walk_mark(uint64_t pc)
{
    return (void *)(uintptr_t)(pc + 1);
}

/* vs_walk_saw_unknown: whether frames in no object were met since vs_walk_forget; what is
 * loaded now may take their place. */
bool vs_walk_saw_unknown(void);

/* vs_walk_forget: code was unloaded: all rules and trails are void. */
void vs_walk_forget(void);
/* vs_walk_doubt: code may have been unloaded: all trails are void. */
void vs_walk_doubt(void);
/* vs_walk_epoch: changes with either. */
uint32_t vs_walk_epoch(void);

#endif
