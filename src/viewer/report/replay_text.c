/* SPDX-License-Identifier: Apache-2.0
 *
 * The recorded run and the lower bound first, then a row for each setting, grouped
 * by device; then how far the replay of the recorded setting agrees with the recording, and what
 * the figures rest on. */
#include "viewer/report/answer_text.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/vs_size.h"

#define SETTING_COLUMN 34
#define COLUMNS_MAX 80
#define EXACT 0.0005 /* agreement that is called equal */

double vs_replay_agreement(const struct vs_replay_view *view)
{
    double recorded = (double)view->recorded->reserved_peak;
    if (recorded <= 0)
        return 0;
    return ((double)view->as_recorded.reserved_peak - recorded) / recorded;
}

static void print_head(const struct vs_replay_view *view, const struct vs_style *style)
{
    const struct vs_whatif_recorded *recorded = view->recorded;
    FILE *out = style->out;
    vs_text_put(out, view->program);
    fprintf(out, ", device %" PRIu64, recorded->device);
    if (*view->device_name) {
        fputs(" (", out);
        vs_text_put(out, view->device_name);
        fputs(")", out);
    }
    if (recorded->total_bytes)
        fprintf(out, ", %s", vs_size_text(recorded->total_bytes));
    fprintf(out, "\n%s (%s)", vs_number_text(recorded->request_count, "request"),
            recorded->requests == VS_WHATIF_FRAMEWORK ? "blocks of a framework" : "cudaMalloc");
    if (recorded->steps)
        fprintf(out, ", %s", vs_number_text(recorded->steps, "step"));
    if (recorded->failures)
        fprintf(out, ", %s failed", vs_count_text(recorded->failures));
    const struct {
        const char *label;
        uint64_t bytes;
        const char *remark;
    } rows[] = {{"requests in use at their peak", recorded->live_peak,
                 "   no allocator needs less"},
                {"other memory of the program", recorded->other_peak, "   the same in every row"},
                {"CUDA contexts", recorded->contexts_peak, "   the same in every row"},
                {"other processes", recorded->others_peak,
                 view->find ? "   not counted: its own device" : ""}};
    fprintf(out, "\n\n%-*s %12s\n", SETTING_COLUMN, "recorded peak reserved",
            vs_size_text(recorded->reserved_peak));
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (i == 0 || rows[i].bytes)
            fprintf(out, "%-*s %12s%s\n", SETTING_COLUMN, rows[i].label,
                    vs_size_text(rows[i].bytes),
                    rows[i].remark);
}

/* --- rows --- */

/* A setting on lines of its own, broken after commas. */
static void print_long(const char *name, FILE *out)
{
    size_t column = 0;
    while (*name) {
        size_t length = strcspn(name, ",");
        length += name[length] == ',';
        if (column && column + length > COLUMNS_MAX) {
            fputs("\n  ", out);
            column = 2;
        }
        vs_text_put_part(out, name, length);
        column += length;
        name += length;
    }
    fputc('\n', out);
}

