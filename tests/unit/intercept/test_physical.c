/* SPDX-License-Identifier: Apache-2.0
 *
 * References to physical memory (intercept/track/physical.c) where the simulated driver cannot be
 * used: tiles of arrays, multicast objects, failures halfway, reused handles. The tracker is a list
 * of live allocations. */
#include <stdio.h>

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

/* *refused*: by the driver. Returns whether there was such a mapping. */
static bool unmap(uint64_t addr, uint64_t bytes, bool refused)
{
    struct vs_reference *list = vs_physical_unmapping(addr, bytes, "unmap");
    vs_physical_unmapped(list, !refused, "unmap");
    return list != NULL;
}

#define ARRAY (VS_ADDR_ARRAY | 0x77)

/* Runs a program, whose statements are separated by ";":
 *
 *     make H SIZE | multicast H SIZE | imported H     handle H, of physical memory of ours, ...
 *     release H [refused]
 *     map AT SIZE H | unmap AT SIZE [refused | unknown]
 *     tile T H | untile T         tile T of an array has the memory H
 *     bind N H TO | bound N AT TO | unbind N TO       to a multicast object: a handle, an address
 *     export H FILE | import H FILE yes|no            as that descriptor
 *     live N | given N | first SIZE                   what there has to be, of live memory */
static void play(const char *text)
{
    char one[64], word[16] = "";
    for (size_t size; *(text += strspn(text, "; ")); text += size) {
        uint64_t a = 0, b = 0, c = 0;
        char last[16] = "";
        size = strcspn(text, ";");
        snprintf(one, sizeof one, "%.*s", (int)size, text);
        int count = sscanf(one, "%15s %lu %lu %lu", word, &a, &b, &c);
        sscanf(strrchr(one, ' '), " %15[a-z]", last);
        assert_true(count > 1);
        if (!strcmp(word, "make"))
            make(a, VS_PHYSICAL_OWN, b);
        else if (!strcmp(word, "multicast"))
            make(a, VS_PHYSICAL_MULTICAST, b);
        else if (!strcmp(word, "imported"))
            make(a, VS_PHYSICAL_IMPORTED, 0);
        else if (!strcmp(word, "release"))
            vs_physical_released(vs_physical_releasing(a, "release"), !*last, "release");
        else if (!strcmp(word, "map"))
            vs_physical_mapped(a, b, 0, c, "map");
        else if (!strcmp(word, "unmap"))
            assert_int_equal(unmap(a, b, *last == 'r'), *last != 'u');
        else if (!strcmp(word, "tile"))
            vs_physical_attach(ARRAY, a, b, 0, "tile");
        else if (!strcmp(word, "untile"))
            vs_physical_detach(ARRAY, a, "tile");
        else if (!strcmp(word, "bind"))
            vs_physical_attach(vs_physical_key(c), a, b, 0, "bind");
        else if (!strcmp(word, "bound"))
            vs_physical_attach(vs_physical_key(c), a, 0, b, "bind");
        else if (!strcmp(word, "unbind"))
            vs_physical_detach(vs_physical_key(b), a, "unbind");
        else if (!strcmp(word, "export"))
            vs_physical_exported(a, b);
        else if (!strcmp(word, "import"))
            assert_int_equal(vs_physical_imported(a, b), *last == 'y');
        else if (!strcmp(word, "live"))
            assert_int_equal(live_count, a);
        else if (!strcmp(word, "given"))
            assert_int_equal(given, a);
        else if (!strcmp(word, "first"))
            assert_int_equal(live[0].size, a);
        else
            fail_msg("%s is no statement", one);
    }
}

static const struct physical_case {
    const char *name, *program;
} cases[] = {
    {"tiles_of_an_array_keep_their_memory",
     "make 1 100; make 2 200; tile 10 1; tile 11 1; tile 12 2; release 1; release 2; live 2; "
     "untile 10; live 2; " /* another tile of the same memory */
     "untile 11; live 1; untile 99; " /* it does not exist */
     "untile 18446744073709551615; live 0; given 300"}, /* all of them */
    {"a_tile_mapped_anew_lets_the_old_memory_go",
     "make 1 100; make 2 200; tile 5 1; release 1; tile 5 2; given 100; tile 5 2; " /* the same */
     "release 2; live 1; untile 5; live 0"},
    /* its destruction releases its bound memory */
    {"a_multicast_object_is_no_memory_but_holds_some",
     "multicast 50 1000; live 0; make 1 100; bind 1 1 50; release 1; live 1; map 200 1000 50; "
     "release 50; live 1; unmap 200 1000; live 0; given 100"},
    {"an_imported_multicast_object_lets_go_at_its_end",
     "imported 51; make 1 100; bind 1 1 51; release 1; live 1; release 51; live 0; given 100"},
    {"memory_bound_by_its_address_is_found",
     "multicast 50 1000; make 1 4096; map 4000 4096 1; bound 1 4100 50; release 1; "
     "unmap 4000 4096; live 1; unbind 1 50; live 0; release 50"},
    {"what_the_driver_refuses_stays",
     "make 1 100; release 1 refused; live 1; given 0; map 200 100 1; release 1; "
     "unmap 200 100 refused; live 1; unmap 200 50 unknown; live 1; " /* half of it */
     "unmap 200 100; live 0; given 100"},
    {"a_handle_that_comes_again_ends_what_it_was", /* its release was not observed */
     "make 1 100; make 1 200; live 1; first 200; release 1; live 0; given 300"},
    {"a_released_handle_may_be_anothers_while_a_mapping_lives",
     "make 1 100; map 200 100 1; release 1; make 1 200; live 2; unmap 200 100; live 1; first 200; "
     "release 1; live 0"},
    {"imports_are_listed_by_address_and_never_counted",
     "imported 9; live 0; map 200 100 9; map 300 100 9; live 2; release 9; unmap 200 100; "
     "unmap 300 100; live 0; given 0"},
    {"an_import_of_ones_own_is_another_name",
     "make 1 100; export 1 4711; import 2 4712 no; import 2 4711 yes; release 1; live 1; "
     "release 2; live 0; import 3 4711 no; " /* it is gone */
     "make 4 10; make 5 20; export 4 9; export 5 9; " /* the descriptor's number was reused */
     "import 6 9 yes; release 4; release 5; live 1; first 20; release 6"},
};

ROWS(cases, references_keep_their_memory)
{
    play(((const struct physical_case *)*state)->program);
    assert_int_equal(made, ended);
}

TEST(a_handle_has_its_device_and_an_import_its_family)
{
    play("multicast 50 1000; make 1 100");
    assert_true(vs_physical_key(50) != 0);
    assert_int_equal(vs_physical_device(1, 0), 1);
    play("release 50; release 1");
    assert_int_equal(vs_physical_key(50), 0);
    play("imported 9; map 200 100 9");
    assert_int_equal(live[0].family, VS_FAMILY_IPC);
    play("release 9; unmap 200 100");
}
