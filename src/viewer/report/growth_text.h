/* SPDX-License-Identifier: Apache-2.0
 *
 * Text about growth: the call sites whose memory grows, memory that stopped growing, and the steps that were
 * found without marks. */
#ifndef VS_GROWTH_TEXT_H
#define VS_GROWTH_TEXT_H

#include "viewer/common/text_style.h"

#define VS_GROWTH_TEXT_MAX 256

/* vs_growth_words: how *site* grows: "grows by 16.0 MiB every step since step 1 (steps found from
 * the repeating requests), 4.7 GiB so far". Returns *out*, of VS_GROWTH_TEXT_MAX bytes. */
char *vs_growth_words(char *out, const struct vs_report_site *site, bool steps_found);

/* vs_growth_lines: the call sites of *growing*, then those of *filled*, which stopped growing;
 * nothing if there are none. */
void vs_growth_lines(const struct vs_report *report, const struct vs_report_sites *growing,
                     const struct vs_report_sites *filled, const struct vs_style *style);

/* vs_growth_steps_lines: number, times and bytes of the steps; nothing if there are none. */
void vs_growth_steps_lines(const struct vs_report *report, const struct vs_style *style);

#endif
