/* SPDX-License-Identifier: Apache-2.0
 *
 * The stack of a call: found by its trail, or else captured, native or with Python frames in it
 * (python_stack.c). Frames inside this library, and those that its caller skips, are left out. On
 * the path of every recorded allocation. */
#include <errno.h>
#include <stdatomic.h>

#include "base/vs_cancel.h"
#include "trace/record/new_stack.h"
#include "trace/record/recorder_internal.h"
#include "trace/stacks/python.h"
#include "trace/stacks/walk.h"

/* frames between the caller and libunwind, beyond those kept */
#define UNWIND_SLACK 8u

/* A stack as recorded: its pcs, with a mark in place of missing outer frames. */
struct native {
    struct vs_new_stack stack; /* must be first: cast from one to the other */
    struct vs_walk_owner owner;
    const struct vs_walk_start *start;
    void *pcs[VS_STACK_FRAMES_MAX + 4 * UNWIND_SLACK];
};

/* Keep the program's frames: drop everything inside the start's callee, then the frames that the
 * owner skips, then frames of our own library. */
static size_t keep_program_frames(const struct vs_recorder *r, struct native *n, size_t count,
                                  enum vs_walk_end end)
{
    size_t from = 0, kept = 0, i;
    while (from < count && (uint64_t)(uintptr_t)n->pcs[from] != n->start->pc)
        from++;
    if (from == count)
        from = 0; /* unwound by libunwind; our own library is dropped below */
    for (i = from; i < count && kept < r->depth_max; i++) {
        uint64_t pc = (uint64_t)(uintptr_t)n->pcs[i];
        if (i - from < n->owner.skip || !pc || (pc >= r->own_start && pc < r->own_end))
            continue;
        n->pcs[kept++] = n->pcs[i];
    }
    if (kept && (i < count || end == VS_WALK_MORE))
        n->pcs[kept++] = vs_walk_mark(VS_STACK_MORE);
    else if (kept && end == VS_WALK_LOST)
        n->pcs[kept++] = vs_walk_mark(VS_STACK_LOST);
    return kept;
}

/* By frame rules where they cover the stack, else by libunwind. */
static void capture(struct vs_recorder *r, struct vs_new_stack *stack)
{
    struct native *n = (struct native *)stack;
    size_t max = r->depth_max + n->owner.skip + UNWIND_SLACK + (r->own_end ? UNWIND_SLACK : 0);
    enum vs_walk_end end = VS_WALK_BOTTOM;
    if (max > sizeof n->pcs / sizeof *n->pcs - 1)
        max = sizeof n->pcs / sizeof *n->pcs - 1;
    size_t count = vs_walk_stack(n->owner, n->start, n->pcs, NULL, max, &end, &stack->trail);
    if (!count) {
        count = vs_walk_check(n->pcs, vs_unwind_capture(n->pcs, max), &end);
        if (count == max && end != VS_WALK_BOTTOM)
            end = VS_WALK_MORE;
    }
    stack->frames = n->pcs;
    stack->count = keep_program_frames(r, n, count, end);
}

/* Native frames refer to nothing but the modules. */
static void acquire(struct vs_recorder *r, const struct vs_new_stack *stack)
{
    (void)stack;
    vs_lock_acquire(&r->lock);
}

/* A separate function: the frames need stack space that cached stacks do not. */
static __attribute__((noinline)) uint64_t new_stack(struct vs_recorder *r,
                                                    struct vs_walk_owner owner,
                                                    const struct vs_walk_start *start)
{
    static const struct vs_stack_way way = {capture, acquire};
    struct native n;
    n.owner = owner;
    n.start = start;
    return vs_new_stack_id(r, &n.stack, &way);
}

/* Without native stacks, no new stack would notice that something was loaded. */
static __attribute__((noinline)) const struct vs_python *python_by_now(struct vs_recorder *r)
{
    VS_KEEP_ERRNO();
    VS_CANCEL_SCOPE();
    vs_module_list_refresh(r);
    return vs_python_get();
}

__attribute__((noinline)) uint64_t vs_recorder_stack(struct vs_recorder *r, unsigned skip)
{
    if (!r || atomic_load_explicit(&r->stopped, memory_order_relaxed) || !r->depth_max)
        return 0;
    const uint64_t *frame = __builtin_frame_address(0);
    struct vs_walk_start start = {.pc = (uint64_t)(uintptr_t)__builtin_return_address(0),
                                  .sp = (uint64_t)(uintptr_t)(frame + 2),
                                  .fp = frame[0]};
    struct vs_walk_owner owner = {r->number, skip};
    const struct vs_python *python = vs_python_get();
    uint64_t id;
    if (!python && r->python && !r->native)
        python = python_by_now(r);
    if (python && r->python && vs_python_stack(r, python, owner, &start, &id))
        return id;
    if (!r->native)
        return 0;
    id = vs_walk_cached(owner, &start);
    if (id)
        return id;
    id = new_stack(r, owner, &start);
    /* it may just have found Python, and this is the first stack with it */
    if (!python && (python = vs_python_get()) && r->python)
        vs_python_stack(r, python, owner, &start, &id);
    return id;
}
