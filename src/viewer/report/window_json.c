/* SPDX-License-Identifier: Apache-2.0
 *
 * One object for each window, in the order of their begins, with one for each device. */
#include "viewer/report/window_json.h"

#include "analysis/report/window_peaks.h"
#include "viewer/report/report_json.h"

void vs_window_json(struct vs_json *json, const struct vs_report *report)
{
    if (!report->windows)
        return;
    vs_json_begin_array(json, "windows");
    for (size_t i = 0; i < report->window_count; i++) {
        const struct vs_report_window *window = &report->windows[i];
        vs_json_begin_object(json, NULL);
        vs_json_uint(json, "from_ns", window->from_ns);
        vs_json_uint(json, "to_ns", window->to_ns);
        vs_json_begin_array(json, "devices");
        for (size_t a = 0; a < window->count; a++)
            if (!report->wish.one_device || window->devices[a].device == report->wish.device) {
                const struct vs_window_peak *row = &window->devices[a];
                vs_json_begin_object(json, NULL);
                vs_json_uint(json, "device", row->device);
                vs_json_string(json, "level",
                               row->level == VS_LEVEL_FRAMEWORK ? "framework" : "device");
                vs_json_uint(json, "begin_bytes", row->begin_bytes);
                vs_json_uint(json, "peak_bytes", row->peak_bytes);
                vs_json_uint(json, "peak_event", row->peak_event);
                vs_json_uint(json, "peak_time_ns", row->peak_ns);
                vs_json_uint(json, "end_bytes", row->end_bytes);
                vs_report_json_sites(json, "sites_more_at_peak", &row->more);
                vs_report_json_sites(json, "sites_less_at_peak", &row->less);
                vs_json_end_object(json);
            }
        vs_json_end_array(json);
        vs_json_end_object(json);
    }
    vs_json_end_array(json);
}
