/* SPDX-License-Identifier: Apache-2.0
 *
 * What is kept of each trace, and the comparison of the ranks; rank_clocks.c aligns their times. */
#include "analysis/merge/merge.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/report/report.h"
#include "analysis/state/reading.h"
#include "base/reading/vs_vec.h"
#include "base/reading/vs_xalloc.h"
#include "base/vs_map.h"
#include "base/vs_text.h"

#define OUTLIER_DISTANCES 5 /* of the median distance from the median */
#define OUTLIER_PART 10     /* and at least this part of the median */
#define LATE_MOST_OF_1000 500
#define ARRIVALS_LEAST 8

/* --- one trace --- */

struct collector {
    struct vs_reader *reader;
    struct vs_meetings *meetings;
    struct vs_arena *arena; /* of them */
    struct vs_map names; /* string id of a kernel -> hash of its name, 0: no collective */
};

/* Of NCCL and RCCL, those at whose end every rank has the data of all. */
static uint64_t collective_of(struct collector *c, uint64_t id)
{
    static const char *const kinds[] = {"AllReduce", "AllGather", "ReduceScatter", "AlltoAll"};
    const uint64_t *known = vs_map_get(&c->names, id);
    if (known || !id)
        return known ? *known : 0;
    const char *name = vs_reader_string(c->reader, id);
    uint64_t hash = 0;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (strstr(name, "nccl") && strstr(name, kinds[i]))
            hash = vs_text_hash(0, name) | 1;
    vs_xmap_put(&c->names, id, hash);
    return hash;
}

static enum vs_err on_kernel(void *context, struct vs_replay *replay, const struct vs_event *event)
{
    (void)replay;
    struct collector *c = context;
    struct vs_meetings *all = c->meetings;
    uint64_t name = collective_of(c, event->kernel.name);
    if (!name)
        return VS_OK;
    uint64_t number = all->seen++;
    if (number % all->stride)
        return VS_OK;
    if (!all->items)
        all->items = vs_xarena(c->arena, VS_MEETINGS_MAX * sizeof *all->items);
    if (all->count == VS_MEETINGS_MAX) {
        all->stride *= 2;
        all->count /= 2;
        for (size_t i = 0; i < all->count; i++)
            all->items[i] = all->items[2 * i];
        if (number % all->stride)
            return VS_OK;
    }
    all->items[all->count++] = (struct vs_meeting){number, name, event->kernel.start_ns, event->kernel.end_ns, 0};
    return VS_OK;
}

/* The first failure that ended it, or that it did not recover from. */
static void take_failure(struct vs_rank *rank, const struct vs_report *report)
{
    for (size_t i = 0; i < report->group_count; i++) {
        const struct vs_report_failure_group *g = &report->groups[i];
        if (g->recovered || (rank->failed && rank->failed_ns <= g->first.time_ns))
            continue;
        rank->failed = true;
        rank->failed_ns = g->first.time_ns;
        rank->failed_bytes = g->first.requested;
    }
    rank->failed_ns += rank->begin_ns;
}

static void take(struct vs_rank *rank, const struct vs_report *report, struct vs_arena *arena)
{
    const struct vs_report_steps *steps = &report->steps;
    rank->program = vs_xarena_text(arena, report->program);
    rank->host = vs_xarena_text(arena, report->host);
    rank->boot = vs_xarena_text(arena, report->boot);
    rank->job = report->job;
    rank->pid = report->pid;
    rank->start_realtime_ns = report->start_realtime_ns;
    rank->begin_ns = report->start_ns;
    rank->end_ns = report->start_ns + report->duration_ns;
    rank->condition = report->condition;
    rank->condition_text = vs_xarena_text(arena, report->condition_text);
    rank->ended = report->has_end;
    rank->end_reason = report->end_reason;
    rank->end_status = report->end_status;
    if (!rank->ended && (report->outcome.kind == VS_OUTCOME_KILLED || report->outcome.kind == VS_OUTCOME_EXITED)) {
        rank->ended = true; /* as FILE.live says */
        rank->end_reason = report->outcome.kind == VS_OUTCOME_KILLED ? VS_END_KILLED : VS_END_EXIT;
        rank->end_status = report->outcome.status;
    }
    for (size_t i = 0; i < report->device_count; i++) {
        const struct vs_report_device *device = &report->devices[i];
        if (i && device->peak_user.bytes <= rank->peak_bytes)
            continue;
        rank->device = device->device;
        rank->total_bytes = device->total_bytes;
        rank->peak_bytes = device->peak_user.bytes;
        rank->reserved_bytes = device->peak_reserved.bytes;
    }
    rank->steps_done = steps->done;
    rank->step_ns = steps->done ? steps->total_ns / steps->done : 0;
    rank->steps.items = vs_xarena(arena, (steps->kept.count + 1) * sizeof *rank->steps.items);
    rank->steps.count = steps->kept.count;
    for (size_t i = 0; i < steps->kept.count; i++)
        rank->steps.items[i] = (struct vs_meeting){.number = steps->kept.first_number + i * steps->kept.stride,
                                                   .start_ns = steps->kept.items[i].time_ns,
                                                   .end_ns = steps->kept.items[i].time_ns, /* of its begin */
                                                   .peak_bytes = steps->kept.items[i].peak_bytes};
    take_failure(rank, report);
}

