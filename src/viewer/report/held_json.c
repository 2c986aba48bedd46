/* SPDX-License-Identifier: Apache-2.0
 *
 * Live memory at one time, and repeated allocations, as JSON. */
#include "viewer/report/report_parts.h"

#include "viewer/report/report_text.h"

static void table(struct vs_json *json, const struct vs_held *held, enum vs_by by)
{
    const struct vs_held_table *list = &held->by[by];
    vs_json_begin_array(json, vs_by_name(by));
    for (size_t i = 0; i < list->count; i++) {
        const struct vs_held_row *row = &list->rows[i];
        vs_json_begin_object(json, NULL);
        vs_json_string(json, "name", row->label);
        vs_json_uint(json, "bytes", row->bytes);
        vs_json_uint(json, "blocks", row->blocks);
        if (by == VS_BY_STEP || by == VS_BY_SIZE || by == VS_BY_AGE) {
            vs_json_uint(json, "from", row->low);
            vs_json_uint(json, "to", row->high);
        }
        vs_json_end_object(json);
    }
    vs_json_end_array(json);
}

void vs_held_json(struct vs_json *json, const char *key, const struct vs_held *held)
{
    if (!held->known) {
        vs_json_string(json, key, NULL);
        return;
    }
    vs_json_begin_object(json, key);
    vs_json_uint(json, "event", held->event);
    vs_json_uint(json, "time_ns", held->time_ns);
    vs_json_string(json, "phase", held->place);
    vs_json_uint(json, "bytes", held->bytes);
    vs_json_uint(json, "blocks", held->blocks);
    vs_json_uint(json, "bytes_before_filter", held->all_bytes);
    vs_json_uint(json, "blocks_before_filter", held->all_blocks);
    vs_report_json_sites(json, "by_site", held->sites);
    if (held->others)
        vs_report_json_sites(json, "others_by_site", held->others);
    vs_json_begin_object(json, "by");
    for (int by = VS_BY_SITE + 1; by < VS_BY_COUNT; by++)
        table(json, held, (enum vs_by)by);
    vs_json_end_object(json);
    vs_json_uint(json, "rounding_bytes", held->rounding_bytes);
    vs_report_json_sites(json, "rounding_by_site", held->rounding);
    if (held->activity_known) {
        vs_json_begin_object(json, "unused");
        vs_json_uint(json, "bytes", held->unused_bytes);
        vs_json_uint(json, "blocks", held->unused_blocks);
        vs_report_json_sites(json, "by_site", held->unused ? held->unused : &(struct vs_report_sites){.weight = 1});
        vs_json_end_object(json);
    } else {
        vs_json_string(json, "unused", NULL);
    }
    if (held->picture_known) {
        vs_json_begin_array(json, "segments");
        for (size_t i = 0; i < held->segment_count; i++) {
            const struct vs_picture_segment *s = &held->segments[i];
            vs_json_begin_object(json, NULL);
            vs_json_uint(json, "address", s->addr);
            vs_json_uint(json, "bytes", s->size);
            vs_json_uint(json, "used_bytes", s->used);
            vs_json_bool(json, "in_segment", !s->alone);
            vs_json_uint(json, "stream", s->stream);
            vs_json_uint(json, "pool", s->pool);
            vs_json_uint(json, "blocks", s->blocks);
            vs_json_uint(json, "holes", s->holes);
            vs_json_uint(json, "largest_hole_bytes", s->largest_hole);
            vs_json_end_object(json);
        }
        vs_json_end_array(json);
    }
    vs_json_end_object(json);
}

void vs_churn_json(struct vs_json *json, const char *key, const struct vs_report_device *device)
{
    vs_json_begin_object(json, key);
    vs_json_begin_array(json, "sites");
    for (size_t i = 0; i < device->churn_count; i++) {
        const struct vs_report_churn *churn = &device->churn[i];
        vs_json_begin_object(json, NULL);
        vs_json_uint(json, "block_bytes", churn->block_bytes);
        vs_json_ratio(json, "allocations_per_step", churn->per_step);
        vs_json_bool(json, "one_at_a_time", churn->one_at_a_time);
        vs_report_json_site(json, &churn->site);
        vs_json_end_object(json);
    }
    vs_json_end_array(json);
    vs_json_uint(json, "omitted_sites", device->churn_omitted);
    vs_json_end_object(json);
}
