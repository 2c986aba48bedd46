/* SPDX-License-Identifier: Apache-2.0
 *
 * The result of a tracker: judges every call site and account, and adds to the growing ones what
 * only their live blocks tell: how many, since when, and in which steps they were allocated. */
#include "analysis/growth/growth.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/growth/growth_internal.h"
#include "analysis/state/user_level.h"
#include "base/reading/vs_vec.h"

#define KEPT_MOST 0.5   /* of the bytes allocated meanwhile: may be a first pass, not a loop */
#define SITES_MANY 3u   /* growing together */
/* factors of the confidence */
#define SURE_MOST 0.8
#define SURE_SOME 0.6
#define SURE_HALF 0.5
#define SURE_LITTLE 0.3 /* there is nothing to tell growth from a program's start */
#define FOUND_MIN 3u    /* completed steps, if they are not marked */
#define SPAN_SHORT 0.3  /* of the trace, without steps */

struct kept_block {
    uint64_t time_ns, size;
    uint32_t row;
};

struct kept_list {
    struct kept_block *items;
    size_t count, capacity;
};

struct judging {
    struct vs_growth_tracker *tracker;
    const struct vs_step_rows *steps; /* NULL: none */
    enum vs_steps_source source;
    struct vs_trend_axis axis;
    struct vs_trend *trends;          /* by row */
    size_t trend_capacity, count;
};

/* The begin of a period: time, and the step that begins in it. */
static uint64_t period_ns(const struct judging *judging, size_t period)
{
    const struct vs_floors *floors = &judging->tracker->floors;
    uint32_t window = judging->axis.first[period];
    return window <= floors->window ? floors->windows[window].time_ns
                                    : judging->tracker->replay->now_ns;
}

static bool step_at(const struct judging *judging, uint64_t time_ns, uint64_t *number)
{
    const struct vs_step_rows *steps = judging->steps;
    size_t rows = steps ? vs_steps_begun_by(steps->items, steps->count, time_ns) : 0;
    if (rows)
        *number = steps->first_number + (rows - 1) * steps->stride;
    return rows;
}

/* The step that begins in a period. */
static uint64_t period_step(const struct judging *judging, size_t period)
{
    const struct vs_step_rows *steps = judging->steps;
    uint64_t first = steps->begun - (steps->count ? (steps->count - 1) * steps->stride +
                                                        steps->in_last
                                                  : 0);
    uint64_t begun = (uint64_t)judging->axis.at[period];
    return begun > first ? steps->first_number + begun - first - 1 : steps->first_number;
}

/* What the history alone tells. */
static void fill_row(const struct judging *judging, const struct vs_trend *trend,
                     struct vs_growth_row *row)
{
    size_t end = trend->to + 1 < judging->axis.count ? trend->to + 1 : trend->to;
    row->class = trend->class;
    row->confidence = trend->confidence;
    row->bytes = trend->bytes;
    row->replaced = trend->replaced;
    row->since_ns = period_ns(judging, trend->from);
    row->until_ns = period_ns(judging, end);
    row->since_step_known = row->until_step_known = judging->steps != NULL;
    if (!judging->steps)
        return;
    row->since_step = period_step(judging, trend->from);
    row->until_step = period_step(judging, trend->to);
    double steps = judging->axis.at[end] - judging->axis.at[trend->from];
    double periods = (double)(end - trend->from);
    row->per_step = trend->slope > 0 ? (uint64_t)(trend->slope + 0.5) : 0;
    row->every = 1;
    if (trend->rises && !trend->replaced && steps < 1.5 * periods) /* else a period has several steps */
        row->every = (uint64_t)(steps / (double)trend->rises + 0.5);
    if (!row->every)
        row->every = 1;
    /* The step of the first growth of a site that freed its memory at the end: a period may have
     * several steps, and growth began within the one before if it took as many. */
    uint64_t grown = row->per_step ? (row->bytes + row->per_step / 2) / row->per_step : 0;
    uint64_t earliest = trend->from ? period_step(judging, trend->from - 1)
        : judging->steps->first_number;
    uint64_t first = row->until_step + 1 > grown ? row->until_step + 1 - grown : 0;
    if (row->class == VS_GROWTH_FREED && row->every == 1 && !row->replaced && grown &&
        first < row->since_step)
        row->since_step = first < earliest ? earliest : first;
}

