/* SPDX-License-Identifier: Apache-2.0
 *
 * See the header. The order matters: unloads are processed before frames are looked up by their
 * addresses, loads before a new stack is added; and if that changed the rules by which frames were
 * found, the frames are captured again. */
#include "trace/record/new_stack.h"

#include <errno.h>
#include <stdatomic.h>

#include "base/vs_cancel.h"
#include "trace/record/recorder_internal.h"
#include "trace/stacks/walk.h"

static uint64_t find(struct vs_recorder *r, uint64_t hash)
{
    VS_RECORDER_SCOPE(r);
    return vs_intern_stack_find_locked(r, hash);
}

/* *hash*: of the frames as captured. */
static uint64_t add(struct vs_recorder *r, struct vs_new_stack *stack,
                    const struct vs_stack_way *way, uint64_t hash)
{
    uint32_t epoch = vs_walk_epoch();
    vs_module_list_refresh(r);
    if (vs_walk_epoch() != epoch) { /* the rules may have been those of other code */
        way->capture(r, stack);
        hash = vs_intern_stack_hash(stack->frames, stack->count);
    }
    way->acquire(r, stack);
    uint64_t id =
        stack->count ? vs_intern_stack_add_locked(r, hash, stack->frames, stack->count) : 0;
    vs_recorder_release(r);
    return id;
}

uint64_t vs_new_stack_id(struct vs_recorder *r, struct vs_new_stack *stack,
                         const struct vs_stack_way *way)
{
    VS_KEEP_ERRNO();
    VS_CANCEL_SCOPE();
    if (atomic_load_explicit(&r->modules_unloaded, memory_order_relaxed))
        vs_module_list_refresh(r);
    way->capture(r, stack);
    uint64_t hash = vs_intern_stack_hash(stack->frames, stack->count);
    uint64_t id = stack->count ? find(r, hash) : 0;
    if (id == VS_STACK_MISS)
        id = vs_selection_stacks_stopped(&r->selection) ? 0 : add(r, stack, way, hash);
    vs_walk_cache(stack->trail, id);
    return id;
}
