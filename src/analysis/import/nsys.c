/* SPDX-License-Identifier: Apache-2.0
 *
 * The SQLite export of Nsight Systems. Versions differ: a table or column that a file lacks is read as
 * NULL. One statement gives the rows of all tables in the order of time, each with the call of CUDA that
 * made it; SQLite sorts them, on disk where they are many. The file may be hostile: views and functions
 * in its schema are not trusted; rows, SQLite's steps and its memory are limited. Identifiers of
 * processes and threads have the process in bits 24 to 47, and the thread below. */
#define _GNU_SOURCE
#include "analysis/import/import_writer.h"

#include <errno.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/reading/vs_xalloc.h"
#include "base/vs_text.h"

#define HEAP_MAX (INT64_C(256) << 20)
#define TEXT_MAX (1 << 20)
#define STEPS_LEAST UINT64_C(20000000)
#define STEPS_PER_BYTE 50
#define ROW_BYTES_LEAST 8
#define FRAMES_MAX 127
#define DEVICES 64
#define NUMBER_MAX (UINT64_C(1) << 62)
#define SIZE_LARGEST (UINT64_C(1) << 48) /* as in RMM's log: sums of sizes stay below 2^63 */

enum nsys_event { RANGE_ENDS, RANGE_BEGINS, MEMORY, EVENTS }; /* at the same time in this order */
/* Of each row: the last three are of the call. */
enum nsys_column { EVENT, TIME, OTHER_TIME, PROCESS, CORRELATION, ROW, TYPE, TEXT, TEXT_ID, DOMAIN, ADDRESS = TEXT,
                   BYTES, OPERATION, DEVICE, STREAM, POOL, CALL_THREAD, CALL_NAME, CALL_CHAIN };
enum nsys_nvtx { NVTX_MARK = 34, NVTX_PUSH_POP = 59, NVTX_START_END = 60, NVTX_DOMAIN = 75 };

static const struct nsys_table {
    const char *name, *columns[CALL_THREAD], *where; /* TIME and TYPE are needed */
} tables[EVENTS] = {
    {"NVTX_EVENTS", {"0", "end", "start", "globalTid", NULL, "rowid", "eventType", "text", "textId", "domainId"},
     "WHERE end > start AND eventType IN (59, 60)"},
    {"NVTX_EVENTS", {"1", "start", "end", "globalTid", NULL, "rowid", "eventType", "text", "textId", "domainId"},
     "WHERE eventType IN (34, 59, 60, 75)"},
    {"CUDA_GPU_MEMORY_USAGE_EVENTS",
     {"2", "start", NULL, "globalPid", "correlationId", "rowid", "memKind", "address", "bytes", "memoryOperationType",
      "deviceId", "streamId", "localMemoryPoolAddress"}, ""},
};

struct nsys_import {
    struct vs_import_writer *writer;
    struct vs_import_result *result;
    sqlite3 *db;
    sqlite3_stmt *row, *string, *frames;
    struct vs_map live, strings, chains, domains; /* by address; ids of the file -> of the trace */
    struct vs_event_device gpus[DEVICES];
    uint64_t process, steps, steps_max;
    int code; /* SQLite's first failure */
};

static int count_steps(void *context)
{
    struct nsys_import *m = context;
    return (m->steps += 1000) > m->steps_max;
}

static sqlite3_stmt *prepare(struct nsys_import *m, const char *sql)
{
    sqlite3_stmt *statement = NULL;
    if (!m->code)
        m->code = sqlite3_prepare_v2(m->db, sql, -1, &statement, NULL);
    return statement;
}

static bool step(struct nsys_import *m, sqlite3_stmt *statement)
{
    int code = statement && !m->code ? sqlite3_step(statement) : SQLITE_DONE;
    if (code != SQLITE_ROW && code != SQLITE_DONE)
        m->code = code;
    return code == SQLITE_ROW;
}

/* Whether *name* is a table, no view, with *column*. */
static bool has(struct nsys_import *m, const char *name, const char *column)
{
    sqlite3_stmt *s = prepare(m, "SELECT 1 FROM sqlite_master AS t JOIN pragma_table_info(t.name) AS c WHERE t.name = ?1 "
                                 "AND t.type = 'table' AND t.sql LIKE 'CREATE TABLE%' AND c.name = ?2");
    sqlite3_bind_text(s, 1, name, -1, SQLITE_STATIC);
    sqlite3_bind_text(s, 2, column, -1, SQLITE_STATIC);
    bool found = step(m, s);
    sqlite3_finalize(s);
    return found || strcmp(column, "rowid") == 0;
}

