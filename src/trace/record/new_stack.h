/* SPDX-License-Identifier: Apache-2.0
 *
 * A stack that its thread has not seen lately gets its id: captured, looked up, and added
 * to the trace if nobody has seen it. How frames are captured, and what has to be defined
 * before they can be added, is said by whoever asks: native_stack.c and python_stack.c. */
#ifndef VS_NEW_STACK_H
#define VS_NEW_STACK_H

#include <stddef.h>
#include <stdint.h>

struct vs_recorder;
struct vs_trail;

struct vs_new_stack {
    void **frames; /* innermost first; where they stand is the caller's */
    size_t count;  /* 0: nothing could be captured */
    struct vs_trail *trail; /* to keep the id with; NULL: none */
};

struct vs_stack_way {
    /* Fill *stack* with the calling thread's frames, as the rules now are; done a second
     * time when those turn out to have been another's. No lock is held. */
    void (*capture)(struct vs_recorder *r, struct vs_new_stack *stack);
    /* Define what the frames refer to and take the recorder's lock. */
    void (*acquire)(struct vs_recorder *r, const struct vs_new_stack *stack);
};

/* vs_new_stack_id: 0 when it has no frames, or the trace takes no new stacks or has no
 * memory. Keeps errno, and the thread from being cancelled. No lock may be held; takes the
 * loader's list lock and the recorder's, one after the other. */
uint64_t vs_new_stack_id(struct vs_recorder *r, struct vs_new_stack *stack,
                         const struct vs_stack_way *way);

#endif