static void judge_site(struct judging *judging, uint32_t index)
{
    struct vs_growth_tracker *tracker = judging->tracker;
    const struct vs_site *site = &tracker->replay->sites.items[index];
    if (index >= tracker->floors.count || tracker->floors.rows[index].series == UINT32_MAX)
        return;
    const struct vs_floor_row *floor_row = &tracker->floors.rows[index];
    if (!floor_row->series && !floor_row->live && floor_row->pending == UINT64_MAX)
        return; /* it never kept anything for a whole window */
    uint64_t floor[VS_FLOOR_WINDOWS];
    uint64_t held = vs_floors_read(&tracker->floors, floor_row, floor);
    struct vs_trend trend;
    vs_trend_judge(&judging->axis, floor, held, site->largest, &trend);
    if (trend.class == VS_GROWTH_LEAK && 2 * site->live_bytes < trend.bytes) {
        trend.class = VS_GROWTH_FREED;
        trend.bytes = held - trend.base;
    }
    if (trend.class == VS_GROWTH_NONE)
        return;
    vs_vec_room(&tracker->site_rows, &tracker->site_capacity, judging->count + 1,
                sizeof *tracker->site_rows);
    vs_vec_room(&judging->trends, &judging->trend_capacity, judging->count + 1,
                sizeof *judging->trends);
    uint64_t gone = site->live_bytes + site->lost_bytes;
    struct vs_growth_row *row = &tracker->site_rows[judging->count];
    *row = (struct vs_growth_row){.site = index, .account = site->device,
                                  .user_level = vs_user_has_site(tracker->replay, site),
                                  .churn_bytes = site->bytes > gone ? site->bytes - gone : 0};
    judging->trends[judging->count++] = trend;
    fill_row(judging, &trend, row);
    tracker->row_of[index] = (uint32_t)judging->count;
}

/* Adds the live blocks of *table* at leaking sites, allocated since their growth began. */
static void list_table(const struct vs_growth_tracker *tracker, const struct vs_live_table *table,
                       struct kept_list *out)
{
    for (size_t i = 0; i < table->slots; i++) {
        const struct vs_live *live = &table->items[i];
        uint32_t row = live->used ? tracker->row_of[live->site] : 0;
        if (!row || tracker->site_rows[row - 1].class != VS_GROWTH_LEAK ||
            tracker->site_rows[row - 1].replaced || live->time_ns < tracker->site_rows[row - 1].since_ns)
            continue;
        VS_VEC_ADD(out->items, out->count, out->capacity,
                   (struct kept_block){live->time_ns, live->size, row - 1});
    }
}

/* The steps in which blocks of a call site were allocated that stayed. */
struct kept_steps {
    uint64_t count;  /* steps with such blocks */
    uint64_t span;   /* steps from the first to the last of them */
    uint64_t usual;  /* distance of most of them; 0: they are irregular */
    uint64_t before, before_bytes; /* blocks from before the first known step */
};

static void count_steps(const struct judging *judging, const struct kept_block *blocks,
                        size_t count, struct kept_steps *out)
{
    uint64_t number = 0, before = 0, first = 0;
    size_t same = 0, n = 0;
    uint32_t *distances = vs_xcalloc(count, sizeof *distances);
    *out = (struct kept_steps){0};
    for (size_t i = 0; i < count; i++) {
        if (!step_at(judging, blocks[i].time_ns, &number)) {
            out->before++;
            out->before_bytes += blocks[i].size;
            continue;
        }
        if (!out->count++) {
            first = number;
        } else if (number == before) {
            out->count--;
        } else {
            distances[n++] = (uint32_t)((number - before) / judging->steps->stride);
        }
        before = number;
    }
    if (n) {
        qsort(distances, n, sizeof *distances, vs_order_u32);
        for (size_t i = 0; i < n; i++)
            same += distances[i] == distances[n / 2];
        out->span = number - first;
        double expected = (double)distances[n / 2] * (double)n * (double)judging->steps->stride;
        if (10 * same >= 7 * n && fabs(expected - (double)out->span) <= 0.15 * expected)
            out->usual = distances[n / 2];
    }
    free(distances);
}

