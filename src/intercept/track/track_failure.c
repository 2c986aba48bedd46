/* SPDX-License-Identifier: Apache-2.0
 *
 * Refused allocations, and refused memory of contexts, code and limits: the event, with the
 * device's free memory, and the last refused allocation of each device for queries. */
#include "base/vs_clock.h"
#include "base/vs_lock.h"
#include "intercept/process/process.h"
#include "intercept/route/hook.h"
#include "intercept/track/nvml.h"
#include "intercept/track/tracker.h"
#include "intercept/track/usage.h"

static struct vs_lock lock = VS_LOCK_INIT(VS_RANK_TRACKER, "failures");
static struct vs_alloc_failure failures[VS_DEVICES_MAX]; /* guarded by lock; time 0: none */

bool vs_track_last_failure(uint32_t device, struct vs_alloc_failure *out)
{
    if (device >= VS_DEVICES_MAX)
        return false;
    VS_LOCK_SCOPE(&lock);
    *out = failures[device];
    return out->time_ns != 0;
}

void vs_track_failed(const struct vs_context *context, uint64_t requested, enum vs_family family,
                     uint64_t stream, const char *api, int error)
{
    size_t free_bytes = 0, total_bytes = 0;
    if (context)
        vs_usage_failed(context->device);
    /* an unsupported query leaves zeros, which the report shows as unknown */
    if (context && vs_process_state() == VS_PROCESS_ACTIVE &&
        VS_REAL(cuMemGetInfo_v2, &free_bytes, &total_bytes) != CUDA_SUCCESS)
        free_bytes = total_bytes = 0;
    struct vs_device_counters now;
    if (context)
        vs_track_count_failure(context->device);
    if (context && vs_track_device(context->device, &now) == VS_OK) {
        VS_LOCK_SCOPE(&lock);
        failures[context->device] = (struct vs_alloc_failure){.requested = requested,
                                                              .device_free_bytes = free_bytes,
                                                              .device_total_bytes = total_bytes,
                                                              .allocated = now.allocated,
                                                              .reserved = now.reserved,
                                                              .time_ns = vs_clock_ns(),
                                                              .error = error};
    }
    if (!vs_process_recorder())
        return;
    VS_RECORD(alloc_failed, .requested = requested,
              .family = family,
              .device = context ? context->device : 0,
              .context = context ? context->id : 0,
              .stream = stream,
              .api = vs_process_api(api),
              .stack = vs_process_stack(),
              .error = (uint64_t)error,
              .device_free_bytes = free_bytes,
              .device_total_bytes = total_bytes);
}

/* Free and total memory of *device*, of which the process may have no context; zeros if unknown. */
static void read_memory(uint32_t device, size_t *free_bytes, size_t *total_bytes)
{
    struct vs_entered entered;
    *free_bytes = *total_bytes = 0;
    for (struct vs_context *c = vs_context_next(NULL); c; c = vs_context_next(c)) {
        if (c->device != device || !atomic_load(&c->alive) || vs_context_enter(c, &entered))
            continue;
        CUresult r = VS_REAL(cuMemGetInfo_v2, free_bytes, total_bytes);
        vs_context_leave(&entered);
        if (r == CUDA_SUCCESS)
            return;
    }
    uint64_t f, t;
    if (!vs_nvml_memory(device, &f, &t))
        return;
    *free_bytes = f;
    *total_bytes = t;
}

void vs_track_overhead_failed(int error, enum vs_overhead_what what, CUdevice device,
                              const char *api)
{
    if (error != CUDA_ERROR_OUT_OF_MEMORY || vs_thread.inside || !vs_process_recorder() ||
        vs_process_state() != VS_PROCESS_ACTIVE)
        return;
    VS_OWN_WORK();
    const struct vs_context *context = what == VS_OVERHEAD_CONTEXT ? NULL : vs_context_current();
    if (context)
        device = (CUdevice)context->device;
    if (!context && !(what == VS_OVERHEAD_CONTEXT && device >= 0 && device < VS_DEVICES_MAX))
        return;
    size_t free_bytes, total_bytes;
    vs_device_note((uint32_t)device);
    vs_usage_failed((uint32_t)device);
    read_memory((uint32_t)device, &free_bytes, &total_bytes);
    VS_RECORD(overhead_failed, .what = what,
              .device = (uint64_t)device,
              .context = context ? context->id : 0,
              .api = vs_process_api(vs_api(api)),
              .stack = vs_process_stack(),
              .error = (uint64_t)error,
              .device_free_bytes = free_bytes,
              .device_total_bytes = total_bytes);
}
