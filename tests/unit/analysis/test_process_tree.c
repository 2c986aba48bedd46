/* SPDX-License-Identifier: Apache-2.0
 *
 * Parents and children, with reused pids and ended parents, and sums over processes against an
 * independently computed sum. */
#define _GNU_SOURCE

#include <stdio.h>
#include <string.h>

#include "support/cmocka_test.h"
#include "analysis/processes/process_tree.h"
#include "support/trace_text.h"

#define S UINT64_C(1000000000)

static struct vs_tree_member member(uint64_t pid, uint64_t born_s, uint64_t start_s,
                                    const char *lineage)
{
    return (struct vs_tree_member){.path = "p", .program = "p", .host = "h", .boot = "b", .lineage = lineage,
                                   .pid = pid, .born_ns = born_s * S, .start_ns = start_s * S,
                                   .has_process = true};
}

static void expect(const struct vs_tree_member *m, uint32_t parent, enum vs_tree_link link)
{
    assert_int_equal(m->parent, parent);
    assert_int_equal(m->link, link);
}

TEST(a_number_used_again_links_to_the_process_that_was_alive)
{
    struct vs_tree_member m[] = {
        member(50, 1, 2, "9:0"), /* the first process with that pid, ended long ago */
        member(50, 100, 101, "9:0"),
        member(60, 200, 201, "50:100000000000 9:0"),
        member(61, 210, 211, "50@210000000000 50:100000000000"),
        member(62, 20, 300, "50@20000000000 1:0"), /* child of the first: the second had not started
                                                    * yet */
        member(50, 400, 401, "60:200000000000"),   /* and once more, as a descendant */
    };
    struct vs_tree_member sorted[] = {m[0], m[4], m[1], m[2], m[3], m[5]};
    vs_tree_link_up(sorted, 6);
    expect(&sorted[0], VS_TREE_NONE, VS_TREE_ROOT);
    expect(&sorted[1], 0, VS_TREE_FORK);
    expect(&sorted[2], VS_TREE_NONE, VS_TREE_ROOT);
    expect(&sorted[3], 2, VS_TREE_CHILD);
    expect(&sorted[4], 2, VS_TREE_FORK);
    expect(&sorted[5], 3, VS_TREE_CHILD);
}

TEST(programs_of_one_process_follow_each_other)
{
    struct vs_tree_member m[] = {member(7, 5, 6, ""), member(7, 5, 8, ""), member(7, 5, 10, ""),
                                 member(9, 7, 9, "7:5000000000")};
    vs_tree_link_up(m, 4);
    expect(&m[0], VS_TREE_NONE, VS_TREE_ROOT);
    expect(&m[1], 0, VS_TREE_EXEC);
    expect(&m[2], 1, VS_TREE_EXEC);
    expect(&m[3], 1, VS_TREE_CHILD); /* the program that it ran then */
}

TEST(another_boot_or_an_unknown_birth_links_nothing)
{
    struct vs_tree_member m[] = {member(7, 5, 6, ""), member(8, 9, 10, "7:5000000000"),
                                 member(9, 9, 11, "7:6000000000"), member(10, 9, 12, "7;5 nonsense")};
    m[1].boot = "another";
    vs_tree_link_up(m, 4);
    for (int i = 0; i < 4; i++)
        expect(&m[i], VS_TREE_NONE, VS_TREE_ROOT);
}

TEST(processes_in_between_that_left_no_trace_are_reported)
{
    struct vs_tree_member m[] = {member(7, 5, 6, ""), member(9, 9, 11, "8:8000000000 7:5000000000"),
                                 member(12, 20, 21, "11@20000000000 10@19000000000 7@18000000000 1:0")};
    vs_tree_link_up(m, 3);
    expect(&m[1], 0, VS_TREE_BELOW);
    expect(&m[2], 0, VS_TREE_BELOW);
}

TEST(older_traces_are_linked_by_number_and_that_is_reported)
{
    struct vs_tree_member m[] = {member(7, 0, 6, ""), member(8, 0, 9, ""), member(9, 0, 5, "")};
    m[1].ppid = 7;
    m[2].ppid = 7; /* started before it: not its child */
    vs_tree_link_up(m, 3);
    expect(&m[1], 0, VS_TREE_LIKELY);
    expect(&m[2], VS_TREE_NONE, VS_TREE_ROOT);
}

/* The kernel reports start times in ticks: nested forks within one tick, and recording began with
 * the youngest. */
