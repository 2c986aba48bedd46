/* SPDX-License-Identifier: Apache-2.0 */
#ifndef VS_SQLITE_MERGE_H
#define VS_SQLITE_MERGE_H

#include <stdio.h>

#include "analysis/merge/merge.h"
#include "base/vs_err.h"

/* vs_merge_sqlite: the databases of all traces in one: each table has the column `rank` first, the index of
 * a row of table `ranks`. VS_ERR_UNSUPPORTED in a build without SQLite, VS_ERR_IO with errno, the error of
 * a trace that cannot be read. */
enum vs_err vs_merge_sqlite(const struct vs_merge *merge, FILE *out) VS_MUST_CHECK;

/* vs_merge_parquet: the tables of all traces as Parquet files in *folder*, which is made. *job* as of
 * vs_export_options. **trace* is the path of the trace that was read last. Likewise. */
enum vs_err vs_merge_parquet(const struct vs_merge *merge, const char *folder, const char *job,
                             const char **trace) VS_MUST_CHECK;

#endif
