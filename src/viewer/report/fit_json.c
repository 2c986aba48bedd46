/* SPDX-License-Identifier: Apache-2.0
 *
 * `vramscope fit --json`; docs/man/vramscope-fit.1 lists the members. Sizes are in bytes. */
#include "viewer/report/answer_text.h"

#include <string.h>

#include "viewer/common/json_writer.h"
#include "viewer/report/report_text.h"

static const char *answer_name(enum vs_fit_answer answer)
{
    static const char *const names[] = {"unknown", "no", "yes"};
    return names[answer];
}

static void put_holders(struct vs_json *json, const char *key, const struct vs_fit_holders *holders)
{
    for (size_t i = 0; vs_json_next_object(json, key, i, holders->count); i++) {
        vs_json_members(json, VS_J_TEXT("where", holders->items[i].where),
                        VS_J_UINT("bytes", holders->items[i].bytes),
                        VS_J_UINT("count", holders->items[i].count));
        vs_report_json_parts(json, &holders->items[i].parts);
    }
}

/* Bytes by kind; null without tensors. */
static void put_kinds(struct vs_json *json, const char *key, const struct vs_kinds_table *table)
{
    if (!vs_json_begin_object_if(json, key, table->total.bytes))
        return;
    for (int k = 0; k < VS_KIND_COUNT; k++)
        vs_json_uint(json, vs_kind_key((enum vs_kind)k), table->kinds[k].bytes);
    vs_json_uint(json, "assumed", table->assumed_bytes);
    vs_json_end_object(json);
}

static void put_device(struct vs_json *json, const struct vs_fit_run *run)
{
    const struct vs_fit_device *device = run->worst_device;
    if (!vs_json_begin_object_if(json, "device", device))
        return;
    vs_json_members(json, VS_J_UINT("device", device->device), VS_J_TEXT("name", device->name),
                    VS_J_UINT("total_bytes", device->total_bytes),
                    VS_J_TEXT("program", run->worst->program), VS_J_UINT("pid", run->worst->pid),
                    VS_J_TEXT("rank", run->worst->rank), VS_J_UINT("steps", run->worst->steps),
                    VS_J_UINT("sharing_processes", run->sharing),
                    VS_J_BOOL("tensors", device->tensors),
                    VS_J_UINT("peak_allocated_bytes", device->peak_allocated),
                    VS_J_UINT("peak_reserved_bytes", device->peak_reserved),
                    VS_J_UINT("peak_used_bytes", run->used_peak),
                    VS_J_UINT("context_bytes", device->outside),
                    VS_J_UINT("headroom_bytes", vs_fit_headroom(run)),
                    VS_J_TEXT("peak_place", device->peak_place));
    put_holders(json, "peak_held_by", &device->holders);
    put_kinds(json, "peak_kinds", &device->kinds);
    const struct vs_fit_failure *failure = &device->failure;
    if (vs_json_begin_object_if(json, "failure", failure->requested)) {
        vs_json_members(json, VS_J_UINT("requested_bytes", failure->requested),
                        VS_J_UINT("short_bytes", failure->missing),
                        VS_J_UINT("free_bytes", failure->free_bytes),
                        VS_J_TEXT("place", failure->place), VS_J_TEXT("where", failure->where),
                        VS_J_BOOL("framework", failure->framework),
                        VS_J_BOOL("out_of_memory", !failure->other_error),
                        VS_J_UINT("error", failure->error));
        put_holders(json, "held_by", &failure->holders);
        put_kinds(json, "kinds", &failure->kinds);
        vs_json_end_object(json);
    }
    vs_json_end_object(json);
}

static void put_notes(struct vs_json *json, const char *key, const struct vs_fit_note_list *list)
{
    bool assumed = strcmp(key, "assumed") == 0;
    for (size_t i = 0; vs_json_next_object(json, key, i, list->count); i++) {
        vs_json_members(json, VS_J_TEXT("library", list->items[i].library),
                        VS_J_TEXT("name", list->items[i].name),
                        VS_J_UINT("bytes", list->items[i].bytes),
                        VS_J_UINT("count", list->items[i].count),
                        VS_J_TEXT("text", list->items[i].text),
                        VS_J_BOOL("varied", list->items[i].varied));
        if (assumed)
            vs_json_members(json, VS_J_UINT("margin_bytes", vs_fit_note_margin(&list->items[i])),
                            VS_J_BOOL("lasts", vs_fit_note_lasts(&list->items[i])));
    }
}

