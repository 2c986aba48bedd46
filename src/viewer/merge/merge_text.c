/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/naming/name_text.h"
#include "base/reading/vs_xalloc.h"
#include "base/vs_size.h"
#include "base/vs_text.h"
#include "trace/format/event.h"
#include "viewer/common/json_writer.h"
#include "viewer/merge/merge_output.h"

#define ROWS_MOST 16

static const char *const source_names[] = {"shared", "collectives", "steps", "wall"};

bool vs_rank_is_odd(const struct vs_merge *merge, uint32_t index)
{
    return index == merge->peak.outlier || index == merge->reserved.outlier || index == merge->step.outlier ||
           index == merge->straggler || index == merge->first_failed ||
           merge->ranks[index].condition != VS_TRACE_COMPLETE;
}

static const struct vs_rank *rank_at(const struct vs_merge *merge, uint32_t index)
{
    return index == VS_RANK_NONE ? NULL : &merge->ranks[index];
}

/* The rank whose figure is the median, to compare the outlier with. */
static const struct vs_rank *usual_rank(const struct vs_merge *merge)
{
    for (size_t i = 0; i < merge->count; i++)
        if (merge->ranks[i].peak_bytes == merge->peak.median)
            return &merge->ranks[i];
    return &merge->ranks[0];
}

static void clocks(const struct vs_merge *merge, const struct vs_style *style)
{
    const struct vs_rank *worst = &merge->ranks[0];
    unsigned by[VS_CLOCK_WALL + 1] = {0};
    for (size_t i = 0; i < merge->count; i++) {
        const struct vs_rank *rank = &merge->ranks[i];
        by[rank->source]++;
        if (rank->error_ns >= worst->error_ns && rank->source != VS_CLOCK_WALL)
            worst = rank;
    }
    const char *lead = "  clocks    ", *reference = merge->ranks[0].name;
    if (by[VS_CLOCK_SHARED] == merge->count) {
        vs_text_lines(style, lead, "%s", merge->count > 1 ? "one machine, one clock" : "one process");
        return;
    }
    if (by[VS_CLOCK_COLLECTIVES] + by[VS_CLOCK_STEPS])
        vs_text_lines(style, lead, "aligned with that of %s by %s%s%s: within %s", reference,
                      by[VS_CLOCK_COLLECTIVES] ? "the ends of collectives" : "",
                      by[VS_CLOCK_COLLECTIVES] && by[VS_CLOCK_STEPS] ? " and " : "",
                      by[VS_CLOCK_STEPS] ? "the begins of steps" : "", vs_time_text(worst->error_ns));
    if (by[VS_CLOCK_WALL])
        vs_text_lines(style, vs_text_mark(style, "warning"),
                      "%u of %zu processes: neither collectives nor steps in common with %s; placed by the "
                      "clocks of their machines, with an unknown error",
                      by[VS_CLOCK_WALL], merge->count, reference);
}

/* "7.02 to 7.05 GiB", of those without the outlier. */
static void spread_line(const struct vs_merge *merge, const struct vs_style *style, const char *lead,
                        const char *what, const struct vs_spread *s, char *(*format)(char *, uint64_t))
{
    char low[VS_SIZE_TEXT_MAX], high[VS_SIZE_TEXT_MAX], odd[VS_SIZE_TEXT_MAX];
    const struct vs_rank *outlier = rank_at(merge, s->outlier);
    if (!s->count)
        return;
    format(low, s->others_lowest);
    format(high, s->others_highest);
    bool same = strcmp(low, high) == 0;
    if (outlier) {
        uint64_t value = s->highest > s->others_highest ? s->highest : s->lowest;
        vs_text_lines(style, lead, "%s%s%s%s; %s: %s, %.2f times %s", what, low, same ? "" : " to ",
                      same ? "" : high, outlier->name, format(odd, value), (double)value / (double)s->median,
                      s->count == 2 ? "that" : "the median");
    } else {
        vs_text_lines(style, lead, "%s%s%s%s%s", what, low, same ? "" : " to ", same ? "" : high,
                      same && s->count > 1 ? " each" : "");
    }
}

