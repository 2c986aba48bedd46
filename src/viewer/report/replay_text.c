/* SPDX-License-Identifier: Apache-2.0
 *
 * See the header. The recorded run and the lower bound first, then a row for each setting, grouped
 * by device; then how far the replay of the recorded setting agrees with the recording, and what
 * the figures rest on. */
#include "viewer/report/replay_text.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/vs_size.h"

#define SETTING_COLUMN 34
#define COLUMNS_MAX 80
#define EXACT 0.0005 /* agreement that is called equal */

/* Three digits after the point from 1 GiB on: rows are compared. */
static char *size_text(char out[VS_SIZE_TEXT_MAX], uint64_t bytes)
{
    return vs_size_format_gib(out, bytes, 3);
}

double vs_replay_agreement(const struct vs_replay_view *view)
{
    double recorded = (double)view->recorded->reserved_peak;
    if (recorded <= 0)
        return 0;
    return ((double)view->rows[0].outcome.reserved_peak - recorded) / recorded;
}

static const char *requests_of(const struct vs_whatif_recorded *recorded)
{
    return recorded->requests == VS_WHATIF_FRAMEWORK ? "PyTorch's tensors" : "cudaMalloc";
}

static void print_head(const struct vs_replay_view *view, const struct vs_style *style)
{
    const struct vs_whatif_recorded *recorded = view->recorded;
    char size[VS_SIZE_TEXT_MAX], count[VS_SIZE_TEXT_MAX];
    FILE *out = style->out;
    vs_text_put(out, view->program);
    fprintf(out, ", device %" PRIu64, recorded->device);
    if (*view->device_name) {
        fputs(" (", out);
        vs_text_put(out, view->device_name);
        fputs(")", out);
    }
    if (recorded->total_bytes)
        fprintf(out, ", %s", size_text(size, recorded->total_bytes));
    fprintf(out, "\n%s requests (%s)", vs_count_format(count, recorded->request_count),
            requests_of(recorded));
    if (recorded->steps)
        fprintf(out, ", %s step%s", vs_count_format(count, recorded->steps),
                recorded->steps == 1 ? "" : "s");
    if (recorded->failures)
        fprintf(out, ", %s failed", vs_count_format(count, recorded->failures));
    fprintf(out, "\n\n%-*s %12s\n", SETTING_COLUMN, "recorded peak reserved",
            size_text(size, recorded->reserved_peak));
    fprintf(out, "%-*s %12s   no allocator needs less\n", SETTING_COLUMN,
            "requests in use at their peak", size_text(size, recorded->live_peak));
    if (recorded->other_peak)
        fprintf(out, "%-*s %12s   the same in every row\n", SETTING_COLUMN,
                "other memory of the program", size_text(size, recorded->other_peak));
    if (recorded->outside_peak)
        fprintf(out, "%-*s %12s   the same in every row\n", SETTING_COLUMN,
                recorded->others_peak ? "CUDA contexts, other processes" : "CUDA contexts",
                size_text(size, recorded->outside_peak));
}

/* --- rows --- */

static void outcome_text(char out[160], const struct vs_replay_row *row)
{
    const struct vs_whatif_outcome *o = &row->outcome;
    if (o->err == VS_ERR_LIMIT) /* of the replay: far beyond the memory of any device */
        snprintf(out, 160, "larger than any device");
    else if (o->err)
        snprintf(out, 160, "not possible: %s", vs_err_text(o->err));
    else if (o->survives && o->failed_probes)
        snprintf(out, 160, "fits (%" PRIu64 " failed as recorded)", o->failed_probes);
    else if (o->survives)
        snprintf(out, 160, "fits");
    else
        snprintf(out, 160, "fails");
}

/* The user's line, of which the end names the file. */
static void print_line(const struct vs_replay_row *row, FILE *out)
{
    char clipped[4 * 76 + 4];
    const char *end = strrchr(row->line, '(');
    size_t tail = end ? strlen(end) : 0, code = strlen(row->line) - tail;
    fputs("    at ", out);
    if (tail && tail < 50 && code + tail > 73) {
        char text[1024];
        snprintf(text, sizeof text, "%.*s", (int)(code < 1000 ? code : 1000), row->line);
        vs_text_put(out, vs_text_clip(clipped, text, 72 - tail));
        fputc(' ', out);
        vs_text_put(out, end);
    } else {
        vs_text_put(out, vs_text_clip(clipped, row->line, 73));
    }
    fputc('\n', out);
}

