/* SPDX-License-Identifier: Apache-2.0
 *
 * Rows of less than a hundredth are summed up in one. */
#include "viewer/report/report_parts.h"

#include <string.h>

#include "base/vs_size.h"

#define ROWS_SHOWN 8
#define OPERATIONS_SHOWN 20
#define OPERATION_COLUMN 49 /* where the name begins, */
#define OPERATION_LEAST 24  /* and its columns */
#define OPERATION_MOST 200
#define PHASE_TELLS 97 /* per cent: one row of that share says nothing */

static const char *const headings[VS_BY_COUNT] = {
    [VS_BY_SITE] = "by call site", [VS_BY_KIND] = "by kind",
    [VS_BY_PHASE] = "by phase that allocated it", [VS_BY_STEP] = "by step that allocated it",
    [VS_BY_LIBRARY] = "by library that allocated it", [VS_BY_SIZE] = "by size of the block",
    [VS_BY_AGE] = "by age", [VS_BY_OP] = "by operation of PyTorch"};

char *vs_held_point(char *out, const struct vs_report *report)
{
    if (vs_report_of_phase(report))
        return strcpy(out, "at the phase's peak");
    if (!report->part.point)
        return strcpy(out, report->part.window ? "at its peak" : "at the peak");
    memcpy(out, "at ", 3);
    vs_time_format(out + 3, report->part.to_ns);
    return out;
}

/* "live at the peak: 8.3 MiB of 10.0 MiB in 116 of 145 blocks"; with PyTorch "tensors live at …",
 * which may have another peak than the device. */
static void heading(const struct vs_report *report, const struct vs_report_device *device,
                    const struct vs_style *style)
{
    const struct vs_held *held = &device->held;
    char point[VS_HELD_POINT_MAX];
    bool filtered = vs_held_filter_given(&report->wish.filter);
    bool contents = vs_text_only_tensors(report->part.point ? &device->at_end : &device->at_peak);
    fprintf(style->out, "  %s%s%slive %s%s: ", vs_paint(style, VS_BOLD), contents ? device->contents : "",
            contents ? " " : "", vs_held_point(point, report), vs_unpaint(style));
    if (filtered && !held->blocks) {
        fprintf(style->out, "none of %s", vs_size_text(held->all_bytes));
        if (held->largest < report->wish.filter.min_bytes)
            fprintf(style->out, "; the largest block has %s\n", vs_size_text(held->largest));
        else
            fputs(vs_report_of_phase(report) ? "\n" : "; try --at TIME\n", style->out);
    } else if (filtered && held->bytes != held->all_bytes) {
        struct vs_size_pair sizes = vs_sizes_apart(held->bytes, held->all_bytes);
        fprintf(style->out, "%s of %s in %s of %s\n", sizes.a, sizes.b, vs_count_text(held->blocks),
                vs_number_text(held->all_blocks, "block"));
    } else {
        fprintf(style->out, "%s in %s\n", vs_size_text(held->bytes),
                vs_number_text(held->blocks, "block"));
    }
}

/* Live memory that the filter leaves out: the phase's peak is what all of it adds up to. */
static void others(const struct vs_report *report, const struct vs_held *held,
                   const struct vs_style *style)
{
    const struct vs_held_filter *filter = &report->wish.filter;
    if (!held->others || !held->others->total_bytes)
        return;
    bool phase_only = !filter->steps && !filter->site && !filter->min_bytes;
    fprintf(style->out, "  %s%s:%s %s in %s\n", vs_paint(style, VS_BOLD),
            phase_only ? "live then, allocated outside the phase" : "live then, not in this list",
            vs_unpaint(style), vs_size_text(held->all_bytes - held->bytes),
            vs_number_text(held->all_blocks - held->blocks, "block"));
    vs_text_sites(style, held->others);
}

/* How many rows are shown before the rest is summed up; a single row left is shown as well. */
static size_t rows_shown(const struct vs_held_table *list, enum vs_by by,
                         const struct vs_style *style)
{
    size_t shown = 0, most = style->small_sites ? style->sites : ROWS_SHOWN;
    if (by == VS_BY_SIZE || by == VS_BY_AGE) /* few rows, in their own order */
        return list->count;
    while (shown < list->count && shown < most &&
           (style->small_sites || shown == 0 || list->rows[shown].bytes >= list->bytes / 100))
        shown++;
    return shown + 1 == list->count ? list->count : shown;
}

