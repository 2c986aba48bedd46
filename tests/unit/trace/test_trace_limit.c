/* SPDX-License-Identifier: Apache-2.0
 *
 * A size limit is used well: whether the load compresses well or not at all, the file gets most of
 * it and FILE with FILE.live never more; the least valuable data is dropped first, in the
 * documented order. */
#include "unit/trace/trace_test.h"

#include "trace/record/selection.h"

#define SLOTS 64u
#define STEPS_MAX 3000000u

struct load {
    struct vs_recorder *recorder;
    struct vs_book book;
    uint64_t random;
    bool easy; /* few sizes and addresses; otherwise nothing compresses */
    uint64_t size[SLOTS];
    uint64_t addr[SLOTS];
};

static void change_by(struct load *l, unsigned slot, bool alloc)
{
    uint64_t size = l->size[slot], addr = l->addr[slot];
    struct vs_change change = (alloc ? vs_change_alloc : vs_change_free)(
        VS_LEVEL_DEVICE, VS_FAMILY_DEVICE, 0, size, size);
    bool selected = alloc && vs_recorder_selects(l->recorder, VS_LEVEL_DEVICE, size);
    struct vs_event event = EVENT(free, .addr = addr);
    if (alloc)
        event = EVENT(alloc, .addr = addr, .requested = size, .size = size);
    vs_recorder_change(l->recorder, &l->book, change, selected, &event);
}

static void step(struct load *l)
{
    uint64_t random = vs_random(&l->random);
    unsigned slot = random % SLOTS;
    if (l->size[slot]) {
        change_by(l, slot, false);
        l->size[slot] = 0;
    } else {
        l->size[slot] = l->easy ? 512 * (1 + (random >> 20) % 4) : 1 + (random >> 16);
        l->addr[slot] = l->easy ? (uint64_t)(slot + 1) << 20
                                : (vs_random(&l->random) >> 16) * SLOTS + slot + 1;
        change_by(l, slot, true);
    }
    if (random >> 60 == 0)
        record_event(l->recorder, EVENT(kernel));
}

static uint64_t size_of(const char *path)
{
    struct stat st;
    return stat(path, &st) ? 0 : (uint64_t)st.st_size;
}

/* Both files together: never more than *limit*. */
static void assert_within(const char *path, uint64_t limit)
{
    uint64_t live = size_of(live_of(path)); /* first: its events may move to FILE */
    assert_true(live + size_of(path) <= limit);
}

/* Records until only totals are recorded, and a while longer. */
static void record(const char *path, struct vs_recorder_config config, bool easy)
{
    struct load *l = calloc(1, sizeof *l);
    assert_non_null(l);
    *l = (struct load){.random = 7, .easy = easy};
    config.path = path;
    config.flush_ms = 1000;
    l->recorder = open_with(config);
    unsigned steps = 0;
    for (; steps < STEPS_MAX && vs_recorder_selects(l->recorder, VS_LEVEL_DEVICE, 512); steps++) {
        step(l);
        if (steps % 256 == 0)
            assert_within(path, config.limit_bytes);
    }
    assert_true(steps < STEPS_MAX);
    for (unsigned i = 0; i < 20000; i++)
        step(l);
    assert_within(path, config.limit_bytes);
    vs_recorder_close(l->recorder, VS_END_EXIT, 0);
    assert_within(path, config.limit_bytes);
    free(l);
}

/* The stages come one by one: kernels until the first of them, allocations until the last. An event
 * that started a stage still follows it. */
