/* SPDX-License-Identifier: Apache-2.0
 *
 * Any bytes as a trace that is rewritten, and its directory. Input: see trace_input.h. The new
 * trace must have the events read from the old one; then it is complete, and the added frame is in
 * its directory. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fuzz/memory_budget.h"
#include "fuzz/trace_input.h"
#include "trace/read/reader_internal.h"
#include "trace/read/rewrite.h"

#define EVENTS_MAX 300000u
#define ENTRIES_USED 64u
#define ADDED 100u

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char old_path[64], live_path[64], new_path[64];

static void check_at(bool right, const char *what)
{
    if (right)
        return;
    fprintf(stderr, "not so: %s\n", what);
    abort();
}
#define check(what) check_at(what, #what)

static void remove_all(void)
{
    char folder[64];
    snprintf(folder, sizeof folder, "%.*s", (int)(strrchr(old_path, '/') - old_path), old_path);
    unlink(old_path);
    unlink(live_path);
    unlink(new_path);
    rmdir(folder);
}

static void put_file(const char *path, const void *bytes, size_t size)
{
    unlink(path); /* the old one may have been locked or mapped */
    if (!bytes)
        return;
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    check(fd >= 0 && write(fd, bytes, size) == (ssize_t)size);
    close(fd);
}

/* Counts the events of the trace at *path* up to EVENTS_MAX; *last* is the last one's kind. */
static uint64_t count_events(const char *path, uint32_t *last, enum vs_condition *condition)
{
    struct vs_reader *r = NULL;
    struct vs_event event;
    char why[VS_READER_WHY_MAX];
    uint64_t events = 0;
    *last = 0;
    *condition = VS_TRACE_DAMAGED;
    if (vs_reader_open(path, &r, why))
        return 0;
    while (events < EVENTS_MAX && !vs_reader_next(r, &event)) {
        *last = event.kind;
        events++;
    }
    *condition = vs_reader_condition(r, NULL);
    vs_reader_close(r);
    return events;
}

static void use_directory(const void *bytes, size_t size, bool ours)
{
    struct vs_source file = {.fd = -1, .bytes = bytes, .size = size};
    struct vs_directory_entry *entries = NULL;
    size_t count = 0, got = 0, found = 0;
    unsigned char *raw = malloc(VS_FRAME_RAW_MAX);
    check(raw != NULL);
    if (!vs_directory_load(&file, &entries, &count)) {
        check(count == 0 || entries != NULL);
        for (size_t i = 0; i < count && i < ENTRIES_USED; i++) {
            bool good = vs_directory_read(&file, &entries[i], raw, &got) == VS_OK;
            check(!good || got <= VS_FRAME_RAW_MAX);
            found += good && got == ADDED && entries[i].type == VS_FRAME_SYMBOLS;
        }
        free(entries);
    }
    check(!ours || found || count > ENTRIES_USED);
    free(raw);
}

static void check_new(void)
{
    uint32_t last_old, last_new;
    enum vs_condition before, after;
    uint64_t old = count_events(old_path, &last_old, &before);
    uint64_t now = count_events(new_path, &last_new, &after);
    if (now < EVENTS_MAX) {
        /* a trace with an end is copied unchanged, whatever its records are */
        check(after == VS_TRACE_COMPLETE || (after == before && now == old));
        /* unknown kinds are not counted; an end may have been added */
        check(now == old || (now == old + 1 && last_new == VS_EVENT_end));
    }
    int fd = open(new_path, O_RDONLY | O_CLOEXEC);
    off_t size = lseek(fd, 0, SEEK_END);
    unsigned char *bytes = malloc((size_t)size);
    check(bytes && pread(fd, bytes, (size_t)size, 0) == (ssize_t)size);
    close(fd);
    use_directory(bytes, (size_t)size, true);
    free(bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const unsigned char added[ADDED] = {1};
    struct trace_input in;
    struct vs_rewrite *rewrite = NULL;
    char why[VS_READER_WHY_MAX];
    if (!*old_path) {
        char folder[] = "/dev/shm/vs-fuzz-XXXXXX", other[] = "/tmp/vs-fuzz-XXXXXX";
        const char *made = mkdtemp(folder) ? folder : mkdtemp(other);
        check(made != NULL);
        snprintf(old_path, sizeof old_path, "%s/old.vst", made);
        snprintf(live_path, sizeof live_path, "%s/old.vst.live", made);
        snprintf(new_path, sizeof new_path, "%s/new.vst", made);
        atexit(remove_all);
    }
    if (!trace_input_make(data, size, &in))
        return 0;
    put_file(old_path, in.file, in.file_bytes);
    put_file(live_path, in.live, in.live_bytes);
    unlink(new_path);
    memory_budget_begin();
    use_directory(in.file, in.file_bytes, false);
    bool done = false;
    if (!vs_rewrite_open(old_path, new_path, 0, &rewrite, why)) {
        if (vs_rewrite_add(rewrite, VS_FRAME_SYMBOLS, 0, 0, added, sizeof added) || in.flags & 0x40)
            vs_rewrite_cancel(rewrite);
        else
            done = vs_rewrite_commit(rewrite, why) == VS_OK;
    }
    memory_budget_check(trace_input_budget(&in), 1);
    check(done || access(new_path, F_OK) != 0);
    if (done)
        check_new();
    trace_input_free(&in);
    return 0;
}