/* Numbers of the row; without a value 0. Those of 64 bits have a sign in the file. */
static uint64_t number(const struct nsys_import *m, int column)
{
    return (uint64_t)sqlite3_column_int64(m->row, column);
}

static bool is_null(const struct nsys_import *m, int column)
{
    return sqlite3_column_type(m->row, column) == SQLITE_NULL;
}

/* The trace's id of the text that the row's *column* names. "cudaMalloc_v3020", of the runtime, is cudaMalloc. */
static uint64_t string(struct nsys_import *m, int column)
{
    uint64_t id = number(m, column);
    const uint64_t *known = vs_map_get(&m->strings, id + 1);
    if (is_null(m, column) || id == UINT64_MAX || !m->string)
        return 0;
    if (known)
        return *known;
    sqlite3_reset(m->string);
    sqlite3_bind_int64(m->string, 1, (int64_t)id);
    const char *text = step(m, m->string) ? (const char *)sqlite3_column_text(m->string, 0) : NULL;
    const char *version = text && column == CALL_NAME && vs_text_begins(text, "cuda") ? strstr(text, "_v") : NULL;
    size_t length = version ? (size_t)(version - text) : text ? strlen(text) : 0;
    uint64_t made = vs_composer_string(m->writer->composer, text, length);
    vs_xmap_put(&m->strings, id + 1, made);
    return made;
}

/* The stack of the row's call. */
static uint64_t stack_of(struct nsys_import *m)
{
    uint64_t id = number(m, CALL_CHAIN) + 1, stack = 0;
    const uint64_t *known = vs_map_get(&m->chains, id);
    if (is_null(m, CALL_CHAIN) || !id || !m->frames)
        return 0;
    if (known)
        return *known;
    sqlite3_reset(m->frames);
    sqlite3_bind_int64(m->frames, 1, (int64_t)(id - 1));
    for (unsigned depth = 0; depth < FRAMES_MAX && step(m, m->frames); depth++)
        stack = vs_import_named_frame(&m->writer->stacks, stack, (const char *)sqlite3_column_text(m->frames, 0),
                                      (const char *)sqlite3_column_text(m->frames, 1), 0);
    vs_xmap_put(&m->chains, id, stack);
    return stack;
}

static bool on_memory(struct nsys_import *m)
{
    static const enum vs_family families[] = {[1] = VS_FAMILY_PINNED, VS_FAMILY_DEVICE, VS_FAMILY_ARRAY,
                                              VS_FAMILY_MANAGED};
    uint64_t addr = number(m, ADDRESS), bytes = number(m, BYTES), kind = number(m, TYPE);
    uint64_t operation = number(m, OPERATION), device = kind == 1 ? 0 : number(m, DEVICE);
    if (!addr || addr >= NUMBER_MAX || bytes > SIZE_LARGEST || kind < 1 || kind > 4 || operation > 1 || device >= DEVICES)
        return false;
    uint64_t api = string(m, CALL_NAME), stack = stack_of(m), stream = number(m, STREAM);
    if (operation == 0) {
        bool pool = kind == 2 && number(m, POOL);
        vs_import_device(m->writer, (unsigned)device);
        VS_IMPORT(m->writer, alloc, .addr = addr, .requested = bytes, .size = bytes, .stream = stream, .api = api,
                  .family = pool ? VS_FAMILY_ASYNC : families[kind], .device = device, .context = 1 + device, .stack = stack);
        vs_xmap_put(&m->live, addr, 1);
        m->result->allocs++;
    } else if (vs_map_remove(&m->live, addr, NULL)) {
        VS_IMPORT(m->writer, free, .addr = addr, .device = device, .stream = stream, .api = api, .stack = stack);
        m->result->frees++;
    } else {
        m->result->unmatched++;
    }
    return true;
}