/* The window in which *time_ns* is. */
static uint32_t window_at(const struct vs_floors *floors, uint64_t time_ns)
{
    uint32_t window = 0;
    while (window < floors->window && floors->windows[window + 1].time_ns <= time_ns)
        window++;
    return window;
}

/* A program that only allocates while a site grows may be loading its data, and one without steps
 * may have begun another part. *equal*: all *blocks* that stay have the same size. */
static void doubt_load(const struct judging *judging, bool equal, uint64_t blocks,
                       struct vs_growth_row *row)
{
    const struct vs_growth_tracker *tracker = judging->tracker;
    const struct vs_floors *floors = &tracker->floors;
    uint32_t from = window_at(floors, row->since_ns), to = window_at(floors, row->until_ns);
    uint64_t requests = floors->requests - floors->windows[from].request;
    uint64_t freeing = 0, most = to - from < blocks ? to - from : blocks;
    for (uint32_t w = from + 1; w < to; w++)
        freeing += floors->windows[w + 1].freed > floors->windows[w].freed;
    if (2 * freeing < most || !most) {
        /* kernels may run after all that was freed at the end had been allocated */
        bool works = tracker->kernels && 2 * tracker->kernels >= blocks &&
                     (judging->steps || row->class != VS_GROWTH_FREED);
        row->confidence *= equal ? (works ? SURE_MOST : SURE_HALF)
                                 : (works ? SURE_SOME : SURE_LITTLE);
    }
    if (!judging->steps && (double)requests < SPAN_SHORT * (double)floors->requests)
        row->confidence *= SURE_HALF;
}

/* Figures of a leaking site from its live blocks, by rising time. */
static void refine(const struct judging *judging, const struct kept_block *blocks, size_t count,
                   struct vs_growth_row *row)
{
    const struct vs_step_rows *known = judging->steps;
    /* Without blocks of the step in progress, at a site that also frees: they may be freed in
     * it. */
    while (known && known->open && judging->tracker->replay->sites.items[row->site].frees &&
           count > 1 && blocks[count - 1].time_ns >= known->items[known->count - 1].time_ns)
        count--;
    uint64_t bytes = 0;
    bool equal = true;
    for (size_t i = 0; i < count; i++) {
        bytes += blocks[i].size;
        equal &= blocks[i].size == blocks[0].size;
    }
    row->bytes = bytes;
    row->births = row->count = count;
    row->confidence = fmin(row->confidence, vs_trend_sure(count));
    row->since_ns = blocks[0].time_ns;
    row->until_ns = blocks[count - 1].time_ns;
    row->since_step_known = step_at(judging, row->since_ns, &row->since_step);
    row->until_step_known = step_at(judging, row->until_ns, &row->until_step);
    struct kept_steps steps = {0};
    if (judging->steps)
        count_steps(judging, blocks, count, &steps);
    if (steps.usual && judging->steps->stride == 1) {
        row->every = steps.usual;
        row->per_step = (bytes - steps.before_bytes) / steps.count / steps.usual;
    } else if (steps.span) {
        row->every = 1;
        row->per_step = (bytes - steps.before_bytes - blocks[count - 1].size) / steps.span;
    }
    if (!row->since_step_known && steps.before == 1) { /* in the iteration that the first step ends */
        row->since_step = judging->steps->first_number;
        row->since_step_known = true;
    }
    if (judging->source != VS_STEPS_MARKED)
        doubt_load(judging, equal, count, row);
}

