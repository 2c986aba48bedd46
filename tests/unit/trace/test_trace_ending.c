/* SPDX-License-Identifier: Apache-2.0
 *
 * Ends that are taken back: for an exec that fails, and for events after the end of the process. In
 * every case the file has every event once, in order, and one end. */
#include "trace_test.h"

#include <pthread.h>

static uint64_t written;

static void record(struct vs_recorder *r, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        char name[32];
        snprintf(name, sizeof name, "name %u", (unsigned)((written + 1) % 777));
        record_event(r, EVENT(free, .addr = written++, .api = vs_recorder_string(r, name, SIZE_MAX)));
    }
}

/* Everything written so far, then the end. */
static void check(const char *path, enum vs_end_reason reason, uint64_t status)
{
    struct vs_event e;
    struct vs_reader *reader = open_reader(path);
    for (uint64_t i = 0; i < written; i++) {
        assert_true(next_plain(reader, &e));
        assert_int_equal(e.kind, VS_EVENT_free);
        assert_int_equal(e.free.addr, i);
        char name[32];
        snprintf(name, sizeof name, "name %u", (unsigned)((i + 1) % 777));
        assert_string_equal(vs_reader_string(reader, e.free.api), name);
    }
    assert_true(next_plain(reader, &e));
    assert_int_equal(e.kind, VS_EVENT_end);
    assert_int_equal(e.end.reason, reason);
    assert_int_equal(e.end.status, status);
    assert_false(next_plain(reader, &e));
    close_reader(reader, VS_TRACE_COMPLETE);
}

static struct vs_recorder *begin(const char *path)
{
    written = 0;
    return open_recorder(path, 1, 0);
}

TEST(the_trace_is_whole_while_exec_runs_and_goes_on_when_it_fails)
{
    const char *path = scratch("exec.vst");
    struct vs_recorder *r = begin(path);
    for (unsigned i = 0; i < 50; i++) {
        record(r, i * 100);
        assert_true(vs_recorder_exec_begin(r));
        check(path, VS_END_EXEC, 0);
        assert_int_equal(access(live_of(path), F_OK), -1);
        vs_recorder_exec_failed(r);
        assert_int_equal(access(live_of(path), F_OK), 0);
    }
    record(r, 10);
    vs_recorder_close(r, VS_END_EXIT, 3);
    check(path, VS_END_EXIT, 3);
}

/* an index frame follows each 1024 frames, possibly together with the end that is taken back */
TEST(ends_are_taken_back_also_where_an_index_falls)
{
    const char *path = scratch("index.vst");
    struct vs_recorder *r = begin(path);
    for (unsigned i = 0; i < 2100; i++) {
        record(r, 1);
        vs_recorder_flush(r);
        if (i % 1024 > 1018 || i % 1024 < 6) {
            assert_true(vs_recorder_exec_begin(r));
            check(path, VS_END_EXEC, 0);
            vs_recorder_exec_failed(r);
        }
    }
    vs_recorder_close(r, VS_END_EXIT, 0);
    check(path, VS_END_EXIT, 0);
}

TEST(events_after_the_end_are_followed_by_it_again)
{
    const char *path = scratch("late.vst");
    struct vs_recorder *r = begin(path);
    record(r, 5000);
    vs_recorder_end(r, VS_END_EXIT, 7);
    check(path, VS_END_EXIT, 7);
    assert_int_equal(access(live_of(path), F_OK), -1);
    for (unsigned i = 0; i < 100; i++) {
        record(r, 1);
        check(path, VS_END_EXIT, 7);
    }
    vs_recorder_end(r, VS_END_EXIT, 7);
    check(path, VS_END_EXIT, 7);
    vs_recorder_end(r, VS_END_EXIT, 8);
    check(path, VS_END_EXIT, 8);
    vs_recorder_close(r, VS_END_EXIT, 9);
    check(path, VS_END_EXIT, 9);
    assert_int_equal(access(live_of(path), F_OK), -1);
    record(r, 1); /* of no effect */
    written--;
    check(path, VS_END_EXIT, 9);
}

static void *record_elsewhere(void *recorder)
{
    record_event(recorder, EVENT(free));
    return NULL;
}

TEST(other_threads_record_no_more_after_the_end)
{
    const char *path = scratch("others.vst");
    struct vs_recorder *r = begin(path);
    pthread_t t;
    record(r, 10);
    vs_recorder_end(r, VS_END_EXIT, 0);
    pthread_create(&t, NULL, record_elsewhere, r);
    pthread_join(t, NULL);
    check(path, VS_END_EXIT, 0);
    record(r, 10);
    check(path, VS_END_EXIT, 0);
    vs_recorder_close(r, VS_END_EXIT, 0);
}

TEST(without_its_thread_a_recorder_goes_on)
{
    const char *path = scratch("alone.vst");
    struct vs_recorder *r = begin(path);
    record(r, 1000);
    vs_recorder_dismiss_thread(r);
    record(r, 100000);
    vs_recorder_dismiss_thread(r);
    assert_true(vs_recorder_exec_begin(r));
    check(path, VS_END_EXEC, 0);
    vs_recorder_exec_failed(r);
    record(r, 1000);
    vs_recorder_end(r, VS_END_EXIT, 1);
    check(path, VS_END_EXIT, 1);
    vs_recorder_close(r, VS_END_EXIT, 1);
}

TEST(what_cannot_be_taken_back_is_not_ended_for_exec)
{
    struct vs_recorder *r = begin("/dev/null");
    record(r, 10);
    assert_false(vs_recorder_exec_begin(r));
    record(r, 10);
    vs_recorder_end(r, VS_END_EXIT, 0);
    assert_false(vs_recorder_exec_begin(r));
    assert_false(vs_recorder_exec_begin(NULL));
}
