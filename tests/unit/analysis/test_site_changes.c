/* SPDX-License-Identifier: Apache-2.0
 *
 * Matching the call sites of two runs: what is new, gone, grown, shrunk or moved, whatever the order of
 * the lists and the addresses. */
#include <string.h>

#include "support/cmocka_test.h"
#include "analysis/compare/change_labels.h"
#include "analysis/compare/site_moves.h"
#include "analysis/compare/site_similar.h"

#define SITES_MAX 8
#define FRAMES_MAX 32

/* A list of sites: each is a chain of frames "function file line", the innermost first. */
struct list {
    struct vs_report_frame frames[SITES_MAX][FRAMES_MAX];
    struct vs_report_site items[SITES_MAX];
    struct vs_report_sites sites;
};

static struct vs_report_site *add(struct list *l, uint64_t bytes, uint64_t count)
{
    size_t n = l->sites.count++;
    l->items[n] = (struct vs_report_site){.frames = l->frames[n], .api = "cudaMalloc", .bytes = bytes,
                                          .count = count, .stacks = 1};
    l->sites.items = l->items;
    l->sites.total_bytes += bytes;
    return &l->items[n];
}

static void frame(struct vs_report_site *site, const char *function, const char *file, unsigned line)
{
    struct vs_report_frame *frames = (struct vs_report_frame *)site->frames;
    frames[site->frame_count++] =
        (struct vs_report_frame){.function = function, .file = file, .line = line, .known = true};
}

static void two_frames(struct list *l, uint64_t bytes, const char *function, const char *file,
                       unsigned line)
{
    struct vs_report_site *site = add(l, bytes, 1);
    frame(site, function, file, line);
    frame(site, "main", "/src/main.c", 90);
}

static void match(struct vs_arena *memory, const struct list *a, const struct list *b,
                  struct vs_site_changes *out)
{
    vs_site_changes_build(memory, &a->sites, &b->sites, VS_METRIC_ALLOCATED, NULL, out);
}

/* With another caller a function may become one that reports leave out of the names of call sites. */
TEST(a_further_caller_of_a_wrapper_renames_nothing)
{
    struct vs_arena memory = {0};
    struct vs_site_changes changes;
    struct list a = {0}, b = {0};
    for (int i = 0; i < 2; i++) {
        struct list *l = i ? &b : &a;
        struct vs_report_site *site = add(l, 48, 1);
        frame(site, "make_buffer", "/src/pool.c", 9);
        frame(site, "main", "/src/main.c", 34);
        site->wrappers = i ? 1 : 0;
    }
    struct vs_report_site *site = add(&b, 4, 1);
    frame(site, "make_buffer", "/src/pool.c", 9);
    frame(site, "workspace", "/src/main.c", 15);
    site->wrappers = 1;
    match(&memory, &a, &b, &changes);
    assert_int_equal(changes.of[VS_SITE_SAME], 1);
    assert_int_equal(changes.of[VS_SITE_NEW], 1);
    assert_int_equal(changes.count, 2);
    vs_arena_free_all(&memory);
}

TEST(the_order_and_other_lines_do_not_matter)
{
    struct vs_arena memory = {0};
    struct vs_site_changes changes;
    struct list a = {0}, b = {0};
    two_frames(&a, 300, "load_weights", "/src/net.c", 10);
    two_frames(&a, 200, "forward", "/src/net.c", 20);
    two_frames(&a, 100, "forward", "/src/net.c", 30);
    two_frames(&b, 100, "forward", "/home/ci/src/net.c", 33); /* three lines were inserted above both */
    two_frames(&b, 300, "load_weights", "/home/ci/src/net.c", 10);
    two_frames(&b, 200, "forward.part.0", "/home/ci/src/net.c", 23);
    match(&memory, &a, &b, &changes);
    assert_int_equal(changes.of[VS_SITE_SAME], 1);
    assert_int_equal(changes.of[VS_SITE_MOVED], 2);
    assert_int_equal(changes.lines, 2);
    assert_int_equal(changes.count, 3);
    vs_arena_free_all(&memory);
}