static enum vs_err read_rank(struct vs_rank *rank, const char *path, struct vs_arena *arena, char *why)
{
    struct collector collector = {.meetings = &rank->collectives, .arena = arena};
    struct vs_report *report;
    *rank = (struct vs_rank){.path = vs_xarena_text(arena, path)};
    rank->collectives.stride = 1;
    enum vs_err err = vs_reader_open(path, &collector.reader, why);
    if (err)
        return err;
    const struct vs_observer observer = {VS_KIND_BIT(VS_EVENT_kernel), NULL, on_kernel, &collector};
    const struct vs_report_options options = {.sites_max = 1, .kernels_max = 1,
                                              .observers = &observer, .observer_count = 1};
    err = vs_report_build(collector.reader, path, &options, &report);
    if (!err) {
        take(rank, report, arena);
        vs_report_free(report);
    } else {
        snprintf(why, VS_READER_WHY_MAX, "%s: cannot read the trace: %s", path, vs_err_text(err));
    }
    vs_map_free(&collector.names);
    vs_reader_close(collector.reader);
    return err;
}

/* --- all of them --- */

static int order_ranks(const void *left, const void *right)
{
    const struct vs_rank *a = left, *b = right;
    int order = vs_then(b->job.has_rank - a->job.has_rank, vs_job_rank_before(&a->job, &b->job));
    order = vs_then(order, vs_order_u64(&a->start_realtime_ns, &b->start_realtime_ns));
    return vs_then(order, strcmp(a->path, b->path));
}

static void name_ranks(struct vs_merge *merge)
{
    for (size_t i = 0; i < merge->count; i++) {
        struct vs_rank *rank = &merge->ranks[i];
        bool has_rank = rank->job.has_rank;
        uint64_t number = has_rank ? rank->job.rank : rank->pid, same = 1;
        for (size_t j = 0; j < i; j++) {
            const struct vs_rank *other = &merge->ranks[j];
            same += other->job.has_rank == has_rank && number == (has_rank ? other->job.rank : other->pid);
        }
        rank->name = vs_xarena_printf(&merge->arena, "%s %llu", has_rank ? "rank" : "process",
                                      (unsigned long long)number);
        if (same > 1)
            rank->name = vs_xarena_printf(&merge->arena, "%s (%llu)", rank->name, (unsigned long long)same);
        bool seen = false;
        for (size_t j = 0; j < i && !seen; j++)
            seen = vs_rank_same_machine(&merge->ranks[j], rank);
        merge->machines += !seen;
    }
}

/* The spread of a figure that is 0 where a rank has none; *member* is its place in struct vs_rank. */
static void spread(const struct vs_merge *merge, size_t member, struct vs_spread *out)
{
    struct figure {
        uint64_t value;
        uint32_t rank;
    } *figures = vs_xcalloc(merge->count, sizeof *figures);
    uint64_t *distances = vs_xcalloc(merge->count, sizeof *distances);
    size_t count = 0;
    for (uint32_t i = 0; i < merge->count; i++) {
        uint64_t value = *(const uint64_t *)((const char *)&merge->ranks[i] + member);
        if (value)
            figures[count++] = (struct figure){value, i};
    }
    vs_vec_sort(figures, count, sizeof *figures, vs_order_u64); /* by their first member */
    *out = (struct vs_spread){.outlier = VS_RANK_NONE};
    if (count) {
        const struct figure *lowest = figures, *highest = &figures[count - 1];
        /* of two, the lower is what the other is compared with */
        uint64_t median = figures[count > 2 ? count / 2 : 0].value, below = median - lowest->value, above = highest->value - median;
        for (size_t i = 0; i < count; i++)
            distances[i] = figures[i].value > median ? figures[i].value - median : median - figures[i].value;
        uint64_t furthest = above > below ? above : below, usual = vs_vec_nth(distances, count, count / 2);
        *out = (struct vs_spread){(uint32_t)count, lowest->value, median, highest->value, VS_RANK_NONE,
                                  lowest->value, highest->value};
        if ((count <= 2 || furthest > usual * OUTLIER_DISTANCES) && furthest > median / OUTLIER_PART) {
            out->outlier = (above > below ? highest : lowest)->rank;
            out->others_lowest = above > below ? lowest->value : lowest[1].value;
            out->others_highest = above > below ? highest[-1].value : highest->value;
        }
    }
    free(figures);
    free(distances);
}