void vs_merge_facts(const struct vs_merge *merge, const struct vs_style *style)
{
    fprintf(style->out, "%s%zu process%s%s", vs_paint(style, VS_BOLD), merge->count,
            merge->count == 1 ? "" : "es", vs_unpaint(style));
    if (merge->machines > 1)
        fprintf(style->out, " on %u machines", merge->machines);
    fprintf(style->out, ", %s\n\n", vs_time_text(merge->length_ns));
    clocks(merge, style);
    spread_line(merge, style, "  memory    ", "peak ", &merge->peak, vs_size_format);
    const struct vs_rank *most = rank_at(merge, merge->peak.outlier);
    if (most && most != usual_rank(merge)) {
        char *verb;
        size_t length;
        FILE *words = vs_xstream(&verb, &length);
        fputs("vramscope diff ", words);
        vs_text_shell(words, usual_rank(merge)->path);
        vs_xstream_end(words);
        vs_text_command(style, "            what differs: ", verb, most->path, "");
        free(verb);
    }
    uint64_t world = 0;
    for (size_t i = 0; i < merge->count; i++)
        world = merge->ranks[i].job.world_size > world ? merge->ranks[i].job.world_size : world;
    if (world > merge->count)
        vs_text_lines(style, vs_text_mark(style, "warning"), "the job has %" PRIu64 " processes; the traces of %"
                      PRIu64 " are not here", world, world - merge->count);
    for (size_t i = 1; i < merge->count; i++) { /* by rank */
        const struct vs_job_rank *before = &merge->ranks[i - 1].job, *job = &merge->ranks[i].job;
        bool sizes = job->has_world_size && before->has_world_size && job->world_size != before->world_size;
        if (!sizes && !(job->has_rank && before->has_rank && job->rank == before->rank))
            continue;
        vs_text_lines(style, vs_text_mark(style, "warning"), "%s and %s %s: the traces may be of different jobs",
                      merge->ranks[i - 1].name, merge->ranks[i].name,
                      sizes ? "belong to jobs of different sizes" : "have one rank");
        break;
    }
    spread_line(merge, style, "  steps     ", "", &merge->step, vs_time_format);
    const struct vs_rank *late = rank_at(merge, merge->straggler);
    if (late)
        vs_text_lines(style, "  waiting   ", "%s comes last to %u %% of the collectives, %s after the "
                      "median rank: the others wait for it", late->name, late->last_of_1000 / 10,
                      vs_time_text((uint64_t)late->arrival_ns));
    const struct vs_rank *failed = rank_at(merge, merge->first_failed);
    if (!failed)
        return;
    const char *at = vs_time_text(vs_rank_time(&failed->clock, failed->failed_ns));
    const char *bytes = vs_size_text(failed->failed_bytes);
    vs_text_lines(style, "  failure   ", "%s ran out of memory first, at %s, for %s%s", failed->name, at,
                  bytes, merge->failed_first_sure ? "" : "; another may have been earlier, within the "
                                                         "error of the clocks");
    if (merge->failed_count > 1)
        vs_text_lines(style, "            ", "%" PRIu32 " other process%s ran out of memory after it",
                      merge->failed_count - 1, merge->failed_count == 2 ? "" : "es");
    vs_text_command(style, "            ", "vramscope oom", failed->path, "");
}

char *vs_rank_end_text(char *out, const struct vs_rank *rank)
{
    bool killed = rank->end_reason == VS_END_SIGNAL || rank->end_reason == VS_END_KILLED;
    if (rank->failed || !rank->ended)
        snprintf(out, VS_RANK_END_MAX, rank->failed ? "out of memory" : "no end in the trace");
    else if (killed || (rank->end_reason == VS_END_EXIT && rank->end_status))
        snprintf(out, VS_RANK_END_MAX, "%s %" PRIu64, killed ? "signal" : "exit", rank->end_status);
    else
        snprintf(out, VS_RANK_END_MAX, "ended");
    return out;
}

