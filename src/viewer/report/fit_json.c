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
    vs_json_begin_array(json, key);
    for (size_t i = 0; i < holders->count; i++) {
        vs_json_begin_object(json, NULL);
        vs_json_string(json, "where", holders->items[i].where);
        vs_json_uint(json, "bytes", holders->items[i].bytes);
        vs_json_uint(json, "count", holders->items[i].count);
        vs_report_json_parts(json, &holders->items[i].parts);
        vs_json_end_object(json);
    }
    vs_json_end_array(json);
}

/* Bytes by kind; null without tensors. */
static void put_kinds(struct vs_json *json, const char *key, const struct vs_kinds_table *table)
{
    if (!table->total.bytes) {
        vs_json_string(json, key, NULL);
        return;
    }
    vs_json_begin_object(json, key);
    for (int k = 0; k < VS_KIND_COUNT; k++)
        vs_json_uint(json, vs_kind_key((enum vs_kind)k), table->kinds[k].bytes);
    vs_json_uint(json, "assumed", table->assumed_bytes);
    vs_json_end_object(json);
}

static void put_device(struct vs_json *json, const struct vs_fit_run *run)
{
    const struct vs_fit_device *device = run->worst_device;
    if (!device) {
        vs_json_string(json, "device", NULL);
        return;
    }
    vs_json_begin_object(json, "device");
    vs_json_uint(json, "device", device->device);
    vs_json_string(json, "name", device->name);
    vs_json_uint(json, "total_bytes", device->total_bytes);
    vs_json_string(json, "program", run->worst->program);
    vs_json_uint(json, "pid", run->worst->pid);
    vs_json_string(json, "rank", run->worst->rank);
    vs_json_uint(json, "steps", run->worst->steps);
    vs_json_uint(json, "sharing_processes", run->sharing);
    vs_json_bool(json, "tensors", device->tensors);
    vs_json_uint(json, "peak_allocated_bytes", device->peak_allocated);
    vs_json_uint(json, "peak_reserved_bytes", device->peak_reserved);
    vs_json_uint(json, "peak_used_bytes", run->used_peak);
    vs_json_uint(json, "context_bytes", device->outside);
    vs_json_uint(json, "headroom_bytes", vs_fit_headroom(run));
    vs_json_string(json, "peak_place", device->peak_place);
    put_holders(json, "peak_held_by", &device->holders);
    put_kinds(json, "peak_kinds", &device->kinds);
    const struct vs_fit_failure *failure = &device->failure;
    if (!failure->requested) {
        vs_json_string(json, "failure", NULL);
    } else {
        vs_json_begin_object(json, "failure");
        vs_json_uint(json, "requested_bytes", failure->requested);
        vs_json_uint(json, "short_bytes", failure->missing);
        vs_json_uint(json, "free_bytes", failure->free_bytes);
        vs_json_string(json, "place", failure->place);
        vs_json_string(json, "where", failure->where);
        vs_json_bool(json, "framework", failure->framework);
        vs_json_bool(json, "out_of_memory", !failure->other_error);
        vs_json_uint(json, "error", failure->error);
        put_holders(json, "held_by", &failure->holders);
        put_kinds(json, "kinds", &failure->kinds);
        vs_json_end_object(json);
    }
    vs_json_end_object(json);
}

/* "yes_if_assumed" and "no_if_assumed": sizes that were assumed decide. */
static const char *verdict_name(const struct vs_fit_run *run)
{
    return !run->if_assumed            ? answer_name(run->answer)
           : run->answer == VS_FIT_YES ? "yes_if_assumed"
                                       : "no_if_assumed";
}

static void put_assumed_sum(struct vs_json *json, const struct vs_fit_assumed *assumed)
{
    vs_json_begin_object(json, "assumed_sum");
    vs_json_uint(json, "sizes", assumed->count);
    vs_json_uint(json, "bytes", assumed->bytes);
    vs_json_uint(json, "margin_bytes", assumed->margin);
    vs_json_end_object(json);
}

static void put_notes(struct vs_json *json, const char *key, const struct vs_fit_note_list *list)
{
    bool assumed = strcmp(key, "assumed") == 0;
    vs_json_begin_array(json, key);
    for (size_t i = 0; i < list->count; i++) {
        vs_json_begin_object(json, NULL);
        vs_json_string(json, "library", list->items[i].library);
        vs_json_string(json, "name", list->items[i].name);
        vs_json_uint(json, "bytes", list->items[i].bytes);
        vs_json_uint(json, "count", list->items[i].count);
        vs_json_string(json, "text", list->items[i].text);
        vs_json_bool(json, "varied", list->items[i].varied);
        if (assumed) {
            vs_json_uint(json, "margin_bytes", vs_fit_note_margin(&list->items[i]));
            vs_json_bool(json, "lasts", vs_fit_note_lasts(&list->items[i]));
        }
        vs_json_end_object(json);
    }
    vs_json_end_array(json);
}