void vs_fit_json(const struct vs_fit_set *set, FILE *out)
{
    struct vs_json json = vs_json_document(out, "vramscope.fit/1");
    vs_json_begin_array(&json, "command");
    for (char *const *word = set->program; *word; word++)
        vs_json_string(&json, NULL, *word);
    vs_json_end_array(&json);
    vs_json_members(&json, VS_J_TEXT("vary", set->vary), VS_J_KNOWN("ranks", set->ranks != 0, set->ranks));
    /* The largest value that fits, for each GPU. */
    for (size_t i = 0; vs_json_next(&json, "largest", i, set->vary ? set->count : 0); i++) {
        const char *gpu = set->runs[i].gpu;
        if (vs_fit_set_first(set, gpu) != &set->runs[i])
            continue;
        const struct vs_fit_run *largest = vs_fit_set_largest(set, gpu);
        vs_json_object(&json, NULL, VS_J_TEXT("gpu", gpu),
                       VS_J_TEXT("value", largest ? largest->value : NULL));
    }
    vs_json_string(&json, "fits", answer_name(vs_fit_set_answer(set, NULL)));
    for (size_t i = 0; vs_json_next_object(&json, "runs", i, set->count); i++) {
        const struct vs_fit_run *run = &set->runs[i];
        const struct vs_fit_remedy *remedy = &run->remedy;
        bool yes = run->answer == VS_FIT_YES;
        const char *verdict = !run->if_assumed && !(yes && run->if_no_more) ? answer_name(run->answer)
                              : yes ? "yes_if_assumed" : "no_if_assumed";
        vs_json_members(&json, VS_J_TEXT("gpu", run->gpu), VS_J_TEXT("value", run->value),
                        VS_J_TEXT("rank", run->rank), VS_J_TEXT("fits", answer_name(run->answer)), VS_J_TEXT("verdict", verdict),
                        VS_J_TEXT("why", *run->why ? run->why : NULL),
                        VS_J_INT("exit_status", run->status),
                        VS_J_BOOL("stopped_after_steps", run->stopped),
                        VS_J_UINT("wall_ns", run->wall_ns),
                        VS_J_UINT("host_bytes", run->host_bytes),
                        VS_J_UINT("processes", run->trace_count),
                        VS_J_UINT("recovered_failures", run->recovered),
                        VS_J_UINT("cache_retries", run->retries),
                        VS_J_KNOWN("needed_bytes", run->needed != 0, run->needed),
                        VS_J_KNOWN("needed_in_steps", run->needed_steps != 0, run->needed_steps));
        put_device(&json, run);
        vs_json_object_if(&json, "remedy", remedy->text, VS_J_TEXT("kind", remedy->kind),
                          VS_J_TEXT("text", remedy->text), VS_J_UINT("bytes", remedy->bytes),
                          VS_J_BOOL("replayed", true));
        vs_json_object(&json, "assumed_sum", VS_J_UINT("sizes", run->assumed.count),
                       VS_J_UINT("bytes", run->assumed.bytes),
                       VS_J_UINT("margin_bytes", run->assumed.margin));
        put_notes(&json, "assumed", &run->notes.lists[VS_FIT_ASSUMED]);
        put_notes(&json, "measured", &run->notes.lists[VS_FIT_MEASURED]);
        put_notes(&json, "unsupported", &run->notes.lists[VS_FIT_UNSUPPORTED]);
        put_notes(&json, "decided_by_values_not_computed", &run->notes.lists[VS_FIT_DECIDED]);
        put_notes(&json, "read_but_not_computed", &run->notes.lists[VS_FIT_READ]);
        put_notes(&json, "replaced_kernels", &run->notes.lists[VS_FIT_REPLACED]);
        put_notes(&json, "not_known_without_other_ranks", &run->notes.lists[VS_FIT_UNANSWERED]);
        vs_json_object(&json, "values", VS_J_UINT("computed", run->notes.computed),
                       VS_J_UINT("skipped", run->notes.skipped),
                       VS_J_UINT("failed", run->notes.failed), VS_J_UINT("read", run->notes.read),
                       VS_J_UINT("decided", run->notes.decided),
                       VS_J_UINT("not_drawn", run->notes.not_drawn));
        vs_json_string(&json, "stderr", run->answer == VS_FIT_UNKNOWN ? run->errors : NULL);
    }
    vs_json_end_object(&json);
}
