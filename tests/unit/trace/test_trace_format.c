/* SPDX-License-Identifier: Apache-2.0
 *
 * The bytes: the index is correct, additions of later versions are skipped, and invalid records end
 * the trace. Frames are built by hand here. */
#include "unit/trace/trace_test.h"

#define XXH_INLINE_ALL
#include <xxhash.h>
#include <zstd.h>

#include "trace/format/format.h"
#include "trace/read/reader_internal.h"

/* --- the index --- */

static void read_at(const unsigned char *file, size_t bytes, uint64_t offset, void *to, size_t n)
{
    assert_true(offset <= bytes && n <= bytes - offset);
    memcpy(to, file + offset, n);
}

TEST(the_index_finds_every_frame_and_its_times)
{
    enum { FLUSHES = 1100, PER_FLUSH = 3 }; /* two index frames */
    const char *path = scratch("index.vst");
    struct vs_recorder *r = open_recorder(path, 1, 0);
    uint64_t first_ns[FLUSHES], last_ns[FLUSHES];
    for (int i = 0; i < FLUSHES; i++) {
        for (int j = 0; j < PER_FLUSH; j++) {
            struct vs_event e = EVENT(mark);
            vs_recorder_event(r, &e);
            if (!j)
                first_ns[i] = e.time_ns;
            last_ns[i] = e.time_ns;
        }
        vs_recorder_flush(r);
    }
    vs_recorder_close(r, VS_END_EXIT, 0);

    size_t bytes;
    unsigned char *file = slurp(path, &bytes);
    struct vs_trailer trailer;
    read_at(file, bytes, bytes - sizeof trailer, &trailer, sizeof trailer);
    assert_memory_equal(trailer.magic, VS_END_MAGIC, VS_MAGIC_BYTES);
    assert_int_equal(trailer.file_bytes, bytes);
    uint64_t at = trailer.index_offset, expected = FLUSHES + 1, indexes = 0;
    while (at) {
        struct vs_frame_header header;
        struct vs_index_header index;
        read_at(file, bytes, at, &header, sizeof header);
        assert_int_equal(header.type, VS_FRAME_INDEX);
        read_at(file, bytes, at + sizeof header, &index, sizeof index);
        assert_int_equal(header.raw_bytes,
                         sizeof index + index.entries * sizeof(struct vs_index_entry));
        assert_int_equal(index.flags, indexes ? 0 : VS_INDEX_FINAL);
        assert_int_equal(index.events, index.flags ? FLUSHES * PER_FLUSH + 1
                                                   : 1024 * PER_FLUSH);
        for (uint32_t i = index.entries; i-- > 0;) {
            struct vs_index_entry entry;
            struct vs_frame_header frame;
            read_at(file, bytes, at + sizeof header + sizeof index + i * sizeof entry, &entry,
                    sizeof entry);
            read_at(file, bytes, entry.offset, &frame, sizeof frame);
            assert_int_equal(frame.sequence, expected);
            assert_int_equal(frame.sequence, index.first_sequence + i);
            assert_int_equal(entry.events, frame.events);
            assert_int_equal(entry.first_event, (expected - 1) * PER_FLUSH);
            if (expected <= FLUSHES) {
                assert_true(entry.base_ns <= first_ns[expected - 1]);
                assert_int_equal(entry.last_ns, last_ns[expected - 1]);
                assert_int_equal(entry.events, PER_FLUSH);
                assert_int_equal(entry.definitions > 0, expected == 1);
            }
            expected--;
        }
        at = index.previous_offset;
        indexes++;
    }
    assert_int_equal(expected, 0);
    assert_int_equal(indexes, 2);
    free(file);
    struct vs_reader *reader = open_reader(path);
    uint64_t events = 0;
    for (struct vs_event got; !vs_reader_next(reader, &got);)
        events++;
    assert_int_equal(events, FLUSHES * PER_FLUSH + 1);
    close_reader(reader, VS_TRACE_COMPLETE);
}

/* --- built by hand --- */

struct built {
    unsigned char *file;
    size_t bytes;
    unsigned char *p; /* end of the records of the frame being built */
    unsigned char *records;
    uint64_t sequence;
};

#define RECORDS_MAX VS_FRAME_RAW_MAX

static void begin(struct built *b)
{
    struct vs_file_header h = {.magic = VS_FILE_MAGIC,
                               .major = VS_FORMAT_MAJOR,
                               .byte_order = VS_BYTE_ORDER,
                               .header_bytes = sizeof h};
    h.checksum = XXH64(&h, offsetof(struct vs_file_header, checksum), 0);
    memset(b, 0, sizeof *b);
    b->file = malloc(sizeof h);
    b->records = b->p = malloc(RECORDS_MAX);
    memcpy(b->file, &h, sizeof h);
    b->bytes = sizeof h;
}

