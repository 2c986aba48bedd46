/* SPDX-License-Identifier: Apache-2.0
 *
 * A row of the baseline is left out of the text if a row before it explains it, in one of
 * these ways:
 *
 * - its amount: a limit of the same quantity is exceeded too; or it is requested or reserved memory, and the
 *   program's peak rose by as much;
 * - its time: it is the peak of a phase, and that is the program's peak;
 * - its device: the baseline does not have it, so that its peak exceeds the baseline as well;
 * - its lines: a row before it names all lines that made the difference;
 * - the line of the whole program: a phase's peak may have moved to another time, at which other blocks are live
 *   than in the baseline. The line that a row of the whole program names is the reason in the phase too, if its
 *   bytes explain most of the excess there.
 *
 * Of a phase the amount counts only if it is small, or if its lines are unknown. Tests are never left out, because
 * two tests may fail for two reasons. The rows of the whole program come before those of phases, so one pass is
 * enough.
 */
#include "analysis/budget/verdict_sites.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/reading/vs_intern.h"
#include "base/reading/vs_xalloc.h"
#include "base/vs_map.h"
#include "base/vs_text.h"

#define LINE_KEY_MAX 8192

/* Of one device: by how much the whole program's quantities exceed the baseline. */
struct fold_excess {
    uint64_t of[VS_METRIC_COUNT];
    bool has[VS_METRIC_COUNT];
    bool transferred[VS_COPIES_ON_DEVICE + 1];
    bool limited[VS_METRIC_COUNT]; /* a limit that is not the baseline's is exceeded as well */
    const struct vs_budget_row *rows[VS_METRIC_COUNT]; /* of the baseline */
};

/* The line that explains most of a row shown of the whole program. */
struct fold_culprit {
    const struct vs_budget_row *row;
    uint64_t before; /* its bytes in the baseline */
};

struct fold_state {
    struct fold_excess *devices;
    size_t device_count;
    struct vs_map by_device; /* device + 1 -> index + 1 */
    struct vs_intern lines; /* that the rows shown name */
    struct fold_culprit *culprit;
    size_t culprit_count;
};

static bool is_exceeded(const struct vs_budget_row *row)
{
    return row->kind == VS_ROW_QUANTITY && row->exceeded;
}

static uint64_t excess_of(const struct vs_budget_row *row)
{
    return row->quantity.value > row->baseline ? row->quantity.value - row->baseline : 0;
}

static struct fold_excess *device_of(struct fold_state *state, uint64_t device)
{
    const uint64_t *found = vs_map_get(&state->by_device, device + 1);
    return found ? &state->devices[*found - 1] : NULL;
}

static void note_whole(struct fold_state *state, const struct vs_budget_row *row)
{
    const struct vs_quantity *quantity = &row->quantity;
    struct fold_excess *device = device_of(state, quantity->device);
    if (quantity->host)
        return;
    if (!row->of_baseline && vs_metric_of_copies(quantity->metric))
        return; /* of another way, or per step */
    if (!device) {
        vs_xmap_put(&state->by_device, quantity->device + 1, state->device_count + 1);
        device = &state->devices[state->device_count++];
    }
    device->limited[quantity->metric] |= !row->of_baseline;
    if (!row->of_baseline)
        return;
    if (quantity->metric == VS_METRIC_TRANSFERRED)
        device->transferred[quantity->way] = true;
    device->has[quantity->metric] = true;
    device->rows[quantity->metric] = row;
    device->of[quantity->metric] = excess_of(row);
}

static bool covers(const struct fold_excess *device, enum vs_metric lead, uint64_t excess)
{
    return device->has[lead] && excess <= device->of[lead];
}

/* Whether the peak of the phase is that of the program. */
static bool is_same_peak(const struct fold_excess *device, const struct vs_budget_row *row)
{
    const struct vs_budget_row *whole = device->rows[row->quantity.metric];
    return whole && row->quantity.metric <= VS_METRIC_RESERVED && whole->run == row->run &&
           whole->quantity.event == row->quantity.event;
}

