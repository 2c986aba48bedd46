/* SPDX-License-Identifier: Apache-2.0
 *
 * The text summary printed by `vramscope report`, and by `vramscope run` at the end. */
#ifndef VS_REPORT_TEXT_H
#define VS_REPORT_TEXT_H

#include "analysis/report/report.h"
#include "viewer/common/text_style.h"

/* vs_report_text: prints *report*. Write errors show in ferror(style->out). */
void vs_report_text(const struct vs_report *report, const struct vs_style *style);

/* vs_report_text_after: likewise, after the failure with the number *explained* of its event was
 * described; 0: none was. */
void vs_report_text_after(const struct vs_report *report, uint64_t explained,
                          const struct vs_style *style);

/* vs_report_ending: writes "exit 0", "exit 3", "killed by SIGSEGV", "still running", "no end
 * recorded (killed)" to *out* (96 bytes). Returns out. */
char *vs_report_ending(char *out, const struct vs_report *report);

#endif
