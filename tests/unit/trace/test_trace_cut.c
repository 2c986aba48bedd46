/* SPDX-License-Identifier: Apache-2.0
 *
 * States that a machine stop may leave of a trace and of FILE.live: truncated at any byte, both of
 * them, with pages that are zero, missing, or from an earlier time; and a finished trace, truncated
 * or damaged. Whatever is left, the events read are the first ones of the trace, unchanged, and a
 * sentence reports how it ends. */
#include "unit/trace/trace_test.h"

#ifdef __SANITIZE_ADDRESS__ /* several times slower */
#define EVENTS 50u
#define PART 10u
#else
#define EVENTS 120u
#define PART 24u /* events per frame */
#endif
#define PAGE 4096u
#define NAME "a function with a name of some length, number %u"

struct image {
    unsigned char *file, *live;
    size_t file_bytes, live_bytes, live_used; /* used: up to the last byte of the last record */
    size_t frames[EVENTS / PART + 1];         /* where FILE ended after each */
};

static struct image trace; /* before its end: some frames in FILE, and the windows */
static struct image older; /* FILE.live of the same trace, two frames earlier */
/* The same trace after its end, with an end event: with and without compression. */
static struct image compressed, finished;

static void make_images(unsigned compression)
{
    const char *path = scratch("image.vst"), *live = live_of(path);
    struct vs_recorder *r = open_recorder(path, compression, 0);
    struct image *end = compression ? &compressed : &finished;
    size_t frames = 0;
    for (uint64_t i = 0; i < EVENTS; i++) {
        char name[64];
        snprintf(name, sizeof name, NAME, (unsigned)i);
        record_event(r, EVENT(alloc, .addr = UINT64_C(0x7f0011000000) + (i << 12), .size = i * i,
                              .requested = ~i, .api = vs_recorder_string(r, name, SIZE_MAX)));
        if (i % PART == PART - 1 && i < EVENTS - 1) {
            vs_recorder_flush(r);
            free(slurp(path, &trace.frames[frames++]));
        }
        if (i == EVENTS - 2 * PART - 1)
            older.live = slurp(live, &older.live_bytes);
    }
    trace.file = slurp(path, &trace.file_bytes);
    trace.live = slurp(live, &trace.live_bytes);
    vs_recorder_close(r, VS_END_EXIT, 0);
    end->file = slurp(path, &end->file_bytes);
}

SETUP(make_all_images)
{
    make_images(1);
    free(trace.file);
    free(trace.live);
    free(older.live);
    memset(&trace, 0, sizeof trace);
    memset(&older, 0, sizeof older);
    make_images(0);
    assert_true(compressed.file_bytes < finished.file_bytes);
    struct vs_live_header header;
    memcpy(&header, trace.live, sizeof header);
    for (unsigned i = 0; i < header.windows; i++) {
        size_t end = header.header_bytes + i * header.window_bytes + header.window[i].used;
        if (header.window[i].used && end > trace.live_used)
            trace.live_used = end;
    }
    return !trace.live_used;
}

/* The byte of FILE.live to test after *n*: all of its header and its records, no holes. */
static size_t next_used(size_t n)
{
    struct vs_live_header header;
    size_t next = trace.live_used + 1;
    memcpy(&header, trace.live, sizeof header);
    if (++n <= sizeof header)
        return n;
    for (unsigned i = 0; i < header.windows; i++) {
        size_t begin = header.header_bytes + i * header.window_bytes;
        size_t end = begin + header.window[i].used, at = n < begin ? begin : n;
        if (header.window[i].used && at <= end && at < next)
            next = at;
    }
    return next;
}

