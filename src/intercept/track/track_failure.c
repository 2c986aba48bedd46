/* SPDX-License-Identifier: Apache-2.0
 *
 * Refused allocations: the event, with the device's free memory, and the last failure of each
 * device for queries. */
#include "base/vs_clock.h"
#include "base/vs_lock.h"
#include "intercept/process/process.h"
#include "intercept/route/hook.h"
#include "intercept/track/tracker.h"
#include "intercept/track/usage.h"

static struct vs_lock lock = VS_LOCK_INIT(VS_RANK_TRACKER, "failures");
static struct vs_alloc_failure failures[VS_DEVICES_MAX]; /* guarded by lock; time 0: none */

static void note_failure(uint32_t device, uint64_t requested, int error, uint64_t free_bytes,
                         uint64_t total_bytes)
{
    struct vs_device_counters now;
    vs_track_count_failure(device);
    if (vs_track_device(device, &now))
        return;
    vs_lock_acquire(&lock);
    failures[device] = (struct vs_alloc_failure){.requested = requested,
                                           .device_free_bytes = free_bytes,
                                           .device_total_bytes = total_bytes,
                                           .allocated = now.allocated,
                                           .reserved = now.reserved,
                                           .time_ns = vs_clock_ns(),
                                           .error = error};
    vs_lock_release(&lock);
}

bool vs_track_last_failure(uint32_t device, struct vs_alloc_failure *out)
{
    if (device >= VS_DEVICES_MAX)
        return false;
    vs_lock_acquire(&lock);
    *out = failures[device];
    vs_lock_release(&lock);
    return out->time_ns != 0;
}

void vs_track_failed(const struct vs_context *context, uint64_t requested, enum vs_family family,
                     uint64_t stream, const char *api, int error)
{
    size_t free_bytes = 0, total_bytes = 0;
    if (context)
        vs_usage_failed(context);
    /* an unsupported query leaves zeros, which the report shows as unknown */
    if (context && vs_process_state() == VS_PROCESS_ACTIVE &&
        VS_REAL(cuMemGetInfo_v2, &free_bytes, &total_bytes) != CUDA_SUCCESS)
        free_bytes = total_bytes = 0;
    if (context)
        note_failure(context->device, requested, error, free_bytes, total_bytes);
    if (!vs_process_recorder())
        return;
    struct vs_event event = {.kind = VS_EVENT_alloc_failed,
                             .alloc_failed = {.requested = requested,
                                              .family = family,
                                              .device = context ? context->device : 0,
                                              .context = context ? context->id : 0,
                                              .stream = stream,
                                              .api = vs_process_api(api),
                                              .stack = vs_process_stack(),
                                              .error = (uint64_t)error,
                                              .device_free_bytes = free_bytes,
                                              .device_total_bytes = total_bytes}};
    vs_recorder_event(vs_process_recorder(), &event);
}
