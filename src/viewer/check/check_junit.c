/* SPDX-License-Identifier: Apache-2.0
 *
 * JUnit XML: a suite per program, a case per limit; an unusable trace is an error of its own, so that
 * a file without cases never looks like success. */
#include <stdint.h>
#include <string.h>

#include "base/vs_utf8.h"
#include "viewer/check/check_words.h"

/* Only characters that XML 1.0 allows: parsers reject the file otherwise. */
static void xml_text(FILE *out, const char *text)
{
    for (const unsigned char *p = (const unsigned char *)text; *p;) {
        size_t n = vs_utf8_length(p, SIZE_MAX);
        switch (*p) {
        case '&': fputs("&amp;", out); break;
        case '<': fputs("&lt;", out); break;
        case '>': fputs("&gt;", out); break;
        case '"': fputs("&quot;", out); break;
        default:
            if (!n || (n == 3 && p[0] == 0xef && p[1] == 0xbf && p[2] >= 0xbe)) /* U+FFFE, U+FFFF */
                fputs(VS_UTF8_REPLACEMENT, out);
            else if (*p >= 0x20 || *p == '\n' || *p == '\t')
                fwrite(p, 1, n, out);
        }
        p += n ? n : 1;
    }
}

void vs_check_junit(const struct vs_check_result *result, FILE *out)
{
    fputs("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"vramscope check\">\n", out);
    for (size_t i = 0; i < result->count; i++) {
        const struct vs_budget_verdict *verdict = &result->items[i];
        if (!verdict->count) /* if nothing was compared, a suite below says why */
            continue;
        fputs("  <testsuite name=\"", out);
        xml_text(out, verdict->runs[0]->report->path);
        fprintf(out, "\" tests=\"%zu\" failures=\"%zu\" errors=\"0\">\n", verdict->count, verdict->exceeded);
        for (size_t k = 0; k < verdict->count; k++) {
            const struct vs_budget_row *row = &verdict->rows[k];
            struct vs_check_line lines[VS_CHECK_LINES_MAX];
            char text[VS_CHECK_LINE_MAX];
            fprintf(out, "    <testcase classname=\"vramscope.check%s\" name=\"",
                    row->of_baseline ? ".baseline" : "");
            /* "device 0 peak allocated": reports of earlier versions have these names. */
            vs_check_subject(text, row);
            char *colon = row->quantity.phase ? NULL : strstr(text, ": ");
            if (colon)
                memmove(colon, colon + 1, strlen(colon));
            xml_text(out, text);
            if (row->alike) /* readers of JUnit take cases of one name for one */
                fprintf(out, " #%zu", row->alike + 1);
            fputs("\">", out);
            if (row->exceeded) {
                fprintf(out, "<failure type=\"%s\" message=\"", vs_check_rule(text, row));
                xml_text(out, vs_check_sentence(text, row));
                fputs("\">", out);
                if (*vs_check_program(text, row)) {
                    xml_text(out, "program: ");
                    xml_text(out, text);
                    fputc('\n', out);
                }
                if (*vs_check_point(text, row)) {
                    xml_text(out, text);
                    fputc('\n', out);
                }
                size_t count = vs_check_lines(row, lines);
                for (size_t n = 0; n < count; n++) {
                    xml_text(out, vs_check_line(text, result, row, &lines[n]));
                    fputc('\n', out);
                }
                fputs("</failure>", out);
            }
            fputs("</testcase>\n", out);
        }
        fputs("  </testsuite>\n", out);
    }
    for (size_t i = 0; i < result->problem_count; i++) {
        fputs("  <testsuite name=\"", out);
        xml_text(out, result->problems[i].trace);
        size_t before = vs_check_problems_before(result, i);
        if (before)
            fprintf(out, " #%zu", before + 1);
        fputs("\" tests=\"1\" failures=\"0\" errors=\"1\">\n"
              "    <testcase classname=\"vramscope.check\" name=\"usable\"><error type=\"unusable\" message=\"", out);
        xml_text(out, result->problems[i].text);
        fputs("\"/></testcase>\n  </testsuite>\n", out);
    }
    fputs("</testsuites>\n", out);
}
