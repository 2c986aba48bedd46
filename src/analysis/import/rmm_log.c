/* SPDX-License-Identifier: Apache-2.0
 *
 * Times are times of day without a date, with six digits after the second: a clock
 * that goes back by hours has passed midnight. The log names neither the device nor what RMM's
 * resource holds from it, so all is memory of device 0. */
#include "analysis/import/import_writer.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/reading/vs_xalloc.h"
#include "base/vs_map.h"

#define LINE_MAX_BYTES 512
#define DAY_NS (UINT64_C(86400) * 1000000000)
#define FIELDS 6
#define ADDRESS_MAX (UINT64_C(1) << 62)
#define SIZE_LARGEST (UINT64_C(1) << 48)
#define CUDA_ERROR_OUT_OF_MEMORY 2

struct rmm_line {
    uint64_t thread, time_ns, addr, size, stream;
    enum { RMM_ALLOCATE, RMM_FREE, RMM_FAILURE } action;
};

struct rmm_import {
    struct vs_import_writer *writer;
    struct vs_import_result *result;
    struct vs_map live, threads; /* address -> size; thread id -> number from 1 */
    uint64_t allocate, deallocate; /* string ids */
    uint64_t first_ns, last_ns, days_ns, line;
    bool header; /* was seen */
};

/* All of *text* as a number. */
static bool whole_number(const char *text, int base, uint64_t most, uint64_t *out)
{
    char *end;
    if (*text < '0' || *text > '9')
        return false;
    errno = 0;
    *out = strtoull(text, &end, base);
    return !errno && !*end && *out <= most;
}

/* "13:04:05.123456", before 2022 "13:04:05:123456" */
static bool parse_time(const char *text, uint64_t *out)
{
    unsigned hour, minute, second;
    int used = 0;
    uint64_t fraction = 0, unit = 1000000000;
    if (sscanf(text, "%2u:%2u:%2u%n", &hour, &minute, &second, &used) != 3 || hour > 23 ||
        minute > 59 || second > 60)
        return false;
    text += used;
    if (*text == '.' || *text == ':')
        for (text++; *text >= '0' && *text <= '9'; text++)
            if (unit > 1) {
                unit /= 10;
                fraction += (uint64_t)(*text - '0') * unit;
            }
    *out = ((hour * UINT64_C(60) + minute) * 60 + second) * 1000000000 + fraction;
    return !*text;
}

static bool parse_line(char *text, struct rmm_line *line)
{
    char *field[FIELDS];
    for (unsigned i = 0; i < FIELDS; i++) {
        field[i] = text;
        text = strchr(text, ',');
        if (!text != (i + 1 == FIELDS))
            return false;
        if (text)
            *text++ = 0;
    }
    if (strcmp(field[2], "allocate") == 0)
        line->action = RMM_ALLOCATE;
    else if (strcmp(field[2], "free") == 0)
        line->action = RMM_FREE;
    else if (strcmp(field[2], "allocate failure") == 0)
        line->action = RMM_FAILURE;
    else
        return false;
    if (!whole_number(field[5], 0, UINT64_MAX, &line->stream))
        line->stream = 0; /* "cudaStreamPerThread" and the like */
    bool place = whole_number(field[3], 16, ADDRESS_MAX - 1, &line->addr) && line->addr;
    if (strcasecmp(field[3], "(nil)") == 0 || line->action == RMM_FAILURE)
        place = line->action == RMM_FAILURE;
    return place && whole_number(field[0], 10, UINT64_MAX - 1, &line->thread) &&
           parse_time(field[1], &line->time_ns) &&
           whole_number(field[4], 10, SIZE_LARGEST, &line->size);
}

/* Reads one line without its end; longer ones are cut. False at the end of the file. */
static bool next_line(struct rmm_import *m, FILE *in, char text[LINE_MAX_BYTES])
{
    size_t length = 0;
    int c;
    while ((c = getc_unlocked(in)) != EOF && c != '\n') {
        m->result->bytes_read++;
        if (length + 1 < LINE_MAX_BYTES)
            text[length++] = (char)c;
    }
    while (length && (text[length - 1] == '\r' || text[length - 1] == ' '))
        length--;
    text[length] = 0;
    m->line++;
    m->result->bytes_read += c == '\n';
    return c != EOF || length;
}