TEST(new_gone_grown_and_shrunk_are_told_apart)
{
    struct vs_arena memory = {0};
    struct vs_site_changes changes;
    struct list a = {0}, b = {0};
    two_frames(&a, 1000, "attention", "/src/net.c", 10);
    two_frames(&a, 2000, "mlp", "/src/net.c", 20);
    two_frames(&a, 50, "old_cache", "/src/cache.c", 5);
    two_frames(&b, 1500, "attention", "/src/net.c", 10);
    two_frames(&b, 1900, "mlp", "/src/net.c", 20);
    two_frames(&b, 7000, "keep_history", "/src/debug.c", 5);
    match(&memory, &a, &b, &changes);
    assert_int_equal(changes.count, 4);
    assert_int_equal(changes.items[0].verdict, VS_SITE_NEW);
    assert_int_equal(changes.items[0].delta, 7000);
    assert_int_equal(changes.items[1].verdict, VS_SITE_GROWN);
    assert_int_equal(changes.items[1].delta, 500);
    assert_int_equal(changes.items[2].verdict, VS_SITE_SHRUNK);
    assert_int_equal(changes.items[2].delta, -100);
    assert_int_equal(changes.items[3].verdict, VS_SITE_GONE);
    assert_null(changes.items[3].b);
    vs_arena_free_all(&memory);
}

TEST(a_renamed_or_moved_function_is_moved)
{
    struct vs_arena memory = {0};
    struct vs_site_changes changes;
    struct list a = {0}, b = {0};
    struct vs_frame_range x, y;
    two_frames(&a, 1000, "forward", "/src/net.c", 10);
    two_frames(&a, 2000, "load_weights", "/src/net.c", 20);
    two_frames(&b, 1000, "forward", "/src/layers.c", 44);      /* another file */
    two_frames(&b, 2000, "read_checkpoint", "/src/net.c", 20); /* another name, the same size */
    match(&memory, &a, &b, &changes);
    assert_int_equal(changes.of[VS_SITE_MOVED], 2);
    assert_int_equal(changes.count, 2);
    assert_int_equal(changes.items[0].move, VS_MOVE_FUNCTION);
    assert_true(vs_site_moved_frames(&changes.items[0], &x, &y));
    assert_string_equal(changes.items[0].a->site->frames[x.from].function, "load_weights");
    assert_string_equal(changes.items[0].b->site->frames[y.from].function, "read_checkpoint");
    assert_int_equal(changes.items[1].move, VS_MOVE_FILE);
    vs_arena_free_all(&memory);
}

/* A function that calls it was added: an extracted helper. */
TEST(a_call_through_another_function_is_moved)
{
    struct vs_arena memory = {0};
    struct vs_site_changes changes;
    struct list a = {0}, b = {0};
    two_frames(&a, 1000, "forward", "/src/net.c", 10);
    struct vs_report_site *site = add(&b, 1000, 1);
    frame(site, "forward", "/src/net.c", 10);
    frame(site, "run_layer", "/src/net.c", 60);
    frame(site, "main", "/src/main.c", 92);
    match(&memory, &a, &b, &changes);
    assert_int_equal(changes.of[VS_SITE_MOVED], 1);
    assert_int_equal(changes.items[0].move, VS_MOVE_FUNCTION);
    vs_arena_free_all(&memory);
}

/* A buffer's constructor in a header, called from a function of a file, itself or through *part*. */
static void buffer_of(struct list *l, uint64_t bytes, const char *part, const char *function, const char *file,
                      unsigned line)
{
    struct vs_report_site *site = add(l, bytes, 1);
    frame(site, "Buffer::Buffer", "/src/buffer.hpp", 10);
    if (part)
        frame(site, part, file, 34);
    frame(site, function, file, line);
    frame(site, "step", file, 61);
    frame(site, "main", "/src/main.c", 90);
}

/* The file and the function were renamed, and a part of the function was extracted: the part was new. */
TEST(an_extracted_function_of_a_renamed_one_is_moved)
{
    struct vs_arena memory = {0};
    struct vs_site_changes changes, reserved;
    struct list a = {0}, b = {0}, more = {0}, less = {0};
    two_frames(&a, 500, "forces(World&)", "/src/physics.c", 41);
    buffer_of(&a, 1000, NULL, "forces(World&)", "/src/physics.c", 43);
    buffer_of(&a, 300, NULL, "density", "/src/physics.c", 25);
    two_frames(&b, 500, "compute_forces(World&)", "/src/solver.c", 42);
    buffer_of(&b, 1000, "make_gradient", "compute_forces(World&)", "/src/solver.c", 44);
    buffer_of(&b, 300, NULL, "density", "/src/solver.c", 25);
    buffer_of(&b, 400, NULL, "compute_forces(World&)", "/src/solver.c", 49);
    match(&memory, &a, &b, &changes);
    assert_int_equal(changes.of[VS_SITE_MOVED], 3);
    assert_int_equal(changes.of[VS_SITE_NEW], 1);
    assert_int_equal(changes.count, 4);
    assert_int_equal(changes.items[0].delta, 400);
    /* of a list that does not show the renaming */
    buffer_of(&less, 1000, NULL, "forces(World&)", "/src/physics.c", 43);
    buffer_of(&less, 200, NULL, "forces(World&)", "/src/physics.c", 48);
    buffer_of(&more, 1000, "make_gradient", "compute_forces(World&)", "/src/solver.c", 44);
    buffer_of(&more, 250, NULL, "compute_forces(World&)", "/src/solver.c", 49);
    vs_site_changes_build(&memory, &less.sites, &more.sites, VS_METRIC_RESERVED, &changes, &reserved);
    assert_int_equal(reserved.of[VS_SITE_MOVED], 1);
    assert_int_equal(reserved.of[VS_SITE_GROWN], 1);
    assert_int_equal(reserved.count, 2);
    vs_arena_free_all(&memory);
}

