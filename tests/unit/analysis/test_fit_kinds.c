/* SPDX-License-Identifier: Apache-2.0
 *
 * The kinds of tensors as `vramscope fit` prints them. */
#define _GNU_SOURCE
#include <stdio.h>
#include <string.h>

#include "support/cmocka_test.h"
#include "viewer/report/answer_text.h"

/* What fit prints for a run that fits, with *kinds* at its peak. Free with free(). */
static char *printed(const struct vs_kinds_table *kinds, bool json)
{
    char *got = NULL;
    size_t bytes = 0;
    char *program[] = {"train", NULL};
    struct vs_fit_device device = {.name = "GPU", .uuid = "", .total_bytes = 80 * GIB, .tensors = true,
                                   .peak_place = "step 2 / backward", .kinds = *kinds,
                                   .holders = {.items = {{"train.py:7", 60 * GIB, 1}}, .count = 1,
                                               .total_bytes = 60 * GIB}};
    struct vs_fit_trace trace = {.path = "t", .program = "train", .rank = "", .devices = &device,
                                 .device_count = 1};
    struct vs_fit_run run = {.gpu = "h100-80g", .started = true, .answer = VS_FIT_YES,
                             .worst = &trace, .worst_device = &device};
    struct vs_fit_set set = {.runs = &run, .count = 1, .program = program};
    struct vs_style style = {.out = open_memstream(&got, &bytes), .width = 110, .sites = 5};
    assert_non_null(style.out);
    if (json)
        vs_fit_json(&set, style.out);
    else
        vs_fit_text(&set, &style);
    fclose(style.out);
    return got;
}

static void set(struct vs_kinds_table *table, enum vs_kind kind, uint64_t bytes)
{
    table->kinds[kind] = (struct vs_kind_sum){bytes, 1};
    table->total.bytes += bytes;
}

TEST(kinds_are_printed_the_largest_first_without_small_ones)
{
    struct vs_kinds_table table = {0};
    set(&table, VS_KIND_PARAMETERS, 15 * GIB);
    set(&table, VS_KIND_GRADIENTS, 14 * GIB);
    set(&table, VS_KIND_OPTIMIZER_STATE, 30 * GIB);
    set(&table, VS_KIND_ACTIVATIONS, 4 * GIB);
    set(&table, VS_KIND_INPUTS, GIB / 1024);
    char *text = printed(&table, false);
    assert_non_null(strstr(text, "\n  optimizer state 30.00 GiB, parameters 15.00 GiB, gradients "
                                 "14.00 GiB,\n  activations 4.00 GiB\n"));
    assert_null(strstr(text, "inputs"));
    free(text);
    text = printed(&table, true);
    assert_non_null(strstr(text, "\"optimizer_state\": 32212254720"));
    free(text);
}

TEST(nothing_is_printed_where_all_is_unknown)
{
    struct vs_kinds_table table = {0};
    set(&table, VS_KIND_UNKNOWN, 15 * GIB);
    char *text = printed(&table, false);
    assert_null(strstr(text, "unknown"));
    free(text);
    text = printed(&(struct vs_kinds_table){0}, true);
    assert_non_null(strstr(text, "\"peak_kinds\": null"));
    free(text);
}
