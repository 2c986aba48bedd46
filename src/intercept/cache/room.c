/* SPDX-License-Identifier: Apache-2.0
 *
 * Releases cached memory when the device runs out: one rule for every entry point that allocates
 * device memory. */
#include "intercept/cache/room.h"

#include "intercept/process/process.h"
#include "intercept/route/hook.h"
#include "intercept/track/context.h"

static bool may_make(CUresult r)
{
    return r == CUDA_ERROR_OUT_OF_MEMORY && vs_process_state() == VS_PROCESS_ACTIVE;
}

bool vs_room_made_on(uint32_t device, CUresult r)
{
    if (!may_make(r))
        return false;
    vs_thread.inside++;
    bool made = vs_context_make_room(device) > 0;
    vs_thread.inside--;
    return made;
}

bool vs_room_made(CUresult r)
{
    if (!may_make(r))
        return false;
    vs_thread.inside++;
    const struct vs_context *context = vs_context_current();
    bool made = context && vs_context_make_room(context->device) > 0;
    vs_thread.inside--;
    return made;
}