TEST(births_in_one_tick_link_in_any_order_of_recording)
{
    struct vs_tree_member m[] = {
        member(13, 5, 6, "12@5003000000 11@5002000000 10@5001000000 1:0"),
        member(12, 5, 7, "11@5002000000 10@5001000000 1:0"),
        member(14, 5, 8, "10:5000000000 1:0"), /* started by the first, not forked */
        member(11, 5, 9, "10@5001000000 1:0"),
        member(10, 5, 10, "1:0"),
    };
    vs_tree_link_up(m, 5);
    expect(&m[0], 1, VS_TREE_FORK);
    expect(&m[1], 3, VS_TREE_FORK);
    expect(&m[2], 4, VS_TREE_CHILD);
    expect(&m[3], 4, VS_TREE_FORK);
    expect(&m[4], VS_TREE_NONE, VS_TREE_ROOT);
}

TEST(links_never_go_round_whatever_members_say)
{
    static const char *const words[] = {"", "1:0", "2:0 1:0", "3@1 2:0", "1@99999999999999 3:0", "2:1 3:1", "@"};
    uint64_t seed = 1;
    for (int round = 0; round < 2000; round++) {
        struct vs_tree_member m[12];
        for (int i = 0; i < 12; i++) {
            uint64_t random = vs_random(&seed);
            m[i] = member(1 + random / 64 % 3, 0, random / 1024 % 3, words[random >> 40 & 7 ? (random >> 40) % 7 : 0]);
            m[i].born_ns = random >> 50 & 1;
            m[i].ppid = random >> 51 & 3;
        }
        vs_tree_link_up(m, 12);
        for (int i = 0; i < 12; i++) {
            int steps = 0;
            for (uint32_t at = (uint32_t)i; at != VS_TREE_NONE; at = m[at].parent)
                assert_true(++steps <= 12);
        }
    }
}

#define TRACES 5
#define CHANGES 400

static struct vs_builder b[TRACES]; /* of processes that share a GPU */
static const char *paths[TRACES];
static uint64_t now; /* after all events so far */
static struct vs_tree *tree;

AFTER(drop_tree)
{
    vs_tree_free(tree);
    tree = NULL;
    return 0;
}

static void begin(int count)
{
    now = 0;
    for (int i = 0; i < count; i++) {
        vs_builder_open(&b[i], "observe");
        b[i].device = (uint64_t)i % 2; /* each uses a different number for it */
        vs_builder_event(&b[i], EVENT(device, .device = b[i].device,
                                      .name = vs_builder_string(&b[i], "GPU"),
                                      .uuid = vs_builder_string(&b[i], "GPU-1"),
                                      .total_bytes = 1 << 30));
        paths[i] = b[i].path;
        now = b[i].now_ns > now ? b[i].now_ns : now;
    }
}

static void build(int count, const struct vs_tree_time *at)
{
    char why[VS_READER_WHY_MAX] = "";
    drop_tree(NULL);
    assert_int_equal(vs_tree_build(paths, (size_t)count, at, &tree, why), VS_OK);
    assert_int_equal(tree->gpu_count, 1);
}

/* Ends the traces, *after_ns* later: a process's memory counts until its trace ends. */
static void end(int count, uint64_t after_ns)
{
    for (int i = 0; i < count; i++) {
        b[i].now_ns = now + after_ns;
        vs_builder_event(&b[i], EVENT(mark));
        vs_builder_close(&b[i], VS_END_EXIT, (uint64_t)i);
    }
    build(count, NULL);
}

/* Traces with known allocations, side by side in one order of time. */
TEST(sums_are_those_of_all_events_in_the_order_of_time)
{
    uint64_t held[TRACES] = {0}, own[TRACES] = {0}, shares[TRACES] = {0}, sizes[TRACES][CHANGES];
    uint64_t sum = 0, peak = 0, seed = 42;
    bool live[TRACES][CHANGES] = {{false}};
    begin(TRACES);
    for (int i = 0; i < CHANGES; i++) {
        uint64_t random = vs_random(&seed);
        int t = (int)(random >> 33) % TRACES, old = (int)((random >> 20) % CHANGES);
        b[t].now_ns = now += 1000;
        if (old < i && live[t][old]) {
            vs_builder_free(&b[t], (uint64_t)t % 2, UINT64_C(0x1000000) * (uint64_t)(old + 1));
            live[t][old] = false;
            held[t] -= sizes[t][old];
            sum -= sizes[t][old];
        } else {
            sizes[t][i] = 1 + (random >> 50);
            vs_builder_alloc(&b[t], (uint64_t)t % 2, VS_FAMILY_DEVICE,
                             UINT64_C(0x1000000) * (uint64_t)(i + 1), sizes[t][i], sizes[t][i]);
            live[t][i] = true;
            held[t] += sizes[t][i];
            sum += sizes[t][i];
        }
        own[t] = held[t] > own[t] ? held[t] : own[t];
        if (sum > peak) {
            peak = sum;
            memcpy(shares, held, sizeof held);
        }
    }
    end(TRACES, 1000);
    assert_int_equal(tree->count, TRACES);
    for (size_t i = 0; i < tree->count; i++) {
        int t = 0;
        while (strcmp(paths[t], tree->members[i].path))
            t++;
        assert_int_equal(tree->members[i].peak_allocated, own[t]);
        assert_int_equal(tree->members[i].end_status, t);
        assert_int_equal(tree->gpus[0].shares[i], shares[t]);
    }
    assert_int_equal(tree->gpus[0].users, TRACES);
    assert_int_equal(tree->gpus[0].peak_allocated, peak);
}

