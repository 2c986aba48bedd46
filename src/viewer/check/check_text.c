/* SPDX-License-Identifier: Apache-2.0
 *
 * The result as text for a terminal or a log. */
#include <inttypes.h>
#include <string.h>

#include "analysis/budget/culprits.h"
#include "base/vs_size.h"
#include "viewer/check/check_words.h"

#define INNER 4 /* columns by which the parts of a sum are indented */

/* "ok    FILE: SENTENCE", with the sentence on lines of its own if both do not fit on one. */
static void verdict_line(const struct vs_style *style, bool bad, const char *path, const char *text)
{
    fprintf(style->out, "%s%-4s%s  ", vs_paint(style, bad ? VS_BAD : VS_GOOD), bad ? "FAIL" : "ok",
            vs_unpaint(style));
    vs_text_put(style->out, path);
    if (6 + vs_text_width(path) + 2 + vs_text_width(text) <= style->width) {
        fprintf(style->out, ": %s\n", text);
    } else {
        fputs(":\n", style->out);
        vs_text_wrapped(style, "      ", text);
    }
}

#define TEXT_MAX (VS_CHAIN_TEXT_MAX + 1024)
#define CUT_MAX (4 * 400 + 4)

/* "new    train.py:41   forward < main" in *text*, and cut at the right edge in *cut*. */
static void culprit_text(const struct vs_check_result *result, const struct vs_style *style,
                         const struct vs_check_line *shown, char text[TEXT_MAX], char cut[CUT_MAX])
{
    const struct vs_culprit *culprit = shown->culprit;
    char chain[VS_CHAIN_TEXT_MAX], begin[32], place[640] = "", other[24] = "";
    unsigned columns = (style->width > 40 ? style->width - 20 : 20) - (shown->inner ? INNER : 0);
    columns = columns < 400 ? columns : 400;
    snprintf(begin, sizeof begin, "%s%s", culprit->change == VS_CHANGE_NEW     ? "new    "
                                          : culprit->change == VS_CHANGE_GROWN ? "grown  " : "",
             shown->inner ? "requested by " : "");
    vs_check_chain(chain, culprit);
    /* "train.py:41", "train.py:41 or 38"; "" where the line is not known. */
    const char *path = vs_check_path(result, culprit->file);
    if (path && *path == '/')
        path = strrchr(path, '/') + 1;
    if (culprit->or_line)
        snprintf(other, sizeof other, " or %u", culprit->or_line);
    if (path && culprit->line)
        snprintf(place, sizeof place, "%.500s:%u%s", path, culprit->line, other);
    snprintf(text, TEXT_MAX, "%s%s", begin, chain);
    vs_text_clip(cut, text, columns);
    if (*place && !strstr(cut, place)) { /* "main (a.cu:41)" has it */
        snprintf(text, TEXT_MAX, "%s%s  %s", begin, place, chain);
        vs_text_clip(cut, text, columns);
    }
}

/* Whether line *at*, cut off, reads as another one. */
static bool reads_alike(const struct vs_check_result *result, const struct vs_style *style,
                        const struct vs_check_line *lines, size_t count, size_t at)
{
    char text[TEXT_MAX], cut[CUT_MAX], other[CUT_MAX];
    bool alike = false;
    culprit_text(result, style, &lines[at], text, cut);
    for (size_t i = 0; i < count && !alike; i++) {
        if (i == at || !lines[i].culprit)
            continue;
        culprit_text(result, style, &lines[i], text, other);
        alike = strcmp(cut, other) == 0;
    }
    return alike;
}

/* "+128.0 MiB  new    train.py:41   forward < main", cut off unless the callers behind the edge tell more: of
 * two lines that read alike, and of a header's, whose callers are the lines that a user looks for. */
