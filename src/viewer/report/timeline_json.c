/* SPDX-License-Identifier: Apache-2.0
 *
 * Kernels, copies, waits and gaps by call site (docs/schema/report.schema.json). */
#include "viewer/report/report_parts.h"
#include "viewer/report/report_text.h"

static void site_json(struct vs_json *json, const char *key, const struct vs_report_site *site)
{
    if (!vs_json_begin_object_if(json, key, site))
        return;
    vs_json_string(json, "api", site->api);
    vs_report_json_frames(json, site);
    vs_json_end_object(json);
}

/* *saved*: what copies of pageable memory would take less on this device; NULL: not said. */
static void works_json(struct vs_json *json, const char *key, const struct vs_report_works *works,
                       enum vs_timeline_what what, const struct vs_timeline_device *saved)
{
    static const char *const causes[VS_GAP_CAUSES] = {"wait", "host", "unknown"},
        *const sizes[VS_SIZE_CLASSES] = {"64KiB", "1MiB", "16MiB", NULL},
        *const memories[] = {NULL, "pageable", "pinned"};
    bool copies = what == VS_ROWS_COPIES, gaps = what == VS_ROWS_GAPS;
    vs_json_begin(json, key, VS_J_UINT("count", works->total.count), VS_J_UINT("bytes", works->total.bytes),
                  VS_J_UINT("time_ns", works->total.time_ns));
    for (size_t i = 0; vs_json_next_object(json, "rows", i, works->count); i++) {
        const struct vs_report_work *row = &works->items[i];
        uint64_t saved_ns = 0;
        bool known = saved && vs_timeline_saved(saved, row, &saved_ns);
        vs_json_members(json, VS_J_TEXT_IF(what == VS_ROWS_KERNELS, "name", row->name),
                        VS_J_TEXT_IF(copies, "kind", vs_copy_kind_name(row->kind)),
                        VS_J_TEXT_IF(gaps, "cause", causes[row->cause]), VS_J_UINT("count", row->sums.count),
                        VS_J_UINT_IF(copies, "bytes", row->sums.bytes), VS_J_UINT("time_ns", row->sums.time_ns),
                        VS_J_TEXT_IF(gaps, "phase", row->phase), VS_J_TEXT_IF(gaps, "until_kernel", row->name),
                        VS_J_TEXT_IF(copies, "memory", memories[row->memory]),
                        VS_J_TEXT_IF(copies, "up_to", sizes[row->size]));
        if (saved)
            vs_json_known_uint(json, "saved_ns", known, saved_ns);
        site_json(json, gaps ? "wait" : "site", row->site);
        if (gaps)
            site_json(json, "until", row->until);
    }
    vs_json_members(json, VS_J_UINT("omitted_count", works->omitted_count),
                    VS_J_UINT("omitted_ns", works->omitted_ns));
    vs_json_end_object(json);
}

static void near_json(struct vs_json *json, const char *key, const struct vs_near_work *near)
{
    vs_json_object(json, key, VS_J_TEXT("kernel", near->text),
                   VS_J_TEXT("kind", vs_event_describe(near->kind)->name), VS_J_UINT("stream", near->stream),
                   VS_J_UINT("start_ns", near->start_ns), VS_J_UINT("end_ns", near->end_ns));
}

static void waits_json(struct vs_json *json, const struct vs_report_works *waits)
{
    for (size_t i = 0; vs_json_next(json, "waits_by_site", i, waits->count); i++) {
        const struct vs_report_work *row = &waits->items[i];
        if (!row->site) /* of further sites (VS_TIMELINE_ROWS_MAX) */
            continue;
        vs_json_begin(json, NULL, VS_J_TEXT("api", row->api), VS_J_UINT("count", row->sums.count),
                      VS_J_UINT("time_ns", row->sums.time_ns), VS_J_UINT("step_count", row->sums.step_count),
                      VS_J_UINT("step_ns", row->sums.step_ns));
        vs_report_json_frames(json, row->site);
        vs_json_end_object(json);
    }
}

void vs_timeline_json(struct vs_json *json, const struct vs_report_device *device)
{
    const struct vs_report_timeline *line = &device->timeline;
    waits_json(json, &line->waits);
    if (!vs_json_begin_object_if(json, "timeline", line->device))
        return;
    vs_json_members(json, VS_J_UINT("start_ns", line->start_ns), VS_J_UINT("end_ns", line->end_ns),
                    VS_J_UINT("busy_ns", line->device->busy_ns), VS_J_UINT("idle_ns", line->device->gap_ns),
                    VS_J_UINT("not_recorded_ns", line->device->unknown_ns),
                    VS_J_UINT("gaps", line->device->gap_count), VS_J_UINT("short_gaps", line->device->short_count),
                    VS_J_UINT("short_gaps_ns", line->device->short_ns),
                    VS_J_UINT("out_of_order", line->device->out_of_order),
                    VS_J_UINT("pcie_bytes_per_second", vs_pcie_bytes_per_second(vs_pcie_generation(device))));
    works_json(json, "gaps_by_cause", &line->gaps, VS_ROWS_GAPS, NULL);
    works_json(json, "kernels_by_site", &line->kernels, VS_ROWS_KERNELS, NULL);
    works_json(json, "copies_by_size", &line->copies, VS_ROWS_COPIES, NULL);
    works_json(json, "pageable_copies", &line->pageable, VS_ROWS_COPIES, line->device);
    works_json(json, "small_copies", &line->small, VS_ROWS_COPIES, NULL);
    vs_json_begin_object(json, "fastest_copies");
    for (int i = 0; i < 2; i++) {
        const struct vs_link *link = &line->device->links[i];
        if (link->time_ns)
            vs_json_object(json, i ? "DtoH" : "HtoD", VS_J_UINT("bytes", link->bytes),
                           VS_J_UINT("time_ns", link->time_ns));
    }
    vs_json_end_object(json);
    vs_json_begin_object(json, "at_peak");
    for (size_t i = 0; vs_json_next(json, "running", i, line->device->running_count); i++)
        near_json(json, NULL, &line->device->running[i]);
    if (line->device->before.start_ns)
        near_json(json, "last_begun", &line->device->before);
    else
        vs_json_string(json, "last_begun", NULL);
    vs_json_end_object(json);
    vs_json_end_object(json);
}