/* The number of events read; they must be the first ones, and the end must be reported. */
static uint64_t read_image(const unsigned char *file, size_t bytes, const unsigned char *live,
                           size_t live_bytes, enum vs_condition *condition)
{
    struct vs_reader *reader = NULL;
    char why[VS_READER_WHY_MAX] = "", name[64];
    uint64_t n = 0;
    enum vs_condition ignored;
    condition = condition ? condition : &ignored;
    *condition = VS_TRACE_DAMAGED;
    if (vs_reader_open_bytes(file, bytes, live, live_bytes, "t.vst", &reader, why)) {
        assert_true(strlen(why) > 10);
        return 0;
    }
    for (struct vs_event got; !vs_reader_next(reader, &got);) {
        if (n == EVENTS && got.kind == VS_EVENT_end)
            continue;
        assert_int_equal(got.kind, VS_EVENT_alloc);
        assert_int_equal(got.alloc.addr, UINT64_C(0x7f0011000000) + (n << 12));
        assert_int_equal(got.alloc.size, n * n);
        assert_int_equal(got.alloc.requested, ~n);
        snprintf(name, sizeof name, NAME, (unsigned)n);
        assert_string_equal(vs_reader_string(reader, got.alloc.api), name);
        n++;
    }
    *condition = vs_reader_condition(reader, why);
    bool whole = (file == finished.file && bytes == finished.file_bytes) ||
                 (file == compressed.file && bytes == compressed.file_bytes);
    assert_true((*condition == VS_TRACE_COMPLETE) == whole);
    assert_true(strlen(why) > 20);
    assert_null(strchr(why, '\n'));
    vs_reader_close(reader);
    return n;
}

/* Events in the whole frames of the first *bytes* of FILE. */
static uint64_t events_in(size_t bytes)
{
    uint64_t n = 0;
    for (size_t i = 0; i < EVENTS / PART && trace.frames[i]; i++)
        n += trace.frames[i] <= bytes ? PART : 0;
    return n;
}

/* All windows but that of the first frame are still there. */
TEST(nothing_in_the_windows_is_lost_wherever_the_file_was_cut)
{
    enum vs_condition condition;
    for (size_t n = trace.frames[0]; n <= trace.file_bytes; n++) {
        assert_int_equal(read_image(trace.file, n, trace.live, trace.live_bytes, &condition), EVENTS);
        assert_int_equal(condition, VS_TRACE_LIVE);
    }
}

static void cut_at_every_byte(const struct image *whole)
{
    uint64_t last = 0, steps = 0;
    enum vs_condition condition;
    for (size_t n = 0; n < whole->file_bytes; n++) {
        unsigned char *own = malloc(n + 1); /* reads beyond it are detected */
        memcpy(own, whole->file, n);
        uint64_t events = read_image(own, n, NULL, 0, &condition);
        free(own);
        assert_true(events >= last);
        steps += events > last;
        last = events;
        assert_int_equal(condition, n < sizeof(struct vs_file_header) ? VS_TRACE_DAMAGED
                                                                      : VS_TRACE_TRUNCATED);
    }
    assert_int_equal(read_image(whole->file, whole->file_bytes, NULL, 0, &condition), EVENTS);
    assert_int_equal(last, EVENTS);
    assert_int_equal(steps, EVENTS / PART);
}

TEST(the_finished_file_cut_at_every_byte)
{
    cut_at_every_byte(&finished);
    cut_at_every_byte(&compressed);
}

TEST(bytes_after_the_end_are_reported_and_harmless)
{
    char text[VS_READER_WHY_MAX];
    struct vs_reader *reader = NULL;
    struct vs_event got;
    unsigned char *longer = malloc(finished.file_bytes + 10);
    memcpy(longer, finished.file, finished.file_bytes);
    memset(longer + finished.file_bytes, 'x', 10);
    assert_int_equal(vs_reader_open_bytes(longer, finished.file_bytes + 10, NULL, 0, "t", &reader,
                                          NULL), VS_OK);
    for (unsigned n = 0; n <= EVENTS; n++)
        assert_int_equal(vs_reader_next(reader, &got), VS_OK);
    assert_int_equal(vs_reader_next(reader, &got), VS_ERR_END);
    assert_int_equal(vs_reader_condition(reader, text), VS_TRACE_COMPLETE);
    assert_non_null(strstr(text, "10 bytes after its end"));
    vs_reader_close(reader);
    free(longer);
}

TEST(the_live_file_cut_at_every_byte)
{
    uint64_t least = UINT64_MAX, most = 0;
    enum vs_condition condition;
    for (size_t n = 0, step = 0; n <= trace.live_used; n = next_used(n), step++) {
        unsigned char *own = step % 64 ? NULL : malloc(n + 1); /* reads beyond it are detected */
        if (own)
            memcpy(own, trace.live, n);
        uint64_t events =
            read_image(trace.file, trace.file_bytes, own ? own : trace.live, n, &condition);
        assert_in_range(events, events_in(trace.file_bytes), EVENTS);
        least = events < least ? events : least;
        most = events > most ? events : most;
        free(own);
    }
    assert_int_equal(least, events_in(trace.file_bytes));
    assert_int_equal(most, EVENTS);
}

