/* SPDX-License-Identifier: Apache-2.0
 *
 * The state at a peak, kept while reading, equals the replay of a reading that stopped there. */
#include <string.h>

#include "analysis/state/peak_states.h"
#include "analysis/state/reading.h"
#include "support/busy_trace.h"
#include "support/cmocka_test.h"
#include "support/trace_text.h"

static struct vs_replay *read_until(struct vs_reader *reader, uint64_t event, bool keep)
{
    const struct vs_time_window window = {.to = {.given = event != 0, .by_event = true, .value = event}};
    struct vs_replay *replay;
    vs_reader_rewind(reader);
    replay = vs_replay_open(reader);
    if (keep)
        vs_peak_states_begin(replay, NULL);
    assert_int_equal(vs_reading_run(reader, replay, event ? &window : NULL, NULL, 0), VS_OK);
    vs_replay_finish(replay);
    return replay;
}

/* The rows of *account* that are live, slot by slot; *in_segments*: only those are compared. */
static size_t same_live(const struct vs_live_table *kept, const struct vs_live_table *there, unsigned account,
                        bool in_segments)
{
    size_t rows = 0;
    for (size_t i = 0; i < kept->slots || i < there->slots; i++) {
        const struct vs_live none = {0};
        const struct vs_live *a = i < kept->slots && kept->items[i].used ? &kept->items[i] : &none;
        const struct vs_live *b = i < there->slots && there->items[i].used ? &there->items[i] : &none;
        if ((a->used && a->device != account) || (b->used && b->device != account) ||
            (in_segments && !(a->in_segment || b->in_segment)))
            continue;
        assert_int_equal(a->used, b->used);
        if (!a->used)
            continue;
        assert_int_equal(a->addr, b->addr);
        assert_int_equal(a->size, b->size);
        assert_int_equal(a->requested, b->requested);
        assert_int_equal(a->time_ns, b->time_ns);
        assert_int_equal(a->event, b->event);
        assert_int_equal(a->site, b->site);
        assert_int_equal(a->place.phase, b->place.phase);
        assert_int_equal(a->place.step, b->place.step);
        rows++;
    }
    return rows;
}

static void same_sites(const struct vs_sites *kept, const struct vs_sites *there, unsigned account)
{
    assert_int_equal(kept->count, there->count);
    for (size_t i = 0; i < kept->count; i++) {
        struct vs_site a = kept->items[i], b = there->items[i];
        a.touched = b.touched = false; /* of the step that is open */
        if (a.device == account)
            assert_memory_equal(&a, &b, sizeof a);
    }
}

static void same_segments(const struct vs_segments *kept, const struct vs_segments *there)
{
    assert_int_equal(kept->count, there->count);
    for (size_t i = 0; i < kept->count; i++) {
        assert_int_equal(kept->items[i].addr, there->items[i].addr);
        assert_int_equal(kept->items[i].size, there->items[i].size);
        assert_int_equal(kept->items[i].device, there->items[i].device);
    }
}

/* What a peak of *account* at *event* keeps. Returns how many live rows were compared. */
static size_t same_at(struct vs_reader *reader, const struct vs_replay *end, unsigned account, uint64_t event,
                      enum vs_peak_kind kind)
{
    if (!event)
        return 0;
    struct vs_replay *kept = vs_peak_states_at(end, event), *there = read_until(reader, event, false);
    assert_non_null(kept);
    assert_int_equal(kept->events, there->events);
    assert_int_equal(kept->now_ns, there->now_ns);
    assert_int_equal(vs_replay_epoch(kept), vs_replay_epoch(there));
    assert_memory_equal(&kept->accounts[account]->sums, &there->accounts[account]->sums, sizeof(struct vs_ledger));
    assert_int_equal(kept->accounts[account]->last_used.used, there->accounts[account]->last_used.used);
    assert_int_equal(kept->accounts[account]->usage.overhead, there->accounts[account]->usage.overhead);
    size_t rows = same_live(&kept->device_live, &there->device_live, account, kind >= VS_PEAK_REQUESTED);
    if (kind == VS_PEAK_USER)
        rows += same_live(&kept->framework_live, &there->framework_live, account, false);
    if (kind <= VS_PEAK_ALLOCATED)
        same_sites(&kept->sites, &there->sites, account);
    same_segments(&kept->segments, &there->segments);
    for (size_t i = 0, k = 0; kind <= VS_PEAK_ALLOCATED && i < there->mappings.count; i++)
        if (there->mappings.items[i].device == account) {
            while (k < kept->mappings.count && kept->mappings.items[k].device != account)
                k++;
            assert_true(k < kept->mappings.count);
            assert_int_equal(kept->mappings.items[k++].addr, there->mappings.items[i].addr);
        }
    struct vs_holes a, b;
    vs_replay_holes(kept, account, &a);
    vs_replay_holes(there, account, &b);
    assert_memory_equal(&a, &b, sizeof a);
    vs_peak_state_close(kept);
    vs_replay_close(there);
    return rows;
}

