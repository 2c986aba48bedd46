/* SPDX-License-Identifier: Apache-2.0
 *
 * Matching the call sites of two runs: what is new, gone, grown, shrunk or moved, whatever the
 * order of the lists and the addresses. */
#include <stdio.h>
#include <string.h>

#include "analysis/budget/culprits.h"
#include "analysis/compare/comparison.h"
#include "support/cmocka_test.h"

#define SITES_MAX 8
#define FRAMES_MAX 32
#define MAIN " < main /src/main.c:90"

struct list {
    struct vs_report_frame frames[SITES_MAX][FRAMES_MAX];
    struct vs_report_site items[SITES_MAX];
    struct vs_report_sites sites;
    char text[SITES_MAX][1024]; /* of the frames */
};

static struct vs_arena memory;
static struct list a, b; /* of the two runs */
static struct vs_site_changes changes;

BEFORE(clear)
{
    vs_arena_free_all(&memory);
    memset(&a, 0, sizeof a);
    memset(&b, 0, sizeof b);
    return 0;
}

/* A site of *bytes* with *frames* "FUNCTION FILE:LINE < ...", the innermost first. */
static struct vs_report_site *site(struct list *l, uint64_t bytes, const char *frames)
{
    size_t n = l->sites.count++;
    struct vs_report_site *new = &l->items[n];
    *new = (struct vs_report_site){.frames = l->frames[n], .api =
    "cudaMalloc", .bytes = bytes, .count = 1,
                                   .stacks = 1};
    l->sites.items = l->items;
    l->sites.total_bytes += bytes;
    assert_true(strlen(frames) < sizeof l->text[n]);
    strcpy(l->text[n], frames);
    for (char *at = l->text[n], *next; at && *at; at = next) {
        struct vs_report_frame *frame = &l->frames[n][new->frame_count++];
        assert_true(new->frame_count <= FRAMES_MAX);
        if ((next = strstr(at, " < ")) != NULL) {
            *next = 0;
            next += 3;
        }
        char *file = strrchr(at, ' '), *line = strrchr(at, ':');
        *file++ = *line++ = 0;
        *frame = (struct vs_report_frame){.function = at, .file = file, .line = (uint32_t)atoi(line), .known = true};
    }
    return new;
}

/* The sites of *text*: "BYTES FRAMES" each, separated by ";". */
static void sites(struct list *l, const char *text)
{
    char frames[1024];
    for (char *end; *text; text += strcspn(text, ";"), text += strspn(text, "; ")) {
        uint64_t bytes = strtoull(text, &end, 10);
        text = end + strspn(end, " ");
        snprintf(frames, sizeof frames, "%.*s", (int)strcspn(text, ";"), text);
        site(l, bytes, frames);
    }
}

static void match(void)
{
    vs_site_changes_build(&memory, &a.sites, &b.sites, VS_METRIC_ALLOCATED, NULL, &changes);
}

/* What there is of each verdict, "new 1 grown 2", and no other; "new 7000; ..." is one change after
 * the other, by its bytes. */
static void expect_changes(const char *counts, const char *each)
{
    static const char *const names[] = {"same", "new", "gone", "grown", "shrunk", "moved"};
    char have[200] = "", list[400] = "";
    for (int v = 0; v < VS_SITE_VERDICTS; v++)
        if (changes.of[v])
            sprintf(have + strlen(have), "%s%s %zu", *have ? " " : "", names[v], changes.of[v]);
    assert_string_equal(have, counts);
    for (size_t i = 0; i < changes.count; i++)
        sprintf(list + strlen(list), "%s%s %lld", i ? "; " : "", names[changes.items[i].verdict],
                (long long)changes.items[i].delta);
    size_t length = each ? strlen(each) : 0;
    if (length && (strncmp(list, each, length) != 0 || (list[length] && list[length] != ';')))
        fail_msg("%s, not %s", list, each);
}

#define CALLERS                                                                           \
    " < run_part /src/main.c:40 < run_step /src/main.c:41 < run_epoch /src/main.c:42 < "  \
    "run /src/main.c:43 < main /src/main.c:44"

