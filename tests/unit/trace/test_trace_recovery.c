/* SPDX-License-Identifier: Apache-2.0
 *
 * Running, full disk, forked: the recorded events are read, and missing ones are reported. (Killed:
 * test_trace_kill. Truncated and damaged: test_trace_cut.) */
#include "unit/trace/child_test.h"

#include <errno.h>
#include <pthread.h>
#include <sys/mman.h>

#include "base/vs_size.h"
#include "trace/record/recorder_internal.h"

TEST(a_running_trace_can_be_read)
{
    snprintf(path, sizeof path, "%s", scratch("running.vst"));
    struct vs_recorder *r = open_recorder(path, 1, 0);
    for (uint64_t i = 0; i < 100000; i++)
        record_event(r, EVENT(range_end, .range = i));
    struct vs_reader *reader = open_reader(path);
    struct vs_event got;
    for (int pass = 0; pass < 2; pass++) {
        uint64_t seen = 0;
        while (!vs_reader_next(reader, &got))
            assert_int_equal(got.range_end.range, seen++);
        assert_int_equal(seen, 100000);
        assert_condition(reader, VS_TRACE_LIVE);
        vs_reader_rewind(reader);
    }
    vs_reader_close(reader);
    vs_recorder_close(r, VS_END_EXIT, 0);
}

TEST(the_live_window_of_another_trace_is_ignored)
{
    struct vs_recorder *a = open_recorder(scratch("a.vst"), 1, 0);
    struct vs_recorder *b = open_recorder(scratch("b.vst"), 1, 0);
    struct vs_event got;
    record_mark(a);
    record_mark(b);
    size_t trace_bytes, live_bytes;
    unsigned char *trace = slurp(scratch("a.vst"), &trace_bytes);
    unsigned char *window = slurp(scratch("b.vst.live"), &live_bytes);
    struct vs_reader *reader = NULL;
    assert_int_equal(vs_reader_open_bytes(trace, trace_bytes, window, live_bytes, "a", &reader, NULL),
                     VS_OK);
    assert_int_equal(vs_reader_next(reader, &got), VS_ERR_END);
    close_reader(reader, VS_TRACE_TRUNCATED);
    free(trace);
    free(window);
    vs_recorder_close(a, VS_END_EXIT, 0);
    vs_recorder_close(b, VS_END_EXIT, 0);
}

TEST(the_live_window_of_an_older_version_is_recovered_from)
{
    struct vs_recorder *r = open_recorder(scratch("old.vst"), 1, 0);
    record_mark(r);
    struct vs_event got;
    size_t trace_bytes, live_bytes;
    unsigned char *trace = slurp(scratch("old.vst"), &trace_bytes);
    unsigned char *window = slurp(scratch("old.vst.live"), &live_bytes);
    struct vs_live_header header;
    memcpy(&header, window, sizeof header);
    assert_int_equal(header.major, VS_FORMAT_MAJOR);
    header.major = 1;
    memcpy(window, &header, sizeof header);
    struct vs_reader *reader = NULL;
    assert_int_equal(vs_reader_open_bytes(trace, trace_bytes, window, live_bytes, "old", &reader,
                                          NULL),
                     VS_OK);
    assert_int_equal(vs_reader_next(reader, &got), VS_OK);
    assert_int_equal(got.kind, VS_EVENT_mark);
    vs_reader_close(reader);
    free(trace);
    free(window);
    vs_recorder_close(r, VS_END_EXIT, 0);
}

/* --- full disk --- */

static struct outcome {
    uint64_t events; /* recorded before it stopped */
    uint64_t calls;
} *outcome; /* shared with children */
static rlim_t file_max;

