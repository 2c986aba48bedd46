/* SPDX-License-Identifier: Apache-2.0
 *
 * Shared by the trace tests: a scratch directory, recorders with usual settings, reading
 * everything, a repeatable random source. Header-only; each test program is one file. */
#ifndef VS_TRACE_TEST_H
#define VS_TRACE_TEST_H

#define _GNU_SOURCE

#include <fcntl.h>
#include <libgen.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/cmocka_test.h"
#include "base/vs_clock.h"
#include "support/scratch_folder.h"
#include "support/trace_builder.h"
#include "trace/format/columns.h"
#include "trace/read/reader.h"
#include "trace/read/reader_internal.h"
#include "trace/record/compress.h"
#include "trace/record/recorder.h"

/* ThreadSanitizer does not support a child that starts threads, nor a library that takes a lock
 * while a thread ends, as libunwind does in threads that it walked. */
#ifdef __SANITIZE_THREAD__
#define SKIP_UNDER_TSAN() skip()
#define THREADS_UNWIND false
#else
#define SKIP_UNDER_TSAN() ((void)0)
#define THREADS_UNWIND true
#endif

#define MAYBE_UNUSED __attribute__((unused))

static const char *scratch_dir;

__attribute__((constructor)) static void make_scratch(void)
{
    scratch_dir = scratch_folder();
}

/* A name in the scratch directory; four may be in use at a time. */
static MAYBE_UNUSED const char *scratch(const char *name)
{
    static char names[4][512];
    static unsigned turn;
    char *out = names[turn++ % 4];
    snprintf(out, sizeof names[0], "%s/%s", scratch_dir, name);
    return out;
}

/* FILE.live of the trace; four may be in use at a time. */
static MAYBE_UNUSED const char *live_of(const char *path)
{
    static char names[4][600];
    static unsigned turn;
    char *out = names[turn++ % 4];
    snprintf(out, sizeof names[0], "%s.live", path);
    return out;
}

/* A file built beside the test program; valid until the next call. */
static MAYBE_UNUSED const char *built(const char *name)
{
    static char path[512];
    char self[400];
    ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    assert_true(n > 0);
    self[n] = '\0';
    snprintf(path, sizeof path, "%s/%s", dirname(self), name);
    return path;
}

static MAYBE_UNUSED struct vs_recorder *open_with(struct vs_recorder_config config)
{
    struct vs_recorder *r = NULL;
    assert_int_equal(vs_recorder_open(&config, &r), VS_OK);
    return r;
}

static MAYBE_UNUSED struct vs_recorder *open_recorder(const char *path, unsigned compression,
                                                      unsigned depth)
{
    return open_with((struct vs_recorder_config){.path = path, .compression = compression,
                                                 .stack_depth_max = depth, .flush_ms = 1000});
}

/* Returns *event* with its thread and time. */
static MAYBE_UNUSED struct vs_event record_event(struct vs_recorder *r, struct vs_event event)
{
    vs_recorder_event(r, &event);
    return event;
}

static MAYBE_UNUSED struct vs_event record_mark(struct vs_recorder *r)
{
    return record_event(r, EVENT(mark));
}

static MAYBE_UNUSED struct vs_reader *open_reader(const char *path)
{
    struct vs_reader *r = NULL;
    char why[VS_READER_WHY_MAX] = "";
    enum vs_err err = vs_reader_open(path, &r, why);
    if (err)
        fail_msg("%s", why);
    return r;
}

/* The next event that is not a `module`. */
static MAYBE_UNUSED bool next_plain(struct vs_reader *r, struct vs_event *event)
{
    do {
        enum vs_err err = vs_reader_next(r, event);
        if (err == VS_ERR_END)
            return false;
        assert_int_equal(err, VS_OK);
    } while (event->kind == VS_EVENT_module);
    return true;
}

static MAYBE_UNUSED void assert_condition(struct vs_reader *r, enum vs_condition condition)
{
    char text[VS_READER_WHY_MAX];
    if (vs_reader_condition(r, text) != condition)
        fail_msg("condition %d instead of %d: %s", vs_reader_condition(r, NULL), condition, text);
}

static MAYBE_UNUSED void close_reader(struct vs_reader *r, enum vs_condition condition)
{
    assert_condition(r, condition);
    vs_reader_close(r);
}

/* The contents of a file, with a NUL after them. */
static MAYBE_UNUSED unsigned char *slurp(const char *path, size_t *bytes)
{
    struct stat st;
    int fd = open(path, O_RDONLY);
    assert_true(fd >= 0);
    assert_int_equal(fstat(fd, &st), 0);
    *bytes = (size_t)st.st_size;
    unsigned char *data = malloc(*bytes + 1);
    assert_non_null(data);
    assert_int_equal(read(fd, data, *bytes), *bytes);
    data[*bytes] = '\0';
    close(fd);
    return data;
}

static MAYBE_UNUSED void spit(const char *path, const void *data, size_t bytes)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, data, bytes), bytes);
    close(fd);
}

static MAYBE_UNUSED void assert_holds(const char *path, const void *data, size_t bytes)
{
    size_t size;
    unsigned char *now = slurp(path, &size);
    assert_int_equal(size, bytes);
    assert_memory_equal(now, data, bytes);
    free(now);
}

static MAYBE_UNUSED void copy_file(const char *from, const char *to)
{
    size_t bytes;
    unsigned char *data = slurp(from, &bytes);
    spit(to, data, bytes);
    free(data);
}

/* Appends event frame *sequence*: columns with *heads* events `range_pop`, of which those after the
 * third lack their time. *threads*: size of the column of threads, which is not there. */
static MAYBE_UNUSED void append_columns(const char *path, uint64_t sequence, uint64_t base_ns,
                                        unsigned heads, unsigned threads)
{
    static unsigned char columns[128 << 10], stored[sizeof columns];
    const uint64_t sizes[VS_COLUMNS_FIXED] = {heads, threads};
    unsigned char *p = columns;
    for (unsigned i = 0; i < VS_COLUMNS_FIXED; i++)
        p = vs_put_varint(p, sizes[i]);
    *p++ = 1; /* kind, with one field, a constant of one byte */
    *p++ = VS_EVENT_range_pop;
    *p++ = 1;
    *p++ = 1 << VS_COLUMN_FLAG_BITS | VS_COLUMN_CONSTANT;
    for (unsigned i = 0; i < heads; i++)
        *p++ = VS_EVENT_range_pop | (i < 3 ? VS_RECORD_SAME_TIME : 0);
    *p++ = 0;
    uint32_t bytes = (uint32_t)(p - columns);
    vs_compress_load();
    void *zstd = vs_compress_open();
    memcpy(stored, &bytes, sizeof bytes);
    size_t packed = vs_compress(zstd, stored + sizeof bytes, sizeof stored - sizeof bytes, columns,
                                bytes, 1);
    vs_compress_close(zstd);
    struct vs_frame_header h = {.type = VS_FRAME_EVENTS, .codec = VS_COLUMNS, .raw_bytes = bytes,
                                .stored_bytes = (uint32_t)(sizeof bytes + packed),
                                .sequence = sequence, .base_ns = base_ns, .last_ns = base_ns,
                                .events = heads};
    vs_frame_seal(&h, NULL, stored);
    int fd = open(path, O_WRONLY | O_APPEND);
    assert_int_equal(write(fd, &h, sizeof h), sizeof h);
    assert_int_equal(write(fd, stored, h.stored_bytes), h.stored_bytes);
    close(fd);
}

#endif
