/* SPDX-License-Identifier: Apache-2.0
 *
 * Reads of values that no kernel computed (docs/simulator.md), as text and as JSON. */
#ifndef VS_UNCOMPUTED_TEXT_H
#define VS_UNCOMPUTED_TEXT_H

#include "analysis/report/report.h"
#include "viewer/common/json_writer.h"
#include "viewer/common/text_style.h"

/* vs_uncomputed_text: "the program read 4 B that no kernel computed, in 1 copy, first at main (a.c:9);
 * sizes may depend on them". Returns false, with "" in *out* (VS_UNCOMPUTED_TEXT_MAX bytes), if there
 * were no such reads. */
#define VS_UNCOMPUTED_TEXT_MAX 512
bool vs_uncomputed_text(char *out, const struct vs_report *report);

/* vs_uncomputed_advice: "compile the kernels for the host (docs/simulator.md)", or for PyTorch "compute
 * larger tensors (run --values=SIZE)". */
const char *vs_uncomputed_advice(const struct vs_report *report);

/* vs_uncomputed_lines: the reads by call site; nothing without them. */
void vs_uncomputed_lines(const struct vs_report *report, const struct vs_style *style);

/* vs_uncomputed_warning: vs_uncomputed_text as a warning. */
void vs_uncomputed_warning(const struct vs_report *report, const struct vs_style *style);

/* vs_uncomputed_json: the array "uncomputed_reads". */
void vs_uncomputed_json(struct vs_json *json, const struct vs_report *report);

#endif
