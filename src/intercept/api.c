/* SPDX-License-Identifier: Apache-2.0
 *
 * The public C API over the process's recording and counters. */
#include "vramscope.h"

#include <stddef.h>

#include "intercept/collector.h"
#include "intercept/context.h"
#include "intercept/hook.h"
#include "intercept/nvtx.h"
#include "intercept/process.h"
#include "intercept/tracker.h"

VS_EXPORT const char *vramscope_version(void)
{
    return VRAMSCOPE_VERSION;
}

VS_EXPORT int vramscope_recording(void)
{
    enum vs_process_state state = vs_process_state();
    return state == VS_PROCESS_ACTIVE || state == VS_PROCESS_EXITING;
}

VS_EXPORT int vramscope_get_device_stats(int device, struct vramscope_device_stats *stats)
{
    struct vs_device_counters c;
    if (!stats || device < 0 || vs_track_device((uint32_t)device, &c))
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
    if (device < 0 || device >= VS_DEVICES_MAX)
        return -1;
    vs_track_reset_peaks((uint32_t)device);
    return 0;
}

VS_EXPORT void vramscope_range_push(const char *name)
{
    vs_nvtx_push(name ? name : "");
}

VS_EXPORT void vramscope_range_pop(void)
{
    vs_nvtx_pop();
}

VS_EXPORT void vramscope_mark(const char *name)
{
    vs_nvtx_mark(name ? name : "");
}

VS_EXPORT uint64_t vramscope_trim(int device)
{
    if (device < 0 || vs_process_state() != VS_PROCESS_ACTIVE || !vs_process_caching())
        return 0;
    vs_thread.inside++;
    uint64_t released = vs_context_make_room((uint32_t)device);
    vs_thread.inside--;
    return released;
}

VS_EXPORT void vramscope_flush(void)
{
    if (!vramscope_recording())
        return;
    vs_thread.inside++;
    vs_collector_flush(true);
    vs_recorder_flush(vs_process_recorder());
    vs_thread.inside--;
}
