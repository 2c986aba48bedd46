/* SPDX-License-Identifier: Apache-2.0
 *
 * In place of the database, in a build without SQLite. */
#include "viewer/export/export.h"
#include "viewer/sqlite/sqlite_merge.h"

enum vs_err vs_merge_sqlite(const struct vs_merge *merge, FILE *out)
{
    (void)merge;
    (void)out;
    return VS_ERR_UNSUPPORTED;
}

enum vs_err vs_export_sqlite(struct vs_reader *reader, FILE *out,
                             const struct vs_export_options *options,
                             struct vs_export_result *result)
{
    (void)reader;
    (void)out;
    (void)options;
    (void)result;
    return VS_ERR_UNSUPPORTED;
}

enum vs_err vs_export_parquet(struct vs_reader *reader, FILE *out, const struct vs_export_options *options,
                              struct vs_export_result *result)
{
    return vs_export_sqlite(reader, out, options, result);
}

enum vs_err vs_merge_parquet(const struct vs_merge *merge, const char *folder, const char *job, const char **trace)
{
    (void)trace;
    (void)folder;
    (void)job;
    return vs_merge_sqlite(merge, NULL);
}
