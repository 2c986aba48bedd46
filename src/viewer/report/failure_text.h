/* SPDX-License-Identifier: Apache-2.0
 *
 * The failed allocations of a report as text: identical ones as one, those that the program
 * recovered from apart. */
#ifndef VS_FAILURE_TEXT_H
#define VS_FAILURE_TEXT_H

#include "analysis/report/report.h"
#include "viewer/common/text_style.h"

#define VS_FAILURE_WHAT_MAX 48

/* vs_failure_what: writes "16.0 MiB", or for memory that is no allocation "a CUDA context" and the
 * like, to *out*. Returns *out*. */
const char *vs_failure_what(char out[VS_FAILURE_WHAT_MAX], const struct vs_report_failure *failure);

/* vs_failure_key: the same for JSON: "allocation", "context", "module", "limit", "launch". */
const char *vs_failure_key(const struct vs_report_failure *failure);

/* vs_failure_text: prints nothing if no allocation failed. *explained*: the failure with that
 * event's number is described elsewhere; 0: none. */
void vs_failure_text(const struct vs_report *report, uint64_t explained,
                     const struct vs_style *style);

#endif
