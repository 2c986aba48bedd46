/* SPDX-License-Identifier: Apache-2.0
 *
 * In place of the import, in a build without SQLite. */
#include "analysis/import/import_writer.h"

enum vs_err vs_nsys(FILE *in, FILE *out, const char *name, uint64_t process, struct vs_import_result *result,
                    char *why)
{
    (void)in, (void)out, (void)name, (void)process, (void)result;
    snprintf(why, VS_IMPORT_WHY_MAX, "this vramscope was built without SQLite: install libsqlite3-dev and build again");
    return VS_ERR_UNSUPPORTED;
}
