/* SPDX-License-Identifier: Apache-2.0
 *
 * Writes the trace of a PyTorch snapshot. Private to src/analysis/import. */
#ifndef VS_SNAPSHOT_TRACE_H
#define VS_SNAPSHOT_TRACE_H

#include "analysis/import/import.h"
#include "analysis/import/snapshot.h"

/* vs_snapshot_trace: writes all of *snapshot* to *out* and counts in *result*. VS_ERR_CORRUPT
 * (*why*), VS_ERR_IO (errno; *why* ""). */
enum vs_err vs_snapshot_trace(const struct vs_snapshot *snapshot, FILE *out, const char *name,
                              struct vs_import_result *result, char *why) VS_MUST_CHECK;

#endif
