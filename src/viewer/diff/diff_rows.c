/* SPDX-License-Identifier: Apache-2.0
 *
 * A row is cut off at the width of the terminal. Rows that would be the same then, such
 * as those of a template whose arguments are long, are printed in full on further lines. */
#include "viewer/diff/diff_rows.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/budget/distinct_frames.h"
#include "analysis/compare/change_labels.h"
#include "analysis/compare/site_moves.h"
#include "analysis/naming/name_text.h"
#include "base/reading/vs_xalloc.h"
#include "base/vs_map.h"
#include "base/vs_size.h"
#include "base/vs_text.h"
#include "viewer/diff/diff_words.h"

#define COLUMNS_MAX 400
#define FIRST_COLUMN 33 /* of the text of a row */

void vs_diff_heading(const struct vs_style *style, const char *text)
{
    fprintf(style->out, "\n%s", vs_paint(style, VS_BOLD));
    vs_text_wrapped(style, "", text);
    fputs(vs_unpaint(style), style->out);
}

void vs_diff_fold(const struct vs_style *style, size_t small, size_t more)
{
    if (more)
        fprintf(style->out, "  %zu more (--all lists them)\n", more);
    if (small)
        fprintf(style->out, "  %zu more below 1 %%\n", small);
}

static unsigned room_of(const struct vs_style *style, unsigned before)
{
    unsigned room = style->width > 60 ? style->width - before : 80 - before;
    return room < COLUMNS_MAX ? room : COLUMNS_MAX;
}

/* The text of a row: of one that moved, where it was and where it is; otherwise only *is*. */
struct row_text {
    char was[VS_CHAIN_TEXT_MAX + 2], is[VS_CHAIN_TEXT_MAX];
};

static void text_of(struct row_text *out, const struct vs_site_pair *pair, bool full)
{
    if (pair->verdict == VS_SITE_MOVED) {
        vs_diff_moved(out->was, out->is, pair, full);
        return;
    }
    *out->was = 0;
    vs_change_label_text(out->is, pair->b ? pair->b : pair->a);
}

static uint64_t hash_text(uint64_t hash, const char *text)
{
    hash = vs_text_hash(hash, text);
    return hash ? hash : 1;
}

/* Of what a row shows of *text*. */
static uint64_t hash_of(const struct row_text *text, unsigned room, bool moved)
{
    char cut[4 * COLUMNS_MAX + 4];
    uint64_t hash = hash_text(moved ? 2 : 1, vs_text_clip(cut, text->was, room));
    return hash_text(hash, vs_text_clip(cut, text->is, room));
}

/* In full, on as many lines as it needs. */
static void whole_row(const struct vs_style *style, const char *lead, const struct row_text *text)
{
    char next[FIRST_COLUMN + 1];
    if (*text->was)
        vs_text_wrapped(style, lead, text->was);
    snprintf(next, sizeof next, "%*s-> ", FIRST_COLUMN - 3, "");
    vs_text_wrapped(style, *text->was ? next : lead, text->is);
}

/* Whether a row that moved shows the same on both sides when it is cut off. */
static bool same_sides(const struct row_text *text, unsigned room)
{
    char was[4 * COLUMNS_MAX + 4], is[4 * COLUMNS_MAX + 4];
    return strcmp(vs_text_clip(was, text->was, room), vs_text_clip(is, text->is, room)) == 0;
}

static void cut_row(const struct vs_style *style, const char *lead, const struct row_text *text)
{
    char cut[4 * COLUMNS_MAX + 4];
    unsigned room = room_of(style, FIRST_COLUMN);
    size_t width = vs_text_width(text->is) + (*text->was ? vs_text_width(text->was) + 4 : 0);
    if (*text->was)
        fprintf(style->out, "%s%s%s", lead, vs_text_clip(cut, text->was, room), width > room ? "\n" : " -> ");
    if (*text->was && width > room)
        fprintf(style->out, "%*s-> ", FIRST_COLUMN - 3, "");
    fprintf(style->out, "%s%s\n", *text->was ? "" : lead, vs_text_clip(cut, text->is, room));
}

/* Where a site was that has also grown or shrunk. */
static void put_origin(const struct vs_style *style, const struct vs_site_pair *pair)
{
    struct row_text text;
    char cut[4 * COLUMNS_MAX + 4];
    vs_diff_moved(text.was, text.is, pair, false);
    unsigned room = room_of(style, FIRST_COLUMN + 6);
    if (same_sides(&text, room)) {
        snprintf(cut, sizeof cut, "%*s(was ", FIRST_COLUMN, "");
        strcat(text.was, ")");
        vs_text_wrapped(style, cut, text.was);
    } else {
        fprintf(style->out, "%*s(was %s)\n", FIRST_COLUMN, "", vs_text_clip(cut, text.was, room));
    }
}