static void table(const struct vs_held *held, enum vs_by by, const struct vs_style *style)
{
    const struct vs_held_table *list = &held->by[by];
    uint64_t rest = list->bytes, blocks = list->blocks;
    size_t shown = rows_shown(list, by, style);
    fprintf(style->out, "  %s%s%s", vs_paint(style, VS_DIM), headings[by], vs_unpaint(style));
    fputc('\n', style->out);
    for (size_t i = 0; i < shown; i++) {
        const struct vs_held_row *row = &list->rows[i];
        vs_text_row(style, row->bytes, list->bytes, row->blocks);
        vs_text_put(style->out, row->label);
        fputc('\n', style->out);
        rest -= row->bytes;
        blocks -= row->blocks;
    }
    if (shown < list->count) {
        vs_text_row(style, rest, list->bytes, blocks);
        fprintf(style->out, "%s%s more%s\n", vs_paint(style, VS_DIM),
                vs_count_text(list->count - shown), vs_unpaint(style));
    }
    if (list->note && *list->note)
        vs_text_wrapped(style, "    ", list->note);
}

/* Rows of what operations allocated, which is more than is live at once. */
static void operations(const struct vs_report *report, const struct vs_held *held, const struct vs_style *style)
{
    const struct vs_held_table *list = &held->by[VS_BY_OP];
    char count[VS_SIZE_TEXT_MAX];
    uint64_t rest = list->bytes, allocations = list->blocks;
    size_t shown = 0, most = style->small_sites ? style->sites : OPERATIONS_SHOWN;
    bool part = report->part.point || report->part.window;
    fprintf(style->out, "  %s%s: totals of %s (frees not subtracted)\n"
            "    %10s  %7s  %10s  %10s%s\n", vs_paint(style, VS_DIM), headings[VS_BY_OP],
            part ? "this part of the run" : "the whole run", "itself", "", "with calls",
            part ? "live then" : "live, peak", vs_unpaint(style));
    for (size_t i = 0; i < list->count && shown < most; i++) {
        const struct vs_held_row *row = &list->rows[i];
        if (!style->small_sites && row->allocated_total < list->bytes / 100 && row->bytes_total <= held->bytes / 100)
            continue;
        shown++;
        fprintf(style->out, "    %10s  %6s%s  %10s  %10s  ", row->allocations ? vs_size_text(row->allocated) : "",
                row->allocations ? vs_count_format(count, row->allocations) : "", row->allocations ? "×" : " ",
                vs_size_text(row->allocated_total), row->bytes_total ? vs_size_text(row->bytes_total) : "");
        char label[4 * OPERATION_MOST + 4];
        size_t room = style->width > OPERATION_COLUMN + OPERATION_LEAST ? style->width - OPERATION_COLUMN : OPERATION_LEAST;
        fprintf(style->out, "%s\n", vs_text_clip(label, row->label, room < OPERATION_MOST ? room : OPERATION_MOST));
        rest -= row->allocated;
        allocations -= row->allocations;
    }
    if (shown < list->count)
        fprintf(style->out, "    %10s  %6s%s  %24s%s%s more%s\n", allocations ? vs_size_text(rest) : "",
                allocations ? vs_count_format(count, allocations) : "", allocations ? "×" : " ", "", vs_paint(style, VS_DIM), vs_count_text(list->count - shown), vs_unpaint(style));
}

/* A list in which one row has nearly everything tells nothing in the usual report. */
static bool tells(const struct vs_held *held, enum vs_by by)
{
    const struct vs_held_table *list = &held->by[by];
    return list->count > 1 && list->rows[0].bytes < held->bytes / 100 * PHASE_TELLS;
}

void vs_held_text_cached(const struct vs_report_device *device, const struct vs_style *style)
{
    const struct vs_report_sites *cached = &device->cached;
    if (!cached->count)
        return;
    fprintf(style->out, "  %scached then, not in use:%s %s in %s; these lines requested %s\n",
            vs_paint(style, VS_BOLD), vs_unpaint(style), vs_size_text(cached->total_bytes),
            vs_number_text(cached->total_count, "segment"),
            cached->total_count == 1 ? "it" : "them");
    vs_text_sites(style, cached);
}

