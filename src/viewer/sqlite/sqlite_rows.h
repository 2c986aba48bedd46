/* SPDX-License-Identifier: Apache-2.0
 *
 * The tables of an exported database (docs/sqlite.md) and their rows, except those of allocations.
 * Private to this folder. */
#ifndef VS_SQLITE_ROWS_H
#define VS_SQLITE_ROWS_H

#include "analysis/kinds/allocation_log.h"
#include "analysis/naming/stack_names.h"
#include "analysis/state/replay.h"
#include "base/vs_err.h"
#include "viewer/sqlite/database.h"

#define VS_SQLITE_VERSION 1 /* of the schema */

extern const char vs_sqlite_schema[];

/* vs_sqlite_devices: the devices that *wanted* names, with their sums so far. */
void vs_sqlite_devices(struct vs_database *db, const struct vs_replay *replay,
                       const struct vs_allocation_filter *wanted);

/* vs_sqlite_tables: from *replay* at the end of the trace: the process, the phases, the
 * failures in the window, and the sites with *used* set, with all frames of their stacks. Errors
 * of the database are kept there. */
void vs_sqlite_tables(struct vs_database *db, const struct vs_replay *replay,
                      struct vs_stack_names *names, const unsigned char *used, size_t used_count,
                      bool complete, const struct vs_allocation_filter *wanted);

#endif
