/* SPDX-License-Identifier: Apache-2.0
 *
 * Which call sites of two pages are one: those that hold memory at the peaks as `vramscope diff`
 * matches them, so that the page has its figures, then the others. Sites that are one have a number, and the
 * name that the command prints for it. */
#include "viewer/html/page_data.h"

#include <stdio.h>
#include <stdlib.h>

#include "analysis/budget/culprits.h"
#include "analysis/compare/comparison.h"
#include "base/reading/vs_xalloc.h"
#include "viewer/common/json_writer.h"

/* The sites of a page. */
struct page_side {
    const struct vs_page_names *names;
    uint32_t *numbers; /* of each site, from 1; 0: none yet */
    bool *paired;      /* its number is that of a site of the other page as well */
};

static const struct vs_named_site *find(const struct vs_named_sites *sites,
                                        const struct vs_report_site *site)
{
    char name[VS_SITE_NAME_MAX];
    if (!site->api)
        return NULL; /* the row of other call sites, or of none */
    const struct vs_named_site key = {.name = vs_site_stable_name(name, site), .site = site};
    return sites->count ? bsearch(&key, sites->items, sites->count, sizeof key, vs_named_site_order)
                        : NULL;
}

/* Numbers the sites of *changes*, and those of the pages that are among them; writes the name of each
 * new number. */
static void number_sites(struct vs_json *json, uint32_t *last, struct page_side sides[2],
                         const struct vs_site_changes *changes)
{
    const struct vs_named_sites *lists[2] = {&changes->a, &changes->b};
    uint32_t *numbers[2];
    bool *paired[2];
    for (int s = 0; s < 2; s++) {
        numbers[s] = vs_xcalloc(lists[s]->count + 1, sizeof **numbers);
        paired[s] = vs_xcalloc(lists[s]->count + 1, sizeof **paired);
        for (size_t i = 0; i < sides[s].names->site_count; i++) {
            const struct vs_named_site *named =
                sides[s].numbers[i] ? find(lists[s], &sides[s].names->sites[i].named) : NULL;
            if (named)
                numbers[s][named - lists[s]->items] = sides[s].numbers[i];
        }
    }
    for (size_t p = 0; p < changes->count; p++) {
        const struct vs_site_pair *pair = &changes->items[p];
        const struct vs_named_site *of[2] = {pair->a, pair->b};
        uint32_t *number[2] = {NULL, NULL}, known = 0;
        for (int s = 0; s < 2; s++)
            number[s] = of[s] ? &numbers[s][of[s] - lists[s]->items] : NULL;
        if (number[0] && number[1] && *number[0] && *number[1])
            continue; /* known as two */
        for (int s = 0; s < 2; s++)
            known = number[s] && *number[s] ? *number[s] : known;
        if (!known) {
            char text[VS_CHAIN_TEXT_MAX];
            vs_json_string(json, NULL, vs_change_label_text(text, pair->b ? pair->b : pair->a));
            known = ++*last;
        }
        for (int s = 0; s < 2; s++)
            if (number[s]) {
                *number[s] = known;
                paired[s][number[s] - numbers[s]] = pair->a && pair->b;
            }
    }
    for (int s = 0; s < 2; s++) {
        for (size_t i = 0; i < sides[s].names->site_count; i++) {
            const struct vs_named_site *named =
                sides[s].paired[i] ? NULL : find(lists[s], &sides[s].names->sites[i].named);
            if (!named)
                continue;
            sides[s].numbers[i] = numbers[s][named - lists[s]->items];
            sides[s].paired[i] = paired[s][named - lists[s]->items];
        }
        free(numbers[s]);
        free(paired[s]);
    }
}

/* The sites that have no partner yet, as a list. */
static struct vs_report_sites left_over(struct vs_arena *memory, const struct page_side *side)
{
    struct vs_report_site *items = vs_xarena(memory, (side->names->site_count + 1) * sizeof *items);
    size_t count = 0;
    for (size_t i = 0; i < side->names->site_count; i++)
        if (!side->paired[i] && side->names->sites[i].named.api)
            items[count++] = side->names->sites[i].named;
    return (struct vs_report_sites){.items = items, .count = count};
}

static void put_device(struct vs_json *json, struct vs_comparison *comparison,
                       const struct vs_page_data *a, const struct vs_page_data *b, uint64_t device)
{
    const struct vs_compared_sites *peak = vs_compared_at_peak(comparison, device);
    struct page_side sides[2] = {{.names = &a->names}, {.names = &b->names}};
    struct vs_site_changes others;
    uint32_t last = 0;
    for (int s = 0; s < 2; s++) {
        sides[s].numbers = vs_xcalloc(sides[s].names->site_count, sizeof *sides[s].numbers);
        sides[s].paired = vs_xcalloc(sides[s].names->site_count, sizeof *sides[s].paired);
    }
    vs_json_begin_object(json, NULL);
    vs_json_begin_array(json, "names");
    if (peak)
        number_sites(json, &last, sides, &peak->changes);
    const struct vs_report_sites left[2] = {left_over(&comparison->memory, &sides[0]),
                                            left_over(&comparison->memory, &sides[1])};
    vs_site_changes_build(&comparison->memory, &left[0], &left[1], VS_METRIC_ALLOCATED,
                          peak ? &peak->changes : NULL, &others);
    number_sites(json, &last, sides, &others);
    vs_json_end_array(json);
    for (int s = 0; s < 2; s++) {
        for (size_t i = 0; vs_json_next(json, s ? "b" : "a", i, sides[s].names->site_count); i++)
            vs_json_uint(json, NULL, sides[s].numbers[i]);
        free(sides[s].numbers);
        free(sides[s].paired);
    }
    vs_json_end_object(json);
}

void vs_page_compare(const struct vs_page_data *a, struct vs_report *report_a,
                     struct vs_page_data *b, struct vs_report *report_b)
{
    struct vs_measured runs[2] = {{.report = report_a, .process = report_a->program},
                                  {.report = report_b, .process = report_b->program}};
    struct vs_comparison comparison = {0};
    const struct vs_renamed_frame *renamed;
    size_t renamed_count, bytes = 0;
    char *text = NULL;
    vs_compare(&comparison, &runs[0], &runs[1]);
    vs_renamed_frames(&comparison, &renamed, &renamed_count);
    struct vs_json json = {.out = vs_xstream(&text, &bytes)};
    vs_json_begin_object(&json, NULL);
    vs_json_begin_array(&json, "devices");
    for (size_t i = 0; i < report_a->device_count && i < report_b->device_count; i++)
        put_device(&json, &comparison, a, b, report_a->devices[i].device);
    vs_json_end_array(&json);
    for (size_t i = 0; vs_json_next(&json, "renamed", i, renamed_count); i++)
        vs_json_object(&json, NULL, VS_J_TEXT("was", renamed[i].was), VS_J_TEXT("is", renamed[i].is));
    vs_json_end_object(&json);
    vs_xstream_end(json.out);
    b->compared = vs_page_escape(text, bytes, &b->compared_bytes);
    free(text);
    vs_comparison_free(&comparison);
}
