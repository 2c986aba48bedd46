/* SPDX-License-Identifier: Apache-2.0
 *
 * Composed traces: the reader returns what was put in, over many frames and indexes; the file is
 * complete and seekable; a failure of the file is kept. */
#include "unit/trace/trace_test.h"

#include <errno.h>

#include "trace/compose/composer.h"

#define START UINT64_C(5000)

static char path[64];
static FILE *file;

static struct vs_composer *begin(void)
{
    struct vs_composer_start start = {.time_ns = START, .realtime_ns = 77, .uuid = {1, 2, 3}};
    struct vs_composer *c;
    snprintf(path, sizeof path, "%s/composer_XXXXXX", scratch_folder());
    file = fdopen(mkstemp(path), "wb");
    assert_non_null(file);
    assert_int_equal(vs_composer_open(file, &start, &c), VS_OK);
    return c;
}

static struct vs_reader *finish(struct vs_composer *c)
{
    struct vs_event end = {.kind = VS_EVENT_end, .time_ns = START + 1, .end = {.reason = VS_END_IMPORTED}};
    vs_composer_event(c, &end);
    assert_int_equal(vs_composer_close(c), VS_OK);
    assert_int_equal(fclose(file), 0);
    return open_reader(path);
}

static struct vs_event alloc(uint64_t i)
{
    return (struct vs_event){.kind = VS_EVENT_framework_alloc, .tid = 1 + (uint32_t)(i % 3),
                             .time_ns = START + i / 2 * 1000,
                             .framework_alloc = {.addr = UINT64_C(0x700000000000) + i * 512,
                                                 .size = i * i, .total_allocated = UINT64_MAX - i,
                                                 .framework_stream = i & 7}};
}

TEST(the_reader_returns_every_event)
{
    enum { COUNT = 300000 };
    struct vs_composer *c = begin();
    for (uint64_t i = 0; i < COUNT; i++) {
        struct vs_event event = alloc(i);
        vs_composer_event(c, &event);
    }
    assert_int_equal(vs_composer_events(c), COUNT);
    struct vs_reader *reader = finish(c);
    struct vs_event event;
    for (uint64_t i = 0; i < COUNT; i++) {
        struct vs_event wanted = alloc(i);
        assert_int_equal(vs_reader_next(reader, &event), VS_OK);
        assert_int_equal(event.kind, wanted.kind);
        assert_int_equal(event.tid, wanted.tid);
        assert_int_equal(event.time_ns, wanted.time_ns);
        assert_memory_equal(&event.framework_alloc, &wanted.framework_alloc,
                            sizeof wanted.framework_alloc);
    }
    assert_int_equal(vs_reader_next(reader, &event), VS_OK);
    assert_int_equal(event.kind, VS_EVENT_end);
    assert_int_equal(vs_reader_next(reader, &event), VS_ERR_END);
    close_reader(reader, VS_TRACE_COMPLETE);
}

TEST(time_never_goes_back)
{
    struct vs_composer *c = begin();
    struct vs_event late = alloc(10), early = alloc(1);
    vs_composer_event(c, &late);
    vs_composer_event(c, &early);
    struct vs_reader *reader = finish(c);
    struct vs_event event;
    assert_int_equal(vs_reader_next(reader, &event), VS_OK);
    assert_int_equal(vs_reader_next(reader, &event), VS_OK);
    assert_int_equal(event.time_ns, late.time_ns);
    assert_int_equal(event.framework_alloc.addr, early.framework_alloc.addr);
    while (vs_reader_next(reader, &event) == VS_OK)
        continue;
    close_reader(reader, VS_TRACE_COMPLETE);
}

TEST(long_texts_are_cut)
{
    size_t length = 3 * VS_STRING_MAX;
    char *text = malloc(length);
    assert_non_null(text);
    memset(text, 'x', length);
    struct vs_composer *c = begin();
    struct vs_event event = {.kind = VS_EVENT_mark, .time_ns = START,
                             .mark = {.name = vs_composer_string(c, text, length)}};
    vs_composer_event(c, &event);
    struct vs_reader *reader = finish(c);
    assert_int_equal(vs_reader_next(reader, &event), VS_OK);
    assert_int_equal(strlen(vs_reader_string(reader, event.mark.name)), VS_STRING_MAX);
    while (vs_reader_next(reader, &event) == VS_OK)
        continue;
    free(text);
    close_reader(reader, VS_TRACE_COMPLETE);
}

TEST(a_full_disk_is_reported)
{
    struct vs_composer_start start = {.time_ns = START};
    struct vs_composer *c;
    FILE *full = fopen("/dev/full", "wb");
    if (!full)
        skip();
    setvbuf(full, NULL, _IONBF, 0);
    enum vs_err err = vs_composer_open(full, &start, &c);
    for (uint64_t i = 0; !err && i < 100; i++) {
        struct vs_event event = alloc(i);
        vs_composer_event(c, &event);
    }
    if (!err)
        err = vs_composer_close(c);
    assert_int_equal(err, VS_ERR_IO);
    assert_int_equal(errno, ENOSPC);
    fclose(full);
}
