/* SPDX-License-Identifier: Apache-2.0
 *
 * The golden trace with checkpoints: they are restored as before, to the last field, and a report
 * of a point is the same with them and without. Never regenerated. */
#include "unit/trace/trace_test.h"

#include "analysis/checkpoint/trace_state.h"
#include "golden/checkpoint_print.h"
#include "trace/read/rewrite.h"
#include "trace/read/seek.h"

#define GOLDEN VS_GOLDEN_DIR "/v2_0_checkpoints"

TEST(checkpoints_are_restored_as_they_always_were)
{
    char *text = NULL;
    size_t bytes = 0, expected_bytes;
    struct vs_reader *reader = open_reader(GOLDEN ".vst");
    FILE *out = open_memstream(&text, &bytes);
    assert_non_null(out);
    assert_int_equal(vs_checkpoint_print(reader, out), VS_OK);
    fclose(out);
    unsigned char *expected = slurp(GOLDEN ".checkpoints.txt", &expected_bytes);
    assert_int_equal(bytes, expected_bytes);
    assert_memory_equal(text, expected, bytes);
    free(expected);
    free(text);
    vs_reader_close(reader);
}

static enum vs_err collect(void *context, const unsigned char *bytes, size_t count)
{
    FILE *out = context;
    return fwrite(bytes, 1, count, out) == count ? VS_OK : VS_ERR_NOMEM;
}

/* The state before event *number*, as bytes. */
static char *state_at(struct vs_reader *reader, uint64_t number, size_t *bytes)
{
    struct vs_trace_state *point;
    char *text = NULL;
    FILE *out = open_memstream(&text, bytes);
    assert_non_null(out);
    assert_int_equal(vs_trace_state_at_event(reader, number, &point), VS_OK);
    assert_int_equal(vs_trace_state_save(point, collect, out), VS_OK);
    vs_trace_state_close(point);
    fclose(out);
    return text;
}

TEST(a_point_is_the_same_with_them_and_without)
{
    struct vs_reader *with = open_reader(GOLDEN ".vst"), *without = open_reader(GOLDEN ".vst");
    assert_int_equal(vs_reader_attach(with), VS_OK);
    for (uint64_t number = 0; number < 140; number += 3) {
        size_t bytes, other_bytes;
        char *one = state_at(with, number, &bytes), *other = state_at(without, number, &other_bytes);
        assert_int_equal(bytes, other_bytes);
        assert_memory_equal(one, other, bytes);
        free(one);
        free(other);
    }
    assert_non_null(vs_reader_checkpoints(with));
    vs_reader_close(with);
    vs_reader_close(without);
}

/* Changes *needle* in the first definition frame to *other*, and ends the frame in an invalid
 * record: inconsistent definitions with a correct checksum. */
static void spoil(unsigned char *payload, size_t *bytes, const char *needle, const char *other)
{
    unsigned char *at = memmem(payload, *bytes, needle, strlen(needle));
    assert_non_null(at);
    memcpy(at, other, strlen(other));
    payload[(*bytes)++] = 0xd0;
}

/* The golden trace with its first definitions spoiled, at *path*. */
static void write_spoiled(const char *path)
{
    char why[VS_READER_WHY_MAX];
    struct vs_reader *reader = open_reader(GOLDEN ".vst");
    struct vs_directory_entry *entries;
    size_t count, bytes;
    struct vs_rewrite *rewrite;
    unsigned char *payload = malloc(VS_FRAME_RAW_MAX);
    assert_non_null(payload);
    assert_int_equal(vs_directory_load(&reader->file, &entries, &count), VS_OK);
    assert_int_equal(
        vs_rewrite_open(GOLDEN ".vst", path, 1u << VS_FRAME_CHECKPOINT, &rewrite, why), VS_OK);
    bool done = false;
    for (size_t i = 0; i < count; i++) {
        if (entries[i].type != VS_FRAME_CHECKPOINT)
            continue;
        assert_int_equal(vs_directory_read(&reader->file, &entries[i], payload, &bytes), VS_OK);
        if (!done)
            spoil(payload, &bytes, "cudaMalloc", "cudaMallox");
        done = true;
        assert_int_equal(vs_rewrite_add(rewrite, VS_FRAME_CHECKPOINT, entries[i].time_ns,
                                        entries[i].sequence, payload, bytes), VS_OK);
    }
    assert_int_equal(vs_rewrite_commit(rewrite, why), VS_OK);
    free(entries);
    free(payload);
    vs_reader_close(reader);
}

/* Regression: definitions of a rejected checkpoint stayed in the tables, and events had its
 * texts. */
TEST(definitions_that_do_not_fit_leave_nothing_behind)
{
    const char *path = scratch("spoiled.vst");
    struct vs_trace_state *point;
    write_spoiled(path);
    struct vs_reader *reader = open_reader(path), *good = open_reader(GOLDEN ".vst");
    assert_int_equal(vs_reader_attach(reader), VS_OK);
    assert_int_equal(vs_trace_state_at_event(reader, 100, &point), VS_OK);
    assert_null(vs_reader_checkpoints(reader)); /* refused */
    vs_trace_state_close(point);
    assert_int_equal(vs_trace_state_at_event(good, 100, &point), VS_OK);
    vs_trace_state_close(point);
    assert_true(reader->table.string_count == good->table.string_count);
    for (uint64_t id = 1; id <= good->table.string_count; id++)
        assert_string_equal(vs_reader_string(reader, id), vs_reader_string(good, id));
    vs_reader_close(reader);
    vs_reader_close(good);
}