static void print_row(const struct vs_replay_view *view, const struct vs_replay_row *row,
                      const char *name, const struct vs_style *style)
{
    const struct vs_whatif_outcome *o = &row->outcome;
    FILE *out = style->out;
    if (strlen(name) > SETTING_COLUMN) {
        print_long(name, out);
        name = "";
    }
    vs_text_put(out, name);
    fprintf(out, "%*s", SETTING_COLUMN + 1 - (int)strlen(name), "");
    if (o->err) { /* VS_ERR_LIMIT: of the replay, far beyond the memory of any device */
        bool huge = o->err == VS_ERR_LIMIT;
        fprintf(out, "%s%s%s%s\n", vs_paint(style, VS_BAD), huge ? "" : "not possible: ",
                huge ? "needs more than any device has" : vs_err_text(o->err), vs_unpaint(style));
        return;
    }
    fprintf(out, "%12s %5.1f %%", vs_size_text(o->reserved_peak), 100 * vs_whatif_fragmentation(o));
    if (view->find && row->least_capacity) {
        fprintf(out, " %11s  %s\n", vs_size_text(row->least_capacity),
                *row->least_gpu ? row->least_gpu : "none");
        /* What the smallest device holds: the sum is its capacity. */
        const struct vs_whatif_fullest *f = &o->fullest;
        uint64_t used = o->used_peak, free = row->least_capacity > used
            ? row->least_capacity - used : 0;
        const struct {
            uint64_t bytes;
            const char *what;
        } parts[] = {{f->reserved, "reserved"}, {f->other, "other memory"},
                     {f->kept, "cached by pools"}, {f->contexts, "contexts"},
                     {f->others, "other processes"}, {f->rounding, "rounding"}, {free, "free"}};
        char text[256] = "";
        for (size_t i = 0, n = 0; i < sizeof parts / sizeof *parts; i++)
            if (parts[i].bytes)
                n += (size_t)snprintf(text + n, sizeof text - n, "%s%s %s", n ? " + " : "",
                                      vs_size_text(parts[i].bytes), parts[i].what);
        fputs(vs_paint(style, VS_DIM), style->out);
        vs_text_wrapped(style, "    = ", text);
        fputs(vs_unpaint(style), style->out);
        return;
    }
    const struct vs_replay_row *above = NULL; /* the nearest row above that fails */
    for (const struct vs_replay_row *at = view->rows; at < row; at++)
        if (!at->outcome.err && !at->outcome.survives)
            above = at;
    bool same = above && o->fail_event == above->outcome.fail_event;
    bool repeats = same && o->fail_short == above->outcome.fail_short;
    if (!view->find)
        fprintf(out, " %8s  ", vs_count_text(o->retries));
    else
        fputs("  ", out);
    fprintf(out, "%s%s%s\n", vs_paint(style, o->survives ? VS_GOOD : VS_BAD),
            o->survives ? "fits" : repeats ? "fails as above" : "fails", vs_unpaint(style));
    if (o->survives && o->failed_probes)
        fprintf(out, "    %s fail%s as recorded: the program recovers\n",
                vs_number_text(o->failed_probes, "request"), o->failed_probes == 1 ? "s" : "");
    if (o->survives || repeats)
        return;
    /* The request that failed, and its call site unless the row that fails above has it. */
    char shortage[64] = "above the setting's own limit";
    if (o->fail_short)
        snprintf(shortage, sizeof shortage, "short by %s", vs_size_text(o->fail_short));
    if (same)
        vs_text_lines(style, "    ", "the same request, %s", shortage);
    else
        vs_text_lines(style, "    ", "%s%s%.200s: %s, %s",
                      o->fail_other ? "other memory of the program" : "request",
                      *row->place ? " in " : "", row->place, vs_size_text(o->fail_requested),
                      shortage);
    if (!same && *row->where)
        vs_text_wrapped(style, "    at ", row->where);
}

static bool same_device(const struct vs_replay_row *a, const struct vs_replay_row *b)
{
    return a->capacity == b->capacity && strcmp(a->gpu, b->gpu) == 0;
}

/* What *row* is compared by: the memory that it needs. */
static uint64_t needs(const struct vs_replay_view *view, const struct vs_replay_row *row)
{
    return view->find ? row->least_capacity : row->outcome.reserved_peak;
}

/* The best of the settings on the device of *first*, with what it saves against the recorded setting. */
static void print_best(const struct vs_replay_view *view, const struct vs_replay_row *first,
                       const struct vs_style *style)
{
    const struct vs_replay_row *best = NULL, *end = view->rows + view->count, *row = first;
    const struct vs_replay_row *recorded = first == view->rows && needs(view, first) ? first : NULL;
    for (; row < end && same_device(row, first); row++)
        if (!row->outcome.err && (view->find ? row->least_capacity > 0 : row->outcome.survives) &&
            (!best || needs(view, row) < needs(view, best)))
            best = row;
    if (row - first < 2)
        return;
    if (!best) {
        vs_text_lines(style, "best: ", "none of these %zu settings fits", (size_t)(row - first));
        return;
    }
    const char *what = view->find ? "needs a device of" : "reserves";
    if (best == recorded) {
        vs_text_lines(style, "best: ", "as recorded: no other setting %s less",
                      view->find ? "needs" : "reserves");
        return;
    }
    uint64_t from = recorded ? needs(view, recorded) : 0, to = needs(view, best);
    struct vs_size_pair two = vs_sizes_apart(to, from);
    char text[VS_SIZE_TEXT_MAX + 32] = "";
    if (from > to)
        snprintf(text, sizeof text, ", %s less than as recorded", vs_size_text(from - to));
    vs_text_lines(style, "best: ", "%.600s: %s %s%s", best->setting, what,
                  from ? two.a : vs_size_text(to), text);
}

