/* SPDX-License-Identifier: Apache-2.0
 *
 * The sums of one account: each rule by an example, and random changes against sums over a list of
 * live allocations. */
#include "support/cmocka_test.h"

#include <string.h>

#include "ledger/ledger.h"

static unsigned alloc(struct vs_ledger *ledger, enum vs_level level, enum vs_family family,
                      uint64_t requested, uint64_t size)
{
    struct vs_change change = vs_change_alloc(level, family, 0, requested, size);
    return vs_ledger_apply(ledger, &change);
}

static unsigned release(struct vs_ledger *ledger, enum vs_level level, enum vs_family family,
                        uint64_t requested, uint64_t size)
{
    struct vs_change change = vs_change_free(level, family, 0, requested, size);
    return vs_ledger_apply(ledger, &change);
}

static unsigned segment(struct vs_ledger *ledger, bool added, uint64_t bytes)
{
    struct vs_change change = vs_change_segment(0, added, bytes);
    return vs_ledger_apply(ledger, &change);
}

static unsigned graphs(struct vs_ledger *ledger, uint64_t bytes)
{
    struct vs_change change = vs_change_graphs(0, bytes);
    return vs_ledger_apply(ledger, &change);
}

TEST(an_allocation_counts_as_allocated_requested_and_reserved)
{
    struct vs_ledger l = {0};
    assert_int_equal(alloc(&l, VS_LEVEL_DEVICE, VS_FAMILY_DEVICE, 500, 512),
                     VS_ROSE_ALLOCATED | VS_ROSE_REQUESTED | VS_ROSE_RESERVED);
    assert_int_equal(l.now.allocated, 512);
    assert_int_equal(l.now.requested, 500);
    assert_int_equal(l.now.reserved, 512);
    assert_int_equal(release(&l, VS_LEVEL_DEVICE, VS_FAMILY_DEVICE, 500, 512), 0);
    assert_int_equal(l.now.allocated + l.now.requested + l.now.reserved, 0);
    assert_int_equal(l.peak.allocated, 512);
    assert_int_equal(vs_ledger_live(&l, VS_FAMILY_DEVICE), 0);
    assert_int_equal(l.family[VS_FAMILY_DEVICE].allocs, 1);
    assert_true(vs_ledger_check(&l, false));
}

TEST(a_block_lies_in_its_segment)
{
    struct vs_ledger l = {0};
    assert_int_equal(segment(&l, true, 2 * MIB), VS_ROSE_RESERVED);
    assert_int_equal(alloc(&l, VS_LEVEL_BLOCK, VS_FAMILY_DEVICE, 100, 512),
                     VS_ROSE_ALLOCATED | VS_ROSE_REQUESTED);
    assert_int_equal(l.now.reserved, 2 * MIB);
    assert_int_equal(vs_ledger_block_bytes(&l), 512);
    alloc(&l, VS_LEVEL_DEVICE, VS_FAMILY_DEVICE, 4096, 4096);
    assert_int_equal(vs_ledger_block_bytes(&l), 512);
    assert_int_equal(l.now.reserved, 2 * MIB + 4096);
    assert_true(vs_ledger_check(&l, false));
    release(&l, VS_LEVEL_BLOCK, VS_FAMILY_DEVICE, 100, 512);
    segment(&l, false, 2 * MIB);
    assert_int_equal(l.segment_bytes, 0);
    assert_int_equal(l.now.reserved, 4096);
}

TEST(memory_of_other_processes_is_listed_and_not_counted)
{
    struct vs_ledger l = {0};
    assert_int_equal(alloc(&l, VS_LEVEL_DEVICE, VS_FAMILY_IPC, MIB, MIB), 0);
    assert_int_equal(l.now.family[VS_FAMILY_IPC], MIB);
    assert_int_equal(l.peak.family[VS_FAMILY_IPC], MIB);
    assert_int_equal(l.now.allocated + l.now.requested + l.now.reserved, 0);
    assert_true(vs_ledger_check(&l, false));
}

