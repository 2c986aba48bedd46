/* SPDX-License-Identifier: Apache-2.0
 *
 * In place of the database, in a build without SQLite. */
#include "viewer/export/export.h"
#include "viewer/sqlite/sqlite_merge.h"

#pragma GCC diagnostic ignored "-Wunused-parameter"

enum vs_err vs_merge_sqlite(const struct vs_merge *merge, FILE *out)
{
    return VS_ERR_UNSUPPORTED;
}

enum vs_err vs_export_sqlite(struct vs_reader *reader, FILE *out,
                             const struct vs_export_options *options,
                             struct vs_export_result *result)
{
    return VS_ERR_UNSUPPORTED;
}

enum vs_err vs_export_parquet(struct vs_reader *reader, FILE *out, const struct vs_export_options *options,
                              struct vs_export_result *result)
{
    return VS_ERR_UNSUPPORTED;
}

enum vs_err vs_merge_parquet(const struct vs_merge *merge, const char *folder, const char *job, const char **trace)
{
    return VS_ERR_UNSUPPORTED;
}
