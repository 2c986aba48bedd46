/* SPDX-License-Identifier: Apache-2.0
 *
 * `vramscope replay --json`; docs/man/vramscope-replay.1 lists the members. Sizes are in bytes. */
#include "viewer/report/answer_text.h"

#include "viewer/common/json_writer.h"

static void put_failure(struct vs_json *json, const struct vs_replay_row *row)
{
    const struct vs_whatif_outcome *o = &row->outcome;
    if (o->survives) {
        vs_json_string(json, "failure", NULL);
        return;
    }
    vs_json_begin_object(json, "failure");
    vs_json_uint(json, "event", o->fail_event);
    vs_json_uint(json, "requested_bytes", o->fail_requested);
    vs_json_uint(json, "short_bytes", o->fail_short);
    vs_json_bool(json, "other_memory", o->fail_other);
    vs_json_uint(json, "steps_done", o->fail_steps);
    vs_json_string(json, "place", row->place);
    vs_json_string(json, "where", row->where);
    vs_json_end_object(json);
}

void vs_replay_json(const struct vs_replay_view *view, FILE *out)
{
    struct vs_json json = {.out = out, .pretty = true};
    vs_json_begin_object(&json, NULL);
    vs_json_string(&json, "schema", "vramscope.replay/1");
    vs_json_string(&json, "trace", view->path);
    vs_json_uint(&json, "device", view->recorded->device);
    vs_json_string(&json, "device_name", view->device_name);
    vs_json_uint(&json, "total_bytes", view->recorded->total_bytes);
    const struct vs_whatif_recorded *r = view->recorded;
    vs_json_begin_object(&json, "recorded");
    vs_json_string(&json, "setting", view->rows[0].setting);
    vs_json_string(&json, "requests",
                   r->requests == VS_WHATIF_FRAMEWORK ? "framework" : "program");
    vs_json_uint(&json, "request_count", r->request_count);
    vs_json_uint(&json, "steps", r->steps);
    vs_json_uint(&json, "failures", r->failures);
    vs_json_uint(&json, "last_failure_event", r->last_failure);
    vs_json_uint(&json, "reserved_peak_bytes", r->reserved_peak);
    vs_json_uint(&json, "held_peak_bytes", r->held_peak);
    vs_json_uint(&json, "least_bytes", r->live_peak);
    vs_json_uint(&json, "least_held_bytes", r->least_peak);
    vs_json_uint(&json, "other_peak_bytes", r->other_peak);
    vs_json_uint(&json, "outside_peak_bytes", r->outside_peak);
    vs_json_uint(&json, "unmatched_frees", r->unmatched);
    vs_json_ratio(&json, "replayed_difference", vs_replay_agreement(view));
    vs_json_end_object(&json);
    vs_json_begin_array(&json, "rows");
    for (size_t i = 0; i < view->count; i++) {
        const struct vs_replay_row *row = &view->rows[i];
        const struct vs_whatif_outcome *o = &row->outcome;
        vs_json_begin_object(&json, NULL);
        vs_json_string(&json, "setting", row->setting);
        vs_json_string(&json, "gpu", *row->gpu ? row->gpu : NULL);
        vs_json_uint(&json, "capacity_bytes",
                     row->capacity ? row->capacity : view->recorded->total_bytes);
        vs_json_string(&json, "error", o->err ? vs_err_text(o->err) : NULL);
        if (!o->err) {
            vs_json_bool(&json, "survives", o->survives);
            vs_json_uint(&json, "reserved_peak_bytes", o->reserved_peak);
            vs_json_uint(&json, "held_peak_bytes", o->held_peak);
            vs_json_uint(&json, "used_peak_bytes", o->used_peak);
            vs_json_begin_object(&json, "fullest");
            vs_json_uint(&json, "reserved_bytes", o->fullest.reserved);
            vs_json_uint(&json, "rounding_bytes", o->fullest.rounding);
            vs_json_uint(&json, "other_bytes", o->fullest.other);
            vs_json_uint(&json, "kept_by_pools_bytes", o->fullest.kept);
            vs_json_uint(&json, "contexts_bytes", o->fullest.contexts);
            vs_json_uint(&json, "other_processes_bytes", o->fullest.others);
            vs_json_end_object(&json);
            vs_json_uint(&json, "allocated_peak_bytes", o->allocated_peak);
            vs_json_ratio(&json, "fragmentation", vs_whatif_fragmentation(o));
            vs_json_uint(&json, "retries", o->retries);
            vs_json_uint(&json, "segments", o->segments);
            put_failure(&json, row);
        }
        if (view->find) {
            vs_json_uint(&json, "least_capacity_bytes", row->least_capacity);
            vs_json_string(&json, "least_gpu", *row->least_gpu ? row->least_gpu : NULL);
        }
        vs_json_end_object(&json);
    }
    vs_json_end_array(&json);
    vs_json_end_object(&json);
    fputc('\n', out);
}