TEST(a_renamed_function_that_grew_is_grown)
{
    struct vs_arena memory = {0};
    struct vs_site_changes changes;
    struct list a = {0}, b = {0};
    two_frames(&a, 1000, "forward_pass", "/src/net.c", 10);
    two_frames(&b, 1700, "forward_passes", "/src/net.c", 12);
    match(&memory, &a, &b, &changes);
    assert_int_equal(changes.of[VS_SITE_GROWN], 1);
    assert_int_equal(changes.items[0].move, VS_MOVE_FUNCTION);
    assert_int_equal(changes.items[0].delta, 700);
    vs_arena_free_all(&memory);
}

/* A site of one size shows that a function has another name, so that the others of it are not new. */
TEST(a_rename_of_one_site_holds_for_the_others)
{
    struct vs_arena memory = {0};
    struct vs_site_changes changes;
    struct list a = {0}, b = {0};
    two_frames(&a, 1000, "train", "/src/net.c", 10);
    two_frames(&a, 2000, "train", "/src/net.c", 20);
    two_frames(&b, 1000, "main_loop", "/src/net.c", 10);
    two_frames(&b, 6000, "main_loop", "/src/net.c", 20);
    match(&memory, &a, &b, &changes);
    assert_int_equal(changes.of[VS_SITE_MOVED], 1);
    assert_int_equal(changes.of[VS_SITE_GROWN], 1);
    assert_int_equal(changes.items[0].delta, 4000);
    vs_arena_free_all(&memory);
}

/* Sites of different functions with nearly the same callers are not one that grew. */
TEST(equal_callers_alone_are_not_a_match)
{
    struct vs_arena memory = {0};
    struct vs_site_changes changes;
    struct list a = {0}, b = {0};
    for (int i = 0; i < 2; i++) {
        struct vs_report_site *site = add(i ? &b : &a, i ? 900 : 100, 1);
        frame(site, i ? "attention_forward" : "head_forward", "/src/net.c", 30);
        static const char *const callers[] = {"run_part", "run_step", "run_epoch", "run", "main"};
        for (unsigned k = 0; k < 5; k++)
            frame(site, callers[k], "/src/main.c", 40 + k);
    }
    match(&memory, &a, &b, &changes);
    assert_int_equal(changes.of[VS_SITE_NEW], 1);
    assert_int_equal(changes.of[VS_SITE_GONE], 1);
    vs_arena_free_all(&memory);
}

/* Unrelated code of the same size is not the same call site. */
TEST(equal_sizes_alone_are_not_a_match)
{
    struct vs_arena memory = {0};
    struct vs_site_changes changes;
    struct list a = {0}, b = {0};
    struct vs_report_site *site = add(&a, 4096, 1);
    frame(site, "decode", "/src/video.c", 10);
    site = add(&b, 4096, 1);
    frame(site, "keep_history", "/src/debug.c", 5);
    match(&memory, &a, &b, &changes);
    assert_int_equal(changes.of[VS_SITE_NEW], 1);
    assert_int_equal(changes.of[VS_SITE_GONE], 1);
    vs_arena_free_all(&memory);
}

