/* SPDX-License-Identifier: Apache-2.0
 *
 * Renderers of budgets; see the header. */
#include "viewer/report/budget_text.h"

#include <inttypes.h>
#include <string.h>

#include "base/vs_size.h"
#include "base/vs_utf8.h"
#include "viewer/report/report_json.h"

#define LINE_MAX_BYTES 512

static const char *label(const struct vs_budget_line *line)
{
    static const char *const labels[] = {"peak allocated", "peak requested", "peak reserved",
                                         "live at the end"};
    if (!line->tensors)
        return labels[line->metric];
    return line->metric == VS_METRIC_ALLOCATED ? "peak of tensors" : "tensors live at the end";
}

/* "device 0: peak allocated 412.3 MiB exceeds 400.0 MiB by 12.3 MiB (3.1 %)" */
static char *sentence(char *out, const struct vs_budget_line *line)
{
    struct vs_size_pair sizes = vs_sizes_apart(line->value, line->limit);
    char rest[VS_SIZE_TEXT_MAX], share[16];
    if (!line->exceeded) {
        vs_size_format(rest, line->limit - line->value);
        bool differs = strcmp(rest, sizes.b) != 0;
        snprintf(out, LINE_MAX_BYTES, "device %" PRIu64 ": %s %s is within %s%s%s%s",
                 line->device->device, label(line), sizes.a, sizes.b, differs ? " (" : "",
                 differs ? rest : "", differs ? " to spare)" : "");
        return out;
    }
    uint64_t excess = line->value - line->limit;
    int n = snprintf(out, LINE_MAX_BYTES, "device %" PRIu64 ": %s %s exceeds %s by %s",
                     line->device->device, label(line), sizes.a, sizes.b,
                     vs_size_format(rest, excess));
    if (line->limit > excess / 10 && n > 0 && n < LINE_MAX_BYTES)
        snprintf(out + n, LINE_MAX_BYTES - (size_t)n, " (%s)",
                 vs_text_percent(share, excess, line->limit));
    return out;
}

/* "ok    FILE: SENTENCE", with the sentence on lines of its own if both do not fit on one. */
static void verdict_line(const struct vs_budget_line *line, const char *path,
                         const struct vs_style *style)
{
    char text[LINE_MAX_BYTES];
    sentence(text, line);
    fprintf(style->out, "%s%-4s%s  ", vs_paint(style, line->exceeded ? VS_BAD : VS_GOOD),
            line->exceeded ? "FAIL" : "ok", vs_unpaint(style));
    vs_text_put(style->out, path);
    if (6 + vs_text_width(path) + 2 + vs_text_width(text) <= style->width) {
        fprintf(style->out, ": %s\n", text);
    } else {
        fputs(":\n", style->out);
        vs_text_wrapped(style, "      ", text);
    }
}

void vs_budget_text(const struct vs_budget_result *result, const struct vs_style *style)
{
    char time[VS_SIZE_TEXT_MAX];
    for (size_t i = 0; i < result->count; i++) {
        const struct vs_budget_line *line = &result->lines[i];
        verdict_line(line, result->report->path, style);
        if (!line->exceeded)
            continue;
        if (line->peak && line->peak->event)
            fprintf(style->out, "      at %s%s%s\n", vs_time_format(time, line->peak->time_ns),
                    *line->peak->place ? ", " : "", line->peak->place);
        if (line->sites->count)
            fprintf(style->out, "  memory by call site %s\n",
                    line->peak ? "at the peak" : "at the end");
        vs_text_sites(style, line->sites);
    }
}

/* Workflow commands end at a newline; '%', CR and LF are escaped. */
static void github_text(FILE *out, const char *text)
{
    while (*text) {
        size_t plain = strcspn(text, "%\r\n");
        vs_text_put_part(out, text, plain);
        text += plain;
        if (*text)
            fprintf(out, "%%%02X", (unsigned char)*text++);
    }
}

void vs_budget_github(const struct vs_budget_result *result, FILE *out)
{
    char text[LINE_MAX_BYTES], chain[VS_CHAIN_TEXT_MAX];
    for (size_t i = 0; i < result->count; i++) {
        const struct vs_budget_line *line = &result->lines[i];
        fprintf(out, "::%s title=GPU memory budget::", line->exceeded ? "error" : "notice");
        github_text(out, result->report->path);
        fputs(": ", out);
        github_text(out, sentence(text, line));
        if (line->exceeded && line->sites->count) {
            fputs("; heaviest: ", out);
            github_text(out, vs_text_site(chain, &line->sites->items[0], 3));
        }
        fputc('\n', out);
    }
}

void vs_budget_json(const struct vs_budget_result *result, struct vs_json *json)
{
    vs_json_begin_object(json, NULL);
    vs_json_string(json, "trace", result->report->path);
    vs_json_bool(json, "held", result->exceeded == 0);
    vs_json_begin_array(json, "limits");
    for (size_t i = 0; i < result->count; i++) {
        const struct vs_budget_line *line = &result->lines[i];
        vs_json_begin_object(json, NULL);
        vs_json_uint(json, "device", line->device->device);
        vs_json_string(json, "metric", vs_metric_name(line->metric));
        vs_json_string(json, "level", line->tensors ? "tensors" : "device");
        vs_json_uint(json, "bytes", line->value);
        vs_json_uint(json, "limit_bytes", line->limit);
        vs_json_bool(json, "held", !line->exceeded);
        vs_json_uint(json, "excess_bytes", line->exceeded ? line->value - line->limit : 0);
        if (line->exceeded)
            vs_report_json_sites(json, "sites", line->sites);
        vs_json_end_object(json);
    }
    vs_json_end_array(json);
    vs_json_end_object(json);
}

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

void vs_budget_junit(const struct vs_budget_result *result, FILE *out)
{
    char text[LINE_MAX_BYTES], chain[VS_CHAIN_TEXT_MAX];
    fputs("  <testsuite name=\"", out);
    xml_text(out, result->report->path);
    fprintf(out, "\" tests=\"%zu\" failures=\"%zu\">\n", result->count, result->exceeded);
    for (size_t i = 0; i < result->count; i++) {
        const struct vs_budget_line *line = &result->lines[i];
        fprintf(out, "    <testcase classname=\"vramscope.check\" name=\"device %" PRIu64 " %s\">",
                line->device->device, label(line));
        if (line->exceeded) {
            fputs("<failure message=\"", out);
            xml_text(out, sentence(text, line));
            fputs("\">", out);
            for (size_t k = 0; k < line->sites->count && k < 5; k++) {
                xml_text(out, vs_text_site(chain, &line->sites->items[k], 4));
                fputc('\n', out);
            }
            fputs("</failure>", out);
        }
        fputs("</testcase>\n", out);
    }
    fputs("  </testsuite>\n", out);
}