void vs_held_text(const struct vs_report *report, const struct vs_report_device *device,
                  const struct vs_style *style)
{
    const struct vs_held *held = &device->held;
    bool partial = vs_recording_partial(&report->recording);
    const struct vs_report_sites *sites = report->part.point ? &device->at_end : &device->at_peak;
    char note[VS_RECORDING_TEXT_MAX];
    if (!held->known || (!sites->count && !sites->small_count && !sites->whole_bytes))
        return;
    if (partial)
        fprintf(style->out, "  memory by call site at the peak%s\n",
                vs_recording_sites_note(note, report, sites));
    else
        heading(report, device, style);
    vs_text_sites(style, sites);
    if (partial || !held->bytes)
        return;
    if (held->by[VS_BY_KIND].count > 1)
        table(held, VS_BY_KIND, style);
    if (tells(held, VS_BY_PHASE))
        table(held, VS_BY_PHASE, style);
    if (tells(held, VS_BY_LIBRARY))
        table(held, VS_BY_LIBRARY, style);
    if (held->rounding->count && held->rounding_bytes >= held->bytes / 100) {
        fprintf(style->out, "  rounding adds %s, %s of it; ", vs_size_text(held->rounding_bytes),
                vs_percent_text(held->rounding_bytes, held->bytes));
        fprintf(style->out, "most, %s, at\n      ", vs_size_text(held->rounding->items[0].bytes));
        vs_text_chain(style, 6, &held->rounding->items[0]);
    }
    if (!held->unused_bytes || held->unused_bytes < held->bytes / 100)
        return;
    bool most = held->unused->count > 1;
    fprintf(style->out, "  unused: %s in %s; the device ran no kernel or copy afterwards\n",
            vs_size_text(held->unused_bytes), vs_number_text(held->unused_blocks, "block"));
    fputs(most ? "      most at " : "      at ", style->out);
    vs_text_chain(style, most ? 14 : 9, &held->unused->items[0]);
}

void vs_held_text_wished(const struct vs_report *report, const struct vs_report_device *device,
                         const struct vs_style *style)
{
    const struct vs_held *held = &device->held;
    unsigned by = report->wish.by;
    bool sampled = device->has_framework && vs_recording_partial(&report->recording);
    const char *unknown = sampled ? "unknown in a sampled recording" : "only tensors of PyTorch have one";
    if (!held->known) {
        fprintf(style->out, vs_report_of_phase(report) ? "  no memory was live in this phase\n"
                                                       : "  nothing was allocated\n");
        return;
    }
    if (!by && !report->wish.map) /* a filter alone: the usual lists of what passes it */
        by = 1u << VS_BY_SITE | (held->by[VS_BY_KIND].count ? 1u << VS_BY_KIND : 0) |
             (tells(held, VS_BY_PHASE) ? 1u << VS_BY_PHASE : 0);
    if (vs_held_filter_given(&report->wish.filter)) {
        const struct vs_held_filter *filter = &report->wish.filter;
        char steps[64] = "", blocks[64] = "";
        const char *phase = filter->phase, *site = filter->site_text;
        if (filter->steps && filter->step_from == filter->step_to)
            snprintf(steps, sizeof steps, "%sin step %llu", phase ? ", " : "allocated ",
                     (unsigned long long)filter->step_from);
        else if (filter->steps)
            snprintf(steps, sizeof steps, "%sin steps %llu to %llu", phase ? ", " : "allocated ",
                     (unsigned long long)filter->step_from, (unsigned long long)filter->step_to);
        if (filter->min_bytes)
            snprintf(blocks, sizeof blocks, "%sblocks of at least %s",
                     phase || *steps || site ? ", " : "", vs_size_text(filter->min_bytes));
        vs_text_lines(style, "  only     ", "%s%s%s%s%s%s%s", phase ? "allocated in " : "",
                      phase ? phase : "", steps, site && (phase || *steps) ? ", " : "",
                      site ? "at a call site that matches " : "", site ? site : "", blocks);
    }
    if (by)
        heading(report, device, style);
    if (!held->bytes && by & 1u << VS_BY_SITE)
        others(report, held, style);
    for (int i = 0; i < VS_BY_COUNT; i++) {
        if (!(by & 1u << i) || (!held->bytes && i != VS_BY_OP))
            continue;
        if (i == VS_BY_SITE) {
            fprintf(style->out, "  %s%s%s\n", vs_paint(style, VS_DIM), headings[i],
                    vs_unpaint(style));
            vs_text_sites(style, held->sites);
            others(report, held, style);
            if (!vs_held_filter_given(&report->wish.filter))
                vs_held_text_cached(device, style);
        } else if (i == VS_BY_KIND && !held->by[i].count) {
            if (by != (1u << VS_BY_COUNT) - 1)
                fprintf(style->out, "  by kind: %s\n", unknown);
        } else if (i == VS_BY_MODULE) {
            if (!held->modules.count && by != (1u << VS_BY_COUNT) - 1 && sampled)
                fprintf(style->out, "  by module: %s\n", unknown);
            else if (held->modules.count || by != (1u << VS_BY_COUNT) - 1)
                vs_modules_text(held, style);
        } else if (i == VS_BY_OP && !held->by[i].count) {
            if (by != (1u << VS_BY_COUNT) - 1)
                vs_text_lines(style, "  by operation: ", "%s", held->by[i].note);
        } else if (i == VS_BY_OP) {
            operations(report, held, style);
        } else {
            table(held, (enum vs_by)i, style);
        }
    }
    if (report->wish.map)
        vs_picture_text(report, device, style);
}
