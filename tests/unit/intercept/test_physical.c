/* SPDX-License-Identifier: Apache-2.0
 *
 * References to physical memory (intercept/track/physical.c) where the simulated driver cannot be
 * used: tiles of arrays, multicast objects, failures halfway, reused handles. The tracker is a list
 * of live allocations. */
#include "support/cmocka_test.h"

#include "intercept/track/limit.h"
#include "intercept/track/physical.h"
#include "intercept/process/process.h"

#define LIVE_MAX 64
static struct vs_tracked live[LIVE_MAX];
static unsigned live_count, made, ended;
static uint64_t given;

uint64_t vs_track_alloc(const struct vs_tracked *what, uint64_t stream, const char *api)
{
    (void)stream, (void)api;
    for (unsigned i = 0; i < live_count; i++)
        assert_true(live[i].addr != what->addr);
    assert_true(live_count < LIVE_MAX);
    live[live_count++] = *what;
    made++;
    return 1;
}

bool vs_track_free(uint64_t addr, uint64_t stream, const char *api, struct vs_tracked *was)
{
    (void)stream, (void)api;
    for (unsigned i = 0; i < live_count; i++) {
        if (live[i].addr != addr)
            continue;
        if (was)
            *was = live[i];
        live[i] = live[--live_count];
        ended++;
        return true;
    }
    fail_msg("nothing is live there");
    return false;
}

void vs_limit_give(uint32_t device, uint64_t bytes)
{
    (void)device;
    given += bytes;
}

struct vs_recorder *vs_process_recorder(void) { return NULL; }
uint64_t vs_process_stack(void) { return 0; }

BEFORE(fresh)
{
    assert_int_equal(live_count, 0);
    made = ended = 0;
    given = 0;
    return 0;
}

static void make(uint64_t handle, enum vs_physical_kind kind, uint64_t bytes)
{
    struct vs_tracked what = {.requested = bytes,
                           .size = bytes,
                           .device = 1,
                           .family = kind == VS_PHYSICAL_OWN ? VS_FAMILY_VMM : VS_FAMILY_IPC};
    vs_physical_made(handle, kind, &what, "make");
}

static void release(uint64_t handle, bool done)
{
    vs_physical_released(vs_physical_releasing(handle, "release"), done, "release");
}

static bool unmap(uint64_t addr, uint64_t bytes, bool done)
{
    struct vs_reference *list = vs_physical_unmapping(addr, bytes, "unmap");
    vs_physical_unmapped(list, done, "unmap");
    return list != NULL;
}

TEST(tiles_of_an_array_keep_their_memory)
{
    uint64_t array = VS_ADDR_ARRAY | 0x77;
    make(1, VS_PHYSICAL_OWN, 100);
    make(2, VS_PHYSICAL_OWN, 200);
    vs_physical_attach(array, 10, 1, 0, "tile");
    vs_physical_attach(array, 11, 1, 0, "tile");
    vs_physical_attach(array, 12, 2, 0, "tile");
    release(1, true);
    release(2, true);
    assert_int_equal(live_count, 2);
    vs_physical_detach(array, 10, "tile");
    assert_int_equal(live_count, 2); /* another tile of the same memory */
    vs_physical_detach(array, 11, "tile");
    assert_int_equal(live_count, 1);
    vs_physical_detach(array, 99, "tile"); /* it does not exist */
    vs_physical_detach(array, UINT64_MAX, "destroy");
    assert_int_equal(live_count, 0);
    assert_int_equal(made, 2);
    assert_int_equal(ended, 2);
    assert_int_equal(given, 300);
}

TEST(a_tile_mapped_anew_lets_the_old_memory_go)
{
    uint64_t array = VS_ADDR_ARRAY | 0x78;
    make(1, VS_PHYSICAL_OWN, 100);
    make(2, VS_PHYSICAL_OWN, 200);
    vs_physical_attach(array, 5, 1, 0, "tile");
    release(1, true);
    vs_physical_attach(array, 5, 2, 0, "tile");
    assert_int_equal(given, 100);
    vs_physical_attach(array, 5, 2, 0, "tile"); /* the same again */
    release(2, true);
    assert_int_equal(live_count, 1);
    vs_physical_detach(array, 5, "tile");
    assert_int_equal(live_count, 0);
}

TEST(a_multicast_object_is_no_memory_but_holds_some)
{
    make(50, VS_PHYSICAL_MULTICAST, 1000);
    assert_int_equal(live_count, 0);
    make(1, VS_PHYSICAL_OWN, 100);
    uint64_t owner = vs_physical_key(50);
    assert_true(owner != 0);
    assert_int_equal(vs_physical_device(1, 0), 1);
    vs_physical_attach(owner, 1, 1, 0, "bind");
    release(1, true);
    assert_int_equal(live_count, 1);
    vs_physical_mapped(0x200000, 1000, 0, 50, "map"); /* the object is mapped */
    release(50, true);
    assert_int_equal(live_count, 1);
    assert_true(unmap(0x200000, 1000, true));
    assert_int_equal(live_count, 0); /* the object's destruction released its bound memory */
    assert_int_equal(given, 100);
    assert_int_equal(vs_physical_key(50), 0);
}