static bool on_range(struct nsys_import *m, bool begins)
{
    uint64_t type = number(m, TYPE), row = number(m, ROW);
    uint64_t domain_id = (number(m, DOMAIN) & (NUMBER_MAX - 1)) + 1;
    const char *text = (const char *)sqlite3_column_text(m->row, TEXT);
    uint64_t name = text ? vs_import_string(m->writer, text) : string(m, TEXT_ID);
    const uint64_t *known = vs_map_get(&m->domains, domain_id);
    uint64_t domain = known ? *known : 0;
    bool point = begins && !is_null(m, OTHER_TIME) && number(m, OTHER_TIME) <= number(m, TIME);
    if (type == NVTX_DOMAIN)
        vs_xmap_put(&m->domains, domain_id, name);
    else if (type == NVTX_MARK || point)
        VS_IMPORT(m->writer, mark, .name = name, .domain = domain);
    else if (type == NVTX_PUSH_POP && begins)
        VS_IMPORT(m->writer, range_push, .name = name, .domain = domain);
    else if (type == NVTX_PUSH_POP)
        VS_IMPORT(m->writer, range_pop, .domain = domain);
    else if (begins)
        VS_IMPORT(m->writer, range_start, .range = row, .name = name, .domain = domain);
    else
        VS_IMPORT(m->writer, range_end, .range = row);
    return true;
}

/* The statement of all rows; NULL if the file has none of memory, or cannot be read. */
static sqlite3_stmt *prepare_rows(struct nsys_import *m)
{
    static const char calls[] = "CUPTI_ACTIVITY_KIND_RUNTIME";
    char *sql;
    size_t bytes;
    FILE *out = vs_xstream(&sql, &bytes);
    bool any = false, memory = false;
    bool named = has(m, calls, "correlationId") && has(m, calls, "globalTid") && has(m, calls, "nameId");
    const char *caller = has(m, tables[MEMORY].name, "globalPid") ? "CAST(globalTid AS INTEGER) >> 24" : "NULL";
    fprintf(out, "SELECT e.*, %s FROM (",
            !named ? "NULL, NULL, NULL"
            : has(m, calls, "callchainId")
                ? "CAST(r.globalTid AS INTEGER), CAST(r.nameId AS INTEGER), CAST(r.callchainId AS INTEGER)"
                : "CAST(r.globalTid AS INTEGER), CAST(r.nameId AS INTEGER), NULL");
    for (unsigned event = 0; event < EVENTS; event++) {
        const struct nsys_table *table = &tables[event];
        if (!has(m, table->name, table->columns[TIME]) || !has(m, table->name, table->columns[TYPE]))
            continue;
        fprintf(out, "%s SELECT %s AS c0", any ? " UNION ALL" : "", table->columns[EVENT]);
        for (int i = TIME; i < CALL_THREAD; i++) {
            bool known = table->columns[i] && has(m, table->name, table->columns[i]);
            fprintf(out, i == TEXT && event != MEMORY ? ", substr(%s, 1, 65536) AS c%d" /* what is sorted is small */
                                                      : ", CAST(%s AS INTEGER) AS c%d", known ? table->columns[i] : "NULL", i);
        }
        fprintf(out, " FROM %s %s", table->name, table->where);
        any = true;
        memory |= event == MEMORY;
    }
    fprintf(out, ") AS e ");
    if (named) /* of calls with the same correlation the first one */
        fprintf(out, "LEFT JOIN (SELECT CAST(correlationId AS INTEGER) AS id, %s AS caller, CAST(min(rowid) AS INTEGER) AS "
                "first FROM %s GROUP BY 1, 2) AS g ON g.id = e.c4 AND g.caller IS %s LEFT JOIN %s AS r ON r.rowid = g.first ",
                caller, calls, *caller == 'N' ? "NULL" : "e.c3 >> 24", calls);
    fprintf(out, "ORDER BY c1, c0, c2 DESC, c5");
    vs_xstream_end(out);
    sqlite3_stmt *rows = memory ? prepare(m, sql) : NULL;
    free(sql);
    return rows;
}

/* The first number that *sql* gives, if *table* has *column*; otherwise 0. */
static uint64_t first_number(struct nsys_import *m, const char *table, const char *column, const char *sql)
{
    sqlite3_stmt *s = has(m, table, column) ? prepare(m, sql) : NULL;
    uint64_t value = step(m, s) ? (uint64_t)sqlite3_column_int64(s, 0) : 0;
    sqlite3_finalize(s);
    return value;
}

