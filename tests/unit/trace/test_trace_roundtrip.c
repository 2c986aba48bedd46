/* SPDX-License-Identifier: Apache-2.0
 *
 * The reader returns exactly the recorded events. */
#include "unit/trace/trace_test.h"

#include <pthread.h>

#define STRINGS 40

static void fill(struct vs_event *e, uint32_t kind, uint64_t *seed, uint64_t strings)
{
    const struct vs_event_info *info = vs_event_describe(kind);
    memset(e, 0, sizeof *e);
    e->kind = kind;
    e->tid = 1 + (uint32_t)(vs_random(seed) % 3);
    for (unsigned i = 0; i < info->field_count; i++) {
        uint64_t value = vs_random(seed);
        if (vs_random(seed) % 4)
            value >>= vs_random(seed) % 64; /* all lengths of varint */
        if (info->fields[i].codec == VS_CODEC_STR)
            value %= strings + 1;
        else if (info->fields[i].codec == VS_CODEC_STK)
            value = 0;
        e->fields[i] = value;
    }
}

TEST(every_kind_comes_back_with_all_its_fields)
{
    for (unsigned level = 0; level <= 1; level++) {
        struct vs_recorder *r = open_recorder(scratch("kinds.vst"), level, 0);
        char name[32];
        for (int i = 0; i < STRINGS; i++) {
            snprintf(name, sizeof name, "name %d", i);
            assert_int_equal(vs_recorder_string(r, name, SIZE_MAX), i + 1);
        }
        uint64_t seed = 42, written = 0;
        struct vs_event e, got;
        for (int round = 0; round < 200; round++) {
            for (uint32_t kind = 1; kind <= VS_EVENT_CODE_MAX; kind++) {
                if (!vs_event_describe(kind))
                    continue;
                fill(&e, kind, &seed, STRINGS);
                vs_recorder_event(r, &e);
                assert_true(e.time_ns > 0);
                written++;
            }
        }
        vs_recorder_close(r, VS_END_SIGNAL, 9);

        struct vs_reader *reader = open_reader(scratch("kinds.vst"));
        seed = 42;
        uint64_t last = 0;
        for (int round = 0; round < 200; round++) {
            for (uint32_t kind = 1; kind <= VS_EVENT_CODE_MAX; kind++) {
                if (!vs_event_describe(kind))
                    continue;
                fill(&e, kind, &seed, STRINGS);
                assert_int_equal(vs_reader_next(reader, &got), VS_OK);
                assert_int_equal(got.kind, kind);
                assert_int_equal(got.tid, e.tid);
                assert_true(got.time_ns >= last);
                last = got.time_ns;
                for (unsigned i = 0; i < VS_EVENT_FIELDS_MAX; i++)
                    assert_true(got.fields[i] == e.fields[i]);
                written--;
            }
        }
        assert_int_equal(written, 0);
        assert_int_equal(vs_reader_next(reader, &got), VS_OK);
        assert_int_equal(got.kind, VS_EVENT_end);
        assert_int_equal(got.end.reason, VS_END_SIGNAL);
        assert_int_equal(got.end.status, 9);
        assert_int_equal(vs_reader_next(reader, &got), VS_ERR_END);
        assert_condition(reader, VS_TRACE_COMPLETE);
        assert_string_equal(vs_reader_string(reader, 7), "name 6");
        assert_int_equal(vs_reader_position(reader), vs_reader_bytes(reader));
        vs_reader_close(reader);
        assert_int_equal(access(scratch("kinds.vst.live"), F_OK), -1);
    }
}