TEST(an_imported_multicast_object_lets_go_at_its_end)
{
    make(51, VS_PHYSICAL_IMPORTED, 0);
    make(1, VS_PHYSICAL_OWN, 100);
    vs_physical_attach(vs_physical_key(51), 1, 1, 0, "bind");
    release(1, true);
    assert_int_equal(live_count, 1);
    release(51, true);
    assert_int_equal(live_count, 0);
    assert_int_equal(given, 100);
}

TEST(memory_bound_by_its_address_is_found)
{
    make(50, VS_PHYSICAL_MULTICAST, 1000);
    make(1, VS_PHYSICAL_OWN, 4096);
    vs_physical_mapped(0x400000, 4096, 0, 1, "map");
    vs_physical_attach(vs_physical_key(50), 1, 0, 0x400000 + 100, "bind");
    release(1, true);
    assert_true(unmap(0x400000, 4096, true));
    assert_int_equal(live_count, 1);
    vs_physical_detach(vs_physical_key(50), 1, "unbind");
    assert_int_equal(live_count, 0);
    release(50, true);
}

TEST(what_the_driver_refuses_stays)
{
    make(1, VS_PHYSICAL_OWN, 100);
    release(1, false);
    assert_int_equal(live_count, 1);
    assert_int_equal(given, 0);
    vs_physical_mapped(0x200000, 100, 0, 1, "map");
    release(1, true);
    assert_true(unmap(0x200000, 100, false));
    assert_int_equal(live_count, 1);
    assert_false(unmap(0x200000, 50, true)); /* half of it */
    assert_int_equal(live_count, 1);
    assert_true(unmap(0x200000, 100, true));
    assert_int_equal(live_count, 0);
    assert_int_equal(given, 100);
}

TEST(a_handle_that_comes_again_ends_what_it_was)
{
    make(1, VS_PHYSICAL_OWN, 100);
    make(1, VS_PHYSICAL_OWN, 200); /* its release was not observed */
    assert_int_equal(live_count, 1);
    assert_int_equal(live[0].size, 200);
    release(1, true);
    assert_int_equal(live_count, 0);
    assert_int_equal(given, 300);
}

TEST(a_released_handle_may_be_anothers_while_a_mapping_lives)
{
    make(1, VS_PHYSICAL_OWN, 100);
    vs_physical_mapped(0x200000, 100, 0, 1, "map");
    release(1, true);
    make(1, VS_PHYSICAL_OWN, 200); /* the number reused */
    assert_int_equal(live_count, 2);
    assert_true(unmap(0x200000, 100, true));
    assert_int_equal(live_count, 1);
    assert_int_equal(live[0].size, 200);
    release(1, true);
    assert_int_equal(live_count, 0);
}

TEST(imports_are_listed_by_address_and_never_counted)
{
    make(9, VS_PHYSICAL_IMPORTED, 0);
    assert_int_equal(live_count, 0);
    vs_physical_mapped(0x200000, 100, 0, 9, "map");
    vs_physical_mapped(0x300000, 100, 0, 9, "map");
    assert_int_equal(live_count, 2);
    assert_int_equal(live[0].family, VS_FAMILY_IPC);
    release(9, true);
    assert_true(unmap(0x200000, 100, true));
    assert_true(unmap(0x300000, 100, true));
    assert_int_equal(live_count, 0);
    assert_int_equal(given, 0);
}

TEST(an_import_of_ones_own_is_another_name)
{
    make(1, VS_PHYSICAL_OWN, 100);
    vs_physical_exported(1, 4711);
    assert_false(vs_physical_imported(2, 4712));
    assert_true(vs_physical_imported(2, 4711));
    release(1, true);
    assert_int_equal(live_count, 1);
    release(2, true);
    assert_int_equal(live_count, 0);
    assert_false(vs_physical_imported(3, 4711)); /* it is gone */
    make(4, VS_PHYSICAL_OWN, 10);
    make(5, VS_PHYSICAL_OWN, 20);
    vs_physical_exported(4, 9);
    vs_physical_exported(5, 9); /* the descriptor's number was reused */
    assert_true(vs_physical_imported(6, 9));
    release(4, true);
    release(5, true);
    assert_int_equal(live_count, 1);
    assert_int_equal(live[0].size, 20);
    release(6, true);
}