static const struct changes_case {
    const char *name, *a, *b, *counts;
    const char *each;            /* the first changes; NULL: any */
    enum vs_site_move move;      /* of the first one */
    size_t lines;                /* that moved by their line numbers only */
} cases[] = {
    {"the_order_and_other_lines_do_not_matter", /* three lines were inserted above two of them */
     "300 load_weights /src/net.c:10" MAIN "; 200 forward /src/net.c:20" MAIN "; 100 forward "
     "/src/net.c:30" MAIN,
     "100 forward /home/ci/src/net.c:33" MAIN "; 300 load_weights /home/ci/src/net.c:10" MAIN
     "; 200 forward.part.0 /home/ci/src/net.c:23" MAIN, "same 1 moved 2", .lines = 2},
    {"new_gone_grown_and_shrunk_are_told_apart",
     "1000 attention /src/net.c:10" MAIN "; 2000 mlp /src/net.c:20" MAIN "; 50 old_cache "
     "/src/cache.c:5" MAIN,
     "1500 attention /src/net.c:10" MAIN "; 1900 mlp /src/net.c:20" MAIN "; 7000 keep_history "
     "/src/debug.c:5" MAIN,
     "new 1 gone 1 grown 1 shrunk 1", "new 7000; grown 500; shrunk -100; gone -50"},
    /* A function that calls it was added: an extracted helper. */
    {"a_call_through_another_function_is_moved", "1000 forward /src/net.c:10" MAIN,
     "1000 forward /src/net.c:10 < run_layer /src/net.c:60 < main /src/main.c:92", "moved 1", NULL,
     VS_MOVE_FUNCTION},
    {"a_renamed_function_that_grew_is_grown", "1000 forward_pass /src/net.c:10" MAIN,
     "1700 forward_passes /src/net.c:12" MAIN, "grown 1", "grown 700", VS_MOVE_FUNCTION},
    /* A site of one size shows that a function has another name, so that the others of it are not
     * new. */
    {"a_rename_of_one_site_holds_for_the_others",
     "1000 train /src/net.c:10" MAIN "; 2000 train /src/net.c:20" MAIN,
     "1000 main_loop /src/net.c:10" MAIN "; 6000 main_loop /src/net.c:20" MAIN,
     "grown 1 moved 1", "grown 4000"},
    /* Sites of different functions with nearly the same callers are not one that grew; nor is
     * unrelated code of the same size the same call site. */
    {"equal_sizes_alone_are_not_a_match",
     "4096 decode /src/video.c:10", "4096 keep_history /src/debug.c:5",
     "new 1 gone 1"},
    {"equal_callers_alone_are_not_a_match", "100 head_forward /src/net.c:30" CALLERS,
     "900 attention_forward /src/net.c:30" CALLERS, "new 1 gone 1"},
    /* The line that was added to a function is new; those below it are not. */
    {"an_inserted_allocation_is_the_new_one",
     "100 forward /src/net.c:10" MAIN "; 300 forward /src/net.c:12" MAIN,
     "100 forward /src/net.c:10" MAIN "; 700 forward /src/net.c:11" MAIN "; 300 forward "
     "/src/net.c:13" MAIN,
     "same 1 new 1 moved 1", "new 700", .lines = 1},
    /* A run that ended early, or with other sizes, of the same source: the lines say which is
     * which. */
    {"equal_lines_are_the_same_sites",
     "1000 forward /src/net.c:10" MAIN "; 400 forward /src/net.c:12" MAIN "; 800 forward "
     "/src/net.c:14" MAIN,
     "500 forward /src/net.c:10" MAIN "; 200 forward /src/net.c:12" MAIN,
     "gone 1 shrunk 2", "gone -800"},
};

ROWS(cases, sites_are_matched)
{
    const struct changes_case *c = *state;
    sites(&a, c->a);
    sites(&b, c->b);
    match();
    expect_changes(c->counts, c->each);
    assert_int_equal(changes.lines, c->lines);
    if (c->move)
        assert_int_equal(changes.items[0].move, c->move);
    for (size_t i = 0; i < changes.count; i++)
        assert_int_equal(changes.items[i].b == NULL, changes.items[i].verdict == VS_SITE_GONE);
}