/* All peaks of the trace of *b*. Returns how many live rows were compared. */
static size_t same_at_all(struct vs_builder *b)
{
    struct vs_reader *reader;
    size_t rows = 0;
    vs_builder_close(b, VS_END_EXIT, 0);
    assert_int_equal(vs_reader_open(b->path, &reader, NULL), VS_OK);
    struct vs_replay *end = read_until(reader, 0, true);
    for (unsigned i = 0; i < end->account_count; i++) {
        const struct vs_account *a = end->accounts[i];
        if (a->user.split)
            rows += same_at(reader, end, i, a->user.peak.event, VS_PEAK_USER);
        rows += same_at(reader, end, i, a->peak_allocated.event, VS_PEAK_ALLOCATED);
        rows += same_at(reader, end, i, a->peak_used.event, VS_PEAK_USED);
        rows += same_at(reader, end, i, a->last_used.event, VS_LAST_READING);
        rows += same_at(reader, end, i, a->peak_requested.event, VS_PEAK_REQUESTED);
        rows += same_at(reader, end, i, a->peak_reserved.event, VS_PEAK_RESERVED);
    }
    assert_null(vs_peak_states_at(end, end->events + 1));
    vs_replay_close(end);
    vs_reader_close(reader);
    return rows;
}

TEST(random_traces_have_the_same_states_at_their_peaks)
{
    size_t rows = 0;
    for (uint64_t seed = 1; seed <= 40; seed++) {
        struct vs_builder b;
        vs_busy_trace(&b, seed, 600);
        rows += same_at_all(&b);
    }
    assert_true(rows > 1000);
}

static const struct peak_case {
    const char *name, *trace;
    size_t rows; /* at least so many are live at its peaks */
} cases[] = {
    {"what_ends_after_the_peak_was_live_at_it",
     "at site_a; alloc 0 4M; at site_b; alloc 10 8M; free 0; alloc 20 1M; free 10; free 20", 2},
    {"a_new_peak_forgets_what_was_kept_for_the_one_before",
     "at site_a; alloc 0 4M; free 0; alloc 0 4M; alloc 10 8M; free 10; free 0; at site_b; "
     "alloc 40 40M; free 40; alloc 60 1M", 1},
    {"a_peak_that_is_never_left_is_the_end",
     "at site_a; alloc 0 4M; alloc 10 4M; alloc 20 4M", 3},
    {"tensors_and_the_memory_below_them_have_peaks_of_their_own",
     "at site_a; alloc 0 20M; step 1; at site_b; tensor 0 4M; tensor 4 8M; drop 0; tensor 0 2M; "
     "pop; step 2; drop 4; drop 0; tensor 0 15M; drop 0; pop; at site_a; alloc 40 20M; free 40; "
     "free 0", 2},
    {"a_framework_that_appears_after_the_peak_keeps_the_devices_state_at_it",
     "at site_a; alloc 0 20M; alloc 40 60M; free 40; at site_b; alloc 100 1M; tensor 0 4M; "
     "drop 0; free 100; free 0", 2},
    {"segments_that_are_released_or_grow_after_the_peak_are_there_at_it",
     "at site_a; segment 0 20M; alloc 0 4M; alloc 8 8M; segment 40 20M; alloc 40 20M; free 40; "
     "unsegment 40 20M; free 8; free 0; unsegment 0 20M; segment 100 2M; alloc 100 1M", 2},
    {"memory_that_is_unmapped_after_the_peak_is_mapped_at_it",
     "at site_a; alloc memory:1 2M vmm; map 100 2M 1; alloc memory:2 2M vmm; map 200 2M 2; unmap 100; "
     "free memory:1; at site_b; tensor 0 1M; drop 0; unmap 200; free memory:2", 2},
};

ROWS(cases, a_trace_has_the_same_states_at_its_peaks)
{
    const struct peak_case *c = *state;
    struct vs_builder b;
    vs_builder_open(&b, "observe");
    vs_trace(&b, "device 16G T4; %s", c->trace);
    assert_true(same_at_all(&b) >= c->rows);
}
