/* SPDX-License-Identifier: Apache-2.0
 *
 * Live memory at one time, and repeated allocations, as JSON. */
#include "viewer/report/report_parts.h"

#include "viewer/report/report_text.h"

void vs_held_json(struct vs_json *json, const char *key, const struct vs_held *held)
{
    if (!vs_json_begin_object_if(json, key, held->known))
        return;
    vs_json_members(json, VS_J_UINT("event", held->event), VS_J_UINT("time_ns", held->time_ns),
                    VS_J_TEXT("phase", held->place), VS_J_UINT("bytes", held->bytes),
                    VS_J_UINT("blocks", held->blocks),
                    VS_J_UINT("bytes_before_filter", held->all_bytes),
                    VS_J_UINT("blocks_before_filter", held->all_blocks));
    vs_report_json_sites(json, "by_site", held->sites);
    if (held->others)
        vs_report_json_sites(json, "others_by_site", held->others);
    vs_json_begin_object(json, "by");
    for (enum vs_by by = VS_BY_SITE + 1; by < VS_BY_COUNT; by++) {
        const struct vs_held_table *list = &held->by[by];
        if ((by == VS_BY_OP && !list->count && !list->note) || by == VS_BY_MODULE)
            continue; /* not asked for; or below */
        for (size_t i = 0; vs_json_next_object(json, vs_by_name(by), i, list->count); i++) {
            const struct vs_held_row *row = &list->rows[i];
            vs_json_members(json, VS_J_TEXT("name", row->label), VS_J_UINT("bytes", row->bytes),
                            VS_J_UINT("blocks", row->blocks));
            if (by == VS_BY_STEP || by == VS_BY_SIZE || by == VS_BY_AGE)
                vs_json_members(json, VS_J_UINT("from", row->low), VS_J_UINT("to", row->high));
            if (by == VS_BY_OP)
                vs_json_members(json, VS_J_UINT("bytes_with_calls", row->bytes_total),
                                VS_J_UINT("allocated_bytes", row->allocated),
                                VS_J_UINT("allocated_bytes_with_calls", row->allocated_total),
                                VS_J_UINT("allocations", row->allocations));
        }
    }
    const char *modules = held->modules.count ? vs_by_name(VS_BY_MODULE) : NULL;
    for (size_t i = 0; modules && vs_json_next(json, modules, i, held->modules.count); i++) {
        const struct vs_module_row *row = &held->modules.items[i];
        vs_json_object(json, NULL, VS_J_TEXT("model", *row->model ? row->model : NULL), VS_J_TEXT("module", row->path),
                       VS_J_TEXT("kind", vs_kind_key(row->kind)), VS_J_TEXT("pass", vs_torch_pass_name(row->pass)),
                       VS_J_UINT("bytes", row->bytes), VS_J_UINT("blocks", row->blocks));
    }
    vs_json_end_object(json);
    vs_json_uint(json, "rounding_bytes", held->rounding_bytes);
    vs_report_json_sites(json, "rounding_by_site", held->rounding);
    if (vs_json_begin_object_if(json, "unused", held->activity_known)) {
        vs_json_members(json, VS_J_UINT("bytes", held->unused_bytes),
                        VS_J_UINT("blocks", held->unused_blocks));
        vs_report_json_sites(json, "by_site", held->unused ? held->unused : &(struct vs_report_sites){.weight = 1});
        vs_json_end_object(json);
    }
    if (held->picture_known) {
        for (size_t i = 0; vs_json_next(json, "segments", i, held->segment_count); i++) {
            const struct vs_picture_segment *s = &held->segments[i];
            vs_json_object(json, NULL, VS_J_UINT("address", s->addr), VS_J_UINT("bytes", s->size),
                           VS_J_UINT("used_bytes", s->used), VS_J_BOOL("in_segment", !s->alone),
                           VS_J_UINT("stream", s->stream), VS_J_UINT("pool", s->pool),
                           VS_J_UINT("blocks", s->blocks), VS_J_UINT("holes", s->holes),
                           VS_J_UINT("largest_hole_bytes", s->largest_hole));
        }
    }
    vs_json_end_object(json);
}

void vs_churn_json(struct vs_json *json, const char *key, const struct vs_report_device *device)
{
    vs_json_begin_object(json, key);
    for (size_t i = 0; vs_json_next_object(json, "sites", i, device->churn_count); i++) {
        const struct vs_report_churn *churn = &device->churn[i];
        vs_json_members(json, VS_J_UINT("block_bytes", churn->block_bytes),
                        VS_J_RATIO("allocations_per_step", churn->per_step),
                        VS_J_BOOL("one_at_a_time", churn->one_at_a_time));
        vs_report_json_site(json, &churn->site);
    }
    vs_json_uint(json, "omitted_sites", device->churn_omitted);
    vs_json_end_object(json);
}
