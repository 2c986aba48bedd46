/* SPDX-License-Identifier: Apache-2.0
 *
 * The state of the watched processes as JSON: docs/schema/top.schema.json. */
#include "viewer/common/json_writer.h"
#include "viewer/top/top_frame.h"

#define NS 1e9

static void put_device(struct vs_json *json, const struct vs_watch_device *device)
{
    vs_json_begin_object(json, NULL);
    vs_json_uint(json, "device", device->device);
    vs_json_string(json, "name", device->name);
    vs_json_bool(json, "simulated", device->simulated);
    vs_json_string(json, "level", device->level == VS_LEVEL_FRAMEWORK ? "framework" : "device");
    vs_json_uint(json, "allocated_bytes", device->allocated);
    vs_json_uint(json, "peak_bytes", device->peak);
    vs_json_uint(json, "reserved_bytes", device->reserved);
    vs_json_uint(json, "peak_reserved_bytes", device->peak_reserved);
    if (device->used_known)
        vs_json_uint(json, "used_bytes", device->used);
    vs_json_uint(json, "total_bytes", device->total);
    if (device->limit_bytes)
        vs_json_uint(json, "limit_bytes", device->limit_bytes);
    vs_json_uint(json, "allocated_bytes_per_second", device->bytes_per_second);
    vs_json_uint(json, "allocations_per_second", device->allocs_per_second);
    vs_json_begin_object(json, "unused");
    vs_json_uint(json, "bytes", device->cached);
    vs_json_uint(json, "holes", device->holes.count);
    vs_json_uint(json, "largest_hole_bytes", device->holes.largest);
    vs_json_end_object(json);
    const struct vs_growth_row *growth = &device->growth;
    if (!device->growing) {
        vs_json_string(json, "growth", NULL);
    } else {
        vs_json_begin_object(json, "growth");
        vs_json_uint(json, "bytes", growth->bytes);
        vs_json_uint(json, "bytes_per_step", growth->per_step);
        if (growth->since_step_known)
            vs_json_uint(json, "since_step", growth->since_step);
        vs_json_ratio(json, "confidence", growth->confidence);
        vs_json_end_object(json);
    }
    const struct vs_forecast *forecast = &device->forecast;
    char text[VS_FORECAST_TEXT_MAX];
    if (!forecast->known) {
        vs_json_string(json, "forecast", NULL);
    } else {
        vs_json_begin_object(json, "forecast");
        vs_json_string(json, "text", vs_forecast_text(text, forecast));
        vs_json_uint(json, "available_bytes", forecast->available);
        vs_json_uint(json, "bytes_per_step", forecast->per_step);
        vs_json_uint(json, "bytes_per_second", forecast->per_second);
        if (forecast->steps_known)
            vs_json_uint(json, "steps_left", forecast->steps);
        if (forecast->time_known)
            vs_json_uint(json, "seconds_left", forecast->seconds);
        vs_json_end_object(json);
    }
    vs_json_begin_object(json, "history");
    vs_json_ratio(json, "period_seconds", (double)device->history->period_ns / NS);
    vs_json_begin_array(json, "highest_bytes");
    for (size_t i = 0; i < device->history->count; i++)
        vs_json_uint(json, NULL, device->history->highest[i]);
    vs_json_end_array(json);
    vs_json_end_object(json);
    vs_json_begin_array(json, "sites");
    for (size_t i = 0; i < device->site_count; i++) {
        const struct vs_watch_site *site = &device->sites[i];
        vs_json_begin_object(json, NULL);
        vs_json_string(json, "name", site->name);
        vs_json_string(json, "chain", site->chain);
        vs_json_uint(json, "bytes", site->bytes);
        vs_json_uint(json, "count", site->count);
        vs_json_bool(json, "growing", site->growing);
        vs_json_uint(json, "growth_per_step", site->growth_per_step);
        vs_json_end_object(json);
    }
    vs_json_end_array(json);
    vs_json_uint(json, "sites_omitted", device->sites_omitted);
    vs_json_end_object(json);
}

static void put_process(struct vs_json *json, const struct vs_top_process *process)
{
    const struct vs_watch_view *view = &process->view;
    char program[VS_TOP_PROGRAM_MAX];
    vs_json_begin_object(json, NULL);
    vs_json_uint(json, "pid", process->pid);
    vs_json_string(json, "program", vs_top_program(program, view));
    vs_json_string(json, "command", view->cmdline);
    vs_json_string(json, "trace", view->path);
    vs_json_string(json, "state", process->error ? "unreadable" : view->running ? "running" : "ended");
    if (process->error)
        vs_json_string(json, "error", process->error);
    if (!process->error && !view->running)
        vs_json_string(json, "ending", view->ending);
    vs_json_ratio(json, "run_seconds", (double)view->run_ns / NS);
    vs_json_uint(json, "events", view->events);
    vs_json_uint(json, "failed_allocations", view->failures);
    vs_json_bool(json, "sampled", view->sampled);
    vs_json_uint(json, "host_bytes", view->host_bytes);
    static const char *const sources[] = {"none", "found", "marked"};
    vs_json_begin_object(json, "steps");
    vs_json_string(json, "source", sources[view->steps_source]);
    vs_json_uint(json, "begun", view->steps_begun);
    vs_json_uint(json, "number", view->step);
    vs_json_ratio(json, "seconds", (double)view->step_ns / NS);
    vs_json_end_object(json);
    vs_json_begin_array(json, "devices");
    for (size_t i = 0; i < view->device_count; i++)
        put_device(json, &view->devices[i]);
    vs_json_end_array(json);
    vs_json_end_object(json);
}

void vs_top_json(const struct vs_top_model *model, FILE *out)
{
    struct vs_json json = {.out = out, .pretty = true};
    vs_json_begin_object(&json, NULL);
    vs_json_string(&json, "schema", "vramscope.top/1");
    vs_json_begin_array(&json, "processes");
    for (size_t i = 0; i < model->count; i++)
        put_process(&json, &model->processes[i]);
    vs_json_end_array(&json);
    vs_json_end_object(&json);
    fputc('\n', out);
}