/* With another caller a function may become one that reports leave out of the names of call sites.
 * */
TEST(a_further_caller_of_a_wrapper_renames_nothing)
{
    sites(&a, "48 make_buffer /src/pool.c:9 < main /src/main.c:34");
    sites(&b, "48 make_buffer /src/pool.c:9 < main /src/main.c:34; 4 make_buffer /src/pool.c:9 < "
              "workspace /src/main.c:15");
    b.items[0].wrappers = b.items[1].wrappers = 1;
    match();
    expect_changes("same 1 new 1", NULL);
}

TEST(a_renamed_or_moved_function_is_moved)
{
    struct vs_frame_range x, y;
    sites(&a, "1000 forward /src/net.c:10" MAIN "; 2000 load_weights /src/net.c:20" MAIN);
    sites(&b, "1000 forward /src/layers.c:44" MAIN /* another file */
              "; 2000 read_checkpoint /src/net.c:20" MAIN); /* another name, the same size */
    match();
    expect_changes("moved 2", NULL);
    assert_int_equal(changes.items[0].move, VS_MOVE_FUNCTION);
    assert_true(vs_site_moved_frames(&changes.items[0], &x, &y));
    assert_string_equal(changes.items[0].a->site->frames[x.from].function, "load_weights");
    assert_string_equal(changes.items[0].b->site->frames[y.from].function, "read_checkpoint");
    assert_int_equal(changes.items[1].move, VS_MOVE_FILE);
}

/* A buffer's constructor in a header, called from a function of a file, itself or through a part of
 * the function. The file and the function were renamed, and the part was extracted: it was new. */
TEST(an_extracted_function_of_a_renamed_one_is_moved)
{
#define BUFFER "Buffer::Buffer /src/buffer.hpp:10 < "
#define OLD(function_line) BUFFER function_line " < step /src/physics.c:61" MAIN
#define NOW(function_line) BUFFER function_line " < step /src/solver.c:61" MAIN
#define EXTRACTED NOW("make_gradient /src/solver.c:34 < compute_forces(World&) /src/solver.c:44")
    struct vs_site_changes first;
    struct list more = {0}, less = {0};
    sites(&a, "500 forces(World&) /src/physics.c:41" MAIN "; 1000 " OLD("forces(World&) "
              "/src/physics.c:43")
              "; 300 " OLD("density /src/physics.c:25"));
    sites(&b, "500 compute_forces(World&) /src/solver.c:42" MAIN "; 1000 " EXTRACTED
              "; 300 " NOW("density /src/solver.c:25") "; 400 " NOW("compute_forces(World&) "
              "/src/solver.c:49"));
    match();
    expect_changes("new 1 moved 3", "new 400");
    first = changes;
    /* of a list that does not show the renaming */
    sites(&less, "1000 " OLD("forces(World&) /src/physics.c:43") "; 200 " OLD("forces(World&) "
                 "/src/physics.c:48"));
    sites(&more, "1000 " EXTRACTED "; 250 " NOW("compute_forces(World&) /src/solver.c:49"));
    vs_site_changes_build(&memory, &less.sites, &more.sites, VS_METRIC_RESERVED, &first, &changes);
    expect_changes("grown 1 moved 1", NULL);
}

/* *depth* times the same call. */
static const char *repeated(const char *first, const char *call, unsigned depth, const char *last)
{
    static char text[1024];
    snprintf(text, sizeof text, "%s", first);
    for (unsigned i = 0; i < depth; i++)
        strcat(text, call);
    return strcat(text, last);
}

/* Of deep stacks the innermost frames are compared: two sites may have the same lines in these.
 * Each found the first one of the other run, so that this was paired twice and the second one was
 * gone. */
