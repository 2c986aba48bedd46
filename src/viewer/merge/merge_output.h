/* SPDX-License-Identifier: Apache-2.0
 *
 * The traces of one job: as text, as JSON (schema "vramscope.merge/1"), as a page. Write errors show in
 * ferror. The timeline is written by the formats of viewer/chrome, a trace after the other. */
#ifndef VS_MERGE_OUTPUT_H
#define VS_MERGE_OUTPUT_H

#include <stdio.h>

#include "analysis/merge/merge.h"
#include "viewer/common/text_style.h"

/* vs_merge_text: the facts of the job, then a row for each rank: of more than 16 those that differ, unless
 * style->full. */
void vs_merge_text(const struct vs_merge *merge, const struct vs_style *style);

/* vs_merge_json: all of it. */
void vs_merge_json(const struct vs_merge *merge, FILE *out);

/* vs_merge_page: a file for a browser: the facts, the memory of each rank by step, a row for each rank. */
void vs_merge_page(const struct vs_merge *merge, FILE *out);

/* vs_merge_facts: prints the facts, a line or two each, as both texts have them. */
void vs_merge_facts(const struct vs_merge *merge, const struct vs_style *style);

/* vs_rank_end_text: how its process ended, in *out*, of VS_RANK_END_MAX bytes; returned. */
#define VS_RANK_END_MAX 48
char *vs_rank_end_text(char *out, const struct vs_rank *rank);

/* vs_rank_is_odd: the rank with this index differs from the others, or its trace is not complete. */
bool vs_rank_is_odd(const struct vs_merge *merge, uint32_t index);

#endif
