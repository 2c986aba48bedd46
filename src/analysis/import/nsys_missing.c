/* SPDX-License-Identifier: Apache-2.0
 *
 * In place of the import, in a build without SQLite. */
#include "analysis/import/import_writer.h"

enum vs_err vs_nsys(struct vs_import_writer *w)
{
    snprintf(w->why, VS_IMPORT_WHY_MAX, "this vramscope was built without SQLite: install libsqlite3-dev and build again");
    return VS_ERR_UNSUPPORTED;
}