TEST(sites_with_the_same_lines_have_a_partner_each)
{
    for (unsigned k = 0; k < 2; k++) {
        const char *frames = repeated("visit /src/tree.c:10",
                                      " < visit /src/tree.c:10", VS_SITE_FRAMES_MAX - 1,
                                      k ? " < main /src/main.c:21" : " < main /src/main.c:20");
        site(&a, 1000 * (k + 1), frames);
        site(&b, 1000 * (k + 1) + 500, frames);
    }
    match();
    expect_changes("grown 2", "grown 500; grown 500");
    assert_ptr_not_equal(changes.items[0].a, changes.items[1].a);
}

/* A thread without Python frames: the line of the user's that it works for names the site. */
TEST(an_edited_line_is_the_same_site)
{
    for (int i = 0; i < 2; i++) {
        struct vs_report_site *one = site(i ? &b : &a, 4096, "");
        one->count = 3;
        one->line = i ? "scaled_loss.backward() (train.py:44)" : "loss.backward() (train.py:40)";
        one->line_file = "/src/train.py";
        one->line_number = i ? 44 : 40;
    }
    match();
    assert_int_equal(changes.of[VS_SITE_MOVED], 1);
    assert_int_equal(changes.items[0].move, VS_MOVE_FUNCTION);
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
#define WRAPPED(file, call) "make_buffer " file ":9 < " call
    struct vs_frame_range x, y;
    sites(&a, "48 " WRAPPED("/src/gate.c", "main /src/gate.c:34") "; 16 "
              WRAPPED("/src/gate.c", "forward /src/gate.c:18 < main /src/gate.c:90") "; 16 "
              WRAPPED("/src/gate.c", "forward /src/gate.c:25 < main /src/gate.c:90"));
    sites(&b, "48 " WRAPPED("/src/gate2.c", "main /src/gate2.c:36") "; 16 "
              WRAPPED("/src/gate2.c", "forward_pass /src/gate2.c:20 < main /src/gate2.c:90") "; 16 "
              WRAPPED("/src/gate2.c", "forward_pass /src/gate2.c:27 < main /src/gate2.c:90"));
    match();
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
}

/* A part of a function became one of its own: the line of the former is where it is called now. */
TEST(an_extracted_function_is_shown_with_its_caller)
{
    struct vs_frame_range x, y;
    site(&a, 16, WRAPPED("/src/net.c", "mlp /src/net.c:27 < main /src/net.c:90"));
    site(&b, 16,
         WRAPPED("/src/net.c", "mlp_up /src/net.c:21 < mlp /src/net.c:23 < main /src/net.c:90"));
    match();
    assert_int_equal(changes.of[VS_SITE_MOVED], 1);
    assert_true(vs_site_moved_frames(&changes.items[0], &x, &y));
    assert_int_equal(x.from, 1);
    assert_int_equal(x.to, 1);
    assert_int_equal(y.from, 1);
    assert_int_equal(y.to, 2);
}

/* The depths of a recursion differ in how often the function called itself, below the first frames.
 * */
TEST(the_depths_of_a_recursion_have_different_labels)
{
    char text[VS_CHAIN_TEXT_MAX];
    for (unsigned depth = 0; depth < 6; depth++)
        site(&a, 16, repeated("visit /src/tree.c:33", " < visit /src/tree.c:35", depth,
                              " < main /src/tree.c:90"));
    match();
    assert_int_equal(changes.a.count, 6);
    no_two_labels_are_the_same(&changes.a);
    for (size_t i = 0; i < 6; i++)
        assert_int_equal(vs_culprit_of(&changes.a.items[i]).line, 33);
    size_t deepest = 0;
    while (changes.a.items[deepest].site->frame_count != 7)
        deepest++;
    assert_string_equal(vs_change_label_text(text, &changes.a.items[deepest]),
                        "visit (tree.c:33) < visit:35 x 5 < main:90");
}

/* Names that are cut off in reports: only a number is left to tell such sites apart. */
TEST(sites_that_read_the_same_are_numbered)
{
    site(&a, 16, "forward /src/a/net.c:9");
    site(&a, 32, "forward.part.0 /src/b/net.c:9")->api = "cudaMallocAsync";
    match();
    no_two_labels_are_the_same(&changes.a);
}
