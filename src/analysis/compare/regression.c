/* SPDX-License-Identifier: Apache-2.0
 *
 * Readings of the device do not count: they depend on other processes. */
#include "analysis/compare/comparison.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/budget/budget_verdict.h"
#include "analysis/budget/culprits.h"
#include "analysis/budget/quantity_sites.h"
#include "base/reading/vs_vec.h"
#include "base/reading/vs_xalloc.h"

static bool noted(const struct vs_comparison *comparison, enum vs_compare_doubt doubt)
{
    bool found = false;
    for (size_t i = 0; i < comparison->note_count; i++)
        found |= comparison->notes[i].doubt == doubt;
    return found;
}

static bool judged(const struct vs_comparison *comparison, const struct vs_compared_amount *amount)
{
    if (!amount->a || !amount->b)
        return false;
    switch (amount->a->metric) {
    case VS_METRIC_ALLOCATED: return true;
    case VS_METRIC_RESERVED: return !noted(comparison, VS_DOUBT_POLICY);
    case VS_METRIC_LIVE_AT_END:
    case VS_METRIC_GROWTH: return !amount->a->phase;
    default: return false;
    }
}

/* Whether *amount* is of a phase, and the same peak of the whole program is in *out*: its call sites
 * say it already. */
static bool of_whole(const struct vs_regressions *out, const struct vs_compared_amount *amount)
{
    bool whole = false;
    for (size_t i = 0; amount->b->phase && i < out->count; i++) {
        const struct vs_quantity *other = out->items[i].amount->b;
        whole |= !other->phase && other->metric == amount->b->metric && other->device == amount->b->device;
    }
    return whole;
}

static void find_culprits(struct vs_comparison *comparison, struct vs_regression *item)
{
    struct vs_report_sites a, b;
    enum vs_metric metric = item->amount->b->metric;
    const struct vs_compared_sites *peak = vs_compared_at_peak(comparison, item->amount->b->device);
    if (!comparison->sites_comparable || !comparison->names_comparable)
        return;
    vs_quantity_sites(comparison->a, item->amount->a, &a);
    vs_quantity_sites(comparison->b, item->amount->b, &b);
    vs_site_changes_build(&comparison->memory, &a, &b, metric, peak ? &peak->changes : NULL,
                          &item->changes);
    for (size_t i = 0; i < item->changes.count && item->culprit_count < VS_REGRESSION_CULPRITS_MAX; i++) {
        const struct vs_site_pair *pair = &item->changes.items[i];
        if (pair->delta <= 0)
            continue;
        struct vs_culprit one = vs_culprit_of(pair->b);
        one.change = pair->verdict == VS_SITE_NEW ? VS_CHANGE_NEW : VS_CHANGE_GROWN;
        one.delta = pair->delta;
        item->culprit_sites[item->culprit_count] = pair->b;
        item->culprits[item->culprit_count++] = one;
    }
}

/* The note that B ran out of memory or failed, unless A did. */
static const struct vs_compare_note *only_b_failed(const struct vs_comparison *comparison)
{
    const struct vs_compare_note *of[2] = {NULL, NULL};
    for (size_t i = 0; i < comparison->note_count; i++) {
        const struct vs_compare_note *note = &comparison->notes[i];
        if (note->doubt == VS_DOUBT_OOM || note->doubt == VS_DOUBT_EXIT)
            of[note->of_b] = note;
    }
    return of[0] ? NULL : of[1];
}

/* *bytes*, *millionths*: how much more B may have. */
static void judge(struct vs_comparison *comparison, const struct vs_compared_amount *amount, uint64_t bytes,
                  uint64_t millionths, struct vs_regressions *out)
{
    uint64_t value = amount->a->value;
    unsigned __int128 more = (unsigned __int128)value * millionths / 1000000 + bytes;
    uint64_t allowed = more > UINT64_MAX - value ? UINT64_MAX : value + (uint64_t)more;
    if (amount->b->value <= allowed || of_whole(out, amount))
        return;
    vs_vec_room(&out->items, &out->capacity, out->count + 1, sizeof *out->items);
    struct vs_regression *item = &out->items[out->count++];
    *item = (struct vs_regression){.amount = amount, .allowed = allowed};
    find_culprits(comparison, item);
}

/* The peak of a device that only B used, against none. */
static void judge_new_device(struct vs_comparison *comparison, const struct vs_quantity *peak, uint64_t bytes,
                             uint64_t millionths, struct vs_regressions *out)
{
    if (peak->metric != VS_METRIC_ALLOCATED || peak->phase || peak->host ||
        vs_report_device_of(comparison->a->report, peak->device))
        return;
    struct vs_quantity *none = vs_xarena(&comparison->memory, sizeof *none);
    struct vs_compared_amount *amount = vs_xarena(&comparison->memory, sizeof *amount);
    *none = (struct vs_quantity){.metric = peak->metric, .device = peak->device, .tensors = peak->tensors, .place = ""};
    *amount = (struct vs_compared_amount){.a = none, .b = peak};
    judge(comparison, amount, bytes, millionths, out);
}

void vs_regressions_find(struct vs_comparison *comparison, uint64_t bytes, uint64_t millionths,
                         struct vs_regressions *out)
{
    *out = (struct vs_regressions){.ended = only_b_failed(comparison)};
    if (out->ended && out->ended->doubt == VS_DOUBT_OOM)
        out->failure = vs_fatal_oom(comparison->b->report);
    if (out->failure && (out->failure->site.frame_count || out->failure->site.line)) {
        struct vs_named_sites named;
        struct vs_report_site site = out->failure->site;
        const struct vs_report_sites one = {.items = &site, .count = 1};
        vs_named_sites_of(&comparison->memory, &one, VS_METRIC_ALLOCATED, &named);
        const struct vs_compared_sites *peak = vs_compared_at_peak(comparison, out->failure->device);
        named.items[0].site = &out->failure->site;
        out->failed_at = &named.items[0];
        vs_distinct_frames(&named, peak ? &peak->changes.b : NULL, true);
        vs_change_labels(&named);
    }
    for (size_t i = 0; i < comparison->amount_count; i++)
        if (judged(comparison, &comparison->amounts[i]))
            judge(comparison, &comparison->amounts[i], bytes, millionths, out);
    for (size_t i = 0; i < comparison->b->count; i++)
        judge_new_device(comparison, &comparison->b->items[i], bytes, millionths, out);
}

void vs_regressions_free(struct vs_regressions *regressions)
{
    free(regressions->items);
    *regressions = (struct vs_regressions){0};
}