TEST(both_cut_at_once)
{
    for (size_t n = sizeof(struct vs_file_header); n < trace.file_bytes; n += 97) {
        for (size_t m = 0, step = 0; m <= trace.live_used; m = next_used(m), step++) {
            if (step % 499 != n % 7)
                continue;
            uint64_t events = read_image(trace.file, n, trace.live, m, NULL);
            assert_in_range(events, events_in(n), EVENTS);
        }
    }
}

/* The size reached the disk, but the last pages did not. */
TEST(the_end_of_the_file_zeroed_from_every_byte)
{
    unsigned char *zeroed = malloc(trace.file_bytes);
    enum vs_condition condition;
    memcpy(zeroed, trace.file, trace.file_bytes);
    for (size_t n = trace.file_bytes; n-- > sizeof(struct vs_file_header);) {
        zeroed[n] = 0;
        uint64_t alone = read_image(zeroed, trace.file_bytes, NULL, 0, &condition);
        assert_in_range(alone, events_in(n), events_in(trace.file_bytes));
        assert_true(condition == VS_TRACE_TRUNCATED || condition == VS_TRACE_DAMAGED);
        for (size_t i = 0; i < EVENTS / PART; i++) {
            if (n == trace.frames[i])
                assert_int_equal(condition, VS_TRACE_TRUNCATED);
        }
        if (n % 16)
            continue;
        uint64_t events = read_image(zeroed, trace.file_bytes, trace.live, trace.live_bytes, NULL);
        assert_in_range(events, alone, EVENTS);
    }
    free(zeroed);
}

TEST(zero_pages_in_the_live_file)
{
    unsigned char *zeroed = malloc(trace.live_bytes);
    size_t pages = (trace.live_used + PAGE - 1) / PAGE;
    for (size_t first = 0; first < pages; first++) {
        bool used = false;
        for (size_t i = first * PAGE; i < (first + 1) * PAGE; i++)
            used |= trace.live[i] != 0;
        for (size_t count = 1; used && count <= 3; count++) {
            memcpy(zeroed, trace.live, trace.live_bytes);
            memset(zeroed + first * PAGE, 0, count * PAGE);
            uint64_t events = read_image(trace.file, trace.file_bytes, zeroed, trace.live_bytes, NULL);
            assert_in_range(events, events_in(trace.file_bytes), EVENTS);
            for (size_t i = 0; i < EVENTS / PART - 1; i++) {
                events = read_image(trace.file, trace.frames[i], zeroed, trace.live_bytes, NULL);
                assert_in_range(events, (i + 1) * PART, EVENTS);
            }
        }
    }
    free(zeroed);
}

TEST(a_live_file_of_an_earlier_point)
{
    enum vs_condition condition;
    /* Regression: "60 events, the last 0 of them recovered". */
    char text[VS_READER_WHY_MAX], expect[64];
    struct vs_reader *reader = NULL;
    snprintf(expect, sizeof expect, ": %u events", (unsigned)events_in(trace.file_bytes));
    assert_int_equal(vs_reader_open_bytes(trace.file, trace.file_bytes, older.live, older.live_bytes,
                                          "t", &reader, text), VS_OK);
    for (struct vs_event got; !vs_reader_next(reader, &got);)
        ;
    assert_int_equal(vs_reader_condition(reader, text), VS_TRACE_LIVE);
    assert_string_equal(strchr(text, ':'), expect);
    vs_reader_close(reader);
    for (size_t n = trace.file_bytes; n >= sizeof(struct vs_file_header); n -= 7) {
        uint64_t events = read_image(trace.file, n, older.live, older.live_bytes, &condition);
        assert_in_range(events, events_in(n), EVENTS);
        if (n == trace.file_bytes) {
            assert_int_equal(events, events_in(n));
            assert_int_equal(condition, VS_TRACE_LIVE);
        }
    }
}

