/* SPDX-License-Identifier: Apache-2.0
 *
 * The state of the watched processes as JSON: docs/schema/top.schema.json. */
#include "viewer/common/json_writer.h"
#include "viewer/top/top_frame.h"

#define NS 1e9

static void put_device(struct vs_json *json, const struct vs_watch_device *device)
{
    vs_json_members(json, VS_J_UINT("device", device->device), VS_J_TEXT("name", device->name),
                    VS_J_BOOL("simulated", device->simulated),
                    VS_J_TEXT("level",
                              device->level == VS_LEVEL_FRAMEWORK ? "framework" : "device"),
                    VS_J_UINT("allocated_bytes", device->allocated),
                    VS_J_UINT("peak_bytes", device->peak),
                    VS_J_UINT("reserved_bytes", device->reserved),
                    VS_J_UINT("peak_reserved_bytes", device->peak_reserved),
                    VS_J_UINT_IF(device->used_known, "used_bytes", device->used),
                    VS_J_UINT("total_bytes", device->total),
                    VS_J_UINT_IF(device->busy_known, "busy_percent", device->busy_percent),
                    VS_J_UINT_IF(device->limit_bytes, "limit_bytes", device->limit_bytes),
                    VS_J_UINT("allocated_bytes_per_second", device->bytes_per_second),
                    VS_J_UINT("allocations_per_second", device->allocs_per_second));
    vs_json_object(json, "unused", VS_J_UINT("bytes", device->cached),
                   VS_J_UINT("holes", device->holes.count),
                   VS_J_UINT("largest_hole_bytes", device->holes.largest));
    const struct vs_growth_row *growth = &device->growth;
    vs_json_object_if(json, "growth", device->growing, VS_J_UINT("bytes", growth->bytes),
                      VS_J_UINT("bytes_per_step", growth->per_step),
                      VS_J_UINT_IF(growth->since_step_known, "since_step", growth->since_step),
                      VS_J_RATIO("confidence", growth->confidence),
                      VS_J_BOOL("early", device->forecast.early));
    const struct vs_forecast *forecast = &device->forecast;
    char text[VS_FORECAST_TEXT_MAX];
    if (!forecast->known)
        vs_json_string(json, "forecast", NULL);
    else
        vs_json_object(json, "forecast", VS_J_TEXT("text", vs_forecast_text(text, forecast)),
                       VS_J_UINT("available_bytes", forecast->available),
                       VS_J_UINT("bytes_per_step", forecast->per_step),
                       VS_J_UINT("bytes_per_second", forecast->per_second),
                       VS_J_UINT_IF(forecast->steps_known, "steps_left", forecast->steps),
                       VS_J_UINT_IF(forecast->time_known, "seconds_left", forecast->seconds));
    vs_json_begin(json, "history", VS_J_RATIO("period_seconds", (double)device->history->period_ns / NS));
    for (size_t i = 0; vs_json_next(json, "highest_bytes", i, device->history->count); i++)
        vs_json_uint(json, NULL, device->history->highest[i]);
    vs_json_end_object(json);
    for (size_t i = 0; vs_json_next(json, "sites", i, device->site_count); i++) {
        const struct vs_watch_site *site = &device->sites[i];
        vs_json_object(json, NULL, VS_J_TEXT("name", site->name), VS_J_TEXT("chain", site->chain),
                       VS_J_UINT("bytes", site->bytes), VS_J_UINT("count", site->count),
                       VS_J_BOOL("growing", site->growing),
                       VS_J_UINT("growth_per_step", site->growth_per_step));
    }
    vs_json_uint(json, "sites_omitted", device->sites_omitted);
}

void vs_top_json(const struct vs_top_model *model, FILE *out)
{
    struct vs_json json = vs_json_document(out, "vramscope.top/1");
    for (size_t i = 0; vs_json_next_object(&json, "processes", i, model->count); i++) {
        const struct vs_top_process *process = &model->processes[i];
        const struct vs_watch_view *view = &process->view;
        char program[VS_TOP_PROGRAM_MAX];
        vs_json_members(&json, VS_J_UINT("pid", process->pid),
                        VS_J_TEXT("program", vs_top_program(program, view)),
                        VS_J_TEXT("command", view->cmdline), VS_J_TEXT("trace", view->path),
                        VS_J_TEXT("state", process->error  ? "unreadable"
                                           : view->running ? "running" : "ended"),
                        VS_J_TEXT_IF(process->error, "error", process->error),
                        VS_J_TEXT_IF(!process->error && !view->running, "ending", view->ending),
                        VS_J_RATIO("run_seconds", (double)view->run_ns / NS),
                        VS_J_UINT("events", view->events),
                        VS_J_RATIO("read_share", view->read_share),
                        VS_J_UINT("failed_allocations", view->failures),
                        VS_J_BOOL("sampled", view->sampled),
                            VS_J_UINT("host_bytes", view->host_bytes));
        static const char *const sources[] = {"none", "found", "marked"};
        vs_json_object(&json, "steps", VS_J_TEXT("source", sources[view->steps_source]),
                       VS_J_UINT("begun", view->steps_begun), VS_J_UINT("number", view->step),
                       VS_J_RATIO("seconds", (double)view->step_ns / NS));
        for (size_t d = 0; vs_json_next_object(&json, "devices", d, view->device_count); d++)
            put_device(&json, &view->devices[d]);
    }
    vs_json_end_object(&json);
    fputc('\n', out);
}
