/* SPDX-License-Identifier: Apache-2.0
 *
 * No space, no disk, no file any more: writes that fail as on a full or broken disk, over a quota or on one
 * remounted read-only (files that may not grow: test_trace_recovery). The recording stops and reports it in one line,
 * and the recorded events can be read; the program only sees calls that return. */
#include "unit/trace/child_test.h"

#include "trace/record/recorder_internal.h"

#include <dlfcn.h>
#include <errno.h>
#include <sys/mman.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/vfs.h>

/* --- writes that fail --- */

static _Atomic int failing;         /* errno of every write to a file; 0: writes succeed */
static _Atomic long failing_after = -1; /* or once this many bytes were written */
static _Atomic bool failing_index;      /* only writes of an index, which an end has, fail */
static _Atomic bool stuck;              /* writes do not fail, but do not return */
static _Atomic bool held;               /* a write is in progress */
static _Atomic bool no_live;            /* FILE.live finds no room */

/* Replace the C library's functions in this whole program. */
ssize_t pwrite(int fd, const void *from, size_t bytes, off_t offset);
ssize_t pwrite(int fd, const void *from, size_t bytes, off_t offset)
{
    const struct vs_frame_header *header = from;
    if (failing_index && bytes > sizeof *header && header->type == VS_FRAME_INDEX) {
        errno = ENOSPC;
        return -1;
    }
    if (failing && failing_after >= 0 && offset + (off_t)bytes > failing_after) {
        held = true;
        while (stuck)
            usleep(1000);
        if (failing) {
            errno = failing;
            return -1;
        }
    }
    return syscall(SYS_pwrite64, fd, from, bytes, offset);
}

int fallocate(int fd, int mode, off_t offset, off_t bytes);
int fallocate(int fd, int mode, off_t offset, off_t bytes)
{
    if (failing && failing_after >= 0 && offset + bytes > failing_after) {
        errno = failing;
        return -1;
    }
    return (int)syscall(SYS_fallocate, fd, mode, offset, bytes);
}

int posix_fallocate(int fd, off_t offset, off_t bytes)
{
    __typeof__(&posix_fallocate) real =
        (__typeof__(&posix_fallocate))dlsym(RTLD_NEXT, "posix_fallocate");
    return no_live ? ENOSPC : real(fd, offset, bytes);
}

/* --- recorded and read events --- */

struct tally {
    _Atomic uint64_t calls;
};

static struct tally *tally; /* shared with children */

static void record_some(struct vs_recorder *r, uint64_t events)
{
    for (uint64_t i = 0; i < events; i++) {
        record_event(r, EVENT(memset, .correlation = tally->calls, /* does not compress */
                              .bytes = tally->calls * UINT64_C(0x9e3779b97f4a7c15)));
        tally->calls++;
    }
}

static int status; /* of the `end` event that was read, -1 without one */
static char text[VS_READER_WHY_MAX]; /* of its condition */

/* Reads the events in order. */
static uint64_t read_events(enum vs_condition condition)
{
    struct vs_reader *reader = open_reader(path);
    uint64_t n = 0;
    status = -1;
    for (struct vs_event got; !vs_reader_next(reader, &got);) {
        if (got.kind == VS_EVENT_end) {
            assert_int_equal(got.end.reason, VS_END_STOPPED);
            status = (int)got.end.status;
        } else if (got.kind == VS_EVENT_memset) {
            assert_int_equal(status, -1);
            assert_int_equal(got.memset.correlation, n);
            assert_int_equal(got.memset.bytes, n * UINT64_C(0x9e3779b97f4a7c15));
            n++;
        }
    }
    vs_reader_condition(reader, text);
    close_reader(reader, condition);
    return n;
}

static char copy[540];

static int run_child(int (*body)(void), const char *name)
{
    memset(tally, 0, sizeof *tally);
    snprintf(copy, sizeof copy, "%s/%s.copy", scratch_dir, name);
    return in_child(body, name);
}

static bool has_stopped(struct vs_recorder *r)
{
    struct vs_recorder_stats stats;
    vs_recorder_stats(r, &stats);
    return stats.failed;
}

static bool record_until_stopped(struct vs_recorder *r)
{
    for (unsigned i = 0; i < 20000 && !has_stopped(r); i++)
        record_some(r, 200);
    bool stopped = has_stopped(r);
    record_some(r, 1000); /* the program continues */
    return stopped;
}

/* --- broken disks --- */

static int expected_errno;

static bool works_again;

