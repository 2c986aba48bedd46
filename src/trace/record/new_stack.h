/* SPDX-License-Identifier: Apache-2.0
 *
 * Gives an id to a stack that its thread has not seen recently: captured, looked up, and added to
 * the trace if no thread has recorded it. The caller provides how frames are captured and what has
 * to be defined before they can be added: native_stack.c and python_stack.c. */
#ifndef VS_NEW_STACK_H
#define VS_NEW_STACK_H

#include <stddef.h>
#include <stdint.h>

struct vs_recorder;
struct vs_trail;

struct vs_new_stack {
    void **frames; /* innermost first; memory of the caller */
    size_t count;  /* 0: nothing could be captured */
    struct vs_trail *trail; /* to keep the id with; NULL: none */
};

struct vs_stack_way {
    /* Fill *stack* with the calling thread's frames by the current rules; called a second time when
     * the rules turn out to be outdated. No lock is held. */
    void (*capture)(struct vs_recorder *r, struct vs_new_stack *stack);
    /* Define the modules and functions of the frames and take the recorder's lock. */
    void (*acquire)(struct vs_recorder *r, const struct vs_new_stack *stack);
};

/* vs_new_stack_id: 0 when the stack has no frames, or the trace accepts no new stacks or has no
 * memory. Keeps errno, and prevents cancellation of the thread meanwhile. No lock may be held;
 * takes the loader's list lock and the recorder's, one after the other. */
uint64_t vs_new_stack_id(struct vs_recorder *r, struct vs_new_stack *stack,
                         const struct vs_stack_way *way);

#endif