static enum vs_err read_lines(struct rmm_import *m)
{
    char text[LINE_MAX_BYTES];
    struct rmm_line line;
    enum vs_err err = VS_OK;
    while (!err && next_line(m, m->writer->in, text)) {
        bool header = strcmp(text, VS_RMM_HEADER) == 0; /* of several logs in one file */
        m->header |= header;
        if (!*text || header)
            continue;
        if (!parse_line(text, &line)) {
            if (!m->result->skipped++)
                m->result->skipped_first = m->line;
            continue;
        }
        if (!m->writer->composer) {
            uint64_t seed[2] = {line.time_ns ^ line.addr, line.size ^ line.thread << 32};
            m->first_ns = m->last_ns = line.time_ns;
            err = vs_import_begin(m->writer, "rmm-csv", 0, seed);
            if (err)
                break;
            vs_import_device(m->writer, 0);
            m->allocate = vs_import_string(m->writer, "rmm allocate");
            m->deallocate = vs_import_string(m->writer, "rmm deallocate");
            vs_import_note(m->writer, false, "imported from %.300s, a log of RMM: it names no device, "
                           "so all of its memory is counted on device 0", m->writer->name);
        }
        uint64_t now_ns = line.time_ns + m->days_ns;
        if (now_ns + DAY_NS / 2 < m->last_ns) {
            m->days_ns += DAY_NS;
            now_ns += DAY_NS;
        }
        m->last_ns = now_ns > m->last_ns ? now_ns : m->last_ns;
        m->writer->now_ns = m->last_ns - m->first_ns;
        m->writer->tid = (uint32_t)vs_xmap_number(&m->threads, line.thread + 1,
                                                 VS_IMPORT_TID + m->threads.count);
        if (line.action == RMM_ALLOCATE) {
            VS_IMPORT(m->writer, alloc, .addr = line.addr, .requested = line.size,
                      .size = line.size, .family = VS_FAMILY_DEVICE, .context = 1, .stream = 0,
                      .api = m->allocate);
            m->result->allocs++;
            vs_xmap_put(&m->live, line.addr, line.size);
        } else if (line.action == RMM_FAILURE) {
            VS_IMPORT(m->writer, alloc_failed, .requested = line.size, .family = VS_FAMILY_DEVICE,
                      .context = 1, .api = m->allocate, .error = CUDA_ERROR_OUT_OF_MEMORY);
            m->result->failures++;
        } else if (vs_map_remove(&m->live, line.addr, NULL)) {
            VS_IMPORT(m->writer, free, .addr = line.addr, .api = m->deallocate);
            m->result->frees++;
        } else {
            m->result->unmatched++;
        }
    }
    return err;
}

enum vs_err vs_rmm_log(struct vs_import_writer *w)
{
    struct rmm_import m = {.writer = w, .result = w->result};
    enum vs_err err = read_lines(&m);
    if (!err && ferror(w->in)) {
        snprintf(w->why, VS_IMPORT_WHY_MAX, "%s", strerror(errno));
        err = VS_ERR_IO;
    }
    if (!err && !w->composer && m.header && !w->result->skipped) {
        err = vs_import_begin(w, "rmm-csv", 0, (uint64_t[2]){0});
        if (!err)
            vs_import_note(w, true, "imported from %.300s, a log of RMM without entries", w->name);
    } else if (!err && !w->composer) {
        snprintf(w->why, VS_IMPORT_WHY_MAX, "no line of it is an entry of an RMM log (" VS_RMM_HEADER ")");
        err = VS_ERR_FORMAT;
    }
    w->result->timed = w->result->history = true;
    w->result->devices = 1;
    vs_map_free(&m.live);
    vs_map_free(&m.threads);
    return err;
}