SETUP(share_outcome)
{
    outcome = mmap(NULL, sizeof *outcome, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return outcome == MAP_FAILED;
}

/* Records, where files may have file_max bytes, until it stops. */
static int record_until_full(void)
{
    struct rlimit rl = {file_max, file_max};
    setrlimit(RLIMIT_FSIZE, &rl); /* SIGXFSZ keeps its default action, as in any program */
    struct vs_recorder *r = open_recorder(path, 0, 0);
    struct vs_recorder_stats stats = {0};
    for (uint64_t i = 0; !stats.failed && i < 10000000; i++) {
        record_event(r, EVENT(range_end, .range = i));
        outcome->calls = i + 1;
        if (i % 256 == 0)
            vs_recorder_stats(r, &stats);
    }
    vs_recorder_flush(r);
    vs_recorder_stats(r, &stats);
    outcome->events = stats.events;
    vs_recorder_close(r, VS_END_EXIT, 0);
    return stats.failed ? 0 : 3;
}

/* Opens what is left of it, after it said so many *lines*. */
static struct vs_reader *open_full(rlim_t limit, unsigned lines)
{
    file_max = limit;
    assert_int_equal(in_child(record_until_full, "full.vst"), 0);
    assert_int_equal(lines_said(), lines);
    return open_reader(path);
}

/* The events, and the end with the reason why there are no more. */
static uint64_t count_ranges(struct vs_reader *reader)
{
    struct vs_event got = {0};
    uint64_t n = 0;
    while (!vs_reader_next(reader, &got) && got.kind == VS_EVENT_range_end)
        assert_int_equal(got.range_end.range, n++);
    assert_int_equal(got.kind, VS_EVENT_end);
    assert_int_equal(got.end.reason, VS_END_STOPPED);
    assert_int_equal(got.end.status, EFBIG);
    assert_int_equal(vs_reader_next(reader, &got), VS_ERR_END);
    return n;
}

TEST(a_full_disk_stops_the_recording_once_and_keeps_every_event_before)
{
    struct vs_reader *reader = open_full(1500 << 10, 1);
    assert_non_null(strstr(child_said, path));
    assert_non_null(strstr(child_said, "File too large"));
    assert_int_equal(count_ranges(reader) + 1, outcome->events);
    assert_condition(reader, VS_TRACE_LIVE); /* the last windows did not fit in the file */
    char text[VS_READER_WHY_MAX];
    vs_reader_condition(reader, text);
    assert_memory_equal(text, "recording stopped early (File too large): ", 42);
    assert_true(outcome->events > 100000);
    assert_true(outcome->calls >= outcome->events);
    vs_reader_close(reader);
}

TEST(with_less_room_the_live_window_is_smaller_and_nothing_is_lost)
{
    for (rlim_t limit = 700 << 10; limit >= 70 << 10; limit /= 2) {
        struct vs_reader *reader = open_full(limit, 1);
        assert_int_equal(count_ranges(reader) + 1, outcome->events);
        close_reader(reader, VS_TRACE_LIVE);
    }
}

TEST(without_room_for_the_live_window_what_fits_is_kept_and_ends_well)
{
    for (rlim_t limit = 65 << 10; limit >= 5000; limit -= 3777) {
        char kept[64], count[VS_SIZE_TEXT_MAX];
        struct stat st;
        struct vs_reader *reader = open_full(limit, 2);
        assert_non_null(strstr(child_said, "if the program is killed"));
        assert_int_equal(access(live, F_OK), -1);
        uint64_t events = count_ranges(reader);
        assert_condition(reader, VS_TRACE_COMPLETE);
        assert_in_range(events, limit > 10000 ? 500 : 1, outcome->calls);
        snprintf(kept, sizeof kept, " %s events (", vs_count_format(count, events));
        assert_non_null(strstr(child_said, kept));
        assert_int_equal(stat(path, &st), 0);
        assert_true((rlim_t)st.st_size <= limit && (rlim_t)st.st_size + 6000 > limit);
        vs_reader_close(reader);
    }
}

TEST(a_device_that_is_full_is_an_io_error_and_stays)
{
    struct vs_recorder_config config = {.path = "/dev/full", .compression = 1, .flush_ms = 100};
    struct vs_recorder *r = NULL;
    assert_int_equal(vs_recorder_open(&config, &r), VS_ERR_IO);
    assert_int_equal(errno, ENOSPC);
    assert_int_equal(access("/dev/full", F_OK), 0);
    config.path = "/dev/null";
    assert_int_equal(vs_recorder_open(&config, &r), VS_OK);
    vs_recorder_close(r, VS_END_EXIT, 0);
    assert_int_equal(access("/dev/null", F_OK), 0);
}

/* --- other things programs do --- */

TEST(a_forked_child_leaves_the_parents_trace_alone)
{
    SKIP_UNDER_TSAN();
    const char *parent_path = scratch("parent.vst"), *child_path = scratch("child.vst");
    struct vs_recorder *r = open_recorder(parent_path, 1, 16);
    struct vs_event got;
    uint32_t parent_tid = record_mark(r).tid;
    for (int abandon = 0; abandon <= 1; abandon++) {
        if (child_begin()) {
            if (abandon)
                vs_recorder_abandon_in_child(r);
            else
                vs_recorder_close(r, VS_END_EXIT, 0);
            record_event(r, EVENT(free));
            vs_recorder_close(r, VS_END_EXIT, 0);
            struct vs_recorder *own = open_recorder(child_path, 1, 0);
            uint32_t tid = record_event(own, EVENT(free)).tid;
            vs_recorder_close(own, VS_END_EXIT, 0);
            _exit(tid == (uint32_t)getpid() ? 0 : 2);
        }
        assert_int_equal(child_ending(), 0);
        struct vs_reader *reader = open_reader(child_path);
        assert_int_equal(vs_reader_next(reader, &got), VS_OK);
        assert_int_equal(got.kind, VS_EVENT_free);
        assert_int_not_equal(got.tid, parent_tid);
        vs_reader_close(reader);
    }
    record_mark(r);
    vs_recorder_close(r, VS_END_EXIT, 0);
    struct vs_reader *reader = open_reader(parent_path);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(vs_reader_next(reader, &got), VS_OK);
        assert_int_equal(got.kind, VS_EVENT_mark);
        assert_int_equal(got.tid, parent_tid);
    }
    assert_int_equal(vs_reader_next(reader, &got), VS_OK);
    assert_int_equal(got.kind, VS_EVENT_end);
    assert_int_equal(vs_reader_next(reader, &got), VS_ERR_END);
    close_reader(reader, VS_TRACE_COMPLETE);
}

