/* SPDX-License-Identifier: Apache-2.0
 *
 * The innermost and the outermost frames that both stacks have in common are left out; the
 * frames between them changed. */
#include "analysis/compare/comparison.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/budget/culprits.h"
#include "analysis/compare/similar_stack.h"
#include "base/reading/vs_vec.h"
#include "base/vs_text.h"

const char *vs_site_move_name(enum vs_site_move move)
{
    static const char *const names[] = {NULL, "line", "file", "function"};
    return names[move];
}

/* The user's frames of both stacks of a pair, innermost first. */
struct both_stacks {
    const struct vs_report_site *a, *b;
    size_t x[VS_SITE_FRAMES_MAX], y[VS_SITE_FRAMES_MAX], n, m;
};

static bool differs(const struct both_stacks *s, size_t i, enum vs_site_move move)
{
    const struct vs_report_frame *p = &s->a->frames[s->x[i]], *q = &s->b->frames[s->y[i]];
    return !vs_same_function(p, q) || !vs_same_file(p, q) || (move == VS_MOVE_LINE && p->line != q->line);
}

bool vs_site_moved_frames(const struct vs_site_pair *pair, struct vs_frame_range *a, struct vs_frame_range *b)
{
    struct both_stacks s = {.a = pair->a->site, .b = pair->b->site};
    size_t inner = 0, at = 0, naming = 0;
    s.n = vs_site_frames(s.a, s.x);
    s.m = vs_site_frames(s.b, s.y);
    if (!s.n || !s.m)
        return false;
    while (inner < s.n && inner < s.m &&
           vs_same_function(&s.a->frames[s.x[inner]], &s.b->frames[s.y[inner]]))
        inner++;
    if (inner < s.n || inner < s.m) {
        /* Functions have other names, or are called through others. */
        size_t outer = 0;
        while (outer < s.n - inner && outer < s.m - inner &&
               vs_same_function(&s.a->frames[s.x[s.n - 1 - outer]], &s.b->frames[s.y[s.m - 1 - outer]]))
            outer++;
        bool alone = outer == s.n - inner || outer == s.m - inner;
        size_t more_out = alone && outer ? 1 : 0, more_in = alone && !outer && inner ? 1 : 0;
        *a = (struct vs_frame_range){s.x[inner - more_in], s.x[s.n - 1 - outer + more_out]};
        *b = (struct vs_frame_range){s.y[inner - more_in], s.y[s.m - 1 - outer + more_out]};
        return true;
    }
    while (naming < s.n - 1 && s.y[naming] != pair->b->frame)
        naming++;
    while (at < s.n && !differs(&s, at, pair->move))
        at++;
    if (s.y[naming] == pair->b->frame && differs(&s, naming, pair->move))
        at = naming;
    if (at == s.n)
        return false;
    *a = (struct vs_frame_range){s.x[at], s.x[at]};
    *b = (struct vs_frame_range){s.y[at], s.y[at]};
    return true;
}

enum vs_site_move vs_site_move_of(const struct vs_named_site *na, const struct vs_named_site *nb)
{
    const struct vs_report_site *a = na->site, *b = nb->site;
    size_t x[VS_SITE_FRAMES_MAX], y[VS_SITE_FRAMES_MAX];
    size_t n = vs_site_frames(a, x), m = vs_site_frames(b, y);
    enum vs_site_move move = n == m ? VS_MOVE_NONE : VS_MOVE_FUNCTION;
    if (a->line && b->line && strcmp(na->name, nb->name) != 0)
        return VS_MOVE_FUNCTION; /* another text of the line */
    if (a->line && b->line)
        return a->line_number == b->line_number ? VS_MOVE_NONE : VS_MOVE_LINE;
    for (size_t i = 0; i < n && i < m && move != VS_MOVE_FUNCTION; i++) {
        const struct vs_report_frame *p = &a->frames[x[i]], *q = &b->frames[y[i]];
        if (!vs_same_function(p, q))
            move = VS_MOVE_FUNCTION;
        else if (!vs_same_file(p, q))
            move = VS_MOVE_FILE;
        else if (p->line != q->line && move == VS_MOVE_NONE)
            move = VS_MOVE_LINE;
    }
    return move;
}

/* Only stacks of one length are used: there a frame of one is a frame of the other. */

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
    size_t x[VS_SITE_FRAMES_MAX], y[VS_SITE_FRAMES_MAX];
    const struct vs_report_site *a = pair->a->site, *b = pair->b->site;
    size_t n = vs_site_frames(a, x), m = vs_site_frames(b, y);
    for (size_t i = 0; n == m && i < n && list->count < RENAMED_MAX; i++) {
        const struct vs_report_frame *p = &a->frames[x[i]], *q = &b->frames[y[i]];
        if (!p->file || !q->file || !p->line || !q->line || (vs_same_function(p, q) && vs_same_file(p, q)))
            continue;
        struct vs_renamed_frame one = {text_of(&comparison->memory, p), text_of(&comparison->memory, q)};
        if (!one.was || !one.is)
            return;
        VS_VEC_ADD(list->items, list->count, list->capacity, one);
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
