/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <stdlib.h>

#include "base/reading/vs_xalloc.h"
#include "base/vs_size.h"
#include "viewer/merge/merge_output.h"

#define LANE_WIDTH 800
#define LANE_HEIGHT 36

static const char head[] =
    "<!doctype html>\n<html lang=\"en\"><meta charset=\"utf-8\"><title>vramscope: merged traces</title>\n"
    "<style>\n"
    ":root{color-scheme:light dark}body{font:14px system-ui,sans-serif;margin:24px;max-width:1200px}\n"
    "pre{font:13px ui-monospace,monospace;white-space:pre-wrap}table{border-collapse:collapse}\n"
    "td,th{padding:2px 10px 2px 0;text-align:right;white-space:nowrap}td:first-child,th:first-child{text-align:left}\n"
    "td{border-top:1px solid #8884;font-variant-numeric:tabular-nums}svg{display:block}\n"
    ".area{fill:#4a7dbd}.odd .area{fill:#c8622d}.odd td:first-child{font-weight:bold}.key{color:#c8622d}\n"
    "</style>\n";

static void put(FILE *out, const char *text)
{
    for (; *text; text++)
        if (*text == '<' || *text == '>' || *text == '&' || *text == '"')
            fprintf(out, "&#%d;", *text);
        else
            fputc(*text, out);
}

/* The memory of a rank by step, in the scale of all; a very long row has the highest of each pixel. */
static void lane(const struct vs_merge *merge, const struct vs_rank *rank, uint64_t first, uint64_t last, FILE *out)
{
    uint64_t *heights = vs_xcalloc(LANE_WIDTH + 1, sizeof *heights);
    double width = last > first ? (double)(last - first) : 1;
    for (size_t i = 0; i < rank->steps.count; i++) {
        const struct vs_meeting *step = &rank->steps.items[i];
        uint64_t next = i + 1 < rank->steps.count ? step[1].number : step->number + 1;
        size_t from = (size_t)((double)(step->number - first) / width * LANE_WIDTH),
               to = (size_t)((double)(next - first) / width * LANE_WIDTH);
        for (size_t x = from; x < LANE_WIDTH && (x < to || x == from); x++)
            heights[x] = step->peak_bytes > heights[x] ? step->peak_bytes : heights[x];
    }
    fprintf(out, "<svg width=\"%d\" height=\"%d\" role=\"img\"><title>", LANE_WIDTH, LANE_HEIGHT);
    put(out, rank->name);
    fprintf(out, ": steps %" PRIu64 " to %" PRIu64 "</title><path class=\"area\" d=\"M0 %d", first,
            last - (last > first), LANE_HEIGHT);
    for (size_t x = 0; x < LANE_WIDTH; x++)
        if (x == 0 || heights[x] != heights[x - 1])
            fprintf(out, "H%zuV%.1f", x,
                    LANE_HEIGHT * (1 - (double)heights[x] / (double)(merge->peak.highest ? merge->peak.highest : 1)));
    fprintf(out, "H%dV%dZ\"/></svg>", LANE_WIDTH, LANE_HEIGHT);
    free(heights);
}

void vs_merge_page(const struct vs_merge *merge, FILE *out)
{
    uint64_t first = UINT64_MAX, last = 0;
    for (size_t i = 0; i < merge->count; i++) {
        const struct vs_meetings *steps = &merge->ranks[i].steps;
        if (!steps->count)
            continue;
        uint64_t end = steps->items[steps->count - 1].number + 1;
        first = steps->items[0].number < first ? steps->items[0].number : first;
        last = end > last ? end : last;
    }
    char *facts = NULL;
    size_t length;
    struct vs_style style = {.out = vs_xstream(&facts, &length), .width = 100};
    vs_merge_facts(merge, &style);
    vs_xstream_end(style.out);
    fputs(head, out);
    fputs("<pre>", out);
    put(out, facts);
    fputs("</pre>\n<table><tr><th></th><th>peak</th><th>reserved</th><th>steps</th><th>step time</th><th>end</th><th>", out);
    if (last)
        fprintf(out, "memory by step, up to %s", vs_size_text(merge->peak.highest));
    fputs("</th></tr>\n", out);
    for (uint32_t i = 0; i < merge->count; i++) {
        const struct vs_rank *rank = &merge->ranks[i];
        const char *peak = vs_size_text(rank->peak_bytes), *reserved = vs_size_text(rank->reserved_bytes);
        fprintf(out, "<tr%s><td>", vs_rank_is_odd(merge, i) ? " class=\"odd\"" : "");
        put(out, rank->name);
        fprintf(out, "</td><td>%s</td><td>%s</td><td>%" PRIu64 "</td><td>%s</td><td>%s</td><td>", peak, reserved,
                rank->steps_done, rank->step_ns ? vs_time_text(rank->step_ns) : "-",
                vs_rank_end_text((char[VS_RANK_END_MAX]){""}, rank));
        if (last)
            lane(merge, rank, first, last, out);
        fputs("</td></tr>\n", out);
    }
    fputs("</table></html>\n", out);
    free(facts);
}
