/* SPDX-License-Identifier: Apache-2.0
 *
 * Peak windows, and control of the recording, for the public C API. */
#include "vramscope.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "intercept/api/api.h"
#include "intercept/cupti/collector.h"
#include "intercept/process/process.h"
#include "intercept/route/hook.h"
#include "intercept/track/peak_window.h"
#include "trace/record/selection.h"

/* --- peak windows --- */

VS_EXPORT int64_t vramscope_window_begin(void)
{
    return vs_process_forked() ? -1 : vs_peak_window_begin();
}

static int read_window(int64_t window, int device, bool end, struct vramscope_window_stats *stats)
{
    struct vs_peak_report r;
    if (vs_process_forked() || !vs_api_device(device) ||
        !vs_peak_window_read(window, (uint32_t)device, end, &r))
        return -1;
    if (!stats)
        return 0;
#define SUMS(report, of) .of##_begin = (report).before.of, .of##_end = (report).now.of, .of##_peak = (report).peak.of
    *stats = (struct vramscope_window_stats){SUMS(r, allocated), SUMS(r, requested), SUMS(r, reserved),
                                             SUMS(r, tensors), SUMS(r, user),
                                             .allocations = r.allocations,
                                             .frees = r.frees,
                                             .failures = r.failures,
                                             .tensor_allocations = r.tensor_allocations,
                                             .tensor_frees = r.tensor_frees,
                                             .begin_ns = r.begun_ns,
                                             .end_ns = r.now_ns,
                                             .user_allocations = r.user_allocations,
                                             .user_frees = r.user_frees};
    return 0;
}

VS_EXPORT int vramscope_window_read(int64_t window, int device,
                                    struct vramscope_window_stats *stats)
{
    return stats ? read_window(window, device, false, stats) : -1;
}

VS_EXPORT int vramscope_window_end(int64_t window, int device,
                                   struct vramscope_window_stats *stats)
{
    return read_window(window, device, true, stats);
}

/* --- control --- */

VS_EXPORT int vramscope_recording(void)
{
    return vs_process_records() && vs_recorder_records(vs_process_recorder());
}

VS_EXPORT int vramscope_trace_path(char *path, size_t bytes)
{
    struct vs_recorder *recorder = vs_process_recorder();
    if (!vs_process_records() || vs_process_forked() || !recorder || (!path && bytes))
        return -1;
    return snprintf(path, bytes, "%s", vs_recorder_path(recorder));
}

static int pause_recording(bool pause)
{
    VS_OWN_WORK();
    /* records of earlier kernels belong to the part before */
    if (vs_process_state() == VS_PROCESS_ACTIVE && vs_process_recorder())
        vs_collector_flush(true);
    return vs_process_pause(pause) ? 0 : -1;
}

VS_EXPORT int vramscope_stop_recording(void)
{
    return pause_recording(true);
}

VS_EXPORT int vramscope_start_recording(void)
{
    return pause_recording(false);
}

VS_EXPORT int vramscope_record_kernels(int on)
{
    enum vs_process_state state = vs_process_state();
    if (vs_process_forked() || (state != VS_PROCESS_IDLE && state != VS_PROCESS_ACTIVE) ||
        (state == VS_PROCESS_ACTIVE &&
         (!vs_process_recorder() || !vs_process_options()->number[VS_OPT_kernels])))
        return -1;
    vs_collector_switch(on ? VS_SCHEDULE_ON : VS_SCHEDULE_OFF, VS_SWITCH_CALL, 0, "");
    return 0;
}

VS_EXPORT void vramscope_flush(void)
{
    if (!vs_process_records() || !vs_process_recorder())
        return;
    VS_OWN_WORK();
    vs_collector_flush(true);
    vs_recorder_flush(vs_process_recorder());
}

VS_EXPORT int vramscope_dump(const char *path)
{
    if (vs_process_state() != VS_PROCESS_ACTIVE || !vs_process_recorder() || vs_process_forked()) {
        errno = ESRCH;
        return -1;
    }
    VS_OWN_WORK();
    vs_collector_flush(true);
    errno = 0;
    enum vs_err err = path && *path ? vs_recorder_copy(vs_process_recorder(), path) : VS_ERR_ARG;
    if (err == VS_ERR_ARG)
        errno = EINVAL;
    else if (err == VS_ERR_STATE)
        errno = ESRCH;
    return err ? -1 : 0;
}
