/* SPDX-License-Identifier: Apache-2.0
 *
 * Each trace is exported to a database of its own, whose tables are then added to those of all. */
#define _GNU_SOURCE
#include "viewer/sqlite/sqlite_merge.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/vs_output_file.h"
#include "viewer/export/export.h"
#include "viewer/sqlite/sqlite_rows.h"

static const char schema[] =
    "CREATE TABLE ranks(rank INTEGER PRIMARY KEY, name TEXT, trace TEXT, job_rank INTEGER, pid INTEGER,"
    " host TEXT, program TEXT,"
    " begin_ns INTEGER," /* of its times' 0, in the timeline of all */
    " clock_drift_ppb INTEGER, clock_error_ns INTEGER, device INTEGER, peak_bytes INTEGER,"
    " reserved_bytes INTEGER, steps INTEGER, step_ns INTEGER, failed_ns INTEGER)";

enum vs_err vs_sqlite_temporary(struct vs_reader *reader, const struct vs_export_options *options,
                                struct vs_export_result *result, char *path)
{
    snprintf(path, PATH_MAX, "%s/vramscope-merge-XXXXXX", P_tmpdir);
    int fd = mkostemp(path, O_CLOEXEC);
    if (fd >= 0)
        vs_replacement_remember(path);
    FILE *out = fd < 0 ? NULL : fdopen(fd, "wb");
    if (!out)
        return VS_ERR_IO;
    enum vs_err err = vs_export(vs_export_find("sqlite"), reader, out, options, result);
    int saved_errno = errno;
    if (fclose(out) && !err)
        return VS_ERR_IO;
    errno = saved_errno;
    return err;
}

enum vs_err vs_merge_sqlite(const struct vs_merge *merge, FILE *out)
{
    struct vs_database *db;
    enum vs_err err = vs_database_open(out, schema, &db);
    if (err)
        return err;
    struct vs_database_insert *ranks = vs_database_prepare(db, "ranks", 16);
    for (size_t i = 0; i < merge->count; i++) {
        const struct vs_rank *rank = &merge->ranks[i];
        vs_database_row(ranks, VS_UINT(i), VS_TEXT(rank->name), VS_TEXT(rank->path),
                        VS_KNOWN(rank->job.has_rank, rank->job.rank), VS_UINT(rank->pid), VS_TEXT(rank->host),
                        VS_TEXT(rank->program), VS_UINT(vs_rank_time(&rank->clock, rank->begin_ns)),
                        VS_UINT((uint64_t)(int64_t)(rank->clock.drift * 1e9)),
                        VS_KNOWN(rank->source != VS_CLOCK_WALL, rank->error_ns), VS_UINT(rank->device),
                        VS_UINT(rank->peak_bytes), VS_UINT(rank->reserved_bytes), VS_UINT(rank->steps_done),
                        VS_UINT(rank->step_ns),
                        VS_KNOWN(rank->failed, vs_rank_time(&rank->clock, rank->failed_ns)));
    }
    for (size_t i = 0; i < merge->count && !err; i++) {
        char path[PATH_MAX], why[VS_READER_WHY_MAX];
        struct vs_reader *reader;
        struct vs_export_result result;
        err = vs_reader_open(merge->ranks[i].path, &reader, why);
        if (err)
            break;
        err = vs_sqlite_temporary(reader, &(const struct vs_export_options){0}, &result, path);
        vs_reader_close(reader);
        if (!err)
            err = vs_database_take(db, path, i);
        int saved_errno = errno;
        unlink(path);
        vs_replacement_forget(path);
        errno = saved_errno;
    }
    enum vs_err closed = vs_database_close(db, !err);
    return err ? err : closed;
}