static void refine_all(struct judging *judging)
{
    struct kept_list list = {0};
    list_table(judging->tracker, &judging->tracker->replay->device_live, &list);
    list_table(judging->tracker, &judging->tracker->replay->framework_live, &list);
    VS_SORT(list.items, list.count, VS_UP(row), VS_UP(time_ns));
    for (size_t begin = 0, end; begin < list.count; begin = end) {
        for (end = begin; end < list.count && list.items[end].row == list.items[begin].row; end++)
            ;
        refine(judging, list.items + begin, end - begin,
               &judging->tracker->site_rows[list.items[begin].row]);
    }
    free(list.items);
    if (judging->source == VS_STEPS_MARKED)
        return;
    for (size_t i = 0; i < judging->count; i++) {
        struct vs_growth_row *row = &judging->tracker->site_rows[i];
        if (row->class == VS_GROWTH_FREED)
            doubt_load(judging, false, judging->trends[i].rises, row);
    }
}

/* Many sites that keep most of what is allocated may be the first pass of a program that never
 * came to its end: weak evidence, except where the program marks its steps. */
static void doubt_first_pass(struct judging *judging, unsigned account)
{
    struct vs_growth_tracker *tracker = judging->tracker;
    uint64_t grown = 0, since_ns = UINT64_MAX, freed = 0;
    size_t sites = 0;
    for (size_t i = 0; i < judging->count; i++) {
        const struct vs_growth_row *row = &tracker->site_rows[i];
        if (row->account != account || !row->user_level || !vs_growth_is_named(row))
            continue;
        grown += row->bytes;
        sites++;
        since_ns = row->since_ns < since_ns ? row->since_ns : since_ns;
    }
    for (uint32_t w = 0; w <= tracker->floors.window; w++)
        if (tracker->floors.windows[w].time_ns <= since_ns)
            freed = tracker->floors.windows[w].freed;
    freed = tracker->freed - freed;
    if (sites <= SITES_MANY || (double)grown < KEPT_MOST * (double)(grown + freed))
        return;
    for (size_t i = 0; i < judging->count; i++) {
        struct vs_growth_row *row = &tracker->site_rows[i];
        if (row->account == account && row->user_level && row->class == VS_GROWTH_LEAK)
            row->confidence = fmin(row->confidence, SURE_LITTLE);
    }
}

