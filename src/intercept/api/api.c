/* SPDX-License-Identifier: Apache-2.0
 *
 * The public C API over the process's recording and counters. */
#include "vramscope.h"

#include <stdatomic.h>
#include <stddef.h>

#include "intercept/api/api.h"
#include "intercept/cache/caching.h"
#include "intercept/cache/device_ops.h"
#include "intercept/cache/policy.h"
#include "intercept/cache/room.h"
#include "intercept/cupti/automatic_steps.h"
#include "intercept/cupti/nvtx.h"
#include "intercept/process/process.h"
#include "intercept/route/hook.h"
#include "intercept/track/context.h"
#include "intercept/track/tracker.h"

VS_EXPORT const char *vramscope_version(void)
{
    return VRAMSCOPE_VERSION;
}

bool vs_api_device(int device)
{
    static _Atomic int known; /* atomic; the number of devices; 0: not yet */
    int count = atomic_load_explicit(&known, memory_order_relaxed);
    /* the driver returns an error before CUDA is initialised. Exit handlers and children of a fork
     * use the number found earlier */
    if (!count && !vs_process_forked() && vs_process_state() != VS_PROCESS_EXITING) {
        VS_OWN_WORK();
        if (VS_CALL(cuDeviceGetCount, &count) != CUDA_SUCCESS)
            count = 0;
        atomic_store_explicit(&known, count, memory_order_relaxed);
    }
    return device >= 0 && device < (count > 0 && count < VS_DEVICES_MAX ? count : VS_DEVICES_MAX);
}

VS_EXPORT int vramscope_get_device_stats(int device, struct vramscope_device_stats *stats)
{
    struct vs_device_counters c = {0};
    if (!stats || !vs_api_device(device))
        return -1;
    if (!vs_process_forked() && vs_track_device((uint32_t)device, &c))
        return -1;
    *stats = (struct vramscope_device_stats){.allocated = c.allocated,
                                             .requested = c.requested,
                                             .reserved = c.reserved,
                                             .allocated_peak = c.allocated_peak,
                                             .requested_peak = c.requested_peak,
                                             .reserved_peak = c.reserved_peak,
                                             .allocations = c.allocations,
                                             .frees = c.frees,
                                             .failures = c.failures};
    return 0;
}

VS_EXPORT int vramscope_reset_peaks(int device)
{
    if (!vs_api_device(device))
        return -1;
    if (!vs_process_forked())
        vs_track_reset_peaks((uint32_t)device);
    vs_api_each_allocator((uint32_t)device, vs_allocator_reset_peaks);
    return 0;
}

/* A context of *device* that the process uses already. */
static const struct vs_context *context_of(int device)
{
    enum vs_process_state state = vs_process_state();
    if (device < 0 || vs_process_forked() || (state != VS_PROCESS_ACTIVE && !vs_process_serving()))
        return NULL;
    const struct vs_context *current = state == VS_PROCESS_ACTIVE ? vs_context_current() : NULL;
    return current && current->device == (uint32_t)device ? current
                                                          : vs_context_alive_on((uint32_t)device);
}

VS_EXPORT int vramscope_get_memory_info(int device, uint64_t *free_bytes, uint64_t *total_bytes)
{
    uint64_t free_now, total;
    VS_OWN_WORK();
    const struct vs_context *context = context_of(device);
    if (!context || vs_process_state() == VS_PROCESS_EXITING ||
        vs_device_memory_info(context, &free_now, &total))
        return -1;
    if (free_bytes)
        *free_bytes = free_now + vs_caching_cached_bytes((uint32_t)device);
    if (total_bytes)
        *total_bytes = total;
    return 0;
}

VS_EXPORT int vramscope_get_last_failure(int device, struct vramscope_failure *failure)
{
    struct vs_alloc_failure f;
    if (!failure || device < 0 || vs_process_forked() || !vs_track_last_failure((uint32_t)device, &f))
        return -1;
    *failure = (struct vramscope_failure){.requested = f.requested,
                                          .device_free = f.device_free_bytes,
                                          .device_total = f.device_total_bytes,
                                          .allocated = f.allocated,
                                          .reserved = f.reserved,
                                          .time_ns = f.time_ns,
                                          .error = f.error};
    return 0;
}

VS_EXPORT int vramscope_set_memory_fraction(int device, double fraction)
{
    if (!vs_api_device(device) || vs_process_forked())
        return -1;
    VS_OWN_WORK();
    return vs_policy_set_fraction((uint32_t)device, fraction) ? -1 : 0;
}

VS_EXPORT void vramscope_range_push(const char *name)
{
    vs_nvtx_push(name ? name : "");
}

VS_EXPORT void vramscope_range_pop(void)
{
    vs_nvtx_pop();
}

VS_EXPORT void vramscope_step(uint64_t number)
{
    vs_nvtx_step(number);
}

VS_EXPORT void vramscope_step_end(void)
{
    vs_nvtx_step_end();
}

/* For our part in Python (python/vramscope/values/steps.py, modules.py); not in the public header. A *tid* of 0
 * is the calling thread. */
VS_EXPORT void vramscope_torch_module(const char *path, unsigned pass, unsigned tid);
VS_EXPORT void vramscope_torch_tensor(uint64_t addr, int device, const char *name, unsigned what);
VS_EXPORT uint32_t vramscope_automatic_era(void);
VS_EXPORT void vramscope_automatic_place(uint64_t number, const char *phase);
VS_EXPORT void vramscope_automatic_stop(void);

VS_EXPORT uint32_t vramscope_automatic_era(void)
{
    return vs_automatic_era();
}

VS_EXPORT void vramscope_automatic_place(uint64_t number, const char *phase)
{
    vs_automatic_place(number, phase);
}

VS_EXPORT void vramscope_automatic_stop(void)
{
    vs_automatic_give_way(false);
}

VS_EXPORT void vramscope_torch_module(const char *path, unsigned pass, unsigned tid)
{
    VS_OWN_WORK();
    if (vs_process_records())
        vs_recorder_event(vs_process_recorder(),
                          &(struct vs_event){.kind = VS_EVENT_torch_module, .tid = tid,
                                             .torch_module = {.path = vs_process_string(path), .pass = pass}});
}

VS_EXPORT void vramscope_torch_tensor(uint64_t addr, int device, const char *name, unsigned what)
{
    VS_OWN_WORK();
    if (vs_process_records())
        VS_RECORD(torch_tensor, .addr = addr, .device = (uint64_t)device, .name = vs_process_string(name), .what = what);
}

VS_EXPORT void vramscope_annotate(const char *name)
{
    vs_nvtx_annotate(name && *name ? name : NULL);
}

VS_EXPORT void vramscope_mark(const char *name)
{
    vs_nvtx_mark_in(name ? name : "", "");
}

VS_EXPORT uint64_t vramscope_trim(int device)
{
    enum vs_process_state state = vs_process_state();
    if (device < 0 || vs_process_forked() || state == VS_PROCESS_IDLE ||
        state == VS_PROCESS_EXITING || !vs_process_serving())
        return 0;
    VS_OWN_WORK();
    return vs_room_make((uint32_t)device);
}

