/* SPDX-License-Identifier: Apache-2.0
 *
 * The text summary printed by `vramscope report`, and by `vramscope run` at the end. */
#ifndef VS_REPORT_TEXT_H
#define VS_REPORT_TEXT_H

#include "analysis/report/report.h"
#include "viewer/common/text_style.h"

/* vs_report_text: prints *report*. Write errors show in ferror(style->out). */
void vs_report_text(const struct vs_report *report, const struct vs_style *style);

/* vs_report_ending: writes "exit 0", "exit 3", "killed by SIGSEGV", "still running", "no end
 * recorded (killed)" to *out* (96 bytes). Returns out. */
char *vs_report_ending(char *out, const struct vs_report *report);

#endif