static void read_gpus(struct nsys_import *m)
{
    bool known = has(m, "TARGET_INFO_GPU", "totalMemory") && has(m, "TARGET_INFO_GPU", "name");
    bool numbered = known && has(m, "TARGET_INFO_GPU", "cuDevice");
    if (known)
        m->row = prepare(m, numbered ? "SELECT cuDevice, name, totalMemory FROM TARGET_INFO_GPU"
                                     : "SELECT id, name, totalMemory FROM TARGET_INFO_GPU");
    while (step(m, m->row)) {
        const char *name = (const char *)sqlite3_column_text(m->row, 1);
        if (number(m, 0) < DEVICES && name)
            m->gpus[number(m, 0)] = (struct vs_event_device){.name = vs_import_string(m->writer, name),
                                                             .total_bytes = number(m, 2)};
    }
    sqlite3_finalize(m->row);
}

static void read_rows(struct nsys_import *m, uint64_t rows_max)
{
    uint64_t rows = 0;
    while (step(m, m->row)) {
        enum nsys_event event = (enum nsys_event)number(m, EVENT);
        uint64_t process = number(m, PROCESS) >> 24 & 0xffffff;
        if (++rows > rows_max) {
            m->code = SQLITE_INTERRUPT;
        } else if (!is_null(m, PROCESS) && process != m->process) {
            m->result->of_others++;
        } else if (is_null(m, TIME) || number(m, TIME) >= NUMBER_MAX || number(m, OTHER_TIME) >= NUMBER_MAX) {
            m->result->skipped++;
        } else {
            m->writer->now_ns = number(m, TIME);
            uint64_t thread = number(m, event <= RANGE_BEGINS ? PROCESS : CALL_THREAD) & 0xffffff;
            m->writer->tid = thread ? (uint32_t)thread : VS_IMPORT_TID;
            m->result->skipped += !(event == MEMORY ? on_memory(m) : on_range(m, event == RANGE_BEGINS));
        }
    }
}

/* Returns whether the chosen process has no events; *why* then names the processes that have. */
static bool lacks_process(struct nsys_import *m)
{
    sqlite3_stmt *s = has(m, tables[MEMORY].name, "globalPid")
        ? prepare(m, "SELECT group_concat(p, ', '), sum(p = ?1) FROM (SELECT DISTINCT globalPid >> 24 & 16777215 AS p "
                     "FROM CUDA_GPU_MEMORY_USAGE_EVENTS LIMIT 100)")
        : NULL;
    if (s)
        sqlite3_bind_int64(s, 1, (sqlite3_int64)m->process);
    bool missing = step(m, s) && sqlite3_column_int64(s, 1) == 0;
    const char *others = missing ? (const char *)sqlite3_column_text(s, 0) : NULL;
    if (missing)
        snprintf(m->writer->why, VS_IMPORT_WHY_MAX, "it has no events of memory of process %u, but of %.100s", (unsigned)m->process,
                 others ? others : "none");
    sqlite3_finalize(s);
    return missing;
}

