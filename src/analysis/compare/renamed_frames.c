/* SPDX-License-Identifier: Apache-2.0
 *
 * Only stacks of one length are used: there a frame of one is a frame of the other. */
#include "analysis/compare/renamed_frames.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/compare/site_similar.h"
#include "base/reading/vs_vec.h"
#include "base/vs_text.h"

#define TEXT_MAX 2048
#define RENAMED_MAX 65536

struct renamed_list {
    struct vs_renamed_frame *items;
    size_t count, capacity;
};

static const char *text_of(struct vs_arena *memory, const struct vs_report_frame *frame)
{
    char text[TEXT_MAX];
    snprintf(text, sizeof text, "%.1500s (%.500s)", frame->function, vs_text_base_name(frame->file));
    return vs_xarena_text(memory, text);
}

static void add_pair(struct vs_comparison *comparison, const struct vs_site_pair *pair,
                     struct renamed_list *list)
{
    size_t x[VS_SIMILAR_FRAMES], y[VS_SIMILAR_FRAMES];
    const struct vs_report_site *a = pair->a->site, *b = pair->b->site;
    size_t n = vs_site_frames(a, x), m = vs_site_frames(b, y);
    for (size_t i = 0; n == m && i < n && list->count < RENAMED_MAX; i++) {
        const struct vs_report_frame *p = &a->frames[x[i]], *q = &b->frames[y[i]];
        if (!p->file || !q->file || !p->line || !q->line || (vs_same_function(p, q) && vs_same_file(p, q)))
            continue;
        struct vs_renamed_frame one = {text_of(&comparison->memory, p), text_of(&comparison->memory, q)};
        if (!one.was || !one.is)
            return;
        vs_vec_room(&list->items, &list->capacity, list->count + 1, sizeof *list->items);
        list->items[list->count++] = one;
    }
}

void vs_renamed_frames(struct vs_comparison *comparison, const struct vs_renamed_frame **out,
                       size_t *count)
{
    struct renamed_list list = {0};
    for (size_t s = 0; s < comparison->site_count; s++) {
        const struct vs_site_changes *changes = &comparison->sites[s].changes;
        bool peak = comparison->sites[s].metric == VS_METRIC_ALLOCATED;
        for (size_t i = 0; peak && i < changes->count; i++)
            if (changes->items[i].move > VS_MOVE_LINE)
                add_pair(comparison, &changes->items[i], &list);
    }
    struct vs_renamed_frame *copy = vs_xarena(&comparison->memory, (list.count + 1) * sizeof *copy);
    if (list.count)
        memcpy(copy, list.items, list.count * sizeof *copy);
    free(list.items);
    *out = copy;
    *count = list.count;
}