static char other[520];

static int close_every_descriptor(void)
{
    struct vs_recorder *r = open_recorder(path, 1, 0);
    for (int fd = 3; fd < 200; fd++)
        close(fd);
    int fd = open(other, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    for (int i = 3; i < 200; i++)
        dup2(fd, i);
    record_mark(r);
    vs_recorder_close(r, VS_END_EXIT, 0);
    return fcntl(150, F_GETFD) < 0;
}

static void assert_one_mark(enum vs_condition condition)
{
    struct vs_reader *reader = open_reader(path);
    struct vs_event got;
    assert_int_equal(vs_reader_next(reader, &got), VS_OK);
    assert_int_equal(got.kind, VS_EVENT_mark);
    if (condition == VS_TRACE_COMPLETE)
        assert_int_equal(vs_reader_next(reader, &got), VS_OK);
    assert_int_equal(vs_reader_next(reader, &got), VS_ERR_END);
    close_reader(reader, condition);
}

TEST(a_program_that_closes_every_descriptor_gets_no_byte_of_ours)
{
    SKIP_UNDER_TSAN();
    struct stat st;
    snprintf(other, sizeof other, "%s", scratch("other.txt"));
    assert_int_equal(in_child(close_every_descriptor, "closed.vst"), 0);
    assert_int_equal(stat(other, &st), 0);
    assert_int_equal(st.st_size, 0);
    assert_one_mark(VS_TRACE_COMPLETE);
}

static int exit_inside(void)
{
    alarm(250);
    struct vs_recorder *r = open_recorder(path, 1, 0);
    record_mark(r);
    vs_lock_acquire(&r->lock); /* interrupted here; the handler calls exit */
    vs_recorder_close(r, VS_END_SIGNAL, SIGTERM);
    record_mark(r); /* a destructor that frees device memory */
    return 0;
}

TEST(exit_from_a_handler_inside_the_recorder_does_not_hang)
{
    SKIP_UNDER_TSAN();
    assert_int_equal(in_child(exit_inside, "inside.vst"), 0);
    assert_one_mark(VS_TRACE_LIVE);
}

static _Atomic bool keep_going;

static void *record_until_notified(void *arg)
{
    while (keep_going) {
        uint64_t name = vs_recorder_string(arg, "busy", SIZE_MAX);
        record_event(arg, EVENT(mark, .name = name));
        vs_recorder_stack(arg, 0);
    }
    return NULL;
}

TEST(closing_under_running_threads_is_safe_and_end_is_the_last_event)
{
    snprintf(path, sizeof path, "%s", scratch("busy.vst"));
    for (int round = 0; round < 20; round++) {
        struct vs_recorder *r = open_recorder(path, 1, 16);
        pthread_t threads[3];
        keep_going = true;
        for (int i = 0; i < 3; i++)
            assert_int_equal(pthread_create(&threads[i], NULL, record_until_notified, r), 0);
        usleep(2000);
        vs_recorder_close(r, VS_END_EXIT, 0);
        keep_going = false;
        for (int i = 0; i < 3; i++)
            pthread_join(threads[i], NULL);
        struct vs_reader *reader = open_reader(path);
        struct vs_event got = {0};
        while (!vs_reader_next(reader, &got))
            continue;
        assert_int_equal(got.kind, VS_EVENT_end);
        close_reader(reader, VS_TRACE_COMPLETE);
    }
}