/* Whether the site's own line is in a header, so that its callers are the lines that a user looks for. */
static bool in_header(const struct vs_named_site *named)
{
    const struct vs_report_site *site = named->site;
    return !site->line && named->frame < site->frame_count && vs_file_is_header(site->frames[named->frame].file);
}

/* "grown   +120.0 MiB   +10 %  forward (net.py:12) < main". */
static void put_row(const struct vs_style *style, const struct vs_site_pair *pair, const struct vs_map *same)
{
    char amount[VS_SIZE_TEXT_MAX + 4], percent[24] = "", lead[FIRST_COLUMN + VS_SIZE_TEXT_MAX + 32];
    struct row_text text;
    uint64_t a = pair->a ? pair->a->bytes : 0, b = pair->b ? pair->b->bytes : 0;
    bool moved = pair->verdict == VS_SITE_MOVED, both = pair->a && pair->b;
    if (moved)
        vs_size_format(amount, b);
    else
        vs_diff_change(amount, a, b, false);
    if (both && !moved)
        vs_diff_percent(percent, a, b);
    snprintf(lead, sizeof lead, "  %-6s %12s %9s  ", vs_site_verdict_name(pair->verdict), amount, percent);
    text_of(&text, pair, false);
    unsigned room = room_of(style, FIRST_COLUMN);
    const uint64_t *rows = vs_map_get(same, hash_of(&text, room, moved));
    if (rows && *rows > 1)
        text_of(&text, pair, true);
    if ((rows && *rows > 1) || (moved ? same_sides(&text, room) : in_header(pair->b ? pair->b : pair->a)))
        whole_row(style, lead, &text);
    else
        cut_row(style, lead, &text);
    if (both && !moved && pair->move > VS_MOVE_LINE)
        put_origin(style, pair);
}

static void site_heading(const struct vs_style *style, const struct vs_compared_sites *sites)
{
    static const enum vs_site_verdict order[] = {VS_SITE_NEW, VS_SITE_GONE, VS_SITE_GROWN, VS_SITE_SHRUNK,
                                                 VS_SITE_MOVED, VS_SITE_SAME};
    char text[256];
    const char *what = sites->metric == VS_METRIC_ALLOCATED ? "Call sites at the peak"
                       : sites->metric == VS_METRIC_GROWTH  ? "Growth per step by call site"
                                                            : "Live at the end by call site";
    int n = snprintf(text, sizeof text, "%s of device %" PRIu64 ":", what, sites->device);
    bool any = false;
    for (size_t i = 0; i < sizeof order / sizeof *order; i++) {
        size_t count = sites->changes.of[order[i]];
        if (!count)
            continue;
        n += snprintf(text + n, sizeof text - (size_t)n, "%s %zu %s%s", any ? "," : "", count,
                      order[i] == VS_SITE_SAME ? "the " : "", vs_site_verdict_name(order[i]));
        any = true;
    }
    vs_diff_heading(style, text);
}

/* Whether *sites*, live at the end, has the rows of the list of the peak. */
static bool repeats_peak(const struct vs_comparison *comparison,
                         const struct vs_compared_sites *sites)
{
    const struct vs_compared_sites *peak = sites - (sites > comparison->sites);
    bool same = sites->metric == VS_METRIC_LIVE_AT_END && peak->metric == VS_METRIC_ALLOCATED &&
                peak->device == sites->device && peak->changes.count == sites->changes.count;
    for (size_t i = 0; same && i < sites->changes.count; i++) {
        const struct vs_site_pair *p = &peak->changes.items[i], *q = &sites->changes.items[i];
        same = p->verdict == q->verdict && p->delta == q->delta && !p->a == !q->a && !p->b == !q->b &&
               (!p->a || strcmp(p->a->name, q->a->name) == 0) && (!p->b || strcmp(p->b->name, q->b->name) == 0);
    }
    return same;
}

