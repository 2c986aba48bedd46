/* SPDX-License-Identifier: Apache-2.0
 *
 * Sums of live blocks by phase, step, library, size and age; see held.h. A key is a number
 * (of the phase, the step, the library or the class); rows are found by it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/report/balance_build.h"
#include "analysis/report/held.h"
#include "analysis/report/summary.h"
#include "base/reading/vs_vec.h"
#include "base/reading/vs_xalloc.h"
#include "base/vs_size.h"

#define LABEL_MAX (VS_PLACE_TEXT_MAX + 64)
#define ROWS_MAX 4096 /* steps and phases beyond these are summed up in the last row */

struct held_key_row {
    uint64_t key;
    uint64_t bytes, blocks;
};

struct held_keys {
    struct held_key_row *items;
    size_t count, capacity;
    struct vs_map by_key; /* key + 1 -> index */
};

/* Keys of steps: blocks from before the first step, and those between steps. */
#define BEFORE_STEPS (UINT64_MAX - 1)
#define BETWEEN_STEPS (UINT64_MAX - 2)
#define AFTER_STEPS (UINT64_MAX - 3) /* also of phases */
#define OTHERS (UINT64_MAX - 4)

static const uint64_t size_limits[] = {4 * VS_KIB, 64 * VS_KIB, VS_MIB, 10 * VS_MIB, 100 * VS_MIB,
                                       VS_GIB, 10 * VS_GIB};
#define SIZES (sizeof size_limits / sizeof *size_limits)
static const uint64_t age_limits_ns[] = {1000000, 10000000, 100000000, 1000000000, 10000000000,
                                         60000000000, 600000000000};
#define AGES (sizeof age_limits_ns / sizeof *age_limits_ns)
static const uint64_t step_limits[] = {1, 2, 10, 100, 1000}; /* ages in steps, see vs_held_age */
#define STEP_AGES (sizeof step_limits / sizeof *step_limits)
#define AGE_BEFORE_STEPS 64

static void add(struct held_keys *keys, uint64_t key, uint64_t bytes)
{
    const uint64_t *found = vs_map_get(&keys->by_key, key + 1);
    if (!found && keys->count >= ROWS_MAX && key < OTHERS) {
        add(keys, OTHERS, bytes);
        return;
    }
    size_t index = found ? (size_t)*found : keys->count;
    if (!found) {
        vs_vec_room(&keys->items, &keys->capacity, index + 1, sizeof *keys->items);
        vs_xmap_put(&keys->by_key, key + 1, index);
        keys->items[keys->count++] = (struct held_key_row){.key = key};
    }
    keys->items[index].bytes += bytes;
    keys->items[index].blocks++;
}

static uint64_t class_of(uint64_t value, const uint64_t *limits, size_t count)
{
    size_t i = 0;
    while (i < count && value >= limits[i])
        i++;
    return i;
}

/* In steps where there are some: an epoch passes at the begin and at the end of each. */
static uint64_t age_key(const struct vs_replay *replay, const struct vs_held_block *block)
{
    if (!replay->phases.steps.begun) {
        uint64_t age = replay->now_ns > block->time_ns ? replay->now_ns - block->time_ns : 0;
        return class_of(age, age_limits_ns, AGES);
    }
    if (!block->epoch)
        return AGE_BEFORE_STEPS;
    uint64_t now = (vs_replay_epoch(replay) + 1) / 2, then = (block->epoch + 1) / 2;
    return class_of(now > then ? now - then : 0, step_limits, STEP_AGES);
}

static void sum_up(const struct vs_summary *summary, const struct vs_held_blocks *blocks,
                   const struct vs_kinds_table *kinds, enum vs_by by,
                   struct vs_site_libraries *names, struct held_keys *keys)
{
    for (size_t i = 0; i < blocks->count; i++) {
        const struct vs_held_block *block = &blocks->items[i];
        bool after_last = vs_phases_after_last(&summary->replay->phases, block->place);
        uint64_t key = 0;
        switch (by) {
        case VS_BY_KIND: { /* VS_KIND_COUNT: memory of the device that is no tensor */
            const struct vs_kind_block *found =
                block->tensor ? vs_kinds_find(kinds, kinds->device, block->addr) : NULL;
            key = !block->tensor ? VS_KIND_COUNT : found ? found->kind : VS_KIND_UNKNOWN;
            break;
        }
        case VS_BY_PHASE: key = after_last ? AFTER_STEPS : block->place.phase; break;
        case VS_BY_STEP:
            key = after_last               ? AFTER_STEPS
                  : block->place.step_known ? block->place.step
                  : block->epoch            ? BETWEEN_STEPS
                                            : BEFORE_STEPS;
            break;
        case VS_BY_SIZE: key = class_of(block->size, size_limits, SIZES); break;
        case VS_BY_AGE: key = age_key(summary->replay, block); break;
        case VS_BY_LIBRARY: key = vs_site_library(summary, names, block->site); break;
        default: return;
        }
        add(keys, key, block->size);
    }
}

/* --- from keys to rows --- */

/* "below 4 KiB", "4 KiB to 64 KiB", "10 GiB and more". */
static void range_label(char *out, const struct vs_held_row *row, const char *low, const char *high,
                        const char *below, const char *above)
{
    if (!row->low)
        snprintf(out, LABEL_MAX, "%s %s", below, high);
    else if (!row->high)
        snprintf(out, LABEL_MAX, "%s %s", low, above);
    else
        snprintf(out, LABEL_MAX, "%s to %s", low, high);
}