static void culprit_line(const struct vs_check_result *result, const struct vs_style *style,
                         const struct vs_budget_row *row, const struct vs_check_line *lines, size_t count, size_t at)
{
    const struct vs_check_line *shown = &lines[at];
    char size[VS_SIZE_TEXT_MAX], amount[VS_SIZE_TEXT_MAX + 8], text[TEXT_MAX], cut[CUT_MAX], lead[64];
    snprintf(amount, sizeof amount, "%s%s", shown->culprit->change == VS_CHANGE_HOLDS ? "" : "+",
             vs_check_amount(size, row, (uint64_t)shown->culprit->delta));
    snprintf(lead, sizeof lead, "%*s  %16s  ", shown->inner ? INNER : 0, "", amount);
    culprit_text(result, style, shown, text, cut);
    if (strcmp(text, cut) != 0 &&
        (vs_file_is_header(shown->culprit->file) || reads_alike(result, style, lines, count, at)))
        vs_text_wrapped(style, lead, text);
    else
        fprintf(style->out, "%s%s\n", lead, cut);
}

static void one_program(const struct vs_check_result *result, const struct vs_style *style,
                        const struct vs_budget_verdict *verdict, bool failures_only)
{
    char text[VS_CHECK_LINE_MAX];
    size_t held = 0;
    const char *path = verdict->runs[0]->report->path;
    for (size_t i = 0; i < verdict->count; i++) {
        const struct vs_budget_row *row = &verdict->rows[i];
        bool quiet = row->of_baseline && !row->exceeded;
        held += quiet;
        if (quiet || row->follows || (failures_only && !row->exceeded))
            continue;
        verdict_line(style, row->exceeded, vs_check_trace(row), vs_check_sentence(text, row));
        if (*vs_check_spread(text, row))
            vs_text_wrapped(style, "      ", text);
        if (row->exceeded) {
            struct vs_check_line lines[VS_CHECK_LINES_MAX];

            const char *verb, *options;
            if (*vs_check_program(text, row))
                vs_text_lines(style, "      ", "program: %s", text);
            if (row->kind == VS_ROW_QUANTITY && row->of_baseline)
                vs_text_lines(style, "      ", "the limit is %s%s%s", row->from,
                              result->tolerance ? " + " : "", result->tolerance ? result->tolerance : "");
            else if (row->kind == VS_ROW_QUANTITY && strncmp(row->from, "--", 2) != 0)
                vs_text_lines(style, "      ", "the limit is at %s", row->from);
            if (*vs_check_point(text, row))
                vs_text_wrapped(style, "      ", text);
            size_t count = vs_check_lines(row, lines);
            if (count)
                vs_text_wrapped(style, "      ", vs_check_heading(row));
            for (size_t k = 0; k < count; k++) {
                if (lines[k].culprit)
                    culprit_line(result, style, row, lines, count, k);
                else {
                    /* "72.0 MiB  cached but unused". */
                    const struct vs_check_line *line = &lines[k];
                    char amount[VS_SIZE_TEXT_MAX + 8], words[VS_CHECK_WORDS_MAX];
                    snprintf(amount, sizeof amount, "%s%s", row->compared ? "+" : "",
                             vs_size_text((uint64_t)line->bytes));
                    fprintf(style->out, "  %16s  %s\n", amount, vs_check_sum_words(words, line));
                }
            }
            if (!row->culprit_count && vs_metric_of_copies(row->quantity.metric) &&
                row->kind == VS_ROW_QUANTITY && !row->run->report->copy_sites_known)
                vs_text_wrapped(style, "      ",
                                "the lines that copy were not recorded: record with "
                                "vramscope run --copy-stacks");
            options = vs_check_more(text, row, &verb);
            vs_text_command(style, "      more: ", verb, vs_check_trace(row), options);
        }
    }
    if (held && !failures_only) {
        snprintf(text, sizeof text, "%zu %s of the baseline %.1500s %s%s%s", held,
                 held == 1 ? "quantity" : "quantities", result->baseline ? result->baseline : "",
                 held == 1 ? "holds" : "hold", result->tolerance ? " with a tolerance of " : "",
                 result->tolerance ? result->tolerance : "");
        verdict_line(style, false, path, text);
    }
    for (size_t i = 0; i < verdict->note_count && (verdict->exceeded || verdict->uncompared || !failures_only); i++)
        vs_text_lines(style, "note  ", "%s: %s", path, verdict->notes[i]);
}

void vs_check_text(const struct vs_check_result *result, bool failures_only, const struct vs_style *style)
{
    for (size_t i = 0; i < result->count; i++)
        one_program(result, style, &result->items[i], failures_only);
}
