/* SPDX-License-Identifier: Apache-2.0
 *
 * `vramscope replay --json`; docs/man/vramscope-replay.1 lists the members. Sizes are in bytes. */
#include "viewer/report/answer_text.h"

#include "viewer/common/json_writer.h"

void vs_replay_json(const struct vs_replay_view *view, FILE *out)
{
    struct vs_json json = vs_json_document(out, "vramscope.replay/1");
    vs_json_members(&json, VS_J_TEXT("trace", view->path), VS_J_UINT("device", view->recorded->device),
                    VS_J_TEXT("device_name", view->device_name),
                    VS_J_UINT("total_bytes", view->recorded->total_bytes));
    const struct vs_whatif_recorded *r = view->recorded;
    vs_json_object(&json, "recorded", VS_J_TEXT("setting", view->rows[0].setting),
                   VS_J_TEXT("requests",
                             r->requests == VS_WHATIF_FRAMEWORK ? "framework" : "program"),
                   VS_J_UINT("request_count", r->request_count), VS_J_UINT("steps", r->steps),
                   VS_J_UINT("failures", r->failures),
                   VS_J_UINT("last_failure_event", r->last_failure),
                   VS_J_UINT("reserved_peak_bytes", r->reserved_peak),
                   VS_J_UINT("held_peak_bytes", r->held_peak),
                   VS_J_UINT("least_bytes", r->live_peak),
                   VS_J_UINT("least_held_bytes", r->least_peak),
                   VS_J_UINT("other_peak_bytes", r->other_peak),
                   VS_J_UINT("outside_peak_bytes", r->outside_peak),
                   VS_J_UINT("unmatched_frees", r->unmatched),
                   VS_J_RATIO("replayed_difference", vs_replay_agreement(view)));
    for (size_t i = 0; vs_json_next_object(&json, "rows", i, view->count); i++) {
        const struct vs_replay_row *row = &view->rows[i];
        const struct vs_whatif_outcome *o = &row->outcome;
        vs_json_members(&json, VS_J_TEXT("setting", row->setting),
                        VS_J_TEXT("gpu", *row->gpu ? row->gpu : NULL),
                        VS_J_UINT("capacity_bytes",
                                  row->capacity ? row->capacity : view->recorded->total_bytes),
                        VS_J_TEXT("error", o->err ? vs_err_text(o->err) : NULL));
        if (!o->err) {
            vs_json_members(&json, VS_J_BOOL("survives", o->survives),
                            VS_J_UINT("reserved_peak_bytes", o->reserved_peak),
                            VS_J_UINT("held_peak_bytes", o->held_peak),
                            VS_J_UINT("used_peak_bytes", o->used_peak));
            vs_json_object(&json, "fullest", VS_J_UINT("reserved_bytes", o->fullest.reserved),
                           VS_J_UINT("rounding_bytes", o->fullest.rounding),
                           VS_J_UINT("other_bytes", o->fullest.other),
                           VS_J_UINT("kept_by_pools_bytes", o->fullest.kept),
                           VS_J_UINT("contexts_bytes", o->fullest.contexts),
                           VS_J_UINT("other_processes_bytes", o->fullest.others));
            vs_json_members(&json, VS_J_UINT("allocated_peak_bytes", o->allocated_peak),
                            VS_J_RATIO("fragmentation", vs_whatif_fragmentation(o)),
                            VS_J_UINT("retries", o->retries), VS_J_UINT("segments", o->segments));
            vs_json_object_if(&json, "failure", !o->survives, VS_J_UINT("event", o->fail_event),
                              VS_J_UINT("requested_bytes", o->fail_requested),
                              VS_J_UINT("short_bytes", o->fail_short),
                              VS_J_BOOL("other_memory", o->fail_other),
                              VS_J_UINT("steps_done", o->fail_steps),
                              VS_J_TEXT("place", row->place), VS_J_TEXT("where", row->where));
        }
        if (view->find)
            vs_json_members(&json, VS_J_UINT("least_capacity_bytes", row->least_capacity),
                            VS_J_TEXT("least_gpu", *row->least_gpu ? row->least_gpu : NULL));
    }
    vs_json_end_object(&json);
    fputc('\n', out);
}