TEST(of_graphs_the_larger_of_live_and_held_is_reserved)
{
    struct vs_ledger l = {0};
    graphs(&l, 10 * MIB);
    assert_int_equal(l.now.reserved, 10 * MIB);
    alloc(&l, VS_LEVEL_DEVICE, VS_FAMILY_GRAPH, 8 * MIB, 8 * MIB);
    assert_int_equal(l.now.reserved, 10 * MIB);
    alloc(&l, VS_LEVEL_DEVICE, VS_FAMILY_GRAPH, 6 * MIB, 6 * MIB);
    assert_int_equal(l.now.reserved, 14 * MIB);
    graphs(&l, 0);
    assert_int_equal(l.now.reserved, 14 * MIB);
    release(&l, VS_LEVEL_DEVICE, VS_FAMILY_GRAPH, 8 * MIB, 8 * MIB);
    assert_int_equal(l.now.reserved, 6 * MIB);
    assert_int_equal(l.peak.reserved, 14 * MIB);
    assert_int_equal(l.segment_bytes, 0);
    assert_true(vs_ledger_check(&l, false));
}

TEST(memory_lost_with_a_context_is_not_freed)
{
    struct vs_ledger l = {0};
    alloc(&l, VS_LEVEL_DEVICE, VS_FAMILY_ARRAY, 512, 512);
    struct vs_change lost = vs_change_free(VS_LEVEL_DEVICE, VS_FAMILY_ARRAY, 0, 512, 512);
    lost.lost = true;
    vs_ledger_apply(&l, &lost);
    assert_int_equal(l.now.allocated, 0);
    assert_int_equal(l.family[VS_FAMILY_ARRAY].frees, 0);
    assert_int_equal(vs_ledger_live(&l, VS_FAMILY_ARRAY), 0);
    assert_false(vs_family_ends_with_context(VS_FAMILY_ASYNC));
    assert_true(vs_family_ends_with_context(VS_FAMILY_ARRAY));
}

TEST(a_framework_may_free_what_it_never_reported)
{
    struct vs_ledger l = {0};
    alloc(&l, VS_LEVEL_FRAMEWORK, VS_FAMILY_DEVICE, 512, 512);
    release(&l, VS_LEVEL_FRAMEWORK, VS_FAMILY_DEVICE, 1024, 1024);
    assert_int_equal(l.now.allocated, 0);
    assert_int_equal(l.now.reserved, 0);
    assert_int_equal(l.peak.allocated, 512);
    assert_true(vs_ledger_check(&l, true));
}

TEST(a_sum_of_many_changes_raises_no_peak_but_by_its_height)
{
    struct vs_ledger l = {0};
    struct vs_change sum = {.level = VS_LEVEL_DEVICE, .family = VS_FAMILY_DEVICE, .summed = true,
                            .allocs = 5, .requested = 50, .size = 60, .frees = 3,
                            .freed_requested = 30, .freed_size = 40, .reserved = 20};
    struct vs_levels height = {.allocated = 45, .requested = 35, .reserved = 45};
    assert_int_equal(vs_ledger_rise(&l, &height),
                     VS_ROSE_ALLOCATED | VS_ROSE_REQUESTED | VS_ROSE_RESERVED);
    assert_int_equal(vs_ledger_apply(&l, &sum), 0);
    assert_int_equal(l.now.allocated, 20);
    assert_int_equal(l.now.requested, 20);
    assert_int_equal(l.now.reserved, 20);
    assert_int_equal(l.peak.allocated, 45);
    assert_int_equal(vs_ledger_live(&l, VS_FAMILY_DEVICE), 2);
    assert_int_equal(vs_ledger_rise(&l, &height), 0);
}

TEST(a_restart_keeps_what_is_live)
{
    struct vs_ledger l = {0};
    segment(&l, true, 2 * MIB);
    alloc(&l, VS_LEVEL_BLOCK, VS_FAMILY_DEVICE, 512, 512);
    alloc(&l, VS_LEVEL_BLOCK, VS_FAMILY_DEVICE, 1024, 1024);
    release(&l, VS_LEVEL_BLOCK, VS_FAMILY_DEVICE, 512, 512);
    vs_ledger_restart(&l);
    assert_int_equal(l.peak.allocated, 1024);
    assert_int_equal(l.peak.family[VS_FAMILY_DEVICE], 1024);
    assert_int_equal(l.family[VS_FAMILY_DEVICE].allocs, 0);
    assert_int_equal(vs_ledger_live(&l, VS_FAMILY_DEVICE), 1);
    assert_int_equal(l.now.reserved, 2 * MIB);
    assert_int_equal(l.segment_bytes, 2 * MIB);
}

/* --- random changes --- */

#define LIVE_MAX 64