/* --- what the figures rest on --- */

static void print_agreement(const struct vs_replay_view *view, const struct vs_style *style)
{
    const struct vs_whatif_recorded *recorded = view->recorded;
    const struct vs_whatif_outcome *o = &view->as_recorded;
    double off = vs_replay_agreement(view);
    struct vs_size_pair two = vs_sizes_apart(o->reserved_peak, recorded->reserved_peak);
    char text[512];
    bool again = !o->survives && o->fail_event == recorded->last_failure;
    if (o->err)
        return;
    if (view->find || fabs(off) < EXACT)
        snprintf(text, sizeof text, "the replay of the recorded setting reserves as much as was "
                                    "recorded%s",
                 again ? ", and fails at the same request" : "");
    else
        snprintf(text, sizeof text, "the replay of the recorded setting reserves %s, %s were "
                 "recorded (%+.1f %%): expect the other rows to be off by as much%s", two.a, two.b,
                 100 * off,
                 recorded->requests == VS_WHATIF_FRAMEWORK
                     ? ". PyTorch does not report private pools and record_stream"
                     : "");
    if (!view->find)
        vs_text_wrapped(style, "check: ", text);
    if (!view->find && !again && recorded->last_failure)
        vs_text_wrapped(style, "check: ",
                        o->survives ? "the recorded run ended with a failure that the replay does "
                                      "not repeat: take every \"fits\" as an estimate"
                                    : "the replay of the recorded setting fails earlier than the "
                                      "recorded run");
    if (o->served_probes)
        vs_text_wrapped(style, "note: ", "some requests that failed when recorded, and from which "
                        "the program recovered, succeed in the replay; their memory is freed at "
                        "once there");
}

void vs_replay_text(const struct vs_replay_view *view, const struct vs_style *style)
{
    print_head(view, style);
    FILE *out = style->out;
    char name[256];
    fputc('\n', out);
    print_best(view, view->rows, style);
    fprintf(out, "%s%-*s %12s %7s %s%s\n", vs_paint(style, VS_BOLD), SETTING_COLUMN, "setting",
            "reserved", "unused", view->find ? "   capacity  GPU" : " retries  outcome",
            vs_unpaint(style));
    for (size_t i = 0; i < view->count; i++) {
        const struct vs_replay_row *row = &view->rows[i];
        if (i && !same_device(row, row - 1)) {
            if (*row->gpu)
                fprintf(out, "\non %s (%s)\n", row->gpu, vs_size_text(row->capacity));
            else if (row->capacity)
                fprintf(out, "\non a device of %s\n", vs_size_text(row->capacity));
            print_best(view, row, style);
        }
        bool changed = view->modified && i && strcmp(row->setting, view->rows[0].setting) == 0;
        snprintf(name, sizeof name, !i ? "as recorded: %s" : changed ? "%s, changed" : "%s",
                 row->setting);
        print_row(view, row, name, style);
    }
    fputc('\n', out);
    vs_text_lines(style, "",
                  "reserved: its peak. unused: the part of reserved memory that was not in use "
                  "at that peak. %s",
                  view->find ? "capacity: the smallest device on which the program gets through; "
                               "below it the memory in use on it at its peak (rounding: to the "
                               "driver's pages of 2 MiB). GPU: the smallest of the known ones."
                             : "retries: requests for which the whole cache was released.");
    fputc('\n', style->out);
    print_agreement(view, style);
    if (view->recorded->last_failure)
        vs_text_wrapped(style, "note: ", "the recorded program ended early: what it would have "
                        "needed after its last failure is unknown, every figure is a lower bound");
}