TEST(given_times_are_kept_and_never_decrease)
{
    struct vs_recorder *r = open_recorder(scratch("time.vst"), 1, 0);
    uint64_t now = vs_clock_ns() + 1000000000;
    uint64_t given[] = {now, now, now + 5, now + 3, now + 7}, kept[] = {0, 0, 5, 5, 7};
    for (unsigned i = 0; i < 5; i++) {
        struct vs_event e = {.kind = VS_EVENT_free, .tid = 5, .time_ns = given[i]};
        vs_recorder_event(r, &e);
        assert_true(e.time_ns == now + kept[i]);
    }
    vs_recorder_close(r, VS_END_EXIT, 0);
    struct vs_reader *reader = open_reader(scratch("time.vst"));
    struct vs_event got;
    for (unsigned i = 0; i < 5; i++) {
        assert_true(next_plain(reader, &got));
        assert_true(got.time_ns == now + kept[i]);
    }
    vs_reader_close(reader);
}

TEST(thread_and_time_are_filled_in)
{
    struct vs_recorder *r = open_recorder(scratch("fill.vst"), 1, 0);
    uint64_t before = vs_clock_ns();
    struct vs_event e = {.kind = VS_EVENT_mark};
    vs_recorder_event(r, &e);
    assert_int_equal(e.tid, gettid());
    assert_in_range(e.time_ns, before, vs_clock_ns());
    vs_recorder_close(r, VS_END_EXIT, 0);
}

