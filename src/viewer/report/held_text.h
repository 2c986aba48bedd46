/* SPDX-License-Identifier: Apache-2.0
 *
 * Live memory at one time as text: by call site, phase, step, library, size and age, what
 * rounding adds to it, and the map of the segments. */
#ifndef VS_HELD_TEXT_H
#define VS_HELD_TEXT_H

#include "analysis/report/report.h"
#include "viewer/common/text_style.h"

/* vs_held_text: the usual lists of *device*: at the peak, or at the time of *report*. Prints
 * nothing if nothing was live. */
void vs_held_text(const struct vs_report *report, const struct vs_report_device *device,
                  const struct vs_style *style);

/* vs_held_text_wished: the lists and the map that report->wish names. */
void vs_held_text_wished(const struct vs_report *report, const struct vs_report_device *device,
                         const struct vs_style *style);

/* vs_held_text_cached: prints the memory cached at the time, by the lines that requested the segments. */
void vs_held_text_cached(const struct vs_report_device *device, const struct vs_style *style);

/* vs_picture_text (map_text.c): the segments, a row each. */
void vs_picture_text(const struct vs_report *report, const struct vs_report_device *device,
                     const struct vs_style *style);

/* vs_held_moment: "at the peak", "at the phase's peak" or "at 1.234 s". *out* has VS_HELD_MOMENT_MAX
 * bytes. */
#define VS_HELD_MOMENT_MAX (VS_SIZE_TEXT_MAX + 24)
char *vs_held_moment(char *out, const struct vs_report *report);

#endif
