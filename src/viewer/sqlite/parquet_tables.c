/* SPDX-License-Identifier: Apache-2.0
 *
 * Each trace is exported to a database in a temporary file, whose rows go to the tables by queries. The tables are
 * described in docs/fleet.md, and are changed with it. */
#include <errno.h>
#include <limits.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/reading/vs_xalloc.h"
#include "base/vs_output_file.h"
#include "viewer/export/export.h"
#include "viewer/sqlite/parquet_file.h"
#include "viewer/sqlite/sqlite_merge.h"

/* A table has the columns of its query, of the types that they have in the database; expressions are numbers. */
static const struct {
    const char *name, *query;
} tables[] = {
    {"allocations",
     "SELECT o.*, a.device, address, requested, size, born_event, born_ns, end AS ended, end_event, end_ns,"
     " s.label AS site, s.library, p.path AS phase, step, kind, family, stream, context, thread, module, pass"
     " FROM origin o, allocations a LEFT JOIN sites s USING(site) LEFT JOIN phases p USING(phase)"},
    {"peaks",
     "SELECT o.*, d.*, (SELECT value FROM meta WHERE key = 'duration_ns') AS duration_ns,"
     " (SELECT value FROM meta WHERE key = 'exit_status') AS exit_status, (SELECT count(*) FROM steps) AS steps,"
     " (SELECT count(*) FROM failures) AS failures FROM origin o, devices d"},
    {"sites", /* by numbers first: of many rows those are less to sort than texts */
     "SELECT o.*, a.device, s.label AS site, s.library, sum(blocks) AS blocks, sum(bytes) AS bytes,"
     " sum(peak_blocks) AS peak_blocks, sum(peak_bytes) AS peak_bytes, sum(end_blocks) AS end_blocks,"
     " sum(end_bytes) AS end_bytes FROM origin o, (SELECT a.device, site, count(*) AS blocks, sum(size) AS bytes,"
     "  sum(at_peak) AS peak_blocks, sum(at_peak * size) AS peak_bytes, sum(at_end) AS end_blocks,"
     "  sum(at_end * size) AS end_bytes FROM (SELECT a.device, site, size, end_event IS NULL AS at_end,"
     "   ifnull(born_event <= peak_event AND (end_event IS NULL OR end_event > peak_event), 0) AS at_peak"
     "   FROM allocations a LEFT JOIN devices d USING(device) WHERE family <> 'ipc') a GROUP BY 1, 2) a"
     " JOIN sites s USING(site) GROUP BY a.device, s.label, s.library"},
    {"steps", "SELECT o.*, s.* FROM origin o, steps s"},
    {"failures", "SELECT o.*, event, time_ns, device, requested, allocated, reserved, recovered, label AS site"
                 " FROM origin o, failures"},
};
#define TABLES (sizeof tables / sizeof *tables)
#define COLUMNS_MAX 32
#define NAME_MAX_BYTES (PATH_MAX + 64)

static const char origin[] =
    "PRAGMA cache_size = -16384; PRAGMA temp_store = FILE;"
    "CREATE TEMP TABLE origin(job TEXT, host TEXT, rank INTEGER, pid INTEGER, program TEXT, started TIMESTAMP);"
    "INSERT INTO origin SELECT coalesce(%Q, max(iif(key = 'job', value, NULL))), max(iif(key = 'host', value, NULL)),"
    " max(iif(key = 'rank', value, NULL)), max(iif(key = 'pid', value, NULL)),"
    " max(iif(key = 'program', value, NULL)), max(iif(key = 'start_realtime_ns', value, NULL)) / 1000 FROM meta";

struct folder {
    const char *path;
    size_t traces;
    FILE *out[TABLES];
    char *temporary[TABLES];
    struct vs_parquet_file *files[TABLES];
};

static const char *name_of(char out[NAME_MAX_BYTES], const struct folder *f, size_t table)
{
    snprintf(out, NAME_MAX_BYTES, "%s/%s.parquet", f->path, tables[table].name);
    return out;
}

static enum vs_err open_files(struct folder *f)
{
    char name[NAME_MAX_BYTES];
    mode_t mask = umask(0);
    umask(mask);
    if (!vs_folder_make(f->path, 0777))
        return VS_ERR_IO;
    for (size_t i = 0; i < TABLES; i++) {
        int fd = vs_replacement_make(name_of(name, f, i), &f->temporary[i]);
        f->out[i] = fd < 0 ? NULL : fdopen(fd, "wb");
        if (!f->out[i])
            return VS_ERR_IO;
        int private = fchmod(fd, 0666 & ~mask);
        (void)private; /* some file systems have no permissions */
        f->files[i] = vs_parquet_begin(f->out[i]);
    }
    return VS_OK;
}