/* Without a stack the API tells what allocated. */
static const char *name_of(const struct vs_culprit *culprit)
{
    return culprit->function ? culprit->function : culprit->site->api;
}

/* The text of the line in *out*: a line without a file has its function instead. */
static const char *line_key(char out[LINE_KEY_MAX], uint64_t device,
                            const struct vs_culprit *culprit)
{
    snprintf(out, LINE_KEY_MAX, "%" PRIu64 " %u %d %s\n%s", device, culprit->line, culprit->cached,
             culprit->file ? culprit->file : "", name_of(culprit));
    return out;
}

static bool is_named(const struct fold_state *state, uint64_t device,
                     const struct vs_culprit *culprit)
{
    char key[LINE_KEY_MAX];
    uint32_t number;
    line_key(key, device, culprit);
    return vs_intern_find(&state->lines, key, strlen(key), &number);
}

/* Whether all live sites that hold more have been named. The cache is the whole program's. */
static bool names_live(const struct fold_state *state, const struct vs_budget_row *row)
{
    bool known = !row->unlisted;
    for (size_t i = 0; known && i < row->culprit_count; i++)
        if (row->compared && !row->culprits[i].cached)
            known = is_named(state, row->quantity.device, &row->culprits[i]);
    return known;
}

#define MINOR_PART 8 /* of the program's excess: a phase that exceeds by less follows, whatever its lines */

/* Two tests may fail for two reasons, and so may two phases. */
static bool phase_follows_by_amount(const struct fold_state *state, const struct fold_excess *device,
                                    const struct vs_budget_row *row)
{
    const struct vs_quantity *quantity = &row->quantity;
    uint64_t excess = excess_of(row);
    bool test = vs_test_name(quantity->phase) != NULL, lines = row->compared || row->unlisted;
    if (is_same_peak(device, row))
        return true;
    if (row->two_lists)
        return (covers(device, quantity->metric, excess) || covers(device, VS_METRIC_ALLOCATED, excess)) &&
               (!lines || names_live(state, row));
    if (test || quantity->metric > VS_METRIC_LIVE_AT_END)
        return false;
    if (lines)
        excess *= MINOR_PART;
    return covers(device, VS_METRIC_ALLOCATED, excess) || covers(device, quantity->metric, excess) ||
           (quantity->metric == VS_METRIC_LIVE_AT_END && covers(device, VS_METRIC_GROWTH, excess));
}

static bool follows_by_amount(struct fold_state *state, const struct vs_budget_row *row)
{
    const struct vs_quantity *quantity = &row->quantity;
    const struct fold_excess *device = device_of(state, quantity->device);
    if (!device || quantity->metric == VS_METRIC_DEVICE)
        return false;
    if (row->new_device)
        return device->has[VS_METRIC_ALLOCATED] && quantity->metric != VS_METRIC_ALLOCATED;
    if (quantity->metric == VS_METRIC_FREE)
        return device->has[VS_METRIC_DEVICE];
    if (quantity->phase)
        return phase_follows_by_amount(state, device, row);
    if (device->limited[quantity->metric])
        return true;
    if (quantity->metric == VS_METRIC_COPIES)
        return device->transferred[quantity->way];
    return (quantity->metric == VS_METRIC_REQUESTED || quantity->metric == VS_METRIC_RESERVED) &&
           covers(device, VS_METRIC_ALLOCATED, excess_of(row));
}

/* Leaks of the whole program are shown beside its peak: they are another kind of problem. */
static bool may_follow_by_lines(const struct vs_quantity *quantity)
{
    return quantity->metric <= VS_METRIC_RESERVED || quantity->metric == VS_METRIC_DEVICE ||
           quantity->metric == VS_METRIC_GROWTH || (quantity->phase && quantity->metric == VS_METRIC_LIVE_AT_END);
}

#define SEGMENT_UNIT ((uint64_t)2 << 20) /* the device gives memory in multiples of it */

/* Whether the cache holds more because the bytes of the live lines needed a segment, which is larger. */
static bool is_rest_of_segment(const struct vs_budget_row *row)
{
    uint64_t live = 0;
    for (size_t i = 0; i < row->culprit_count; i++)
        live += row->culprits[i].cached || row->culprits[i].delta < 0 ? 0 : (uint64_t)row->culprits[i].delta;
    return live && excess_of(row) <= (live + SEGMENT_UNIT - 1) / SEGMENT_UNIT * SEGMENT_UNIT;
}