/* The request that failed; nothing when that of the row above failed as well. */
static void print_failure(const struct vs_replay_view *view, const struct vs_replay_row *row, bool same,
                          const struct vs_style *style)
{
    const struct vs_whatif_outcome *o = &row->outcome;
    char size[VS_SIZE_TEXT_MAX], missing[VS_SIZE_TEXT_MAX], text[512], clipped[4 * 80 + 4];
    if (o->err || o->survives || same)
        return;
    snprintf(text, sizeof text, "    %s%s%.200s: %s, short by %s",
             o->fail_other ? "other memory of the program" : "request",
             *row->place ? " in " : "", row->place, size_text(size, o->fail_requested),
             size_text(missing, o->fail_short));
    vs_text_put(style->out, vs_text_clip(clipped, text, 80));
    fputc('\n', style->out);
    for (const struct vs_replay_row *earlier = view->rows; earlier < row; earlier++)
        if (!earlier->outcome.err && earlier->outcome.fail_event == o->fail_event)
            return; /* the line is above */
    if (*row->line)
        print_line(row, style->out);
}

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
    const struct vs_replay_row *above = row > view->rows ? row - 1 : row;
    bool same = row != above && row->outcome.fail_event == above->outcome.fail_event &&
                row->outcome.fail_short == above->outcome.fail_short;
    const struct vs_whatif_outcome *o = &row->outcome;
    char size[VS_SIZE_TEXT_MAX], text[160];
    FILE *out = style->out;
    if (strlen(name) > SETTING_COLUMN) {
        print_long(name, out);
        name = "";
    }
    outcome_text(text, row);
    vs_text_put(out, name);
    fprintf(out, "%*s", SETTING_COLUMN + 1 - (int)strlen(name), "");
    if (o->err)
        fprintf(out, view->find ? "%12s %7s  " : "%12s %7s %8s  ", "-", "-", "-");
    else
        fprintf(out, "%12s %5.1f %%", size_text(size, o->reserved_peak),
                100 * vs_whatif_fragmentation(o));
    if (!o->err && !view->find)
        fprintf(out, " %8" PRIu64 "  ", o->retries);
    if (view->find && row->least_capacity)
        fprintf(out, " %11s  %s\n", size_text(size, row->least_capacity),
                *row->least_gpu ? row->least_gpu : "none");
    else
        fprintf(out, "%s%s%s\n",
                vs_paint(style, o->survives ? VS_GOOD : VS_BAD), text, vs_unpaint(style));
    if (!(view->find && row->least_capacity))
        print_failure(view, row, same, style);
}

static bool same_device(const struct vs_replay_row *a, const struct vs_replay_row *b)
{
    return a->capacity == b->capacity && strcmp(a->gpu, b->gpu) == 0;
}

static void print_device(const struct vs_replay_row *row, FILE *out)
{
    char size[VS_SIZE_TEXT_MAX];
    if (*row->gpu)
        fprintf(out, "\non %s (%s)\n", row->gpu, size_text(size, row->capacity));
    else if (row->capacity)
        fprintf(out, "\non a device of %s\n", size_text(size, row->capacity));
}

static void print_rows(const struct vs_replay_view *view, const struct vs_style *style)
{
    FILE *out = style->out;
    char name[256];
    fprintf(out, "\n%s%-*s %12s %7s %s%s\n", vs_paint(style, VS_BOLD), SETTING_COLUMN, "setting",
            "reserved", "frag.", view->find ? "   capacity  GPU" : " retries  outcome",
            vs_unpaint(style));
    for (size_t i = 0; i < view->count; i++) {
        const struct vs_replay_row *row = &view->rows[i];
        if (i && !same_device(row, row - 1))
            print_device(row, out);
        bool changed = view->modified && i && strcmp(row->setting, view->rows[0].setting) == 0;
        snprintf(name, sizeof name, !i ? "as recorded: %s" : changed ? "%s, changed" : "%s",
                 row->setting);
        print_row(view, row, name, style);
    }
    fputc('\n', out);
    vs_text_lines(style, "", "reserved: peak of the memory held from the device. frag.: share of it that "
                  "was not in use then. %s",
                  view->find ? "capacity: the smallest device on which the program gets through, "
                               "contexts included; GPU: the smallest of the known ones."
                             : "retries: requests for which the whole cache was released.");
}

/* --- what the figures rest on --- */

static void print_agreement(const struct vs_replay_view *view, const struct vs_style *style)
{
    const struct vs_whatif_recorded *recorded = view->recorded;
    const struct vs_whatif_outcome *o = &view->rows[0].outcome;
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
    print_rows(view, style);
    fputc('\n', style->out);
    print_agreement(view, style);
    if (view->recorded->last_failure)
        vs_text_wrapped(style, "note: ", "the recorded program ended early: what it would have "
                        "needed after its last failure is unknown, every figure is a lower bound");
}