TEST(a_limit_is_used_well_and_stages_come_in_order)
{
    static const struct {
        uint64_t limit;
        unsigned compression;
        bool easy;
    } cases[] = {{MIB, 1, true},      {MIB, 1, false},     {MIB, 0, false},
                 {2 * MIB, 1, true},  {2 * MIB, 1, false}, {5 * MIB, 1, false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *path = scratch("limited.vst");
        struct vs_recorder_config config = {.limit_bytes = cases[i].limit,
                                            .compression = cases[i].compression};
        record(path, config, cases[i].easy);
        uint64_t bytes = size_of(path);
        /* 75 % and more; on a busy machine less is compressed when a stage begins */
        if (bytes < cases[i].limit / 10 * 6)
            fail_msg("case %zu: %llu bytes of %llu", i, (unsigned long long)bytes,
                     (unsigned long long)cases[i].limit);
        struct vs_reader *reader = open_reader(path);
        uint64_t stage = VS_RECORDING_SELECTS;
        uint64_t kernels[VS_RECORDING_TOTALS + 1] = {0}, allocs[VS_RECORDING_TOTALS + 1] = {0};
        for (struct vs_event e; next_plain(reader, &e);) {
            if (e.kind == VS_EVENT_recording_changed && e.recording_changed.what != stage)
                assert_int_equal(e.recording_changed.what, ++stage);
            kernels[stage] += e.kind == VS_EVENT_kernel;
            allocs[stage] += e.kind == VS_EVENT_alloc;
        }
        assert_int_equal(stage, VS_RECORDING_TOTALS);
        assert_true(kernels[VS_RECORDING_SELECTS] > 10);
        for (unsigned k = VS_RECORDING_NO_ACTIVITY; k <= VS_RECORDING_TOTALS; k++)
            assert_true(kernels[k] <= 1);
        for (unsigned k = VS_RECORDING_SELECTS; k < VS_RECORDING_TOTALS; k++)
            assert_true(allocs[k] > 10);
        assert_true(allocs[VS_RECORDING_TOTALS] <= 1);
        close_reader(reader, VS_TRACE_COMPLETE);
    }
}

/* Sums are written before an event that requires them; the window for them may be the one that
 * starts the last stage. Regression: the event, selected before, was then dropped and not
 * counted. */
TEST(nothing_is_lost_where_sums_and_an_event_meet_the_last_stage)
{
    char path[300];
    snprintf(path, sizeof path, "%s/sums.vst", scratch_dir);
    for (uint64_t seed = 1; seed <= 24; seed++) {
        struct load l = {.random = seed};
        uint64_t did[2] = {0}, allocs = 0, frees = 0, stage = 0;
        l.recorder = open_with((struct vs_recorder_config){
            .path = path, .flush_ms = 1000, .limit_bytes = MIB, .sample = 3, .sample_seed = seed});
        for (unsigned i = 0; i < 60000; i++) {
            unsigned slot = vs_random(&l.random) % SLOTS;
            bool alloc = !l.size[slot] || i % 4; /* ever higher: sums are written often */
            if (alloc) {
                l.addr[slot] = (vs_random(&l.random) >> 16) * SLOTS + slot + 1;
                l.size[slot] = 1 + (vs_random(&l.random) >> 40);
            }
            change_by(&l, slot, alloc);
            if (!alloc)
                l.size[slot] = 0;
            did[alloc]++;
        }
        vs_recorder_close(l.recorder, VS_END_EXIT, 0);
        struct vs_reader *reader = open_reader(path);
        for (struct vs_event e; next_plain(reader, &e);) {
            bool sums = e.kind == VS_EVENT_unrecorded;
            allocs += sums ? e.unrecorded.allocs : e.kind == VS_EVENT_alloc;
            frees += sums ? e.unrecorded.frees : e.kind == VS_EVENT_free;
            if (e.kind == VS_EVENT_recording_changed)
                stage = e.recording_changed.what;
            assert_int_not_equal(e.kind, VS_EVENT_dropped);
        }
        vs_reader_close(reader);
        assert_int_equal(stage, VS_RECORDING_TOTALS);
        assert_int_equal(allocs, did[1]);
        assert_int_equal(frees, did[0]);
    }
}

TEST(a_text_longer_than_a_small_window_keeps_its_beginning)
{
    static char text[60000];
    const char *path = scratch("long.vst");
    struct vs_recorder *r = open_with((struct vs_recorder_config){
        .path = path, .limit_bytes = MIB, .flush_ms = 1000});
    memset(text, 'x', sizeof text);
    uint64_t id = vs_recorder_string(r, text, sizeof text);
    assert_true(id > 0);
    assert_int_equal(vs_recorder_string(r, text, sizeof text), id);
    struct vs_event mark = EVENT(mark, .name = id);
    vs_recorder_event(r, &mark);
    vs_recorder_close(r, VS_END_EXIT, 0);
    struct vs_reader *reader = open_reader(path);
    while (next_plain(reader, &mark) && mark.kind != VS_EVENT_mark)
        ;
    assert_int_equal(mark.kind, VS_EVENT_mark);
    const char *kept = vs_reader_string(reader, mark.mark.name);
    assert_non_null(kept);
    assert_true(strlen(kept) > 30000 && strspn(kept, "x") == strlen(kept));
    vs_reader_close(reader);
}