void vs_diff_site_list(const struct vs_diff_result *result, const struct vs_style *style,
                       const struct vs_compared_sites *sites)
{
    size_t count = 0, small = 0, more = 0, lines = 0;
    const struct vs_site_changes *changes = &sites->changes;
    if (changes->of[VS_SITE_SAME] + changes->lines == changes->count && (!result->all || !changes->count))
        return; /* line numbers alone are not worth a table */
    site_heading(style, sites);
    if (!result->all && repeats_peak(result->comparison, sites)) {
        fputs("  the same as at the peak\n", style->out);
        return;
    }
    const struct vs_site_pair **rows = vs_xcalloc(changes->count + 1, sizeof *rows);
    struct vs_map same = {0};
    for (size_t i = 0; i < sites->changes.count; i++) {
        const struct vs_site_pair *pair = &sites->changes.items[i];
        uint64_t a = pair->a ? pair->a->bytes : 0, b = pair->b ? pair->b->bytes : 0;
        bool moved = pair->verdict == VS_SITE_MOVED;
        if (pair->verdict == VS_SITE_SAME)
            continue;
        if (result->all)
            rows[count++] = pair;
        else if (moved && pair->move == VS_MOVE_LINE)
            lines++;
        else if (vs_diff_small(moved ? 0 : a, b, sites->most))
            small++;
        else if (count < VS_DIFF_ROWS_MAX)
            rows[count++] = pair;
        else
            more++;
    }
    /* How many of the rows show the same, by hash. Empty if there is no memory: then rows are cut off. */
    struct row_text text;
    for (size_t i = 0; i < count; i++) {
        text_of(&text, rows[i], false);
        uint64_t hash = hash_of(&text, room_of(style, FIRST_COLUMN),
                                rows[i]->verdict == VS_SITE_MOVED);
        const uint64_t *before = vs_map_get(&same, hash);
        vs_xmap_put(&same, hash, before ? *before + 1 : 1);
    }
    for (size_t i = 0; i < count; i++)
        put_row(style, rows[i], &same);
    vs_diff_fold(style, small, more);
    if (lines)
        fprintf(style->out, "  %zu moved to other lines of the same function\n", lines);
    vs_map_free(&same);
    free(rows);
}

/* The responsible line as an editor reads it, "net.py:12", and its callers. */
static void culprit_text(char *out, size_t bytes, const struct vs_culprit *culprit, const char *chain)
{
    char place[600] = "";
    if (culprit->file && culprit->line)
        snprintf(place, sizeof place, "%.500s:%u", culprit->file, culprit->line);
    const char *base = vs_text_base_name(place);
    bool repeats = *base && strstr(chain, base);
    snprintf(out, bytes, "%s%s%s", repeats ? "" : base, repeats || !*base ? "" : "  ", chain);
}

void vs_diff_culprit_rows(const struct vs_style *style, const struct vs_regression *item)
{
    char lines[VS_REGRESSION_CULPRITS_MAX][4 * COLUMNS_MAX + 4], line[VS_CHAIN_TEXT_MAX + 700];
    char chain[VS_CHAIN_TEXT_MAX], size[VS_SIZE_TEXT_MAX], amount[VS_SIZE_TEXT_MAX + 8], lead[64];
    unsigned room = room_of(style, 25);
    for (size_t i = 0; i < item->culprit_count; i++) {
        culprit_text(line, sizeof line, &item->culprits[i], vs_change_label_text(chain, item->culprit_sites[i]));
        vs_text_clip(lines[i], line, room);
    }
    for (size_t i = 0; i < item->culprit_count; i++) {
        bool again = in_header(item->culprit_sites[i]);
        for (size_t k = 0; k < item->culprit_count; k++)
            again |= k != i && strcmp(lines[i], lines[k]) == 0;
        culprit_text(line, sizeof line, &item->culprits[i], vs_change_label_text(chain, item->culprit_sites[i]));
        snprintf(amount, sizeof amount, "+%s", vs_size_format(size, (uint64_t)item->culprits[i].delta));
        snprintf(lead, sizeof lead, "  %14s  %-5s  ", amount, vs_change_name(item->culprits[i].change));
        if (again)
            vs_text_wrapped(style, lead, line);
        else
            fprintf(style->out, "%s%s\n", lead, lines[i]);
    }
}

void vs_diff_request_row(const struct vs_style *style, const struct vs_regressions *regressions)
{
    char line[VS_CHAIN_TEXT_MAX + 700], chain[VS_CHAIN_TEXT_MAX], size[VS_SIZE_TEXT_MAX], cut[4 * COLUMNS_MAX + 4];
    char lead[64];
    const struct vs_culprit culprit = vs_culprit_of(regressions->failed_at);
    culprit_text(line, sizeof line, &culprit, vs_change_label_text(chain, regressions->failed_at));
    snprintf(lead, sizeof lead, "  %14s  ", vs_size_format(size, regressions->failure->requested));
    if (in_header(regressions->failed_at))
        vs_text_wrapped(style, lead, line);
    else
        fprintf(style->out, "%s%s\n", lead, vs_text_clip(cut, line, room_of(style, 18)));
}
