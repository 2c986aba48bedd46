/* SPDX-License-Identifier: Apache-2.0
 *
 * `vramscope advise --json`; docs/man/vramscope-advise.1 lists the members. Sizes are in bytes. */
#include "viewer/report/answer_text.h"

#include "viewer/common/json_writer.h"

static void put_row(struct vs_json *json, const struct vs_advice_row *row)
{
    static const char *const sources[] = {"run", "replayed", "estimated"};
    vs_json_members(json, VS_J_TEXT("label", row->label), VS_J_TEXT("changes", row->changes),
                    VS_J_TEXT("settings", row->settings), VS_J_TEXT("value", row->value),
                    VS_J_TEXT("source", sources[row->source]), VS_J_TEXT("why", row->why),
                    VS_J_BOOL("fits", row->fits), VS_J_BOOL("proven", row->proven),
                    VS_J_BOOL("if_assumed", row->if_assumed),
                    VS_J_KNOWN("peak_allocated_bytes", row->known, row->peak),
                    VS_J_KNOWN("peak_reserved_bytes", row->known, row->reserved),
                    VS_J_KNOWN("peak_used_bytes", row->known, row->used),
                    VS_J_KNOWN_INT("saved_bytes", row->known, row->saved),
                    VS_J_KNOWN_INT("headroom_bytes", row->known, row->headroom));
    vs_json_object_if(json, "estimated_cost", row->cost_known, VS_J_RATIO("compute", row->compute),
                      VS_J_INT("copy_bytes", row->copies));
    vs_json_members(json, VS_J_BOOL("cached", row->cached), VS_J_UINT("wall_ns", row->wall_ns));
}

static void put_step(struct vs_json *json, const struct vs_advice_step *step)
{
    vs_json_members(json, VS_J_TEXT("label", step->label), VS_J_TEXT("change", step->change),
                    VS_J_KNOWN_INT("saved_bytes", step->known, step->saved));
    for (size_t i = 0; vs_json_next(json, "lines", i, step->line_count); i++)
        vs_json_object(json, NULL, VS_J_TEXT("place", step->lines[i].place),
                       VS_J_TEXT("code", step->lines[i].code), VS_J_UINT("count", step->lines[i].count));
}

static void put_left(struct vs_json *json, const char *key, const struct vs_advice_left *items, size_t count)
{
    for (size_t i = 0; vs_json_next(json, key, i, count); i++)
        vs_json_object(json, NULL, VS_J_TEXT("label", items[i].label), VS_J_TEXT("change", items[i].change),
                       VS_J_TEXT("why", items[i].why));
}

static void put_advice(struct vs_json *json, const struct vs_advice *advice)
{
    static const char *const answers[] = {"unknown", "no", "yes"};
    bool known = advice->answer != VS_FIT_UNKNOWN || advice->interrupted;
    vs_json_members(json, VS_J_TEXT("gpu", advice->gpu), VS_J_UINT("total_bytes", advice->total_bytes),
                    VS_J_UINT("margin_bytes", advice->margin_bytes),
                    VS_J_TEXT("fits", answers[advice->answer]),
                    VS_J_TEXT("fits_as_it_is", answers[advice->as_it_is->answer]),
                    VS_J_TEXT("why", advice->why), VS_J_BOOL("interrupted", advice->interrupted),
                    VS_J_TEXT("stderr", advice->errors),
                    VS_J_TEXT("torch", *advice->torch ? advice->torch : NULL),
                    VS_J_UINT("runs", advice->runs), VS_J_UINT("cached_runs", advice->cached),
                    VS_J_UINT("steps", advice->steps_run),
                    VS_J_KNOWN("plan", known && advice->plan < advice->row_count, advice->plan));
    for (size_t i = 0; vs_json_next_object(json, "rows", i, known ? advice->row_count : 0); i++)
        put_row(json, &advice->rows[i]);
    for (size_t i = 0; vs_json_next_object(json, "steps_of_plan", i, advice->step_count); i++)
        put_step(json, &advice->steps[i]);
    put_left(json, "left_out", advice->absent, advice->absent_count);
    put_left(json, "not_needed", advice->spared, advice->spared_count);
}

void vs_advice_json(const struct vs_advice_set *set, FILE *out)
{
    struct vs_json json = vs_json_document(out, "vramscope.advise/1");
    vs_json_begin_array(&json, "command");
    for (char *const *word = set->program; *word; word++)
        vs_json_string(&json, NULL, *word);
    vs_json_end_array(&json);
    vs_json_string(&json, "vary", set->vary);
    for (size_t g = 0; vs_json_next_object(&json, "gpus", g, set->count); g++)
        put_advice(&json, &set->items[g]);
    vs_json_end_object(&json);
}