/* Appends a frame of *type* with the records so far, its header *extra* longer. */
static void put_frame(struct built *b, unsigned type, uint32_t events, uint64_t base_ns,
                      size_t extra, bool compress)
{
    size_t raw = (size_t)(b->p - b->records), stored = raw;
    unsigned char *payload = malloc(ZSTD_compressBound(raw));
    if (compress)
        stored = ZSTD_compress(payload, ZSTD_compressBound(raw), b->records, raw, 1);
    else
        memcpy(payload, b->records, raw);
    struct vs_frame_header h = {.sync = VS_FRAME_SYNC,
                                .type = (uint8_t)type,
                                .codec = compress ? VS_ZSTD : VS_STORED,
                                .header_bytes = (uint16_t)(sizeof h + extra),
                                .raw_bytes = (uint32_t)raw,
                                .stored_bytes = (uint32_t)stored,
                                .sequence = type == VS_FRAME_EVENTS ? ++b->sequence : 0,
                                .base_ns = base_ns,
                                .events = events};
    b->file = realloc(b->file, b->bytes + sizeof h + extra + stored);
    unsigned char *at = b->file + b->bytes;
    memset(at + sizeof h, 0xee, extra);
    memcpy(at + sizeof h + extra, payload, stored);
    XXH64_state_t *state = XXH64_createState();
    XXH64_reset(state, 0);
    XXH64_update(state, &h, offsetof(struct vs_frame_header, checksum));
    XXH64_update(state, at + sizeof h, extra + stored);
    h.checksum = XXH64_digest(state);
    XXH64_freeState(state);
    memcpy(at, &h, sizeof h);
    b->bytes += sizeof h + extra + stored;
    b->p = b->records;
    free(payload);
}

static void put_bytes(struct built *b, const char *bytes, size_t n)
{
    memcpy(b->p, bytes, n);
    b->p += n;
}
#define PUT(b, literal) put_bytes(b, literal, sizeof(literal) - 1)

/* `range_end` with its one field, as this version describes it. */
static void put_range_end_kind(struct built *b)
{
    PUT(b, "\x3a\x33\x01\x00\x01" "e" "\x01" "r");
}

static struct vs_reader *open_built(struct built *b)
{
    struct vs_reader *reader = NULL;
    assert_int_equal(vs_reader_open_bytes(b->file, b->bytes, NULL, 0, "built", &reader, NULL),
                     VS_OK);
    return reader;
}

static void end(struct built *b, struct vs_reader *reader)
{
    vs_reader_close(reader);
    free(b->file);
    free(b->records);
}

TEST(kinds_fields_frames_and_headers_of_later_versions_are_passed_over)
{
    struct built b;
    begin(&b);
    PUT(&b, "whatever a later version writes");
    put_frame(&b, 77, 0, 0, 0, false);
    PUT(&b, "\x38\x02hi");                            /* string 1 */
    PUT(&b, "\x3a\x2c\x02\x00\x02\x01x\x01" "a\x01" "b"); /* kind 44: U, A */
    PUT(&b, "\x3a\x33\x03\x00\x04\x02\x01" "e\x01r\x01s\x01t"); /* range_end with two more */
    PUT(&b, "\x3a\x31\x00\x01p"); /* range_pop without its field */
    PUT(&b, "\x6c\x05\x0a\x63\x10");                  /* 44: thread 5, +10 ns */
    PUT(&b, "\x33\x03\x07\x01\x20");                  /* range_end: +3 ns, 7, extra ones */
    PUT(&b, "\xb1");                                  /* range_pop, same time */
    put_frame(&b, VS_FRAME_EVENTS, 3, 1000, 40, false);
    struct vs_reader *reader = open_built(&b);
    struct vs_event got;
    assert_int_equal(vs_reader_next(reader, &got), VS_OK);
    assert_int_equal(got.kind, VS_EVENT_range_end);
    assert_int_equal(got.range_end.range, 7);
    assert_int_equal(got.tid, 5);
    assert_int_equal(got.time_ns, 1013);
    assert_int_equal(got.fields[1], 0);
    assert_int_equal(vs_reader_next(reader, &got), VS_OK);
    assert_int_equal(got.kind, VS_EVENT_range_pop);
    assert_int_equal(got.range_pop.domain, 0);
    assert_int_equal(got.time_ns, 1013);
    assert_int_equal(vs_reader_next(reader, &got), VS_ERR_END);
    assert_condition(reader, VS_TRACE_TRUNCATED);
    end(&b, reader);
}

