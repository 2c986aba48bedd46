/* SPDX-License-Identifier: Apache-2.0
 *
 * Golden traces with checkpoints: their states are those of reading everything, to the last field, although
 * other code wrote them. Those of v2_0_checkpoints.vst are older than the user's level, and only their
 * definitions are used. Never regenerated. */
#include "unit/trace/trace_test.h"

#include "analysis/checkpoint/trace_state.h"
#include "trace/read/rewrite.h"
#include "trace/read/seek.h"

#define GOLDEN VS_GOLDEN_DIR "/v2_0_checkpoints"
#define STATES VS_GOLDEN_DIR "/states/v2_0"

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

/* What both have read of definitions is the same. */
static void assert_same_definitions(struct vs_reader *one, struct vs_reader *other)
{
    const struct vs_reader_table *a = &one->table, *b = &other->table;
    assert_int_equal(a->string_count, b->string_count);
    for (uint64_t id = 1; id <= a->string_count; id++)
        assert_string_equal(vs_reader_string(one, id), vs_reader_string(other, id));
    assert_int_equal(a->node_count, b->node_count);
    assert_memory_equal(a->nodes, b->nodes, a->node_count * sizeof *a->nodes);
    assert_int_equal(a->module_count, b->module_count);
    for (size_t i = 0; i < a->module_count; i++) {
        assert_int_equal(a->modules[i].base, b->modules[i].base);
        assert_string_equal(a->modules[i].path, b->modules[i].path);
    }
}

/* Whether the states of the checkpoints, all of which are valid, have the user's level. */
static void assert_user_level(struct vs_reader *reader, bool has)
{
    struct vs_checkpoints *all = vs_reader_checkpoints(reader);
    size_t i = 0;
    for (; vs_checkpoints_item(all, i); i++) {
        struct vs_trace_state *point = vs_trace_state_open(reader);
        assert_int_equal(vs_reader_to_checkpoint(reader, i), VS_OK);
        assert_int_equal(
            vs_checkpoints_each(all, i, VS_CHECKPOINT_STATE, vs_trace_state_load, point), VS_OK);
        assert_int_equal(vs_trace_state_loaded(point), VS_OK);
        assert_int_equal(point->has_user_level, has);
        vs_trace_state_close(point);
    }
    assert_true(i > 3);
}

TEST(a_point_is_the_same_with_them_and_without)
{
    static const char *const paths[] = {GOLDEN ".vst", STATES ".vst"};
    for (int recent = 0; recent < 2; recent++) {
        struct vs_reader *with = open_reader(paths[recent]), *without = open_reader(paths[recent]);
        struct vs_extent extent;
        assert_int_equal(vs_reader_attach(with), VS_OK);
        assert_int_equal(vs_reader_extent(with, &extent), VS_OK);
        for (uint64_t number = extent.events + 1; number-- > 0;) {
            size_t bytes, other_bytes;
            char *one = state_at(with, number, &bytes), *other = state_at(without, number, &other_bytes);
            assert_int_equal(bytes, other_bytes);
            assert_memory_equal(one, other, bytes);
            if (number == extent.events) /* the last checkpoint has the definitions of all */
                assert_same_definitions(with, without);
            free(one);
            free(other);
        }
        assert_non_null(vs_reader_checkpoints(with));
        assert_user_level(with, recent);
        vs_reader_close(with);
        vs_reader_close(without);
    }
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
    assert_same_definitions(reader, good);
    vs_reader_close(reader);
    vs_reader_close(good);
}