static int break_in_the_middle(void)
{
    struct vs_recorder *r = open_recorder(path, 1, 0);
    failing_after = 400000;
    failing = expected_errno;
    bool stopped = record_until_stopped(r);
    if (works_again)
        failing = 0;
    vs_recorder_close(r, VS_END_EXIT, 0);
    return stopped ? 0 : 1;
}

static void assert_complete(const char *of, enum vs_end_reason reason, unsigned memsets)
{
    struct vs_reader *reader = open_reader(of);
    unsigned n = 0, ends = 0;
    for (struct vs_event got; !vs_reader_next(reader, &got);) {
        n += got.kind == VS_EVENT_memset;
        ends += got.kind == VS_EVENT_end && got.end.reason == reason;
    }
    assert_int_equal(n, memsets);
    assert_int_equal(ends, 1);
    close_reader(reader, VS_TRACE_COMPLETE);
}

/* A disk that has no room for an index, which only an end has. */
static int copy_without_room(void)
{
    struct vs_recorder *r = open_recorder(path, 1, 0);
    record_some(r, 1000);
    failing_index = true;
    bool copied = vs_recorder_copy(r, copy) == VS_OK, stopped = has_stopped(r);
    failing_index = false;
    record_some(r, 1001);
    vs_recorder_close(r, VS_END_EXIT, 0);
    return copied && !stopped ? 0 : 1;
}

TEST(a_copy_needs_no_room_for_its_end_in_the_trace)
{
    assert_int_equal(run_child(copy_without_room, "uncopied.vst"), 0);
    assert_int_equal(lines_said(), 0);
    assert_complete(path, VS_END_EXIT, 2001);
    assert_complete(copy, VS_END_COPY, 1000);
}

/* The disk of the trace is full when it receives the events before the copy: the recording stops,
 * and every copy from then on reports why, not that nothing is recorded. */
static int copy_from_a_full_disk(void)
{
    struct vs_recorder *r = open_recorder(path, 1, 0);
    record_some(r, 1000);
    failing_after = 0;
    failing = ENOSPC;
    for (unsigned i = 0; i < 2; i++) {
        errno = 0;
        if (vs_recorder_copy(r, copy) != VS_ERR_IO || errno != ENOSPC)
            return 1;
        failing = 0; /* room again: the recording does not resume */
    }
    bool stopped = has_stopped(r);
    vs_recorder_close(r, VS_END_EXIT, 0);
    return stopped && access(copy, F_OK) && vs_recorder_copy(r, copy) == VS_ERR_STATE ? 0 : 1;
}

TEST(a_copy_from_a_full_disk_fails_with_the_cause)
{
    assert_int_equal(run_child(copy_from_a_full_disk, "full-copy.vst"), 0);
    assert_int_equal(lines_said(), 1);
    assert_non_null(strstr(child_said, strerror(ENOSPC)));
}

static const int failures[] = {ENOSPC, EDQUOT, EIO, EROFS, EFBIG};

TEST(a_disk_that_fails_stops_the_recording_and_nothing_recorded_is_lost)
{
    for (size_t i = 0; i < sizeof failures / sizeof *failures; i++) {
        expected_errno = failures[i];
        assert_int_equal(run_child(break_in_the_middle, "broken.vst"), 0);
        assert_int_equal(lines_said(), 1);
        assert_non_null(strstr(child_said, strerror(failures[i])));
        uint64_t events = read_events(VS_TRACE_LIVE);
        assert_int_equal(status, failures[i]);
        assert_in_range(events, 400000 / 30, tally->calls - 1000);
        assert_non_null(strstr(text, "recording stopped early ("));
        assert_int_equal(access(live, F_OK), 0);
    }
}

TEST(when_there_is_room_again_the_end_of_the_program_finishes_the_trace)
{
    expected_errno = ENOSPC;
    works_again = true;
    assert_int_equal(run_child(break_in_the_middle, "again.vst"), 0);
    works_again = false;
    assert_int_equal(lines_said(), 1);
    uint64_t events = read_events(VS_TRACE_COMPLETE);
    assert_int_equal(status, ENOSPC);
    assert_in_range(events, 400000 / 30, tally->calls - 1000);
    assert_memory_equal(text, "recording stopped early (No space left on device)", 49);
    assert_int_equal(access(live, F_OK), -1);
}

/* --- disks that do not respond --- */

static int wait_for_a_disk(void)
{
    struct vs_recorder *r = open_recorder(path, 1, 0);
    r->wait_polls = 3;
    failing_after = 400000;
    failing = EIO;
    stuck = true;
    bool stopped = record_until_stopped(r);
    vs_recorder_flush(r);
    vs_recorder_end(r, VS_END_EXIT, 0);
    return stopped ? 0 : 1;
}

