/* SPDX-License-Identifier: Apache-2.0
 *
 * Workflow commands of GitHub Actions. A command ends at a newline; '%', CR and LF are escaped in its
 * message, ':' and ',' in its properties as well. */
#include <string.h>

#include "viewer/check/check_words.h"

static void escaped(FILE *out, const char *text, const char *special)
{
    while (*text) {
        size_t plain = strcspn(text, special);
        vs_text_put_part(out, text, plain);
        text += plain;
        if (*text)
            fprintf(out, "%%%02X", (unsigned char)*text++);
    }
}

static void message(FILE *out, const char *text)
{
    escaped(out, text, "%\r\n");
}

/* All limits that hold, and the notes, in one command: GitHub shows ten of a kind per step. */
static void notice(const struct vs_check_result *result, FILE *out)
{
    char text[VS_CHECK_LINE_MAX];
    const char *before = "::notice title=GPU memory budget::", *end = "";
    for (size_t i = 0; i < result->count; i++) {
        const struct vs_budget_verdict *verdict = &result->items[i];
        for (size_t k = 0; k < verdict->count + verdict->note_count; k++) {
            const struct vs_budget_row *row = k < verdict->count ? &verdict->rows[k] : NULL;
            if (row && (row->of_baseline || row->exceeded))
                continue;
            fputs(before, out);
            message(out, row ? vs_check_trace(row) : verdict->runs[0]->report->path);
            fputs(": ", out);
            message(out, row ? vs_check_sentence(text, row) : verdict->notes[k - verdict->count]);
            before = "%0A";
            end = "\n";
        }
    }
    fputs(end, out);
}

void vs_check_github(const struct vs_check_result *result, FILE *out)
{
    for (size_t i = 0; i < result->count; i++)
        for (size_t k = 0; k < result->items[i].count; k++) {
            const struct vs_budget_row *row = &result->items[i].rows[k];
            if (!row->exceeded || row->follows)
                continue;
            struct vs_check_line lines[VS_CHECK_LINES_MAX];
            char text[VS_CHECK_LINE_MAX];
            const struct vs_culprit *place = vs_check_place(result, row);
            fputs("::error title=GPU memory budget", out);
            if (place) {
                fputs(",file=", out);
                escaped(out, vs_check_path(result, place->file), "%\r\n:,");
                fprintf(out, ",line=%u", place->line);
            }
            fputs("::", out);
            message(out, vs_check_trace(row));
            fputs(": ", out);
            if (*vs_check_program(text, row)) {
                message(out, text);
                fputs(": ", out);
            }
            message(out, vs_check_sentence(text, row));
            if (*vs_check_point(text, row)) {
                fputs(", ", out);
                message(out, text);
            }
            size_t count = vs_check_lines(row, lines);
            for (size_t n = 0; n < count; n++) {
                fputs("%0A", out);
                if (!n) {
                    message(out, vs_check_heading(row));
                    fputs("%0A", out);
                }
                message(out, vs_check_line(text, result, row, &lines[n]));
            }
            fputc('\n', out);
        }
    notice(result, out);
    for (size_t i = 0; i < result->problem_count; i++) {
        fputs("::error title=GPU memory budget::", out);
        message(out, result->problems[i].text);
        fputc('\n', out);
    }
}
