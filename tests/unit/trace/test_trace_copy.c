/* SPDX-License-Identifier: Apache-2.0
 *
 * A process that is killed while it makes a copy of its trace, before each of its system calls that
 * change a file in turn. The trace must then be that of a killed process: an earlier version wrote
 * the end of the copy into the trace and took it back, so that a kill in between left a trace that
 * looked like a complete one. The copy must be whole or absent, and no other file may be left. */
#include "unit/trace/trace_test.h"

#include <dirent.h>
#include <errno.h>
#include <sys/sendfile.h>
#include <sys/syscall.h>

#include "support/child.h"

#define EVENTS 3000u

static _Atomic unsigned calls, kill_before; /* 0: no kill */

static void count_call(void)
{
    if (kill_before && ++calls == kill_before)
        raise(SIGKILL);
}

/* Replace the C library's functions in this whole program. */

ssize_t pwrite(int fd, const void *from, size_t bytes, off_t offset);
ssize_t pwrite(int fd, const void *from, size_t bytes, off_t offset)
{
    count_call();
    return syscall(SYS_pwrite64, fd, from, bytes, offset);
}

ssize_t write(int fd, const void *from, size_t bytes)
{
    count_call();
    return syscall(SYS_write, fd, from, bytes);
}

ssize_t sendfile(int to, int from, off_t *at, size_t bytes)
{
    count_call();
    return syscall(SYS_sendfile, to, from, at, bytes);
}

int ftruncate(int fd, off_t bytes)
{
    count_call();
    return (int)syscall(SYS_ftruncate, fd, bytes);
}

int linkat(int from_folder, const char *from, int to_folder, const char *to, int flags)
{
    count_call();
    return (int)syscall(SYS_linkat, from_folder, from, to_folder, to, flags);
}

int rename(const char *from, const char *to)
{
    count_call();
    return (int)syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0);
}

/* --- the process that is killed --- */

static void record(struct vs_recorder *r, unsigned from, unsigned to)
{
    for (unsigned i = from; i < to; i++)
        record_event(r, EVENT(free, .addr = i));
}

static int copy_in_child(const char *path, const char *copy, unsigned kill_at)
{
    if (child_begin()) {
        struct vs_recorder *r = open_recorder(path, 1, 0);
        record(r, 0, EVENTS - 100);
        vs_recorder_flush(r);
        record(r, EVENTS - 100, EVENTS);
        kill_before = kill_at;
        bool good = vs_recorder_copy(r, copy) == VS_OK;
        kill_before = 0;
        vs_recorder_close(r, VS_END_EXIT, 0);
        _exit(good ? 0 : 1);
    }
    return child_ending();
}

/* --- what it leaves --- */

/* All events, and the end with *reason* behind them; none where that is VS_END_UNKNOWN. */
static void check(const char *path, enum vs_condition condition, int reason)
{
    struct vs_reader *reader = open_reader(path);
    struct vs_event e;
    for (unsigned i = 0; i < EVENTS; i++) {
        assert_true(next_plain(reader, &e));
        assert_int_equal(e.kind, VS_EVENT_free);
        assert_int_equal(e.free.addr, i);
    }
    if (reason >= 0) {
        assert_true(next_plain(reader, &e));
        assert_int_equal(e.kind, VS_EVENT_end);
        assert_int_equal(e.end.reason, reason);
    }
    assert_false(next_plain(reader, &e));
    close_reader(reader, condition);
}

/* Whether this file system has files without a name. */
static bool nameless_files(void)
{
    int fd = open(scratch_dir, O_WRONLY | O_TMPFILE, 0600);
    if (fd >= 0)
        close(fd);
    return fd >= 0;
}

/* Checks the files beside *path* that end in ".new", and removes them. Returns their number. */
static unsigned check_left(bool whole)
{
    unsigned left = 0;
    DIR *folder = opendir(scratch_dir);
    assert_non_null(folder);
    for (struct dirent *entry; (entry = readdir(folder));) {
        size_t length = strlen(entry->d_name);
        char path[600];
        if (length < 4 || strcmp(entry->d_name + length - 4, ".new") != 0)
            continue;
        snprintf(path, sizeof path, "%s/%s", scratch_dir, entry->d_name);
        if (whole)
            check(path, VS_TRACE_COMPLETE, VS_END_COPY);
        assert_int_equal(unlink(path), 0);
        left++;
    }
    closedir(folder);
    return left;
}

static void kill_at_each_call(bool existing)
{
    char path[520], copy[520];
    int status = 128 + SIGKILL;
    unsigned left = 0, kills = 0;
    snprintf(path, sizeof path, "%s/own-%d.vst", scratch_dir, existing);
    snprintf(copy, sizeof copy, "%s/copy-%d.vst", scratch_dir, existing);
    for (; status == 128 + SIGKILL; kills++) {
        unlink(path);
        unlink(live_of(path));
        unlink(copy);
        if (existing)
            spit(copy, "old", 3);
        status = copy_in_child(path, copy, kills + 1);
        bool killed = status == 128 + SIGKILL;
        check(path, killed ? VS_TRACE_LIVE : VS_TRACE_COMPLETE, killed ? -1 : VS_END_EXIT);
        size_t bytes = 0;
        unsigned char *data = access(copy, F_OK) ? NULL : slurp(copy, &bytes);
        bool old = data && bytes == 3 && !memcmp(data, "old", 3);
        free(data);
        if (existing)
            assert_non_null(data);
        if (data && !(existing && old))
            check(copy, VS_TRACE_COMPLETE, VS_END_COPY);
        left += check_left(nameless_files());
    }
    assert_int_equal(status, 0);
    assert_in_range(kills, 4, 30); /* frame, part copied, tail, name; and one without a kill */
    if (nameless_files())
        assert_in_range(left, 0, existing); /* between linkat and rename */
}

TEST(a_kill_during_a_copy_leaves_no_end_in_the_trace)
{
    SKIP_UNDER_TSAN();
    kill_at_each_call(false);
}

TEST(a_kill_during_a_copy_over_a_file_leaves_that_one_or_the_copy)
{
    SKIP_UNDER_TSAN();
    kill_at_each_call(true);
}

/* An index frame follows each 1024 frames, possibly together with the end of a copy. */
TEST(copies_are_whole_also_where_an_index_falls)
{
    const char *path = scratch("index.vst"), *copy = scratch("index-copy.vst");
    struct vs_recorder *r = open_recorder(path, 1, 0);
    struct stat st;
    for (unsigned i = 0; i < EVENTS; i++) {
        record(r, i, i + 1);
        vs_recorder_flush(r);
        if (i % 1024 > 1018 || i % 1024 < 6) {
            assert_int_equal(stat(path, &st), 0);
            off_t before = st.st_size;
            assert_int_equal(vs_recorder_copy(r, copy), VS_OK);
            assert_int_equal(stat(path, &st), 0);
            assert_int_equal(st.st_size, before);
            struct vs_reader *reader = open_reader(copy);
            close_reader(reader, VS_TRACE_COMPLETE);
        }
    }
    assert_int_equal(vs_recorder_copy(r, copy), VS_OK);
    vs_recorder_close(r, VS_END_EXIT, 0);
    check(copy, VS_TRACE_COMPLETE, VS_END_COPY);
    check(path, VS_TRACE_COMPLETE, VS_END_EXIT);
}
