/* SPDX-License-Identifier: Apache-2.0
 *
 * The text summary: what `vramscope report` prints and `vramscope run` prints at
 * the end. */
#ifndef VS_REPORT_TEXT_H
#define VS_REPORT_TEXT_H

#include "analysis/report/report.h"
#include "viewer/common/text_style.h"

/* vs_report_text: print *report*. Write errors show in ferror(style->out). */
void vs_report_text(const struct vs_report *report, const struct vs_style *style);

/* vs_report_ending: "exit 0", "exit 3", "killed by SIGSEGV", "still running",
 * "no end recorded (killed)" into *out* (96 bytes). Returns out. */
char *vs_report_ending(char *out, const struct vs_report *report);

#endif