TEST(records_that_make_no_sense_end_the_trace_there)
{
    static const struct {
        const char *bytes;
        size_t n;
    } bad[] = {
#define BAD(literal) {literal, sizeof(literal) - 1}
        BAD("\x00"),                             /* a record never begins with 0 */
        BAD("\x10"),                             /* not described */
        BAD("\x3b"),                             /* reserved */
        BAD("\x78\x01x"),                        /* a definition with flags */
        BAD("\x33"),                             /* cut off */
        BAD("\x33\x01\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02"), /* beyond 64 bits */
        BAD("\x73\xff\xff\xff\xff\xff\x01\x01\x01"), /* thread beyond 32 bits */
        BAD("\x33\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01\x01"), /* time beyond 64 bits */
        BAD("\x38\x05" "abc"),                   /* text longer than the frame */
        BAD("\x38\x81\x80\x04x"),                /* text longer than allowed */
        BAD("\x39\x00\x00\x01"),                 /* its own parent */
        BAD("\x39\x02\x00\x01"),                 /* a parent before the first */
        BAD("\x39\x01\x00"),                     /* cut off */
        BAD("\x3a\x00\x00\x01x"),                /* kind 0 */
        BAD("\x3a\x40\x00\x01x"),                /* kind 64 */
        BAD("\x3a\x2a\x01\x06\x01x\x01y"),       /* unknown codec */
        BAD("\x3a\x33\x01\x04\x01x\x01y"),       /* a known field with another codec */
        BAD("\x3a\x2a\x41\x00\x01x"),            /* too many fields */
        BAD("\x3a\x2a\x01\x00\x01x\x09y"),       /* name longer than the frame */
        BAD("\x3a\x34\x02\x04\x04\x01m\x01n\x01" "d\xb4\x01\x00"), /* undefined text */
        BAD("\x3a\x15\x06\x02\x00\x00\x00\x00\x05\x01x\x01" "a\x01" "a\x01" "a\x01" "a\x01" "a\x01" "a"
            "\x95\x01\x01\x01\x01\x01\x01"),     /* undefined stack */
#undef BAD
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct built b;
        struct vs_event got;
        char text[VS_READER_WHY_MAX];
        begin(&b);
        put_range_end_kind(&b);
        PUT(&b, "\x73\x09\x01\x2a"); /* a good event */
        put_bytes(&b, bad[i].bytes, bad[i].n);
        put_frame(&b, VS_FRAME_EVENTS, 2, 1000, 0, false);
        put_range_end_kind(&b);
        PUT(&b, "\x73\x09\x01\x2b"); /* not read any more */
        put_frame(&b, VS_FRAME_EVENTS, 1, 2000, 0, false);
        struct vs_reader *reader = open_built(&b);
        assert_int_equal(vs_reader_next(reader, &got), VS_OK);
        assert_int_equal(got.range_end.range, 42);
        if (vs_reader_next(reader, &got) != VS_ERR_END)
            fail_msg("bad record %zu was read", i);
        assert_int_equal(vs_reader_condition(reader, text), VS_TRACE_DAMAGED);
        assert_non_null(strstr(text, "the 1 event before it is readable"));
        end(&b, reader);
    }
}

TEST(frames_that_contradict_themselves_end_the_trace)
{
    for (int i = 0; i < 3; i++) {
        struct built b;
        struct vs_event got;
        begin(&b);
        put_range_end_kind(&b);
        PUT(&b, "\x73\x09\x01\x2a");
        put_frame(&b, VS_FRAME_EVENTS, i == 0 ? 2 : 1, 1000, 0, true); /* 0: claims two events */
        PUT(&b, "\x73\x09\x01\x2b");
        b.sequence += i == 1;                                          /* 1: a frame is missing */
        put_frame(&b, VS_FRAME_EVENTS, 1, i == 2 ? 1000 : 2000, 0, true); /* 2: time goes back */
        struct vs_reader *reader = open_built(&b);
        assert_int_equal(vs_reader_next(reader, &got), VS_OK);
        assert_int_equal(vs_reader_next(reader, &got), VS_ERR_END);
        assert_condition(reader, VS_TRACE_DAMAGED);
        end(&b, reader);
    }
}