void vs_growth_finish(struct vs_growth_tracker *tracker, struct vs_growth_result *out)
{
    struct judging judging = {.tracker = tracker};
    vs_growth_follow_all(tracker);
    *out = (struct vs_growth_result){0};
    if (tracker->marked.begun == 0 && tracker->requests.total > tracker->searched)
        vs_growth_search(tracker);
    out->steps.account = tracker->marked.begun ? tracker->marked_account : tracker->loop.account;
    if (tracker->marked.begun) {
        judging.steps = &tracker->marked;
        judging.source = VS_STEPS_MARKED;
    } else if (tracker->loop.found) {
        judging.steps = &tracker->found;
        judging.source = VS_STEPS_FOUND;
        if (tracker->found.count) /* as far as it got */
            tracker->found.items[tracker->found.count - 1].end_bytes =
                tracker->accounts[tracker->loop.account].live;
        /* The latest step is a whole one if the program ended well, and the step has allocated most
         * of what the one before did. No other step begins after it. */
        const struct vs_replay *replay = tracker->replay;
        const struct vs_step_rows *rows = &tracker->found;
        const struct vs_growth_step *last = rows->count < 2 ? NULL : &rows->items[rows->count - 1];
        if (replay->has_end && replay->end.end.reason == VS_END_EXIT && !replay->end.end.status &&
            last && (rows->stride > 1 || 2 * last->requested_bytes >= last[-1].requested_bytes))
            vs_steps_end(&tracker->found, tracker->accounts[tracker->loop.account].live);
        if (rows->done < FOUND_MIN) {
            judging.steps = NULL;
            judging.source = VS_STEPS_NONE;
        }
    }
    const struct vs_floors *floors = &tracker->floors;
    uint64_t steps_at[VS_FLOOR_WINDOWS + 1];
    for (uint32_t w = 0; judging.steps && w <= floors->window + 1; w++)
        steps_at[w] = vs_steps_before(judging.steps, w <= floors->window ? floors->windows[w].event
                                                                         : UINT64_MAX);
    vs_trend_axis_make(floors, judging.steps ? steps_at : NULL, &judging.axis);
    size_t sites = tracker->replay->sites.count;
    vs_vec_room(&tracker->row_of, &tracker->row_of_capacity, sites + 1, sizeof *tracker->row_of);
    tracker->row_of_count = sites;
    memset(tracker->row_of, 0, (sites + 1) * sizeof *tracker->row_of);
    for (size_t i = 0; i < sites; i++)
        judge_site(&judging, (uint32_t)i);
    refine_all(&judging);
    for (unsigned i = 0; judging.source != VS_STEPS_MARKED && i <= VS_DEVICES_MAX; i++)
        doubt_first_pass(&judging, i);
    VS_SORT(tracker->site_rows, judging.count, VS_DOWN(bytes), VS_UP(site));
    for (size_t i = 0; i < judging.count; i++)
        tracker->row_of[tracker->site_rows[i].site] = (uint32_t)i + 1;
    for (unsigned i = 0; i <= VS_DEVICES_MAX; i++) {
        uint64_t floor[VS_FLOOR_WINDOWS];
        struct vs_trend trend;
        struct vs_growth_row *row = &tracker->account_rows[i];
        *row = (struct vs_growth_row){.site = VS_SITE_NONE, .account = i, .user_level = true};
        if (!tracker->replay->accounts[i])
            continue;
        uint64_t held = vs_floors_read(&tracker->floors, &tracker->accounts[i], floor);
        vs_trend_judge(&judging.axis, floor, held, 0, &trend);
        if (trend.class == VS_GROWTH_LEAK && 2 * tracker->accounts[i].live < trend.bytes)
            trend.class = VS_GROWTH_FREED;
        fill_row(&judging, &trend, row);
    }
    free(judging.trends);
    if (judging.steps)
        vs_steps_summary(judging.steps, &out->steps);
    out->steps.source = judging.source;
    out->steps.confidence = judging.source != VS_STEPS_FOUND
                                ? judging.source == VS_STEPS_MARKED
                                : (1 - pow(2, -(double)judging.steps->begun / 2)) *
                                      tracker->loop.regular;
    out->sites = tracker->site_rows;
    out->site_count = judging.count;
    out->row_of = tracker->row_of;
    out->row_of_count = tracker->row_of_count;
    out->accounts = tracker->account_rows;
    out->account_count = VS_DEVICES_MAX + 1;
}

const struct vs_growth_row *vs_growth_of(const struct vs_growth_result *result, uint32_t site)
{
    if (!result || site >= result->row_of_count || !result->row_of[site])
        return NULL;
    return &result->sites[result->row_of[site] - 1];
}

size_t vs_growth_sum(const struct vs_growth_result *result, unsigned account,
                     struct vs_growth_row *out)
{
    size_t sites = 0;
    *out = (struct vs_growth_row){.site = VS_SITE_NONE, .account = account,
                                  .user_level = true};
    for (size_t i = 0; result && i < result->site_count; i++) {
        const struct vs_growth_row *row = &result->sites[i];
        if (row->account != account || !row->user_level || !vs_growth_is_named(row))
            continue;
        if (!sites || row->since_ns < out->since_ns) {
            out->since_ns = row->since_ns;
            out->since_step = row->since_step;
            out->since_step_known = row->since_step_known;
        }
        if (row->until_ns >= out->until_ns) {
            out->until_ns = row->until_ns;
            out->until_step = row->until_step;
            out->until_step_known = row->until_step_known;
        }
        if (!sites || row->every < out->every)
            out->every = row->every;
        if (row->class > out->class)
            out->class = row->class;
        out->confidence = fmax(out->confidence, row->confidence);
        out->bytes += row->bytes;
        out->count += row->count;
        out->births += row->births;
        out->per_step += row->per_step;
        out->churn_bytes += row->churn_bytes;
        sites++;
    }
    return sites;
}