TEST(strings_are_defined_once_and_made_valid_utf8)
{
    struct vs_recorder *r = open_recorder(scratch("strings.vst"), 1, 0);
    static const struct {
        const char *text;
        size_t length;
        const char *read;
    } cases[] = {
        {"plain", SIZE_MAX, "plain"},
        {"gr\xc3\xbc\xc3\x9f", SIZE_MAX, "gr\xc3\xbc\xc3\x9f"},
        {"\xf0\x9f\x98\x80", SIZE_MAX, "\xf0\x9f\x98\x80"},
        {"bad \xff\xfe", SIZE_MAX, "bad \xef\xbf\xbd\xef\xbf\xbd"},
        {"cut \xe2\x82", SIZE_MAX, "cut \xef\xbf\xbd\xef\xbf\xbd"},
        {"overlong \xc0\xaf", SIZE_MAX, "overlong \xef\xbf\xbd\xef\xbf\xbd"},
        {"surrogate \xed\xa0\x80", SIZE_MAX, "surrogate \xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"},
        {"nul\0inside", 10, "nul\xef\xbf\xbdinside"},
        {"part of it", 4, "part"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        uint64_t id = vs_recorder_string(r, cases[i].text, cases[i].length);
        assert_int_equal(id, i + 1);
        assert_int_equal(vs_recorder_string(r, cases[i].text, cases[i].length), id);
    }
    assert_int_equal(vs_recorder_string(r, NULL, 3), 0);
    assert_int_equal(vs_recorder_string(r, "", SIZE_MAX), 0);
    char *large = malloc(100001);
    memset(large, 'x', 100000);
    large[100000] = '\0';
    uint64_t large_id = vs_recorder_string(r, large, SIZE_MAX);
    struct vs_event e = {.kind = VS_EVENT_mark};
    e.mark.name = 4711; /* undefined: must not damage the trace */
    vs_recorder_event(r, &e);
    vs_recorder_close(r, VS_END_EXIT, 0);

    struct vs_reader *reader = open_reader(scratch("strings.vst"));
    struct vs_event got;
    assert_true(next_plain(reader, &got));
    assert_int_equal(got.mark.name, 0);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        assert_string_equal(vs_reader_string(reader, i + 1), cases[i].read);
    assert_int_equal(strlen(vs_reader_string(reader, large_id)), 65536);
    assert_string_equal(vs_reader_string(reader, 0), "");
    assert_string_equal(vs_reader_string(reader, 999), "");
    vs_reader_close(reader);
    free(large);
}

static void big_event(struct vs_event *e, uint64_t i)
{
    memset(e, 0, sizeof *e);
    e->kind = i % 2 ? VS_EVENT_free : VS_EVENT_alloc;
    e->tid = 7;
    if (i % 2) {
        e->free.addr = UINT64_C(0x7f0000000000) + (i % 1000) * 512;
    } else {
        e->alloc.addr = UINT64_C(0x7f0000000000) + ((i + 1) % 1000) * 512;
        e->alloc.requested = i * 31 % 100000;
        e->alloc.size = (e->alloc.requested + 511) & ~UINT64_C(511);
    }
}

#define BIG 1000000

TEST(a_million_events_come_back_equal_stored_and_compressed)
{
    uint64_t sizes[2];
    for (unsigned level = 0; level <= 1; level++) {
        struct vs_recorder *r = open_recorder(scratch("big.vst"), level, 0);
        struct vs_event e, got;
        for (uint64_t i = 0; i < BIG; i++) {
            big_event(&e, i);
            vs_recorder_event(r, &e);
            if (i == 10000) /* nothing is queued behind this frame: it is packed as columns */
                vs_recorder_flush(r);
        }
        struct vs_recorder_stats stats;
        vs_recorder_stats(r, &stats);
        assert_int_equal(stats.events, BIG);
        assert_false(stats.failed);
        assert_true(stats.memory_bytes < 8u << 20);
        vs_recorder_close(r, VS_END_EXIT, 3);

        struct vs_frame_header first;
        int fd = open(scratch("big.vst"), O_RDONLY);
        assert_int_equal(pread(fd, &first, sizeof first, sizeof(struct vs_file_header)), sizeof first);
        close(fd);
        assert_int_equal(first.codec, level ? VS_COLUMNS : VS_STORED);
        struct vs_reader *reader = open_reader(scratch("big.vst"));
        sizes[level] = vs_reader_bytes(reader);
        for (int pass = 0; pass < 2; pass++) {
            for (uint64_t i = 0; i < BIG; i++) {
                big_event(&e, i);
                if (vs_reader_next(reader, &got) || got.kind != e.kind || got.tid != 7 ||
                    memcmp(got.fields, e.fields, sizeof e.fields))
                    fail_msg("event %llu differs", (unsigned long long)i);
            }
            assert_int_equal(vs_reader_next(reader, &got), VS_OK);
            assert_int_equal(got.end.status, 3);
            assert_int_equal(vs_reader_next(reader, &got), VS_ERR_END);
            assert_int_equal(vs_reader_next(reader, &got), VS_ERR_END);
            assert_condition(reader, VS_TRACE_COMPLETE);
            vs_reader_rewind(reader);
        }
        vs_reader_close(reader);
    }
    assert_true(sizes[1] * 2 < sizes[0]);
}

#define THREADS 4
#define PER_THREAD 50000

struct worker {
    struct vs_recorder *recorder;
    uint64_t number;
};

static void *work(void *arg)
{
    struct worker *w = arg;
    char name[32];
    for (uint64_t i = 0; i < PER_THREAD; i++) {
        struct vs_event e = {.kind = VS_EVENT_range_start};
        e.range_start.range = w->number << 32 | i;
        snprintf(name, sizeof name, "r%u", (unsigned)(i % 500));
        e.range_start.name = vs_recorder_string(w->recorder, name, SIZE_MAX);
        vs_recorder_event(w->recorder, &e);
    }
    return NULL;
}

TEST(threads_keep_their_order_and_time_never_goes_back)
{
    struct vs_recorder *r = open_recorder(scratch("threads.vst"), 1, 0);
    struct worker workers[THREADS];
    pthread_t threads[THREADS];
    for (uint64_t i = 0; i < THREADS; i++) {
        workers[i] = (struct worker){r, i};
        assert_int_equal(pthread_create(&threads[i], NULL, work, &workers[i]), 0);
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    vs_recorder_close(r, VS_END_EXIT, 0);

    struct vs_reader *reader = open_reader(scratch("threads.vst"));
    uint64_t next[THREADS] = {0}, last = 0;
    uint32_t tids[THREADS] = {0};
    for (struct vs_event got; next_plain(reader, &got);) {
        if (got.kind == VS_EVENT_end)
            break;
        uint64_t who = got.range_start.range >> 32, i = got.range_start.range & UINT32_MAX;
        char name[32];
        assert_true(who < THREADS);
        assert_int_equal(i, next[who]++);
        assert_true(!tids[who] || tids[who] == got.tid);
        tids[who] = got.tid;
        assert_true(got.time_ns >= last);
        last = got.time_ns;
        snprintf(name, sizeof name, "r%u", (unsigned)(i % 500));
        assert_string_equal(vs_reader_string(reader, got.range_start.name), name);
    }
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(next[i], PER_THREAD);
    vs_reader_close(reader);
}

TEST(flush_puts_everything_before_it_into_the_file)
{
    const char *path = scratch("flush.vst");
    struct vs_recorder *r = open_recorder(path, 1, 0);
    struct vs_event e = {.kind = VS_EVENT_mark}, got;
    vs_recorder_event(r, &e);
    vs_recorder_flush(r);
    vs_recorder_flush(r); /* no new data: returns at once */
    size_t bytes;
    unsigned char *copy = slurp(path, &bytes);
    struct vs_reader *reader = NULL;
    char why[VS_READER_WHY_MAX];
    assert_int_equal(vs_reader_open_bytes(copy, bytes, NULL, 0, "copy", &reader, why), VS_OK);
    assert_int_equal(vs_reader_next(reader, &got), VS_OK);
    assert_int_equal(got.kind, VS_EVENT_mark);
    assert_int_equal(vs_reader_next(reader, &got), VS_ERR_END);
    close_reader(reader, VS_TRACE_TRUNCATED);
    free(copy);
    vs_recorder_close(r, VS_END_EXIT, 0);
}

TEST(an_old_window_is_written_without_being_full)
{
    const char *path = scratch("old.vst");
    struct vs_recorder *r = open_with((struct vs_recorder_config){.path = path, .compression = 1,
        .flush_ms = 20});
    record_mark(r);
    struct stat st;
    for (int i = 0; i < 10000; i++) {
        usleep(10000);
        assert_int_equal(stat(path, &st), 0);
        if (st.st_size > 64)
            break;
    }
    assert_true(st.st_size > 64);
    vs_recorder_close(r, VS_END_EXIT, 0);
}

TEST(late_calls_do_nothing)
{
    struct vs_recorder *r = open_recorder(scratch("late.vst"), 1, 16);
    vs_recorder_close(r, VS_END_EXIT, 0);
    struct stat before, after;
    assert_int_equal(stat(scratch("late.vst"), &before), 0);
    struct vs_event e = {.kind = VS_EVENT_mark};
    vs_recorder_event(r, &e);
    assert_int_equal(vs_recorder_string(r, "x", 1), 0);
    assert_int_equal(vs_recorder_stack(r, 0), 0);
    vs_recorder_flush(r);
    vs_recorder_close(r, VS_END_EXIT, 1);
    vs_recorder_event(NULL, &e);
    vs_recorder_close(NULL, VS_END_EXIT, 0);
    assert_int_equal(stat(scratch("late.vst"), &after), 0);
    assert_int_equal(before.st_size, after.st_size);
}

TEST(an_existing_file_is_replaced_and_private)
{
    const char *path = scratch("there.vst");
    spit(path, "something else", 14);
    chmod(path, 0644);
    int old = open(path, O_RDONLY);
    struct vs_recorder *r = open_recorder(path, 1, 0);
    assert_string_equal(vs_recorder_path(r), path);
    vs_recorder_close(r, VS_END_EXIT, 0);
    char kept[32] = "";
    assert_int_equal(read(old, kept, sizeof kept), 14); /* a reader that has it open keeps its
                                                         * contents */
    close(old);
    struct stat st;
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0600);
    struct vs_reader *reader = open_reader(path);
    vs_reader_close(reader);
}

TEST(a_path_that_cannot_be_created_is_an_io_error)
{
    struct vs_recorder_config config = {.path = scratch("no/such/dir/x.vst")};
    struct vs_recorder *r = NULL;
    assert_int_equal(vs_recorder_open(&config, &r), VS_ERR_IO);
    assert_null(r);
    config.path = scratch_dir;
    assert_int_equal(vs_recorder_open(&config, &r), VS_ERR_IO);
}
