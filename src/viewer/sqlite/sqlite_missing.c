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