static enum vs_err read_database(struct nsys_import *m, uint64_t size)
{
    static const char of_memory[] = "SELECT globalPid >> 24 & 16777215 FROM CUDA_GPU_MEMORY_USAGE_EVENTS "
                                    "GROUP BY 1 ORDER BY count(*) DESC LIMIT 1";
    if (m->process && !m->code && lacks_process(m))
        return VS_ERR_FORMAT;
    if (!m->process)
        m->process = first_number(m, tables[MEMORY].name, "globalPid", of_memory);
    uint64_t since_ns = first_number(m, "TARGET_INFO_SESSION_START_TIME", "utcEpochNs",
                                     "SELECT utcEpochNs FROM TARGET_INFO_SESSION_START_TIME");
    sqlite3_stmt *rows = prepare_rows(m);
    if (!rows && !m->code)
        snprintf(m->writer->why, VS_IMPORT_WHY_MAX, "an SQLite database without events of memory by Nsight Systems: nsys profile "
                                         "--cuda-memory-usage=true, then nsys export --type sqlite");
    if (!rows)
        return VS_ERR_FORMAT;
    enum vs_err err = vs_import_begin(m->writer, "nsys-sqlite", since_ns, (uint64_t[]){size ^ since_ns, m->process});
    m->writer->gpus = m->gpus;
    if (!err) {
        vs_import_note(m->writer, false, "imported from %.300s, an export of Nsight Systems: process %u", m->writer->name,
                       (unsigned)m->process);
        read_gpus(m);
        m->row = rows;
        if (has(m, "StringIds", "value"))
            m->string = prepare(m, "SELECT value FROM StringIds WHERE id = ?1");
        if (has(m, "CUDA_CALLCHAINS", "stackDepth") && m->string)
            m->frames = prepare(m, "SELECT f.value, o.value FROM CUDA_CALLCHAINS AS c LEFT JOIN StringIds AS f ON f.id = "
                                   "c.symbol LEFT JOIN StringIds AS o ON o.id = c.module WHERE c.id = ?1 ORDER BY "
                                   "c.stackDepth DESC");
        read_rows(m, size / ROW_BYTES_LEAST + 64);
        if (!m->result->allocs && !m->result->frees)
            vs_import_note(m->writer, true, "its table of memory events is empty: the program allocated nothing while nsys "
                           "recorded");
        char calls[192];
        bool of_process = m->process && has(m, "CUPTI_ACTIVITY_KIND_RUNTIME", "globalTid");
        snprintf(calls, sizeof calls, "SELECT count(*) FROM CUPTI_ACTIVITY_KIND_RUNTIME WHERE returnValue = 2 AND "
                 "(%s >> 24 & 16777215) = %u", of_process ? "globalTid" : "0", (unsigned)m->process * of_process);
        uint64_t refused = first_number(m, "CUPTI_ACTIVITY_KIND_RUNTIME", "returnValue", calls);
        if (refused)
            vs_import_note(m->writer, true, "CUDA calls that returned out of memory: %llu; Nsight Systems does not record "
                           "their sizes", (unsigned long long)refused);
    }
    sqlite3_finalize(rows);
    return err;
}

enum vs_err vs_nsys(struct vs_import_writer *w)
{
    struct nsys_import *m = vs_xcalloc(1, sizeof *m);
    struct stat file = {0};
    char path[64];
    *m = (struct nsys_import){.writer = w, .result = w->result, .process = w->process};
    snprintf(path, sizeof path, "file:/proc/self/fd/%d?immutable=1", fileno(w->in));
    bool regular = fstat(fileno(w->in), &file) == 0 && S_ISREG(file.st_mode);
    m->result->bytes_read = (uint64_t)file.st_size;
    m->steps_max = STEPS_LEAST + STEPS_PER_BYTE * m->result->bytes_read;
    sqlite3_hard_heap_limit64(HEAP_MAX);
    m->code = regular ? sqlite3_open_v2(path, &m->db, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, NULL) : SQLITE_CANTOPEN;
    if (!m->code) {
        sqlite3_db_config(m->db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
        sqlite3_db_config(m->db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
        sqlite3_limit(m->db, SQLITE_LIMIT_LENGTH, TEXT_MAX);
        sqlite3_progress_handler(m->db, 1000, count_steps, m);
        m->code = sqlite3_exec(m->db, "PRAGMA cell_size_check = 1; PRAGMA mmap_size = 0; PRAGMA cache_size = -16384",
                               NULL, NULL, NULL);
    }
    enum vs_err err = m->code ? VS_ERR_CORRUPT : read_database(m, m->result->bytes_read);
    int code = m->code & 0xff;
    if (code) {
        snprintf(m->writer->why, VS_IMPORT_WHY_MAX, "%s", !regular                 ? "SQLite reads no pipe: give the file itself"
                                               : code == SQLITE_INTERRUPT ? "damaged: it takes more work than its size allows"
                                                                          : sqlite3_errmsg(m->db));
        err = code == SQLITE_IOERR ? VS_ERR_IO : VS_ERR_CORRUPT;
    }
    m->result->history = m->result->timed = true;
    sqlite3_finalize(m->string);
    sqlite3_finalize(m->frames);
    sqlite3_close(m->db);
    sqlite3_hard_heap_limit64(0);
    struct vs_map *maps[] = {&m->live, &m->strings, &m->chains, &m->domains};
    for (size_t i = 0; i < sizeof maps / sizeof *maps; i++)
        vs_map_free(maps[i]);
    free(m);
    return err;
}
