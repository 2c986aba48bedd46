/* SPDX-License-Identifier: Apache-2.0
 *
 * SQLite opens files by name: the name of *out*'s file is looked up in /proc, and is
 * used only if it still leads to that file. */
#define _GNU_SOURCE
#include "viewer/sqlite/sqlite_rows.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/reading/vs_xalloc.h"

#define COPY_BYTES (1u << 20)

struct vs_database_insert {
    struct vs_database *db;
    sqlite3_stmt *statement;
    struct vs_database_insert *older;
};

struct vs_database {
    FILE *out;
    sqlite3 *sqlite;
    struct vs_database_insert *inserts;
    int temporary; /* to be copied to *out*; -1: the database is *out* itself */
    enum vs_err err;
    int saved_errno;
};

static void fail(struct vs_database *db, int code)
{
    if (db->err || code == SQLITE_OK || code == SQLITE_DONE || code == SQLITE_ROW)
        return;
    int reason = db->sqlite ? sqlite3_system_errno(db->sqlite) : 0;
    db->err = (code & 0xff) == SQLITE_NOMEM ? VS_ERR_NOMEM : VS_ERR_IO;
    db->saved_errno = (code & 0xff) == SQLITE_FULL ? ENOSPC : reason ? reason : EIO;
}

static void run(struct vs_database *db, const char *sql)
{
    if (!db->err)
        fail(db, sqlite3_exec(db->sqlite, sql, NULL, NULL, NULL));
}

static enum vs_err open_file(struct vs_database *db, const char *schema)
{
    char path[PATH_MAX], link[64];
    struct stat own, found;
    snprintf(link, sizeof link, "/proc/self/fd/%d", fileno(db->out));
    ssize_t length = readlink(link, path, PATH_MAX - 1);
    path[length > 0 ? length : 0] = 0;
    bool named = *path && fstat(fileno(db->out), &own) == 0 && S_ISREG(own.st_mode) &&
                 own.st_size == 0 && stat(path, &found) == 0 && found.st_dev == own.st_dev &&
                 found.st_ino == own.st_ino;
    if (!named) {
        snprintf(path, sizeof path, "%s/vramscope-export-XXXXXX", P_tmpdir);
        db->temporary = mkostemp(path, O_CLOEXEC);
        if (db->temporary < 0)
            return VS_ERR_IO;
    }
    sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0); /* has no effect but on speed, or comes too late */
    fail(db, sqlite3_open_v2(path, &db->sqlite, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL));
    run(db, "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA locking_mode = EXCLUSIVE;"
            "PRAGMA page_size = 8192; PRAGMA cache_size = -16384; PRAGMA temp_store = MEMORY;");
    run(db, "BEGIN");
    run(db, schema);
    if (!named)
        unlink(path); /* the descriptors stay */
    errno = db->saved_errno;
    return db->err;
}

enum vs_err vs_database_open(FILE *out, const char *schema, struct vs_database **result)
{
    struct vs_database *db = vs_xcalloc(1, sizeof *db);
    db->out = out;
    db->temporary = -1;
    enum vs_err err = open_file(db, schema);
    if (err) {
        int saved_errno = errno;
        enum vs_err same = vs_database_close(db, false);
        (void)same;
        errno = saved_errno;
        return err;
    }
    *result = db;
    return VS_OK;
}

struct vs_database_insert *vs_database_prepare(struct vs_database *db, const char *table,
                                               int columns)
{
    char sql[512];
    if (db->err)
        return NULL;
    struct vs_database_insert *insert = vs_xcalloc(1, sizeof *insert);
    size_t length = (size_t)snprintf(sql, sizeof sql, "INSERT INTO %s VALUES(?", table);
    for (int i = 1; i < columns && length < sizeof sql - 4; i++)
        length += (size_t)snprintf(sql + length, sizeof sql - length, ",?");
    snprintf(sql + length, sizeof sql - length, ")");
    fail(db, sqlite3_prepare_v3(db->sqlite, sql, -1, SQLITE_PREPARE_PERSISTENT, &insert->statement,
                                NULL));
    *insert = (struct vs_database_insert){db, insert->statement, db->inserts};
    db->inserts = insert;
    return db->err ? NULL : insert;
}

void vs_database_add(struct vs_database_insert *insert, const struct vs_database_value *values,
                     size_t count)
{
    if (!insert || insert->db->err)
        return;
    for (size_t i = 0; i < count; i++) {
        const struct vs_database_value *value = &values[i];
        sqlite3_stmt *row = insert->statement;
        int at = (int)i + 1;
        char *valid = value->known || !value->text ? NULL : vs_xvalid(value->text); /* readers refuse other text */
        fail(insert->db, value->known ? sqlite3_bind_int64(row, at, (sqlite3_int64)value->number)
                         : valid      ? sqlite3_bind_text(row, at, valid, -1, free)
                                      : sqlite3_bind_text(row, at, value->text, -1, SQLITE_STATIC));
    }
    if (!insert->db->err)
        fail(insert->db, sqlite3_step(insert->statement));
    fail(insert->db, sqlite3_reset(insert->statement));
}

enum vs_err vs_database_take(struct vs_database *db, const char *path, uint64_t rank)
{
    sqlite3_stmt *tables = NULL;
    char *sql = sqlite3_mprintf("COMMIT; ATTACH %Q AS taken; BEGIN", path);
    run(db, sql);
    sqlite3_free(sql);
    if (!db->err)
        fail(db, sqlite3_prepare_v2(db->sqlite, "SELECT name FROM taken.sqlite_master WHERE type = 'table'", -1,
                                    &tables, NULL));
    int code;
    while (!db->err && (code = sqlite3_step(tables)) != SQLITE_DONE) {
        const char *name = code == SQLITE_ROW ? (const char *)sqlite3_column_text(tables, 0) : "";
        fail(db, code);
        sql = sqlite3_mprintf("CREATE TABLE IF NOT EXISTS main.%Q AS SELECT 0 AS rank, * FROM taken.%Q WHERE 0;"
                              "INSERT INTO main.%Q SELECT %lld, * FROM taken.%Q",
                              name, name, name, (long long)rank, name);
        run(db, sql);
        sqlite3_free(sql);
    }
    sqlite3_finalize(tables);
    run(db, "COMMIT; DETACH taken; BEGIN");
    return vs_database_error(db);
}

enum vs_err vs_database_error(const struct vs_database *db)
{
    errno = db->saved_errno;
    return db->err;
}

enum vs_err vs_database_close(struct vs_database *db, bool keep)
{
    if (!db)
        return VS_OK;
    if (keep)
        run(db, "COMMIT");
    for (struct vs_database_insert *insert = db->inserts, *older; insert; insert = older) {
        older = insert->older;
        sqlite3_finalize(insert->statement);
        free(insert);
    }
    int code = sqlite3_close(db->sqlite);
    db->sqlite = NULL;
    if (keep)
        fail(db, code);
    if (keep && !db->err && db->temporary >= 0) {
        /* Copies the temporary file to the output. */
        char *buffer = vs_xcalloc(1, COPY_BYTES);
        ssize_t n = 0;
        lseek(db->temporary, 0, SEEK_SET);
        while ((n = read(db->temporary, buffer, COPY_BYTES)) > 0 &&
               fwrite(buffer, 1, (size_t)n, db->out) == (size_t)n)
            ;
        if (n != 0) {
            db->err = VS_ERR_IO;
            db->saved_errno = errno;
        }
        free(buffer);
    }
    if (db->temporary >= 0)
        close(db->temporary);
    enum vs_err err = db->err;
    errno = db->saved_errno;
    free(db);
    return err;
}
