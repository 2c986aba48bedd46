/* SPDX-License-Identifier: Apache-2.0
 *
 * The tables of an exported database (docs/sqlite.md) and their rows, except those of
 * allocations and steps. Private to this folder; not thread-safe. */
#ifndef VS_SQLITE_ROWS_H
#define VS_SQLITE_ROWS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "analysis/kinds/allocation_log.h"
#include "analysis/naming/stack_names.h"
#include "analysis/state/replay.h"
#include "base/reading/vs_intern.h"
#include "base/vs_err.h"
#include "trace/read/job_rank.h"

/* --- database.c: the file ---
 *
 * It is written once, from empty to complete, through SQLite: no journal, one transaction, rows
 * appended by prepared statements. The first error is kept, and later calls do nothing, so that a
 * caller checks once. */

struct vs_database;
struct vs_database_insert; /* a prepared statement */

/* vs_database_open: a database in the empty file of *out*, or, if that is a pipe or a device, in a
 * temporary file that vs_database_close copies there. *schema*: its tables. VS_ERR_IO (errno),
 * VS_ERR_NOMEM. */
enum vs_err vs_database_open(FILE *out, const char *schema, struct vs_database **db) VS_MUST_CHECK;

/* vs_database_prepare: rows of *columns* values for *table*. NULL after an error. Lives until
 * close. */
struct vs_database_insert *vs_database_prepare(struct vs_database *db, const char *table,
                                               int columns);

/* A value: a text, a number, or, if neither is there, NULL. A number that does not fit 64 bits with a
 * sign is stored as one that does (two's complement). */
struct vs_database_value {
    const char *text;
    uint64_t number;
    bool known;
};
#define VS_TEXT(of) {.text = (of)}
#define VS_UINT(of) {.number = (of), .known = true}
#define VS_KNOWN(when, of) {.number = (of), .known = (when)}

/* vs_database_row: adds a row of the values that follow. */
void vs_database_add(struct vs_database_insert *insert, const struct vs_database_value *values,
                     size_t count);
#define vs_database_row(insert, ...)                                          \
    vs_database_add((insert), (const struct vs_database_value[]){__VA_ARGS__}, \
                    sizeof((const struct vs_database_value[]){__VA_ARGS__}) / sizeof(struct vs_database_value))

/* vs_database_take: adds the rows of all tables of the database at *path* to those of the same names, with
 * *rank* as the first column. */
enum vs_err vs_database_take(struct vs_database *db, const char *path, uint64_t rank) VS_MUST_CHECK;

/* vs_database_error: the first error so far: VS_OK, VS_ERR_NOMEM, VS_ERR_IO with errno set. */
enum vs_err vs_database_error(const struct vs_database *db);

/* vs_database_close: with *keep* completes the file, otherwise gives it up. Returns the first error.
 * *db* may be NULL. */
enum vs_err vs_database_close(struct vs_database *db, bool keep) VS_MUST_CHECK;

/* --- sqlite_timeline.c: kernels, copies, memsets, calls, launches, waits and segments --- */

#define VS_SQLITE_CALLS (UINT64_C(1) << 31) /* the first number of a site that is a call, not an allocation */

#define VS_SQLITE_TIMELINE_TABLES 6

/* Zero-initialise, but for the part of the trace, in its clock. */
struct vs_sqlite_timeline {
    uint64_t from_ns, to_ns, device;
    bool one_device;
    struct vs_database_insert *rows[VS_SQLITE_TIMELINE_TABLES], *segments;
    struct vs_intern calls; /* {stack, api} */
    struct vs_map names;    /* string id + 1 -> name of a kernel */
    struct vs_arena memory;
};

void vs_sqlite_timeline_begin(struct vs_sqlite_timeline *timeline, struct vs_database *db);

/* vs_sqlite_timeline_event: its row, if it is of these kinds and in the part; after the replay. */
void vs_sqlite_timeline_event(struct vs_sqlite_timeline *timeline, const struct vs_replay *replay,
                              const struct vs_event *event);

void vs_sqlite_timeline_free(struct vs_sqlite_timeline *timeline);

/* --- sqlite_merge.c --- */

struct vs_export_options;
struct vs_export_result;
/* vs_sqlite_temporary: exports *reader* to a database in a temporary file, whose name *path* (PATH_MAX bytes) has: the
 * caller removes it, also after an error, and then calls vs_replacement_forget. */
enum vs_err vs_sqlite_temporary(struct vs_reader *reader, const struct vs_export_options *options,
                                struct vs_export_result *result, char *path) VS_MUST_CHECK;

/* --- sqlite_rows.c --- */

#define VS_SQLITE_VERSION 1 /* of the schema */

extern const char vs_sqlite_schema[];

/* vs_sqlite_devices: the devices that *wanted* names, with their sums so far. */
void vs_sqlite_devices(struct vs_database *db, const struct vs_replay *replay,
                       const struct vs_allocation_filter *wanted);

struct vs_sqlite_job {
    const char *name; /* NULL: not recorded */
    struct vs_job_rank rank;
};

/* vs_sqlite_tables: from *replay* at the end of the trace: the process, the phases, the
 * failures in the window, the sites with *used* set and the *calls* of the timeline, with all frames of
 * their stacks. Errors
 * of the database are kept there. */
void vs_sqlite_tables(struct vs_database *db, const struct vs_replay *replay,
                      struct vs_stack_names *names, const unsigned char *used, size_t used_count,
                      const struct vs_intern *calls, bool complete, const struct vs_allocation_filter *wanted,
                      const struct vs_sqlite_job *job);

#endif