/* The line that was added to a function is new; those below it are not. */
TEST(an_inserted_allocation_is_the_new_one)
{
    struct vs_arena memory = {0};
    struct vs_site_changes changes;
    struct list a = {0}, b = {0};
    two_frames(&a, 100, "forward", "/src/net.c", 10);
    two_frames(&a, 300, "forward", "/src/net.c", 12);
    two_frames(&b, 100, "forward", "/src/net.c", 10);
    two_frames(&b, 700, "forward", "/src/net.c", 11);
    two_frames(&b, 300, "forward", "/src/net.c", 13);
    match(&memory, &a, &b, &changes);
    assert_int_equal(changes.items[0].verdict, VS_SITE_NEW);
    assert_int_equal(changes.items[0].delta, 700);
    assert_int_equal(changes.of[VS_SITE_SAME], 1);
    assert_int_equal(changes.lines, 1);
    vs_arena_free_all(&memory);
}

/* A run that ended early, or with other sizes, of the same source: the lines say which is which. */
TEST(equal_lines_are_the_same_sites)
{
    struct vs_arena memory = {0};
    struct vs_site_changes changes;
    struct list a = {0}, b = {0};
    two_frames(&a, 1000, "forward", "/src/net.c", 10);
    two_frames(&a, 400, "forward", "/src/net.c", 12);
    two_frames(&a, 800, "forward", "/src/net.c", 14);
    two_frames(&b, 500, "forward", "/src/net.c", 10);
    two_frames(&b, 200, "forward", "/src/net.c", 12);
    match(&memory, &a, &b, &changes);
    assert_int_equal(changes.of[VS_SITE_SHRUNK], 2);
    assert_int_equal(changes.of[VS_SITE_GONE], 1);
    assert_int_equal(changes.items[0].verdict, VS_SITE_GONE);
    assert_int_equal(changes.items[0].delta, -800);
    vs_arena_free_all(&memory);
}

/* A thread without Python frames: the line of the user's that it works for names the site. */
/* Of deep stacks the innermost frames are compared: two sites may have the same lines in these. Each found the
 * first one of the other run, so that this was paired twice and the second one was gone. */
TEST(sites_with_the_same_lines_have_a_partner_each)
{
    struct vs_arena memory = {0};
    struct vs_site_changes changes;
    struct list a = {0}, b = {0};
    for (int run = 0; run < 2; run++) {
        for (unsigned k = 0; k < 2; k++) {
            struct vs_report_site *site = add(run ? &b : &a, 1000 * (k + 1) + 500 * (unsigned)run, 1);
            for (unsigned depth = 0; depth < VS_SIMILAR_FRAMES; depth++)
                frame(site, "visit", "/src/tree.c", 10);
            frame(site, "main", "/src/main.c", 20 + k);
        }
    }
    match(&memory, &a, &b, &changes);
    assert_int_equal(changes.count, 2);
    assert_int_equal(changes.of[VS_SITE_GROWN], 2);
    assert_ptr_not_equal(changes.items[0].a, changes.items[1].a);
    assert_int_equal(changes.items[0].delta, 500);
    assert_int_equal(changes.items[1].delta, 500);
    vs_arena_free_all(&memory);
}

TEST(an_edited_line_is_the_same_site)
{
    struct vs_arena memory = {0};
    struct vs_site_changes changes;
    struct list a = {0}, b = {0};
    struct vs_report_site *site = add(&a, 4096, 3);
    site->line = "loss.backward() (train.py:40)";
    site->line_file = "/src/train.py";
    site->line_number = 40;
    site = add(&b, 4096, 3);
    site->line = "scaled_loss.backward() (train.py:44)";
    site->line_file = "/src/train.py";
    site->line_number = 44;
    match(&memory, &a, &b, &changes);
    assert_int_equal(changes.of[VS_SITE_MOVED], 1);
    assert_int_equal(changes.items[0].move, VS_MOVE_FUNCTION);
    vs_arena_free_all(&memory);
}

static void wrapped(struct list *l, uint64_t bytes, const char *file, const char *caller, unsigned line)
{
    struct vs_report_site *site = add(l, bytes, 1);
    frame(site, "make_buffer", file, 9);
    if (strcmp(caller, "main") != 0)
        frame(site, caller, file, line);
    frame(site, "main", file, strcmp(caller, "main") == 0 ? line : 90);
}

static void no_two_labels_are_the_same(const struct vs_named_sites *sites)
{
    char x[VS_CHAIN_TEXT_MAX], y[VS_CHAIN_TEXT_MAX];
    for (size_t i = 0; i < sites->count; i++)
        for (size_t k = 0; k < i; k++)
            assert_string_not_equal(vs_change_label_text(x, &sites->items[i]),
                                    vs_change_label_text(y, &sites->items[k]));
}