/* FILE with two frames beside *live*, in which part of the third's window is missing. */
static void assert_ends_with_two_frames(const unsigned char *live)
{
    char text[VS_READER_WHY_MAX];
    struct vs_reader *reader = NULL;
    assert_int_equal(vs_reader_open_bytes(trace.file, trace.frames[1], live, trace.live_bytes, "t",
                                          &reader, text), VS_OK);
    uint64_t n = 0;
    for (struct vs_event got; !vs_reader_next(reader, &got);)
        n++;
    assert_int_equal(n, 2 * PART);
    assert_int_equal(vs_reader_condition(reader, text), VS_TRACE_TRUNCATED);
    assert_non_null(strstr(text, "t.live has frame 4 and later ones"));
    assert_non_null(strstr(text, "the frames between are missing"));
    vs_reader_close(reader);
}

TEST(a_live_file_without_the_window_that_is_next)
{
    unsigned char *live = malloc(trace.live_bytes);
    struct vs_live_header header;
    memcpy(&header, trace.live, sizeof header);
    for (unsigned i = 0; i < header.windows; i++) {
        if (header.window[i].sequence != 3)
            continue;
        memcpy(live, trace.live, trace.live_bytes);
        memset(live + header.header_bytes + i * header.window_bytes, 0, header.window[i].used);
        assert_ends_with_two_frames(live);
        header.window[i].used = 0;
    }
    memcpy(live, trace.live, trace.live_bytes);
    memcpy(live, &header, sizeof header);
    assert_ends_with_two_frames(live);
    free(live);
}

/* The remaining part of a window may end where a record does, and a later window may be
 * complete. */
TEST(a_window_of_which_the_end_is_missing_is_the_last)
{
    struct vs_live_header header;
    unsigned missing_reported = 0;
    memcpy(&header, trace.live, sizeof header);
    assert_true(header.window[0].sequence == 5 && header.window[3].sequence == 4);
    size_t begin = header.header_bytes + 3 * header.window_bytes;
    for (size_t n = 1; n < header.window[3].used; n++) {
        enum vs_condition condition;
        uint64_t events = read_image(trace.file, trace.frames[2], trace.live, begin + n, &condition);
        assert_in_range(events, 3 * PART, 4 * PART - 1);
        missing_reported += condition == VS_TRACE_TRUNCATED;
    }
    assert_true(missing_reported >= PART - 1);
}

/* Frames have checksums, windows have none: the contents of FILE are read unchanged. */
TEST(every_byte_flipped)
{
    enum vs_condition condition;
    for (size_t i = sizeof(struct vs_file_header); i < trace.file_bytes; i++) {
        trace.file[i] ^= (unsigned char)(1 + i % 255);
        uint64_t events = read_image(trace.file, trace.file_bytes, NULL, 0, &condition);
        assert_true(events < events_in(trace.file_bytes));
        assert_true(condition != VS_TRACE_LIVE);
        trace.file[i] ^= (unsigned char)(1 + i % 255);
    }
    for (size_t i = 0; i < finished.file_bytes; i++) { /* also of index and trailer */
        unsigned char *copy = malloc(finished.file_bytes);
        memcpy(copy, finished.file, finished.file_bytes);
        copy[i] ^= (unsigned char)(1 + i % 255);
        read_image(copy, finished.file_bytes, NULL, 0, &condition);
        assert_true(condition != VS_TRACE_COMPLETE);
        free(copy);
    }
    for (size_t i = 0; i < trace.live_used; i = next_used(i)) {
        struct vs_reader *reader = NULL;
        trace.live[i] ^= (unsigned char)(1 + i % 255);
        assert_int_equal(vs_reader_open_bytes(trace.file, trace.file_bytes, trace.live,
                                              trace.live_bytes, "t", &reader, NULL), VS_OK);
        uint64_t n = 0;
        for (struct vs_event got; !vs_reader_next(reader, &got);) {
            assert_true(n >= events_in(trace.file_bytes) || got.alloc.size == n * n);
            n++;
        }
        assert_in_range(n, events_in(trace.file_bytes), EVENTS * 50);
        vs_reader_close(reader);
        trace.live[i] ^= (unsigned char)(1 + i % 255);
    }
}