static void total(struct vs_event_unrecorded u)
{
    u.level = VS_LEVEL_DEVICE;
    u.why = VS_WHY_SAMPLE;
    u.family = VS_FAMILY_DEVICE;
    vs_builder_event(&b[0], (struct vs_event){.kind = VS_EVENT_unrecorded, .unrecorded = u});
}

TEST(a_height_between_two_sums_counts_with_what_others_hold)
{
    begin(2);
    vs_builder_event(&b[0], EVENT(recording_changed, .sample = 1000));
    now = b[0].now_ns > now ? b[0].now_ns : now;
    b[0].now_ns = now + 1000;
    total((struct vs_event_unrecorded){.allocs = 1, .size = 100, .requested = 100,
                                              .reserved = 100, .peak_allocated = 100,
                                              .peak_requested = 100, .peak_reserved = 100,
                                              .peak_ns = now});
    b[1].now_ns = now + 2000;
    vs_trace(&b[1], "alloc 0 40");
    b[0].now_ns = now + 3000; /* 150 more allocated and freed since the last sums, 10 stay */
    total((struct vs_event_unrecorded){.allocs = 2, .size = 160, .requested = 160,
                                              .frees = 1, .freed_size = 150,
                                              .freed_requested = 150, .reserved = 10,
                                              .peak_allocated = 150, .peak_requested = 150,
                                              .peak_reserved = 150, .peak_ns = now + 2500});
    end(2, 5000);
    assert_int_equal(tree->gpus[0].peak_allocated, 250 + 40);
    assert_int_equal(tree->gpus[0].peak_reserved, 250 + 40);
    for (size_t i = 0; i < 2; i++) {
        bool sampled = strcmp(tree->members[i].path, paths[0]) == 0;
        assert_int_equal(tree->members[i].partial, sampled);
        assert_int_equal(tree->members[i].peak_allocated, sampled ? 250 : 40);
        assert_int_equal(tree->members[i].peak_reserved, sampled ? 250 : 40);
        assert_int_equal(tree->gpus[0].shares[i], sampled ? 250 : 40);
    }
}

/* The request that failed first is explained by what all processes held at that time. */
TEST(what_each_held_at_a_time_is_known)
{
    begin(2);
    for (int i = 0; i < 2; i++) {
        vs_trace(&b[i], "context %u", 1 + (unsigned)b[i].device);
        vs_builder_event(&b[i], EVENT(overhead, .context = 1 + b[i].device, .bytes = 7,
                                      .device = b[i].device));
        now = b[i].now_ns > now ? b[i].now_ns : now;
    }
    b[0].now_ns = now + 1000;
    vs_trace(&b[0], "alloc 0 100");
    b[1].now_ns = now + 2000;
    vs_trace(&b[1], "alloc 0 40");
    b[1].now_ns = now + 4000;
    vs_trace(&b[1], "free 0");
    end(2, 5000);
    uint64_t start = tree->members[strcmp(tree->members[0].path, paths[0]) != 0].start_ns;
    assert_int_equal(vs_tree_total(tree, &tree->gpus[0], VS_TREE_NONE), 0);
    static const uint64_t after[] = {1500, 3000, 4500}, other[] = {0, 40, 0};
    for (int i = 0; i < 3; i++) {
        struct vs_tree_time at = {paths[0], now + after[i] - start};
        build(2, &at);
        uint32_t first = strcmp(tree->members[0].path, paths[0]) != 0;
        const struct vs_tree_gpu *gpu = &tree->gpus[0];
        assert_int_equal(gpu->total_bytes, 1 << 30);
        assert_int_equal(gpu->held[first].reserved, 100);
        assert_int_equal(gpu->held[first].contexts, 7);
        assert_int_equal(gpu->held[!first].reserved, other[i]);
        assert_int_equal(gpu->held[!first].contexts, 7);
        assert_int_equal(vs_tree_total(tree, gpu, first), other[i] + 7);
    }
}