void vs_fit_json(const struct vs_fit_set *set, FILE *out)
{
    struct vs_json json = {.out = out, .pretty = true};
    vs_json_begin_object(&json, NULL);
    vs_json_string(&json, "schema", "vramscope.fit/1");
    vs_json_begin_array(&json, "command");
    for (char *const *word = set->program; *word; word++)
        vs_json_string(&json, NULL, *word);
    vs_json_end_array(&json);
    vs_json_string(&json, "vary", set->vary);
    /* The largest value that fits, for each GPU. */
    vs_json_begin_array(&json, "largest");
    for (size_t i = 0; set->vary && i < set->count; i++) {
        const char *gpu = set->runs[i].gpu;
        bool seen = false;
        for (size_t k = 0; k < i; k++)
            seen |= strcmp(set->runs[k].gpu, gpu) == 0;
        if (seen)
            continue;
        const struct vs_fit_run *largest = vs_fit_set_largest(set, gpu);
        vs_json_begin_object(&json, NULL);
        vs_json_string(&json, "gpu", gpu);
        vs_json_string(&json, "value", largest ? largest->value : NULL);
        vs_json_end_object(&json);
    }
    vs_json_end_array(&json);
    vs_json_string(&json, "fits", answer_name(vs_fit_set_answer(set, NULL)));
    vs_json_begin_array(&json, "runs");
    for (size_t i = 0; i < set->count; i++) {
        const struct vs_fit_run *run = &set->runs[i];
        vs_json_begin_object(&json, NULL);
        vs_json_string(&json, "gpu", run->gpu);
        vs_json_string(&json, "value", run->value);
        vs_json_string(&json, "fits", answer_name(run->answer));
        vs_json_string(&json, "verdict", verdict_name(run));
        vs_json_string(&json, "why", *run->why ? run->why : NULL);
        vs_json_int(&json, "exit_status", run->status);
        vs_json_bool(&json, "stopped_after_steps", run->stopped);
        vs_json_uint(&json, "wall_ns", run->wall_ns);
        vs_json_uint(&json, "processes", run->trace_count);
        vs_json_uint(&json, "recovered_failures", run->recovered);
        vs_json_uint(&json, "cache_retries", run->retries);
        put_device(&json, run);
        const struct vs_fit_remedy *remedy = &run->remedy;
        if (!remedy->text) {
            vs_json_string(&json, "remedy", NULL);
        } else {
            vs_json_begin_object(&json, "remedy");
            vs_json_string(&json, "kind", remedy->kind);
            vs_json_string(&json, "text", remedy->text);
            vs_json_uint(&json, "bytes", remedy->bytes);
            vs_json_bool(&json, "replayed", true);
            vs_json_end_object(&json);
        }
        put_assumed_sum(&json, &run->assumed);
        put_notes(&json, "assumed", &run->notes.lists[VS_FIT_ASSUMED]);
        put_notes(&json, "measured", &run->notes.lists[VS_FIT_MEASURED]);
        put_notes(&json, "unsupported", &run->notes.lists[VS_FIT_UNSUPPORTED]);
        put_notes(&json, "decided_by_values_not_computed", &run->notes.lists[VS_FIT_DECIDED]);
        put_notes(&json, "read_but_not_computed", &run->notes.lists[VS_FIT_READ]);
        put_notes(&json, "replaced_kernels", &run->notes.lists[VS_FIT_REPLACED]);
        vs_json_begin_object(&json, "values");
        vs_json_uint(&json, "computed", run->notes.computed);
        vs_json_uint(&json, "skipped", run->notes.skipped);
        vs_json_uint(&json, "failed", run->notes.failed);
        vs_json_uint(&json, "read", run->notes.read);
        vs_json_uint(&json, "decided", run->notes.decided);
        vs_json_end_object(&json);
        vs_json_string(&json, "stderr", run->answer == VS_FIT_UNKNOWN ? run->errors : NULL);
        vs_json_end_object(&json);
    }
    vs_json_end_array(&json);
    vs_json_end_object(&json);
}