/* All call sites have the same innermost frame. */
TEST(a_rename_behind_an_allocation_function_is_shown)
{
    struct vs_arena memory = {0};
    struct vs_site_changes changes;
    struct vs_frame_range x, y;
    struct list a = {0}, b = {0};
    wrapped(&a, 48, "/src/gate.c", "main", 34);
    wrapped(&a, 16, "/src/gate.c", "forward", 18);
    wrapped(&a, 16, "/src/gate.c", "forward", 25);
    wrapped(&b, 48, "/src/gate2.c", "main", 36);
    wrapped(&b, 16, "/src/gate2.c", "forward_pass", 20);
    wrapped(&b, 16, "/src/gate2.c", "forward_pass", 27);
    match(&memory, &a, &b, &changes);
    no_two_labels_are_the_same(&changes.a);
    no_two_labels_are_the_same(&changes.b);
    assert_int_equal(changes.of[VS_SITE_MOVED], 3);
    for (size_t i = 0; i < 3; i++) {
        const struct vs_site_pair *pair = &changes.items[i];
        const struct vs_report_frame *was = pair->a->site->frames, *is = pair->b->site->frames;
        assert_true(vs_site_moved_frames(pair, &x, &y));
        assert_int_equal(x.from, x.to);
        assert_string_equal(was[x.from].function, i < 2 ? "forward" : "main");
        assert_string_equal(is[y.from].function, i < 2 ? "forward_pass" : "main");
        assert_int_equal(is[y.from].line, was[x.from].line + 2);
    }
    vs_arena_free_all(&memory);
}

/* A part of a function became one of its own: the line of the former is where it is called now. */
TEST(an_extracted_function_is_shown_with_its_caller)
{
    struct vs_arena memory = {0};
    struct vs_site_changes changes;
    struct vs_frame_range x, y;
    struct list a = {0}, b = {0};
    wrapped(&a, 16, "/src/net.c", "mlp", 27);
    struct vs_report_site *site = add(&b, 16, 1);
    frame(site, "make_buffer", "/src/net.c", 9);
    frame(site, "mlp_up", "/src/net.c", 21);
    frame(site, "mlp", "/src/net.c", 23);
    frame(site, "main", "/src/net.c", 90);
    match(&memory, &a, &b, &changes);
    assert_int_equal(changes.of[VS_SITE_MOVED], 1);
    assert_true(vs_site_moved_frames(&changes.items[0], &x, &y));
    assert_int_equal(x.from, 1);
    assert_int_equal(x.to, 1);
    assert_int_equal(y.from, 1);
    assert_int_equal(y.to, 2);
    vs_arena_free_all(&memory);
}

/* The depths of a recursion differ in how often the function called itself, below the first frames. */
TEST(the_depths_of_a_recursion_have_different_labels)
{
    char text[VS_CHAIN_TEXT_MAX];
    struct vs_arena memory = {0};
    struct vs_site_changes changes;
    struct list a = {0}, b = {0};
    for (unsigned depth = 0; depth < 6; depth++) {
        struct vs_report_site *site = add(&a, 16, 1);
        frame(site, "visit", "/src/tree.c", 33);
        for (unsigned i = 0; i < depth; i++)
            frame(site, "visit", "/src/tree.c", 35);
        frame(site, "main", "/src/tree.c", 90);
    }
    match(&memory, &a, &b, &changes);
    assert_int_equal(changes.a.count, 6);
    no_two_labels_are_the_same(&changes.a);
    for (size_t i = 0; i < 6; i++)
        assert_int_equal(vs_culprit_of(&changes.a.items[i]).line, 33);
    size_t deepest = 0;
    while (changes.a.items[deepest].site->frame_count != 7)
        deepest++;
    assert_string_equal(vs_change_label_text(text, &changes.a.items[deepest]),
                        "visit (tree.c:33) < visit:35 x 5 < main:90");
    vs_arena_free_all(&memory);
}

/* Names that are cut off in reports: only a number is left to tell such sites apart. */
TEST(sites_that_read_the_same_are_numbered)
{
    struct vs_arena memory = {0};
    struct vs_site_changes changes;
    struct list a = {0}, b = {0};
    struct vs_report_site *site = add(&a, 16, 1);
    frame(site, "forward", "/src/a/net.c", 9);
    site = add(&a, 32, 1);
    frame(site, "forward.part.0", "/src/b/net.c", 9);
    site->api = "cudaMallocAsync";
    match(&memory, &a, &b, &changes);
    no_two_labels_are_the_same(&changes.a);
    vs_arena_free_all(&memory);
}