/* What the cache holds more counts where that is the larger part. */
static bool follows_by_lines(const struct fold_state *state, const struct vs_budget_row *row)
{
    bool known = row->compared && row->culprit_count && may_follow_by_lines(&row->quantity);
    bool cached = known && row->culprits[0].cached && !is_rest_of_segment(row);
    for (size_t i = 0; known && i < row->culprit_count; i++)
        if (cached || !row->culprits[i].cached)
            known = is_named(state, row->quantity.device, &row->culprits[i]);
    return known;
}

/* Of a phase: makes the responsible line the row's only culprit, if it explains most of the excess. */
static bool follows_by_culprit(const struct fold_state *state, struct vs_budget_row *row)
{
    uint64_t excess = excess_of(row);
    if (!row->quantity.phase || !may_follow_by_lines(&row->quantity))
        return false;
    for (size_t i = 0; i < state->culprit_count; i++) {
        const struct fold_culprit *culprit = &state->culprit[i];
        if (culprit->row->quantity.device != row->quantity.device || culprit->row->run != row->run)
            continue;
        /* The bytes by which the responsible line has grown at that time. */
        const struct vs_report_site *site = culprit->row->culprits[0].site;
        uint64_t bytes = 0;
        for (size_t k = 0; k < row->sites.count; k++)
            if (vs_site_is(&row->sites.items[k], site))
                bytes += row->sites.items[k].bytes;
        uint64_t growth = bytes > culprit->before ? bytes - culprit->before : 0;
        if (growth < excess - excess / 4)
            continue;
        row->culprits[0] = culprit->row->culprits[0];
        row->culprits[0].delta = (int64_t)growth;
        row->culprits[0].bytes = growth + culprit->before;
        row->culprit_count = 1;
        row->compared = true;
        return true;
    }
    return false;
}

/* Lists of phases have no cached memory, no copies and no growth per step. */
static void note_culprit(struct fold_state *state, const struct vs_budget_row *row)
{
    const struct vs_culprit *first = row->culprits;
    bool memory = row->quantity.metric <= VS_METRIC_RESERVED || row->quantity.metric == VS_METRIC_LIVE_AT_END;
    if (row->quantity.phase || !row->compared || !row->culprit_count || first->cached || !memory)
        return;
    state->culprit[state->culprit_count++] = (struct fold_culprit){row, first->bytes - (uint64_t)first->delta};
}

void vs_verdict_fold(struct vs_budget_verdict *verdict)
{
    struct fold_state state = {0};
    size_t whole = 0;
    for (size_t i = 0; i < verdict->count; i++)
        whole += is_exceeded(&verdict->rows[i]) && !verdict->rows[i].quantity.phase;
    state.devices = vs_xcalloc(whole + 1, sizeof *state.devices);
    state.culprit = vs_xcalloc(whole + 1, sizeof *state.culprit);
    for (size_t i = 0; i < verdict->count; i++)
        if (is_exceeded(&verdict->rows[i]) && !verdict->rows[i].quantity.phase)
            note_whole(&state, &verdict->rows[i]);
    for (size_t i = 0; i < verdict->count; i++) {
        struct vs_budget_row *row = &verdict->rows[i];
        if (!is_exceeded(row))
            continue;
        row->follows = row->of_baseline && (follows_by_culprit(&state, row) || follows_by_amount(&state, row) ||
                                            follows_by_lines(&state, row));
        verdict->following += row->follows;
        if (row->follows)
            continue;
        note_culprit(&state, row);
        char key[LINE_KEY_MAX];
        for (size_t k = 0; row->compared && k < row->culprit_count; k++)
            vs_intern_text(&state.lines, line_key(key, row->quantity.device, &row->culprits[k]));
    }
    vs_map_free(&state.by_device);
    vs_intern_free(&state.lines);
    free(state.devices);
    free(state.culprit);
}