TEST(tables_stay_within_what_the_file_can_hold)
{
    struct built b;
    begin(&b);
    for (int frame = 0; frame < 20; frame++) { /* 80 MiB of stack nodes in 10 KiB */
        while (b.p + 4 <= b.records + RECORDS_MAX)
            PUT(&b, "\x39\x01\x00\x01");
        put_frame(&b, VS_FRAME_EVENTS, 0, 0, 0, true);
    }
    assert_true(b.bytes < 64 << 10);
    struct vs_reader *reader = open_built(&b);
    struct vs_event got;
    char text[VS_READER_WHY_MAX];
    assert_int_equal(vs_reader_next(reader, &got), VS_ERR_END);
    assert_int_equal(vs_reader_condition(reader, text), VS_TRACE_DAMAGED);
    assert_non_null(strstr(text, "more than a file of this size can contain"));
    assert_true(reader->table.node_count * sizeof(struct vs_stack_node) < 32u << 20);
    end(&b, reader);
}

TEST(modules_are_taken_in_order_and_odd_indexes_change_nothing)
{
    struct vs_recorder *r = open_recorder(scratch("modules.vst"), 1, 0);
    static const uint64_t indexes[] = {5, 0, 1, UINT64_MAX, 0, 0};
    static const char *const paths[] = {"/odd", "/zero", "/one", "/max", "/again", ""};
    for (int i = 0; i < 6; i++) {
        record_event(r, EVENT(module, .module = indexes[i], .base = 0x1000u * (unsigned)(i + 1),
                              .path = vs_recorder_string(r, paths[i], SIZE_MAX), .alive = i < 5));
    }
    vs_recorder_close(r, VS_END_EXIT, 0);
    struct vs_reader *reader = open_reader(scratch("modules.vst"));
    struct vs_event got;
    for (int i = 0; i < 6; i++) {
        assert_int_equal(vs_reader_next(reader, &got), VS_OK);
        assert_int_equal(got.module.module, indexes[i]);
    }
    assert_string_equal(vs_reader_module(reader, 0)->path, "/again");
    assert_string_equal(vs_reader_module(reader, 1)->path, "/one");
    assert_string_equal(vs_reader_module(reader, 1)->build_id, "");
    assert_null(vs_reader_module(reader, 2));
    assert_null(vs_reader_module(reader, VS_NO_MODULE));
    vs_reader_close(reader);
}

/* The same with its final index compressed: a few compressed bytes could claim many entries: an index must be stored, otherwise the frames
 * are scanned. */
TEST(a_compressed_index_is_not_believed)
{
    const char *path = scratch("index.vst");
    struct vs_recorder *recorder = open_recorder(path, 1, 0);
    for (unsigned i = 0; i < 10; i++) {
        record_mark(recorder);
        vs_recorder_flush(recorder);
    }
    vs_recorder_close(recorder, VS_END_EXIT, 0);
    size_t bytes;
    unsigned char *file = slurp(path, &bytes), *changed = malloc(2 * bytes + 4096);
    assert_non_null(changed);
    struct vs_source source = {.fd = -1, .bytes = file, .size = bytes};
    struct vs_frame_list list, again;
    vs_frame_list_load(&list, &source, sizeof(struct vs_file_header));
    assert_true(list.from_index);
    assert_true(list.count >= 10);
    struct vs_trailer trailer;
    struct vs_frame_header h;
    memcpy(&trailer, file + bytes - sizeof trailer, sizeof trailer);
    memcpy(&h, file + trailer.index_offset, sizeof h);
    memcpy(changed, file, trailer.index_offset);
    unsigned char *at = changed + trailer.index_offset, *payload = at + sizeof h;
    size_t stored = ZSTD_compress(payload, ZSTD_compressBound(h.raw_bytes),
                                  file + trailer.index_offset + h.header_bytes, h.raw_bytes, 9);
    assert_false(ZSTD_isError(stored));
    h.codec = VS_ZSTD;
    h.stored_bytes = (uint32_t)stored;
    vs_frame_seal(&h, NULL, payload);
    memcpy(at, &h, sizeof h);
    trailer.file_bytes = (uint64_t)(payload + stored - changed) + sizeof trailer;
    vs_trailer_seal(&trailer);
    memcpy(payload + stored, &trailer, sizeof trailer);
    source = (struct vs_source){.fd = -1, .bytes = changed, .size = trailer.file_bytes};
    vs_frame_list_load(&again, &source, sizeof(struct vs_file_header));
    assert_false(again.from_index);
    assert_int_equal(again.count, list.count);
    vs_frame_list_free(&list);
    vs_frame_list_free(&again);
    free(file);
    free(changed);
}
