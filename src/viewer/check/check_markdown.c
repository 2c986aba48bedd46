/* SPDX-License-Identifier: Apache-2.0
 *
 * GitHub's Markdown: the verdict, a table of the limits with the exceeded ones first, and for those
 * the lines. Text from the trace is escaped, so that a name cannot add markup. */
#include <string.h>

#include "base/vs_size.h"
#include "viewer/check/check_words.h"

static void plain(FILE *out, const char *text)
{
    for (const char *p = text; *p;) {
        char c = vs_text_next(&p);
        if (c == '<' || c == '>' || c == '&')
            fputs(c == '<' ? "&lt;" : c == '>' ? "&gt;" : "&amp;", out);
        else if (c == '@' || c == '#')
            fprintf(out, "%c&#8203;", c); /* GitHub finds people and issues in escaped text, too */
        else if (strchr("\\`*_{}[]|~!", c))
            fprintf(out, "\\%c", c);
        else
            fputc(c, out);
    }
}

/* Code that a shell reads as it stands: more backticks around it than there are in it. */
static void command(FILE *out, const char *verb, const char *path, const char *options)
{
    size_t most = 0, row = 0;
    for (const char *p = path; *p; p++) {
        row = *p == '`' ? row + 1 : 0;
        most = row > most ? row : most;
    }
    for (size_t i = 0; i <= most; i++)
        fputc('`', out);
    fprintf(out, "%s ", verb);
    vs_text_shell(out, path);
    fprintf(out, "%s%s", *options ? " " : "", options);
    for (size_t i = 0; i <= most; i++)
        fputc('`', out);
}

static void details(const struct vs_check_result *result, const struct vs_budget_row *row, FILE *out)
{
    struct vs_check_line lines[VS_CHECK_LINES_MAX];
    char text[VS_CHECK_LINE_MAX];
    const char *verb, *options;
    fputs("\n**", out);
    plain(out, vs_check_sentence(text, row));
    fputs("**", out);
    if (*vs_check_point(text, row)) {
        fputs("  \n", out);
        plain(out, text);
    }
    fputs("\n\n", out);
    size_t count = vs_check_lines(row, lines);
    for (size_t i = 0; i < count; i++) {
        fputs(lines[i].inner ? "  - " : "- ", out);
        plain(out, vs_check_line(text, result, row, &lines[i]));
        fputc('\n', out);
    }
    options = vs_check_more(text, row, &verb);
    fputs(row->culprit_count ? "\nMore: " : "More: ", out);
    command(out, verb, vs_check_trace(row), options);
    fputc('\n', out);
}

/* Rows of a baseline that hold, and rows that follow from others, would hide the rest. */
static bool is_shown(const struct vs_budget_row *row)
{
    return row->exceeded ? !row->follows : !row->of_baseline;
}

static void one_program(const struct vs_check_result *result, const struct vs_budget_verdict *verdict, FILE *out)
{
    size_t held = 0, shown = 0;
    for (size_t i = 0; i < verdict->count; i++)
        shown += is_shown(&verdict->rows[i]);
    fputs("\n### ", out);
    plain(out, verdict->process);
    fputs(shown ? "\n\n| | quantity | measured | allowed | from |\n| --- | --- | ---: | ---: | --- |\n" : "\n", out);
    for (int bad = 1; bad >= 0; bad--)
        for (size_t i = 0; i < verdict->count; i++)
            if (verdict->rows[i].exceeded == (bad != 0) && is_shown(&verdict->rows[i])) {
                const struct vs_budget_row *row = &verdict->rows[i];
                char text[VS_CHECK_LINE_MAX];
                fprintf(out, "| %s | ", row->exceeded ? "**exceeded**" : "ok");
                plain(out, vs_check_subject(text, row));
                if (row->kind != VS_ROW_QUANTITY) {
                    fputs(" | ", out);
                    plain(out, vs_check_sentence(text, row));
                    fputs(" | | |\n", out);
                } else {
                    struct vs_size_pair sizes = vs_check_amounts(row, row->quantity.value,
                                                                 row->limit);
                    fprintf(out, " | %s | %s%s | ", sizes.a,
                            row->quantity.metric == VS_METRIC_FREE ? "at least " : "", sizes.b);
                    plain(out, row->from);
                    if (*vs_check_spread(text, row)) {
                        fputs("; ", out);
                        plain(out, text);
                    }
                    fputs(" |\n", out);
                }
            }
    for (size_t i = 0; i < verdict->count; i++)
        held += !verdict->rows[i].exceeded && verdict->rows[i].of_baseline;
    if (held)
        fprintf(out, "\n%zu %s%s the baseline.\n", held, shown ? "further " : "", held == 1 ? "quantity is within" :
                "quantities are within");
    for (size_t i = 0; i < verdict->count; i++)
        if (verdict->rows[i].exceeded && is_shown(&verdict->rows[i]))
            details(result, &verdict->rows[i], out);
    for (size_t i = 0; i < verdict->note_count; i++) {
        fputs("\nNote: ", out);
        plain(out, verdict->notes[i]);
        fputc('\n', out);
    }
}

void vs_check_markdown(const struct vs_check_result *result, FILE *out)
{
    size_t limits = 0, exceeded = 0;
    for (size_t i = 0; i < result->count; i++) {
        limits += result->items[i].count;
        exceeded += result->items[i].exceeded;
    }
    fprintf(out, "## GPU memory: ");
    if (result->problem_count)
        fprintf(out, "could not be checked\n");
    else if (exceeded)
        fprintf(out, "%zu of %zu limits exceeded\n", exceeded, limits);
    else
        fprintf(out, "all %zu limits held\n", limits);
    for (size_t i = 0; i < result->problem_count; i++) {
        fputs("\n- ", out);
        plain(out, result->problems[i].text);
        fputc('\n', out);
    }
    for (size_t i = 0; i < result->count; i++)
        one_program(result, &result->items[i], out);
}