struct model {
    struct {
        bool used;
        enum vs_level level;
        enum vs_family family;
        uint64_t requested, size;
    } live[LIVE_MAX];
    uint64_t segments[LIVE_MAX], held;
    struct vs_levels peak;
};

static struct vs_levels levels_of(const struct model *m)
{
    struct vs_levels now = {.allocated = 0};
    for (int i = 0; i < LIVE_MAX; i++) {
        now.reserved += m->segments[i];
        if (!m->live[i].used)
            continue;
        enum vs_family family = m->live[i].family;
        now.family[family] += m->live[i].size;
        if (family == VS_FAMILY_IPC)
            continue;
        now.allocated += m->live[i].size;
        now.requested += m->live[i].requested;
        if (m->live[i].level == VS_LEVEL_DEVICE && family != VS_FAMILY_GRAPH)
            now.reserved += m->live[i].size;
    }
    uint64_t live = now.family[VS_FAMILY_GRAPH];
    now.reserved += live > m->held ? live : m->held;
    return now;
}

static void change_one(struct model *m, struct vs_ledger *l)
{
    unsigned i = (unsigned)rand() % LIVE_MAX, what = (unsigned)rand() % 8;
    if (what == 0) {
        m->held = (uint64_t)(rand() % 100) * 100;
        graphs(l, m->held);
    } else if (what == 1 && m->segments[i]) {
        segment(l, false, m->segments[i]);
        m->segments[i] = 0;
    } else if (what == 1) {
        m->segments[i] = (uint64_t)(rand() % 9 + 1) * 1000;
        segment(l, true, m->segments[i]);
    } else if (m->live[i].used) {
        release(l, m->live[i].level, m->live[i].family, m->live[i].requested, m->live[i].size);
        m->live[i].used = false;
    } else {
        m->live[i].used = true;
        m->live[i].family = (enum vs_family)(rand() % VS_FAMILY_COUNT);
        m->live[i].level = m->live[i].family == VS_FAMILY_DEVICE && rand() % 2 ? VS_LEVEL_BLOCK
                                                                               : VS_LEVEL_DEVICE;
        m->live[i].requested = (uint64_t)(rand() % 1000);
        m->live[i].size = m->live[i].requested + (uint64_t)(rand() % 100);
        alloc(l, m->live[i].level, m->live[i].family, m->live[i].requested, m->live[i].size);
    }
}

TEST(random_changes_add_up_to_what_is_live)
{
    struct model m = {.held = 0};
    struct vs_ledger l = {0};
    srand(7);
    for (int n = 0; n < 20000; n++) {
        change_one(&m, &l);
        struct vs_levels now = levels_of(&m);
        vs_levels_raise(&m.peak, &now);
        assert_memory_equal(&l.now, &now, sizeof now);
        assert_memory_equal(&l.peak, &m.peak, sizeof now);
        assert_true(vs_ledger_check(&l, false));
        if (n % 1000 == 999) {
            vs_ledger_restart(&l);
            m.peak = now;
        }
    }
}

/* As a recorder that omits events: an account that receives some changes one by one and the others
 * as sums, with the peak in between, has the true peaks. */
TEST(sums_and_heights_give_the_same_peaks)
{
    struct model m = {.held = 0};
    struct vs_ledger l = {0}, seen = {0};
    struct vs_levels high = {.allocated = 0};
    srand(11);
    for (int n = 0; n < 20000; n++) {
        change_one(&m, &l);
        vs_levels_raise(&high, &l.now);
        if (n % 7)
            continue;
        vs_ledger_rise(&seen, &high);
        for (unsigned f = 0; f < VS_FAMILY_COUNT; f++) {
            struct vs_change sum = {.level = VS_LEVEL_DEVICE, .family = (enum vs_family)f,
                                    .summed = true, .size = l.now.family[f],
                                    .freed_size = seen.now.family[f]};
            if (f == VS_FAMILY_DEVICE) {
                sum.requested = l.now.requested;
                sum.freed_requested = seen.now.requested;
                sum.reserved = (int64_t)(l.now.reserved - seen.now.reserved);
            }
            vs_ledger_apply(&seen, &sum);
        }
        high = l.now;
        assert_memory_equal(&seen.now, &l.now, sizeof l.now);
        assert_memory_equal(&seen.peak, &l.peak, sizeof l.peak);
    }
}