/* Puts the files in place when all are complete, or after an error removes them. */
static enum vs_err close_files(struct folder *f, enum vs_err err)
{
    char to[NAME_MAX_BYTES];
    int saved_errno = errno;
    for (size_t i = 0; i < TABLES && f->out[i]; i++) {
        vs_parquet_end(f->files[i]);
        if (!err && (fflush(f->out[i]) || ferror(f->out[i]))) {
            err = VS_ERR_IO;
            saved_errno = errno;
        }
        fclose(f->out[i]);
    }
    for (size_t i = 0; i < TABLES && f->out[i]; i++) {
        if (!err && rename(f->temporary[i], name_of(to, f, i))) {
            err = VS_ERR_IO;
            saved_errno = errno;
        }
        if (err)
            unlink(f->temporary[i]);
        vs_replacement_forget(f->temporary[i]);
        free(f->temporary[i]);
    }
    errno = saved_errno;
    return err;
}

/* Adds the rows of the query of table *i*. Returns SQLite's code. */
static int add_rows(struct folder *f, size_t i, sqlite3 *db)
{
    sqlite3_stmt *rows = NULL;
    enum vs_parquet_type types[COLUMNS_MAX];
    struct vs_database_value values[COLUMNS_MAX];
    int code = sqlite3_prepare_v2(db, tables[i].query, -1, &rows, NULL), count = code ? 0 : sqlite3_column_count(rows);
    for (int c = 0; c < count; c++) {
        const char *type = sqlite3_column_decltype(rows, c);
        types[c] = type && strcmp(type, "TEXT") == 0        ? VS_PARQUET_TEXT
                   : type && strcmp(type, "TIMESTAMP") == 0 ? VS_PARQUET_TIME : VS_PARQUET_NUMBER;
        if (!f->traces)
            vs_parquet_column(f->files[i], sqlite3_column_name(rows, c), types[c]);
    }
    while (!code && (code = sqlite3_step(rows)) == SQLITE_ROW) {
        for (int c = 0; c < count; c++) {
            values[c].known = sqlite3_column_type(rows, c) != SQLITE_NULL;
            if (types[c] == VS_PARQUET_TEXT)
                values[c].text = (const char *)sqlite3_column_text(rows, c);
            else
                values[c].number = (uint64_t)sqlite3_column_int64(rows, c);
        }
        vs_parquet_row(f->files[i], values);
        code = SQLITE_OK;
    }
    sqlite3_finalize(rows);
    return code == SQLITE_DONE ? SQLITE_OK : code;
}

static enum vs_err add_trace(struct folder *f, struct vs_reader *reader, const struct vs_export_options *options,
                             struct vs_export_result *result)
{
    char path[PATH_MAX];
    sqlite3 *db = NULL;
    struct vs_export_options without = *options;
    without.no_timeline = true;
    without.gzip = false; /* of the database, where the folder's name ends so */
    enum vs_err err = vs_sqlite_temporary(reader, &without, result, path);
    if (!err) {
        char *valid = options->job ? vs_xvalid(options->job) : NULL;
        char *sql = sqlite3_mprintf(origin, valid ? valid : options->job);
        int code = sqlite3_open_v2(path, &db, SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX, NULL);
        code = code ? code : sqlite3_exec(db, sql, NULL, NULL, NULL);
        sqlite3_free(sql);
        free(valid);
        for (size_t i = 0; i < TABLES && !code; i++)
            code = add_rows(f, i, db);
        f->traces++;
        err = !code ? VS_OK : code == SQLITE_NOMEM ? VS_ERR_NOMEM
              : code == SQLITE_ERROR ? VS_ERR_CORRUPT : VS_ERR_IO; /* CORRUPT: a sum that overflows */
        errno = code && sqlite3_system_errno(db) ? sqlite3_system_errno(db) : EIO;
        sqlite3_close(db);
    }
    int saved_errno = errno;
    unlink(path);
    vs_replacement_forget(path);
    errno = saved_errno;
    return err;
}

enum vs_err vs_export_parquet(struct vs_reader *reader, FILE *out, const struct vs_export_options *options,
                              struct vs_export_result *result)
{
    struct folder f = {.path = options->folder};
    (void)out;
    enum vs_err err = open_files(&f);
    err = err ? err : add_trace(&f, reader, options, result);
    bool refused = !err && result->ended && !options->partial && result->condition != VS_TRACE_COMPLETE &&
                   result->condition != VS_TRACE_LIVE;
    enum vs_err closed = close_files(&f, refused ? VS_ERR_CORRUPT : err);
    return refused ? VS_OK : closed; /* the caller says what the condition is */
}

enum vs_err vs_merge_parquet(const struct vs_merge *merge, const char *folder, const char *job, const char **trace)
{
    struct folder f = {.path = folder};
    const struct vs_export_options options = {.job = job};
    enum vs_err err = open_files(&f);
    for (size_t i = 0; i < merge->count && !err; i++) {
        char why[VS_READER_WHY_MAX];
        struct vs_export_result result = {0};
        struct vs_reader *reader = NULL;
        *trace = merge->ranks[i].path;
        err = vs_reader_open(merge->ranks[i].path, &reader, why);
        if (!err)
            err = add_trace(&f, reader, &options, &result);
        vs_reader_close(reader);
    }
    return close_files(&f, err);
}
