/* SPDX-License-Identifier: Apache-2.0
 *
 * The facts and the table are elements; merge_page.js draws from the memory of the ranks by step, in its rows. */
#include <inttypes.h>
#include <stdlib.h>

#include "base/reading/vs_xalloc.h"
#include "base/vs_size.h"
#include "viewer/merge/merge_output.h"

#define COLUMNS_MOST 600 /* of steps; of longer runs each has the highest of several */

extern const char vs_merge_script[], vs_merge_style[]; /* by cmake/embed_text.cmake */

static void put(FILE *out, const char *text)
{
    for (; *text; text++)
        if (*text == '<' || *text == '>' || *text == '&' || *text == '"')
            fprintf(out, "&#%d;", *text);
        else
            fputc(*text, out);
}

/* The memory of a rank by column, in hexadecimal; one that is as the one before is empty, one without steps 0. */
static void put_values(const struct vs_rank *rank, uint64_t first, uint64_t width, uint64_t columns, FILE *out)
{
    uint64_t *heights = vs_xcalloc(columns + 1, sizeof *heights), last = 0;
    for (size_t i = 0; i < rank->steps.count; i++) {
        const struct vs_meeting *step = &rank->steps.items[i];
        uint64_t next = i + 1 < rank->steps.count ? step[1].number : step->number + 1; /* of those that are kept */
        for (uint64_t c = (step->number - first) / width; c <= (next - 1 - first) / width; c++)
            heights[c] = step->peak_bytes > heights[c] ? step->peak_bytes : heights[c];
    }
    for (uint64_t c = 0; c < columns; c++) {
        if (c)
            fputc(',', out);
        if (!c || heights[c] != last)
            fprintf(out, "%" PRIx64, heights[c]);
        last = heights[c];
    }
    free(heights);
}

void vs_merge_page(const struct vs_merge *merge, FILE *out)
{
    char *facts = NULL;
    size_t length;
    uint64_t first = UINT64_MAX, last = 0;
    for (size_t i = 0; i < merge->count; i++) {
        const struct vs_meetings *steps = &merge->ranks[i].steps;
        uint64_t begin = steps->count ? steps->items[0].number : UINT64_MAX;
        uint64_t end = steps->count ? steps->items[steps->count - 1].number + 1 : 0;
        first = begin < first ? begin : first;
        last = end > last ? end : last;
    }
    first = last ? first : 0;
    uint64_t width = last ? (last - first + COLUMNS_MOST - 1) / COLUMNS_MOST : 1;
    uint64_t columns = (last - first + width - 1) / width;
    struct vs_style style = {.out = vs_xstream(&facts, &length), .width = 100};
    vs_merge_facts(merge, &style);
    vs_xstream_end(style.out);
    fprintf(out, "<!doctype html>\n<html lang=\"en\"><meta charset=\"utf-8\">\n<meta name=\"viewport\" "
            "content=\"width=device-width\">\n<title>vramscope: merged traces</title>\n<style>\n%s</style>\n<pre>",
            vs_merge_style);
    put(out, facts);
    fputs("</pre>\n<section id=\"charts\" hidden>\n"
          "<h2>Memory by step: each rank, and the median</h2>\n<div><canvas id=\"curves\" role=\"img\" "
          "aria-label=\"Memory of the ranks by step; the table has their peaks\"></canvas></div>\n"
          "<h2>Largest rank above the median of the step</h2>\n<div><canvas id=\"uneven\" role=\"img\" "
          "aria-label=\"How uneven the ranks are by step\"></canvas></div>\n"
          "<h2>Ranks by step: <span class=\"muted\">orange above the median of the step, blue below</span></h2>\n"
          "<div><canvas id=\"map\" tabindex=\"0\" role=\"application\" aria-label=\"Ranks by step. Up and down choose a "
          "rank, Escape none.\"></canvas></div>\n<p id=\"said\" aria-live=\"polite\"></p>\n</section>\n"
          "<section class=\"table\"><table><thead><tr><th>process</th><th>peak</th><th>reserved</th><th>steps</th>"
          "<th>step time</th><th>end</th></tr></thead>", out);
    fprintf(out, "<tbody data-first=\"%" PRIu64 "\" data-width=\"%" PRIu64 "\" data-columns=\"%" PRIu64 "\">\n", first,
            width, columns);
    for (uint32_t i = 0; i < merge->count; i++) {
        const struct vs_rank *rank = &merge->ranks[i];
        const char *peak = vs_size_text(rank->peak_bytes), *reserved = vs_size_text(rank->reserved_bytes);
        fprintf(out, "<tr data-rank=\"%" PRIu32 "\"%s%s%s data-path=\"", i, vs_rank_is_odd(merge, i) ? " class=\"odd\"" : "",
                i == merge->peak.outlier ? " data-outlier=\"1\"" : "",
                !rank->failed ? "" : i == merge->first_failed ? " data-failed=\"first\"" : " data-failed=\"later\"");
        put(out, rank->path);
        fputs("\" data-values=\"", out);
        put_values(rank, first, width, columns, out);
        fprintf(out, "\"><td data-v=\"%" PRIu32 "\"><a href=\"#rank=%" PRIu32 "\">", i, i);
        put(out, rank->name);
        fprintf(out, "</a></td><td data-v=\"%" PRIu64 "\">%s</td><td data-v=\"%" PRIu64 "\">%s</td><td data-v=\"%" PRIu64
                "\">%" PRIu64 "</td><td data-v=\"%" PRIu64 "\">%s</td><td>%s</td></tr>\n", rank->peak_bytes, peak,
                rank->reserved_bytes, reserved, rank->steps_done, rank->steps_done, rank->step_ns,
                rank->step_ns ? vs_time_text(rank->step_ns) : "-", vs_rank_end_text((char[VS_RANK_END_MAX]){""}, rank));
    }
    fprintf(out, "</tbody></table></section>\n<script>\n%s</script>\n</html>\n", vs_merge_script);
    free(facts);
}
