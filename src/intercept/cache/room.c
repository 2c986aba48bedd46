/* SPDX-License-Identifier: Apache-2.0
 *
 * Releases cached memory when the device runs out: one rule for every entry point that allocates
 * device memory. */
#include "intercept/cache/room.h"

#include <stdio.h>

#include "base/vs_size.h"
#include "intercept/cache/device_ops.h"
#include "intercept/process/process.h"
#include "intercept/route/hook.h"
#include "intercept/route/replayed_call.h"
#include "intercept/track/capture.h"
#include "intercept/track/tracker.h"

uint64_t vs_room_make(uint32_t device)
{
    const struct vs_options *options = vs_process_options();
    const struct vs_policy *policy = vs_policy_named(options->text[VS_OPT_policy]);
    uint64_t total = 0;
    int count = VS_CONTEXT_ALLOCATORS;
    /* not mapped or stream-ordered memory during a capture: giving that back would wait for the
     * device, which a capture forbids. And no retry during a replay */
    if (vs_capture_any())
        count = (policy && policy->mapped) || *options->text[VS_OPT_alloc_conf] ? 0 : 1;
    if (vs_replay_on)
        count = 0;
    /* the driver has just failed for lack of memory, so it did not forbid calls: freeing is allowed
     * too */
    CUstreamCaptureMode mode = vs_capture_any() ? vs_capture_relax() : CU_STREAM_CAPTURE_MODE_RELAXED;
    for (struct vs_context *c = vs_context_next(NULL); c; c = vs_context_next(c)) {
        for (int i = 0; c->device == device && i < count; i++) {
            struct vs_allocator *allocator = vs_context_allocator_at(c, i);
            uint64_t released = 0;
            /* returned memory counts even if some segment could not be returned */
            enum vs_err err = allocator ? vs_allocator_empty_cache(allocator, &released) : VS_OK;
            (void)err;
            total += released;
        }
    }
    vs_capture_restore(mode);
    return total;
}

bool vs_room_made_on(uint32_t device, CUresult r)
{
    if (r != CUDA_ERROR_OUT_OF_MEMORY || vs_process_state() != VS_PROCESS_ACTIVE)
        return false;
    VS_OWN_WORK();
    const struct vs_context *current = vs_context_current();
    vs_room_refused(current && current->device == device ? current : vs_context_alive_on(device), 0);
    bool made = vs_room_make(device) > 0;
    if (!made)
        vs_thread.refused = false;
    return made;
}

bool vs_room_made(CUresult r)
{
    if (r != CUDA_ERROR_OUT_OF_MEMORY || vs_process_state() != VS_PROCESS_ACTIVE)
        return false;
    VS_OWN_WORK();
    const struct vs_context *context = vs_context_current();
    return context && vs_room_made_on(context->device, r);
}

bool vs_room_made_unseen(CUdevice device, CUresult r)
{
    if (r != CUDA_ERROR_OUT_OF_MEMORY || !vs_hook_active())
        return false;
    VS_OWN_WORK();
    const struct vs_context *current = device < 0 ? vs_context_current() : NULL;
    return (current || device >= 0) && vs_room_make(current ? current->device : (uint32_t)device);
}

/* --- refusals that the program does not see --- */

void vs_room_refused(const struct vs_context *context, uint64_t bytes)
{
    uint64_t free_bytes, total_bytes;
    if (vs_thread.refused || !context || !vs_process_recorder() ||
        vs_device_memory_info(context, &free_bytes, &total_bytes))
        return;
    vs_thread.refused = true;
    vs_thread.refused_bytes = bytes;
    vs_thread.refused_free = free_bytes;
    vs_thread.given_bytes = 0;
}

void vs_room_answered(CUresult r, const char *api)
{
    char refused[VS_SIZE_TEXT_MAX], left[VS_SIZE_TEXT_MAX], text[3 * VS_SIZE_TEXT_MAX];
    uint64_t bytes = vs_thread.refused_bytes, free_bytes = vs_thread.refused_free;
    vs_thread.refused = false;
    VS_OWN_WORK();
    const struct vs_context *context = vs_context_current();
    if (r == CUDA_SUCCESS && context && !bytes) { /* what the repeated call got */
        uint64_t left_bytes, total_bytes, before = free_bytes + vs_thread.given_bytes;
        bytes = vs_device_memory_info(context, &left_bytes, &total_bytes) ? UINT64_MAX
                : before > left_bytes                                     ? before - left_bytes
                                                                          : 0;
    }
    bool hidden = bytes <= free_bytes;
    if (r == CUDA_SUCCESS && context && (hidden || vs_thread.given_bytes)) {
        snprintf(text, sizeof text, "%s refused with %s free", vs_size_format(refused, bytes),
                 vs_size_format(left, free_bytes));
        vs_track_hidden(hidden, vs_thread.given_bytes, api, text);
    }
}