void vs_merge_text(const struct vs_merge *merge, const struct vs_style *style)
{
    vs_merge_facts(merge, style);
    bool some = merge->count > ROWS_MOST && !style->full;
    fprintf(style->out, "\n  %-16s %11s %11s %7s %10s %10s  %s\n", "", "peak", "reserved", "steps",
            "step time", "arrives", "end");
    size_t left_out = 0;
    uint32_t most = 0, least = 0;
    for (uint32_t i = 0; i < merge->count; i++) {
        most = merge->ranks[i].peak_bytes > merge->ranks[most].peak_bytes ? i : most;
        least = merge->ranks[i].peak_bytes < merge->ranks[least].peak_bytes ? i : least;
    }
    for (uint32_t i = 0; i < merge->count; i++) {
        const struct vs_rank *rank = &merge->ranks[i];
        char step[VS_SIZE_TEXT_MAX] = "-", arrival[VS_SIZE_TEXT_MAX + 1] = "-", end[VS_RANK_END_MAX], name[64];
        bool odd = vs_rank_is_odd(merge, i);
        if (some && !odd && i && i != most && i != least) {
            left_out++;
            continue;
        }
        if (rank->step_ns)
            vs_time_format(step, rank->step_ns);
        if (rank->arrival_known) {
            *arrival = rank->arrival_ns < 0 ? '-' : '+';
            vs_time_format(arrival + 1, (uint64_t)(rank->arrival_ns < 0 ? -rank->arrival_ns : rank->arrival_ns));
        }
        const char *peak = vs_size_text(rank->peak_bytes), *reserved = vs_size_text(rank->reserved_bytes);
        fprintf(style->out, "  %s%-16s%s %11s %11s %7" PRIu64 " %10s %10s  %s\n",
                odd ? vs_paint(style, VS_WARN) : "", vs_text_clip(name, rank->name, 16),
                odd ? vs_unpaint(style) : "", peak, reserved, rank->steps_done, step, arrival,
                vs_rank_end_text(end, rank));
    }
    if (left_out)
        fprintf(style->out, "  %zu others, alike (--full lists them)\n", left_out);
    vs_text_lines(style, "  ", "peak: tensors and buffers of libraries such as NCCL; reserved: with cached memory");
}

static void put_spread(struct vs_json *json, const char *key, const struct vs_merge *merge,
                       const struct vs_spread *s)
{
    const struct vs_rank *outlier = rank_at(merge, s->outlier);
    vs_json_object(json, key, VS_J_UINT("lowest", s->lowest), VS_J_UINT("median", s->median),
                   VS_J_UINT("highest", s->highest), VS_J_TEXT("outlier", outlier ? outlier->name : NULL));
}

void vs_merge_json(const struct vs_merge *merge, FILE *out)
{
    struct vs_json json = vs_json_document(out, "vramscope.merge/1");
    const struct vs_rank *late = rank_at(merge, merge->straggler), *failed = rank_at(merge, merge->first_failed);
    vs_json_members(&json, VS_J_UINT("machines", merge->machines), VS_J_UINT("length_ns", merge->length_ns));
    put_spread(&json, "peak_bytes", merge, &merge->peak);
    put_spread(&json, "reserved_bytes", merge, &merge->reserved);
    put_spread(&json, "step_ns", merge, &merge->step);
    vs_json_members(&json, VS_J_TEXT("straggler", late ? late->name : NULL),
                    VS_J_TEXT("first_failed", failed ? failed->name : NULL),
                    VS_J_BOOL("first_failed_is_sure", failed && merge->failed_first_sure),
                    VS_J_UINT("failed", merge->failed_count));
    for (size_t i = 0; vs_json_next(&json, "ranks", i, merge->count); i++) {
        const struct vs_rank *rank = &merge->ranks[i];
        bool sure = rank->source != VS_CLOCK_WALL;
        vs_json_object(&json, NULL, VS_J_TEXT("name", rank->name), VS_J_TEXT("trace", rank->path),
                        VS_J_KNOWN("rank", rank->job.has_rank, rank->job.rank), VS_J_UINT("pid", rank->pid),
                        VS_J_TEXT("host", rank->host), VS_J_TEXT("program", rank->program),
                        VS_J_UINT("begin_ns", vs_rank_time(&rank->clock, rank->begin_ns)),
                        VS_J_UINT("end_ns", vs_rank_time(&rank->clock, rank->end_ns)),
                        VS_J_TEXT("clock", source_names[rank->source]),
                        VS_J_RATIO("clock_drift_ppm", rank->clock.drift * 1e6),
                        VS_J_KNOWN("clock_error_ns", sure, rank->error_ns),
                        VS_J_UINT("meetings", rank->meetings), VS_J_UINT("device", rank->device),
                        VS_J_UINT("total_bytes", rank->total_bytes),
                        VS_J_UINT("peak_bytes", rank->peak_bytes),
                        VS_J_UINT("reserved_bytes", rank->reserved_bytes),
                        VS_J_UINT("steps", rank->steps_done), VS_J_UINT("step_ns", rank->step_ns),
                        VS_J_KNOWN("failed_ns", rank->failed, vs_rank_time(&rank->clock, rank->failed_ns)),
                        VS_J_KNOWN("failed_bytes", rank->failed, rank->failed_bytes),
                        VS_J_KNOWN_INT("arrival_ns", rank->arrival_known, rank->arrival_ns),
                        VS_J_KNOWN("last_of_1000", rank->arrival_known, rank->last_of_1000),
                        VS_J_TEXT("condition", rank->condition_text));
    }
    vs_json_end_object(&json);
    fputc('\n', out);
}
