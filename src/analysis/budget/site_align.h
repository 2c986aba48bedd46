/* SPDX-License-Identifier: Apache-2.0
 *
 * Matches the call sites of one name in two runs, which only their lines tell apart. No state. */
#ifndef VS_SITE_ALIGN_H
#define VS_SITE_ALIGN_H

#include "analysis/budget/culprits.h"

#define VS_SITE_ALIGN_MAX 64 /* sites of one name that are aligned; more are matched in order */

/* vs_site_amount: the site's value in the metric's unit. */
uint64_t vs_site_amount(const struct vs_named_site *site, enum vs_metric metric);

/* vs_site_align: matches now[0 … n) with before[0 … m), both of one name and at most
 * VS_SITE_ALIGN_MAX: partner[i] is the index in *before* + 1, or 0. */
void vs_site_align(const struct vs_named_site *now, size_t n, const struct vs_named_site *before,
                   size_t m, enum vs_metric metric, size_t *partner);

/* vs_site_run: how many sites from *from* on have its name. */
size_t vs_site_run(const struct vs_named_sites *sites, size_t from);

#endif