TEST(a_disk_that_does_not_answer_stops_the_recording_not_the_program)
{
    assert_int_equal(run_child(wait_for_a_disk, "stuck.vst"), 0);
    assert_int_equal(lines_said(), 1);
    assert_non_null(strstr(child_said, "the disk has not responded for "));
    uint64_t events = read_events(VS_TRACE_LIVE);
    assert_int_equal(status, ETIMEDOUT);
    assert_in_range(events, 400000 / 30, tally->calls - 1000);
    assert_non_null(strstr(text, "recording stopped early (the disk did not respond"));
}

/* Waits until the background thread is in a write that does not return. */
static bool wait_held(void)
{
    for (unsigned i = 0; i < 60000 && !held; i++)
        usleep(1000);
    return held;
}

static unsigned free_windows(struct vs_recorder *r)
{
    unsigned n = 0;
    vs_lock_acquire(&r->lock);
    for (unsigned i = 0; i < VS_WINDOWS; i++)
        n += r->windows[i].state == VS_WINDOW_FREE;
    vs_lock_release(&r->lock);
    return n;
}

/* Then exec fails, and the disk responds. */
static int exec_from_a_stuck_disk(void)
{
    static struct vs_book book;
    struct vs_change change = vs_change_alloc(VS_LEVEL_DEVICE, VS_FAMILY_DEVICE, 0, 512, 512);
    struct vs_event event = EVENT(alloc, .addr = 4096);
    struct vs_recorder *r = open_with((struct vs_recorder_config){
        .path = path, .compression = 1, .flush_ms = 60000, .min_size = UINT64_C(1) << 40});
    /* all windows wait to be written, except a few bytes of the last */
    failing_after = 0;
    failing = EIO;
    stuck = true;
    while (free_windows(r) == VS_WINDOWS - 1)
        record_some(r, 1);
    if (!wait_held())
        return 3;
    while (free_windows(r) || r->limit - r->cursor > 4096)
        record_some(r, 1);
    vs_recorder_acquire(r); /* a change without its own event */
    bool counted = !vs_selection_count_locked(r, &book, &change, false, &event);
    vs_recorder_release(r);
    if (!counted)
        return 3;
    r->wait_polls = 3;
    bool ready = vs_recorder_exec_begin(r), stopped = has_stopped(r);
    r->wait_polls = VS_WAIT_POLLS;
    failing = 0;
    stuck = false;
    record_some(r, 1);
    vs_recorder_close(r, VS_END_EXIT, 0);
    return ready ? 4 : stopped ? 5 : 0;
}

/* The wait of an end is the only one: pending counts cause no second wait, nor the long one that
 * stops the recording. */
TEST(an_end_waits_once_for_a_disk_and_what_was_counted_stays)
{
    uint64_t events = 0, counted = 0;
    assert_int_equal(run_child(exec_from_a_stuck_disk, "exec.vst"), 0);
    assert_string_equal(child_said, "");
    struct vs_reader *reader = open_reader(path);
    for (struct vs_event e; !vs_reader_next(reader, &e);) {
        events += e.kind == VS_EVENT_memset;
        counted += e.kind == VS_EVENT_unrecorded ? e.unrecorded.size : 0;
    }
    close_reader(reader, VS_TRACE_COMPLETE);
    assert_int_equal(events, tally->calls);
    assert_int_equal(counted, 512);
}

/* As pthread_exit does in the main thread. */
static int dismiss_from_a_stuck_disk(void)
{
    alarm(250); /* hangs if another thread writes instead */
    failing_after = sizeof(struct vs_file_header);
    failing = EIO;
    stuck = true;
    struct vs_recorder *r = open_with((struct vs_recorder_config){
        .path = path, .compression = 1, .flush_ms = 20});
    record_some(r, 100);
    if (!wait_held())
        return 4;
    uint64_t recorded = tally->calls;
    r->wait_polls = 3;
    vs_recorder_dismiss_thread(r);
    bool stopped = record_until_stopped(r);
    vs_recorder_end(r, VS_END_EXIT, 0);
    tally->calls = recorded;
    return stopped && r->has_thread ? 0 : 1;
}

TEST(a_thread_that_cannot_be_dismissed_keeps_its_work)
{
    assert_int_equal(run_child(dismiss_from_a_stuck_disk, "dismissed.vst"), 0);
    assert_int_equal(lines_said(), 1);
    assert_non_null(strstr(child_said, "; 100 events are kept"));
    assert_int_equal(read_events(VS_TRACE_LIVE), tally->calls);
    assert_int_equal(status, ETIMEDOUT);
}