static void age_label(char *out, const struct vs_replay *replay, struct vs_held_row *row,
                      uint64_t key)
{
    if (!replay->phases.steps.begun) {
        row->low = key ? age_limits_ns[key - 1] : 0;
        row->high = key < AGES ? age_limits_ns[key] : 0;
        range_label(out, row, vs_time_text(row->low), vs_time_text(row->high), "less than",
                    "or more");
        return;
    }
    if (key == AGE_BEFORE_STEPS) {
        snprintf(out, LABEL_MAX, "from before the first step");
        return;
    }
    row->low = key ? step_limits[key - 1] : 0;
    row->high = key < STEP_AGES ? step_limits[key] - 1 : 0;
    if (key == 0)
        snprintf(out, LABEL_MAX, "from the latest step");
    else if (key == 1)
        snprintf(out, LABEL_MAX, "1 step old");
    else if (row->high)
        snprintf(out, LABEL_MAX, "%llu to %llu steps old", (unsigned long long)row->low,
                 (unsigned long long)row->high);
    else
        snprintf(out, LABEL_MAX, "%llu steps old or more", (unsigned long long)row->low);
}

static void label_of(char *out, const struct vs_summary *summary, enum vs_by by,
                     const struct vs_site_libraries *names, struct vs_held_row *row, uint64_t key)
{
    const struct vs_phases *phases = &summary->replay->phases;
    if (key == OTHERS) {
        snprintf(out, LABEL_MAX, "further ones");
        return;
    }
    switch (by) {
    case VS_BY_KIND:
        snprintf(out, LABEL_MAX, "%s", key == VS_KIND_COUNT ? "no tensors"
                                                            : vs_kind_name((enum vs_kind)key));
        break;
    case VS_BY_PHASE:
        if (key == 0)
            snprintf(out, LABEL_MAX, "outside of any range");
        else if (key == AFTER_STEPS)
            snprintf(out, LABEL_MAX, VS_AFTER_LAST_STEP);
        else
            vs_phases_text(phases, (struct vs_place){.phase = (uint32_t)key}, out);
        break;
    case VS_BY_STEP:
        if (key == BEFORE_STEPS)
            snprintf(out, LABEL_MAX, "before the first step");
        else if (key == BETWEEN_STEPS)
            snprintf(out, LABEL_MAX, "outside of steps");
        else if (key == AFTER_STEPS)
            snprintf(out, LABEL_MAX, VS_AFTER_LAST_STEP);
        else if (row->low == row->high)
            snprintf(out, LABEL_MAX, "step %llu", (unsigned long long)row->low);
        else
            snprintf(out, LABEL_MAX, "steps %llu to %llu, %s each", (unsigned long long)row->low,
                     (unsigned long long)row->high,
                         vs_size_text(row->bytes / (row->high - row->low + 1)));
        break;
    case VS_BY_SIZE:
        row->low = key ? size_limits[key - 1] : 0;
        row->high = key < SIZES ? size_limits[key] : 0;
        range_label(out, row, vs_size_text(row->low), vs_size_text(row->high), "below", "and more");
        break;
    case VS_BY_AGE: age_label(out, summary->replay, row, key); break;
    default: snprintf(out, LABEL_MAX, "%s", names->items[key].name);
    }
}

void vs_held_sum(const struct vs_summary *summary, const struct vs_held_blocks *blocks,
                 const struct vs_kinds_table *kinds, enum vs_by by,
                 struct vs_held_table *out)
{
    struct held_keys keys = {0};
    struct vs_site_libraries names = {0};
    *out = (struct vs_held_table){0};
    if (by == VS_BY_KIND && !kinds)
        return;
    sum_up(summary, blocks, kinds, by, &names, &keys);
    struct vs_held_row *rows = vs_xarena(summary->memory, (keys.count + 1) * sizeof *rows);
    vs_vec_sort(keys.items, keys.count, sizeof *keys.items, vs_order_u64);
    for (size_t i = 0, merged; i < keys.count; i += merged) {
        const struct held_key_row *first = &keys.items[i];
        struct vs_held_row *row = &rows[out->count++];
        char label[LABEL_MAX] = "";
        bool step = by == VS_BY_STEP && first->key < OTHERS;
        /* of steps one after the other with the same bytes, three or more are one row */
        for (merged = 1; step && i + merged < keys.count &&
                         first[merged].key == first->key + merged &&
                         first[merged].bytes == first->bytes; merged++)
            ;
        merged = merged >= 3 ? merged : 1;
        *row = (struct vs_held_row){.low = step ? first->key : 0,
                                    .high = step ? first[merged - 1].key : 0};
        for (size_t k = 0; k < merged; k++) {
            row->bytes += first[k].bytes;
            row->blocks += first[k].blocks;
        }
        out->bytes += row->bytes;
        out->blocks += row->blocks;
        label_of(label, summary, by, &names, row, first->key);
        row->label = vs_text_copy(summary->memory, label);
    }
    if (by != VS_BY_SIZE && by != VS_BY_AGE)
        VS_SORT(rows, out->count, VS_DOWN(bytes), VS_UP(low));
    out->rows = rows;
    if (by == VS_BY_KIND)
        out->note = vs_kinds_note(kinds);
    free(keys.items);
    vs_map_free(&keys.by_key);
    free(names.of_site);
    free(names.items);
}