/* Of the collectives that every rank has: when each came, against the median rank. */
static void arrivals(struct vs_merge *merge)
{
    struct vs_rank *ranks = merge->ranks;
    size_t n = merge->count, most = ranks[0].collectives.count, common = 0, *at = vs_xcalloc(n, sizeof *at);
    uint64_t *starts = vs_xcalloc(n, sizeof *starts), *sorted = vs_xcalloc(n, sizeof *sorted);
    /* of each rank how late it came to each; from 0 on as vs_vec_nth wants */
    uint64_t *lateness = vs_xcalloc(n * most + 1, sizeof *lateness);
    const uint64_t zero = UINT64_C(1) << 63;
    for (size_t i = 0; i < most && n > 1; i++) {
        const struct vs_meeting *first = &ranks[0].collectives.items[i];
        bool all = true;
        for (size_t r = 0; r < n; r++) {
            const struct vs_meetings *m = &ranks[r].collectives;
            while (at[r] < m->count && m->items[at[r]].number < first->number)
                at[r]++;
            all = all && at[r] < m->count && m->items[at[r]].number == first->number &&
                  m->items[at[r]].name == first->name;
            if (all)
                sorted[r] = starts[r] = vs_rank_time(&ranks[r].clock, m->items[at[r]].start_ns);
        }
        if (!all)
            continue;
        uint64_t middle = vs_vec_nth(sorted, n, n / 2);
        size_t last = 0;
        for (size_t r = 0; r < n; r++) {
            lateness[r * most + common] = zero + starts[r] - middle;
            last = starts[r] > starts[last] ? r : last;
        }
        ranks[last].last_of_1000++;
        common++;
    }
    merge->straggler = VS_RANK_NONE;
    for (uint32_t r = 0; r < n; r++) {
        ranks[r].arrival_known = common >= ARRIVALS_LEAST;
        ranks[r].last_of_1000 = common ? (unsigned)(ranks[r].last_of_1000 * 1000ull / common) : 0;
        if (!ranks[r].arrival_known)
            continue;
        ranks[r].arrival_ns = (int64_t)(vs_vec_nth(lateness + r * most, common, common / 2) - zero);
        if (ranks[r].last_of_1000 >= LATE_MOST_OF_1000 && ranks[r].source != VS_CLOCK_WALL &&
            ranks[r].arrival_ns > (int64_t)(2 * ranks[r].error_ns))
            merge->straggler = r;
    }
    free(at);
    free(starts);
    free(sorted);
    free(lateness);
}

static void failures(struct vs_merge *merge)
{
    merge->first_failed = VS_RANK_NONE;
    merge->failed_first_sure = true;
    uint64_t first_ns = UINT64_MAX;
    for (uint32_t i = 0; i < merge->count; i++) {
        const struct vs_rank *rank = &merge->ranks[i];
        uint64_t at = vs_rank_time(&rank->clock, rank->failed_ns);
        merge->failed_count += rank->failed;
        if (!rank->failed || at >= first_ns)
            continue;
        merge->first_failed = i;
        first_ns = at;
    }
    for (uint32_t i = 0; i < merge->count; i++) {
        const struct vs_rank *rank = &merge->ranks[i];
        if (!rank->failed || i == merge->first_failed)
            continue;
        const struct vs_rank *first = &merge->ranks[merge->first_failed];
        uint64_t error = vs_rank_same_machine(first, rank) ? 0 : first->error_ns + rank->error_ns;
        bool unknown = first->source == VS_CLOCK_WALL || rank->source == VS_CLOCK_WALL;
        if ((unknown && !vs_rank_same_machine(first, rank)) ||
            vs_rank_time(&rank->clock, rank->failed_ns) <= first_ns + error)
            merge->failed_first_sure = false;
    }
}

enum vs_err vs_merge_build(const char *const *paths, size_t count, struct vs_merge **out, char *why)
{
    struct vs_merge *merge = vs_xcalloc(1, sizeof *merge);
    merge->ranks = vs_xarena(&merge->arena, count * sizeof *merge->ranks);
    for (; merge->count < count; merge->count++) {
        enum vs_err err = read_rank(&merge->ranks[merge->count], paths[merge->count], &merge->arena, why);
        if (err) {
            vs_merge_free(merge);
            return err;
        }
    }
    vs_vec_sort(merge->ranks, count, sizeof *merge->ranks, order_ranks);
    name_ranks(merge);
    vs_rank_clocks(merge->ranks, count);
    for (size_t i = 0; i < count; i++) {
        uint64_t end = vs_rank_time(&merge->ranks[i].clock, merge->ranks[i].end_ns);
        merge->length_ns = end > merge->length_ns ? end : merge->length_ns;
    }
    spread(merge, offsetof(struct vs_rank, peak_bytes), &merge->peak);
    spread(merge, offsetof(struct vs_rank, reserved_bytes), &merge->reserved);
    spread(merge, offsetof(struct vs_rank, step_ns), &merge->step);
    arrivals(merge);
    failures(merge);
    *out = merge;
    return VS_OK;
}

void vs_merge_free(struct vs_merge *merge)
{
    if (!merge)
        return;
    vs_arena_free_all(&merge->arena);
    free(merge);
}
