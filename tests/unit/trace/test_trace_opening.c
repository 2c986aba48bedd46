/* SPDX-License-Identifier: Apache-2.0
 *
 * A trace that gets its end, or is rewritten, exactly while it is opened. The reader tests for
 * FILE.live by access(2), which this program overrides to make it happen then. */
#include "unit/trace/trace_test.h"

#include <sys/syscall.h>

#include "trace/read/rewrite.h"

static void (*meanwhile)(void);
static struct vs_recorder *recorder;
static const char *trace, *other;

int access(const char *path, int mode)
{
    void (*act)(void) = meanwhile;
    meanwhile = NULL;
    if (act)
        act();
    return (int)syscall(SYS_faccessat, AT_FDCWD, path, mode);
}

static void record(const char *path, unsigned events)
{
    recorder = open_recorder(path, 1, 0);
    for (unsigned i = 0; i < events; i++)
        record_event(recorder, EVENT(range_end, .range = i));
}

/* *to*: its first 64 bytes. */
static void copy_beginning(const char *from, const char *to)
{
    size_t bytes;
    unsigned char *data = slurp(from, &bytes);
    spit(to, data, 64);
    free(data);
}

static void end(void)
{
    vs_recorder_close(recorder, VS_END_EXIT, 0);
}

static void replace(void)
{
    assert_int_equal(rename(other, trace), 0);
}

static void assert_whole(const char *path, unsigned events)
{
    struct vs_reader *reader = open_reader(path);
    unsigned seen = 0;
    assert_null(meanwhile); /* the replacement took place */
    for (struct vs_event e; !vs_reader_next(reader, &e);)
        seen += e.kind == VS_EVENT_range_end;
    assert_int_equal(seen, events);
    close_reader(reader, VS_TRACE_COMPLETE);
}

TEST(a_trace_that_ends_meanwhile_is_whole)
{
    trace = scratch("ends.vst");
    record(trace, 1000);
    meanwhile = end;
    assert_whole(trace, 1000);
}

/* As by `vramscope recover` of a trace with FILE.live. */
TEST(a_trace_that_is_replaced_meanwhile_is_whole)
{
    trace = scratch("replaced.vst");
    other = scratch("other.vst");
    record(other, 700);
    end();
    copy_beginning(other, trace);
    meanwhile = replace;
    assert_whole(trace, 700);
}

static void replace_again(void)
{
    copy_file(trace, scratch("new"));
    assert_int_equal(rename(scratch("new"), trace), 0);
    meanwhile = replace_again;
}

/* A file that is replaced at every attempt is read as found. */
TEST(a_trace_that_is_replaced_for_ever_is_read_all_the_same)
{
    struct vs_reader *reader;
    struct vs_event e;
    trace = scratch("restless.vst");
    record(trace, 10);
    end();
    copy_beginning(trace, trace);
    meanwhile = replace_again;
    reader = open_reader(trace);
    meanwhile = NULL;
    assert_int_equal(vs_reader_next(reader, &e), VS_ERR_END);
    close_reader(reader, VS_TRACE_TRUNCATED);
}
