/* SPDX-License-Identifier: Apache-2.0
 *
 * Devices, phases, steps and call sites that an option names and a trace may lack: what the trace has
 * instead. No state. */
#ifndef VS_REPORT_NAMES_H
#define VS_REPORT_NAMES_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/report/report.h"

/* vs_report_no_device: prints that the program did not use *device*, and which devices it used.
 * Returns VS_EXIT_UNUSABLE. */
int vs_report_no_device(const char *who, const char *path, const struct vs_report *report,
                        uint64_t device);

/* vs_report_wish_known: whether the device, phase, step and call site that report->wish names occur
 * in the part of the trace that was read; false, with a message. */
bool vs_report_wish_known(const char *who, const char *path, const struct vs_report *report);

#endif