/* --- small file systems --- */

static _Atomic unsigned long pages_free; /* of every file system; 0: unchanged */

/* Also replaces the C library's function. */
int fstatvfs(int fd, struct statvfs *fs)
{
    struct statfs real;
    if (fstatfs(fd, &real))
        return -1;
    *fs = (struct statvfs){.f_bsize = (unsigned long)real.f_bsize, .f_bavail = real.f_bavail};
    if (pages_free)
        *fs = (struct statvfs){.f_bsize = 4096, .f_bavail = pages_free};
    return 0;
}

static size_t window_bytes_with(uint64_t min_size)
{
    struct vs_recorder *r = open_with((struct vs_recorder_config){.path = scratch("share.vst"),
        .compression = 1, .flush_ms = 1000, .min_size = min_size});
    size_t bytes = r->window_bytes;
    vs_recorder_close(r, VS_END_EXIT, 0);
    return bytes;
}

/* A quarter of the space holds the windows and the page before them, but not also the counts. */
TEST(all_of_the_live_file_counts_where_space_is_short)
{
    pages_free = 4 * (1 + VS_WINDOWS * VS_WINDOW_BYTES_DEFAULT / 4096);
    size_t plain = window_bytes_with(0), counting = window_bytes_with(1024);
    pages_free = 0;
    assert_int_equal(plain, VS_WINDOW_BYTES_DEFAULT);
    assert_int_equal(counting, VS_WINDOW_BYTES_DEFAULT / 2);
}

static long room;

static int fill_a_disk(void)
{
    failing_after = room;
    failing = ENOSPC;
    no_live = true;
    struct vs_recorder *r = open_recorder(path, 1, 0);
    bool stopped = record_until_stopped(r);
    vs_recorder_close(r, VS_END_EXIT, 0);
    return stopped ? 0 : 1;
}

/* Without FILE.live, each frame leaves room for the end. The steps are smaller than the end, and
 * together longer than a frame: without that room, some of these disks end within the end. */
TEST(a_full_disk_without_a_live_file_has_a_complete_trace)
{
    for (room = 12000; room <= 17000; room += 250) {
        assert_int_equal(run_child(fill_a_disk, "full.vst"), 0);
        assert_int_equal(lines_said(), 2); /* no FILE.live, too */
        assert_non_null(strstr(child_said, strerror(ENOSPC)));
        uint64_t events = read_events(VS_TRACE_COMPLETE);
        assert_int_equal(status, ENOSPC);
        assert_in_range(events, (room - 6000) / 30, tally->calls - 1000);
    }
}

/* --- files that disappear --- */

static int lose_the_live_file(void)
{
    struct vs_recorder *r = open_with((struct vs_recorder_config){
        .path = path, .compression = 1, .flush_ms = 20});
    record_some(r, 1000);
    unlink(live);
    for (unsigned i = 0; i < 30000 && access(live, F_OK); i++) {
        usleep(1000);
        if (i % 40 == 0)
            record_some(r, 1);
    }
    record_some(r, 500);
    raise(SIGKILL);
    return 1;
}

TEST(a_live_file_that_was_removed_is_made_again)
{
    SKIP_UNDER_TSAN();
    assert_int_equal(run_child(lose_the_live_file, "lost.vst"), 128 + SIGKILL);
    assert_int_equal(lines_said(), 1);
    assert_non_null(strstr(child_said, "was removed while in use"));
    assert_int_equal(read_events(VS_TRACE_LIVE), tally->calls);
}

static int lose_the_file(void)
{
    struct vs_recorder *r = open_recorder(path, 1, 0);
    record_some(r, 1000);
    vs_recorder_flush(r);
    unlink(path);
    spit(path, "another's", 9);
    record_some(r, 100000);
    vs_recorder_flush(r);
    vs_recorder_close(r, VS_END_EXIT, 0);
    return 0;
}

TEST(a_file_in_the_traces_place_is_left_alone)
{
    assert_int_equal(run_child(lose_the_file, "replaced.vst"), 0);
    assert_int_equal(lines_said(), 1);
    assert_non_null(strstr(child_said, "was deleted while it was being recorded"));
    assert_holds(path, "another's", 9);
    assert_int_equal(access(live, F_OK), -1);
}

SETUP(make_shared)
{
    tally = mmap(NULL, sizeof *tally, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return tally == MAP_FAILED;
}
