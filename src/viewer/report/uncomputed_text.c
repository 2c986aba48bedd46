/* SPDX-License-Identifier: Apache-2.0 */
#include "viewer/report/report_parts.h"

#include <string.h>

#include "base/vs_size.h"
#include "viewer/report/report_text.h"

#define SITES_SHOWN 5
#define NUMBER_COLUMNS 23

const char *vs_uncomputed_advice(const struct vs_report *report)
{
    bool torch = report->uncomputed[VS_UNCOMPUTED_DECIDED].count;
    for (size_t i = 0; i < report->device_count; i++)
        torch |= report->devices[i].has_framework && strcmp(report->devices[i].framework, "PyTorch") == 0;
    return torch ? "compute larger tensors (run --values=SIZE)"
                 : "compile the kernels for the host (docs/simulator.md)";
}

bool vs_uncomputed_text(char *out, const struct vs_report *report)
{
    const struct vs_report_sites *reads = report->uncomputed;
    enum vs_uncomputed what = reads[VS_UNCOMPUTED_DECIDED].count  ? VS_UNCOMPUTED_DECIDED
                              : reads[VS_UNCOMPUTED_COPIED].count ? VS_UNCOMPUTED_COPIED
                                                                  : VS_UNCOMPUTED_MANAGED;
    char site[VS_CHAIN_TEXT_MAX];
    *out = 0;
    reads += what;
    if (!reads->count)
        return false;
    bool one = reads->total_count == 1;
    const char *count = vs_count_text(reads->total_count);
    if (strstr(vs_text_site(site, &reads->items[0], 1), " < "))
        *strstr(site, " < ") = 0; /* its callers */
    if (what == VS_UNCOMPUTED_DECIDED)
        snprintf(out, VS_UNCOMPUTED_TEXT_MAX, "values that were not computed decided what the program did, %s time%s, "
                 "first at %.300s; sizes may depend on them", count, one ? "" : "s", reads->items[0].api);
    else if (what == VS_UNCOMPUTED_COPIED)
        snprintf(out, VS_UNCOMPUTED_TEXT_MAX,
                 "the program read %s that no kernel computed, in %s cop%s, first at "
                 "%.300s; sizes may depend on them",
                 vs_size_text(reads->total_bytes), count, one ? "y" : "ies", site);
    else
        snprintf(out, VS_UNCOMPUTED_TEXT_MAX, "the program waited %s time%s for kernels that computed nothing, first at "
                 "%.300s, and may have read managed memory then; sizes may depend on it", count, one ? "" : "s", site);
    return true;
}

void vs_uncomputed_lines(const struct vs_report *report, const struct vs_style *style)
{
    static const char *const heads[][2] = {
        {"read, but not computed", "sizes that depend on these values may be wrong"},
        {"may have been read, but not computed", "managed memory, where the host waited"}};
    static const enum vs_uncomputed order[] = {VS_UNCOMPUTED_DECIDED, VS_UNCOMPUTED_COPIED, VS_UNCOMPUTED_MANAGED};
    const char *const *head = NULL;
    for (size_t o = 0; o < VS_UNCOMPUTED_COUNT; o++) {
        enum vs_uncomputed what = order[o];
        const struct vs_report_sites *sites = &report->uncomputed[what];
        if (sites->count && head != heads[what == VS_UNCOMPUTED_MANAGED]) {
            head = heads[what == VS_UNCOMPUTED_MANAGED];
            fprintf(style->out, "\n%s%s%s: %s\n", vs_paint(style, VS_WARN), head[0], vs_unpaint(style), head[1]);
        }
        char size[VS_SIZE_TEXT_MAX], clipped[1024];
        const char *const words[VS_UNCOMPUTED_COUNT] = {size, "decided", "waited"};
        bool narrow = style->width <= 2 * NUMBER_COLUMNS;
        unsigned width = narrow ? NUMBER_COLUMNS : style->width - NUMBER_COLUMNS;
        size_t shown = style->small_sites || sites->count <= SITES_SHOWN ? sites->count
                                                                         : SITES_SHOWN;
        for (size_t i = 0; i < shown; i++) {
            const struct vs_report_site *site = &sites->items[i];
            bool decided = what == VS_UNCOMPUTED_DECIDED;
            vs_size_format(size, site->bytes);
            fprintf(style->out, "    %10s %6s×  ", words[what], vs_count_text(site->count));
            if (decided) {
                vs_text_put(style->out, vs_text_clip(clipped, site->api, width));
                fputc('\n', style->out);
                continue;
            }
            vs_text_chain(style, NUMBER_COLUMNS, site);
            if (*site->api) {
                fprintf(style->out, "%*s%safter kernel ", NUMBER_COLUMNS, "",
                        vs_paint(style, VS_DIM));
                vs_text_put(style->out, vs_text_clip(clipped, site->api,
                                                     width - sizeof "after kernel "));
                fprintf(style->out, "%s\n", vs_unpaint(style));
            }
        }
        if (sites->count + sites->omitted_count > shown)
            fprintf(style->out, "%*sand %llu more call sites\n", NUMBER_COLUMNS, "",
                    (unsigned long long)(sites->count + sites->omitted_count - shown));
    }
    if (head)
        vs_text_lines(style, "  ", "to make them true, %s", vs_uncomputed_advice(report));
}

void vs_uncomputed_warning(const struct vs_report *report, const struct vs_style *style)
{
    char text[VS_UNCOMPUTED_TEXT_MAX];
    if (vs_uncomputed_text(text, report))
        vs_text_wrapped(style, vs_text_mark(style, "warning"), text);
}

void vs_uncomputed_json(struct vs_json *json, const struct vs_report *report)
{
    static const char *const kinds[VS_UNCOMPUTED_COUNT] = {"copied", "decided", "managed"};
    for (int what = 0; vs_json_next(json, "uncomputed_reads", what, VS_UNCOMPUTED_COUNT); what++)
        for (size_t i = 0; i < report->uncomputed[what].count; i++) {
            const struct vs_report_site *site = &report->uncomputed[what].items[i];
            vs_json_begin(json, NULL, VS_J_TEXT("kind", kinds[what]), VS_J_UINT("count", site->count),
                          VS_J_UINT("bytes", site->bytes),
                          VS_J_TEXT_IF(what == VS_UNCOMPUTED_DECIDED, "value", site->api),
                          VS_J_TEXT_IF(what != VS_UNCOMPUTED_DECIDED, "kernel", site->api));
            vs_report_json_frames(json, site);
            vs_json_end_object(json);
        }
}
