/* SPDX-License-Identifier: Apache-2.0
 *
 * The segments that an allocator holds, after any events, are those of a plain table with an entry for
 * each page. */
#include <stdlib.h>
#include <string.h>

#include "support/cmocka_test.h"
#include "analysis/report/held_segments.h"

#define DEVICES 2
#define PAGES 200
#define PAGE (UINT64_C(2) << 20)
#define BASE UINT64_C(0x7f0000000000) /* of each device: addresses may be the same on two */
#define EVENTS 20000

static struct vs_held_segments held;
static uint64_t owner[DEVICES][PAGES]; /* the stack that holds a page; 0: none */

static void apply(const struct vs_event *event)
{
    vs_held_segments_event(&held, event);
}

static void map(unsigned device, unsigned page, unsigned pages, uint64_t stack, bool whole)
{
    struct vs_event event = {.kind = whole ? VS_EVENT_segment_alloc : VS_EVENT_segment_map};
    if (whole) {
        event.segment_alloc.device = device;
        event.segment_alloc.addr = BASE + page * PAGE;
        event.segment_alloc.size = pages * PAGE;
        event.segment_alloc.stack = stack;
    } else {
        event.segment_map.device = device;
        event.segment_map.addr = BASE + page * PAGE;
        event.segment_map.size = event.segment_map.reserved = pages * PAGE;
        event.segment_map.stack = stack;
    }
    apply(&event);
    for (unsigned i = page; i < page + pages; i++)
        owner[device][i] = stack;
}

static void unmap(unsigned device, unsigned page, unsigned pages)
{
    struct vs_event event = {.kind = VS_EVENT_segment_unmap};
    event.segment_unmap.device = device;
    event.segment_unmap.addr = BASE + page * PAGE;
    event.segment_unmap.size = event.segment_unmap.reserved = pages * PAGE;
    apply(&event);
    for (unsigned i = page; i < page + pages; i++)
        owner[device][i] = 0;
}

/* Each page is in one segment of the stack that holds it, or in none. */
static void expect_the_table(void)
{
    uint64_t seen[DEVICES][PAGES] = {{0}};
    for (unsigned device = 0; device < DEVICES; device++) {
        struct vs_held_segment *list;
        size_t count = vs_held_list(&held, device, &list);
        for (size_t i = 0; i < count; i++) {
            assert_true(list[i].device == device && list[i].bytes && list[i].bytes % PAGE == 0);
            for (uint64_t at = list[i].addr; at < list[i].addr + list[i].bytes; at += PAGE) {
                uint64_t *page = &seen[device][(at - BASE) / PAGE];
                assert_int_equal(*page, 0);
                *page = list[i].stack;
            }
        }
        free(list);
    }
    assert_memory_equal(seen, owner, sizeof seen);
}

TEST(any_events_leave_what_a_table_of_pages_has)
{
    uint64_t seed = 1;
    for (uint64_t i = 1; i <= EVENTS; i++) {
        uint64_t random = vs_random(&seed);
        unsigned device = random >> 33 & 1, kind = random >> 34 & 3;
        unsigned page = (unsigned)(random >> 36) % PAGES, pages = 1 + (unsigned)(random >> 48) % 12;
        pages = pages < PAGES - page ? pages : PAGES - page;
        if (kind < 2)
            map(device, page, pages, i, kind);
        else
            unmap(device, page, pages);
        expect_the_table();
    }
    vs_held_segments_free(&held);
}

/* Memory that is mapped a second time is reserved already: it has no bytes of its own. */
TEST(another_mapping_of_reserved_memory_holds_nothing)
{
    struct vs_event event = {.kind = VS_EVENT_segment_map};
    event.segment_map.addr = BASE;
    event.segment_map.size = PAGE;
    apply(&event);
    assert_int_equal(held.count, 0);
    vs_held_segments_free(&held);
}

/* In a damaged trace an extent may end beyond the last address. */
TEST(an_extent_beyond_the_last_address_is_cut)
{
    struct vs_event event = {.kind = VS_EVENT_segment_alloc};
    event.segment_alloc.addr = UINT64_MAX - 10;
    event.segment_alloc.size = UINT64_MAX;
    event.segment_alloc.stack = 7;
    apply(&event);
    struct vs_held_segment *list;
    assert_int_equal(vs_held_list(&held, 0, &list), 1);
    assert_int_equal(list[0].bytes, 10);
    free(list);
    event = (struct vs_event){.kind = VS_EVENT_segment_free};
    event.segment_free.addr = UINT64_MAX - 10;
    event.segment_free.size = UINT64_MAX;
    apply(&event);
    assert_int_equal(held.count, 0);
    vs_held_segments_free(&held);
}
