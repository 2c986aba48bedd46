/* SPDX-License-Identifier: Apache-2.0
 *
 * The call sites of memory held from the device, live and cached, and those that a baseline keeps for
 * phases and tests. Without stacks, call sites are told apart by the API's name. */
#include "unit/budget/budget_test.h"
#include "viewer/check/check_words.h"

#define A(n) (0x700000000000 + (uint64_t)(n) * MIB)

/* A block that the call site *api* allocates. */
static void block(struct bench *t, const char *api, uint64_t at, uint64_t mib)
{
    vs_builder_event(&t->b, (struct vs_event){
        .kind = VS_EVENT_alloc,
        .alloc = {.addr = A(at), .requested = mib * MIB, .size = mib * MIB, .family = VS_FAMILY_DEVICE,
                  .context = 1, .api = vs_builder_string(&t->b, api)}});
}

static void map(struct bench *t, uint64_t at, uint64_t mib)
{
    vs_builder_event(&t->b, (struct vs_event){
        .kind = VS_EVENT_segment_map,
        .segment_map = {.addr = A(at), .size = mib * MIB, .reserved = mib * MIB, .context = 1, .pool = 1}});
}

static void tensor(struct bench *t, uint64_t at, uint64_t mib, uint64_t reserved)
{
    vs_builder_event(&t->b, (struct vs_event){
        .kind = VS_EVENT_framework_alloc,
        .framework_alloc = {.addr = A(at), .size = mib * MIB, .total_allocated = mib * MIB,
                            .total_reserved = reserved * MIB}});
}

static const struct vs_budget_row *judge(struct bench *t, const char *key, const char *value,
                                         const struct vs_baseline *baseline)
{
    static const struct vs_budget_scope any;
    char why[VS_BUDGET_WHY_MAX] = "";
    if (key)
        assert_int_equal(vs_budget_set(&t->budget, vs_budget_key_find(key, strlen(key)), value, &any, "--key",
                                       why), VS_OK);
    vs_budget_finish(&t->budget);
    vs_budget_verdict_free(&t->verdict);
    assert_int_equal(vs_budget_verdict_build(&t->verdict, t->runs, 1, "prog", &t->budget, baseline), VS_OK);
    return t->verdict.rows;
}

TEST(a_block_may_span_memory_that_was_mapped_in_pieces)
{
    struct bench t;
    begin_trace(&t, "caching", GIB);
    map(&t, 0, 20);
    map(&t, 20, 20);
    map(&t, 40, 20);
    block(&t, "first", 0, 4);
    block(&t, "spanning", 10, 45);
    measure_trace(&t, VS_END_EXIT, 0, 0);
    const struct vs_budget_row *row = judge(&t, "max-reserved", "50MiB", NULL);
    assert_true(row->exceeded);
    assert_int_equal(row->quantity.value, 60 * MIB);
    assert_int_equal(row->sites.total_bytes, 49 * MIB);
    assert_int_equal(row->unused.total_bytes, 11 * MIB);
    assert_false(row->culprits[0].cached); /* one line holds most of it */
    assert_int_equal(row->culprits[0].bytes, 45 * MIB);
    end(&t);
}

/* The framework's segments are blocks of the device there. */
TEST(cached_memory_of_a_framework_is_not_live)
{
    struct bench t;
    begin_trace(&t, "caching", GIB);
    block(&t, "cudaMalloc", 0, 20);
    tensor(&t, 0, 6, 20);
    tensor(&t, 8, 3, 20);
    block(&t, "outside", 100, 5); /* holds no tensors */
    measure_trace(&t, VS_END_EXIT, 0, 0);
    const struct vs_budget_row *row = judge(&t, "max-reserved", "15MiB", NULL);
    assert_int_equal(row->quantity.value, 25 * MIB);
    assert_int_equal(row->sites.total_bytes, 14 * MIB);
    assert_int_equal(row->unused.total_bytes, 11 * MIB);
    assert_true(row->culprits[0].cached); /* without the cache the limit would hold */
    end(&t);
}

static const struct vs_budget_row *row_of(const struct bench *t, const char *phase, enum vs_metric metric)
{
    for (size_t i = 0; i < t->verdict.count; i++) {
        const struct vs_quantity *quantity = &t->verdict.rows[i].quantity;
        if (quantity->metric == metric && quantity->phase && strcmp(quantity->phase, phase) == 0)
            return &t->verdict.rows[i];
    }
    fail_msg("no row of %s", phase);
    return NULL;
}

/* Two tests; the second has fewer bytes than the first, *more* of them at a further call site. */
static void record_tests(struct bench *t, uint64_t more)
{
    char api[32];
    begin_trace(t, "caching", GIB);
    vs_builder_push(&t->b, "test:large");
    block(t, "large", 0, 500);
    vs_builder_free(&t->b, 0, A(0));
    vs_builder_pop(&t->b);
    vs_builder_push(&t->b, "test:small");
    for (uint64_t i = 0; i < 20; i++) { /* of equal size: which of them the file has is not by size */
        snprintf(api, sizeof api, "line %02u", (unsigned)i);
        block(t, api, 1000 + 10 * i, 10);
    }
    if (more)
        block(t, "planted", 2000, more);
    vs_builder_pop(&t->b);
    measure_trace(t, VS_END_EXIT, 0, 0);
    judge(t, NULL, NULL, NULL);
}

static struct vs_baseline *baseline_of(struct bench *t)
{
    struct vs_baseline *baseline = vs_baseline_new();
    assert_int_equal(vs_baseline_update(baseline, "prog", &t->verdict.taken, false), VS_OK);
    return baseline;
}

TEST(a_test_names_what_is_new_against_its_baseline)
{
    struct bench before, after;
    record_tests(&before, 0);
    record_tests(&after, 30);
    struct vs_baseline *baseline = baseline_of(&before);
    after.budget.baseline = "base.json";
    judge(&after, NULL, NULL, baseline);
    const struct vs_budget_row *row = row_of(&after, "test:small", VS_METRIC_ALLOCATED);
    assert_true(row->exceeded && row->compared);
    assert_int_equal(row->culprit_count, 1);
    assert_string_equal(row->culprits[0].site->api, "planted");
    assert_int_equal(row->culprits[0].change, VS_CHANGE_NEW);
    assert_int_equal(row->culprits[0].delta, 30 * MIB);
    row = row_of(&after, "test:small", VS_METRIC_RESERVED);
    assert_true(row->compared && !row->culprits[0].cached);
    assert_string_equal(row->culprits[0].site->api, "planted");
    row = row_of(&after, "test:small", VS_METRIC_LIVE_AT_END);
    assert_true(row->compared);
    assert_string_equal(row->culprits[0].site->api, "planted");
    vs_baseline_free(baseline);
    end(&before);
    end(&after);
}

/* The file's text, in *out*. */
static void write_text(const struct vs_baseline *baseline, char *out, size_t size)
{
    FILE *file = tmpfile();
    vs_baseline_write(baseline, file);
    rewind(file);
    out[fread(out, 1, size - 1, file)] = 0;
    fclose(file);
}

static size_t times(const char *text, const char *word)
{
    size_t count = 0;
    for (; (text = strstr(text, word)) != NULL; text++)
        count++;
    return count;
}

/* The large test has the program's peak, so its sites are those of the program. */
TEST(a_baseline_keeps_few_sites_of_a_phase_and_none_twice)
{
    struct bench t;
    record_tests(&t, 0);
    struct vs_baseline *baseline = baseline_of(&t);
    char text[65536];
    write_text(baseline, text, sizeof text);
    char *phases = strstr(text, "\"phases\""), *sites = strstr(phases, "\n      \"sites\"");
    assert_non_null(sites);
    assert_int_equal(times(sites, "\"large\""), 2); /* allocated, and reserved in use */
    *sites = 0;
    assert_int_equal(times(phases, "\"large\""), 0);
    /* allocated and live at end; in use at the peak of reserved are those of allocated */
    assert_int_equal(times(phases, "\"line "), 2 * VS_BASELINE_PHASE_SITES_MAX);
    vs_baseline_free(baseline);
    end(&t);
}

/* Reserved memory has its peak while *thread* has a block. */
static void record_threads(struct bench *t, const char *line, const char *thread)
{
    begin_trace(t, "caching", GIB);
    vs_builder_push(&t->b, "step 1");
    map(t, 0, 40);
    block(t, line, 0, 30);
    vs_builder_free(&t->b, 0, A(0));
    block(t, thread, 0, 4);
    map(t, 40, 20);
    vs_builder_free(&t->b, 0, A(0));
    vs_builder_pop(&t->b);
    measure_trace(t, VS_END_EXIT, 0, 0);
    judge(t, NULL, NULL, NULL);
}

/* Which thread is first differs from run to run. */
TEST(an_update_by_an_unchanged_program_changes_nothing)
{
    struct bench runs[3];
    char before[8192], after[8192];
    record_threads(&runs[0], "main", "one thread");
    record_threads(&runs[1], "main", "another thread");
    record_threads(&runs[2], "another line", "another thread");
    struct vs_baseline *baseline = baseline_of(&runs[0]);
    write_text(baseline, before, sizeof before);
    assert_int_equal(times(before, "one thread"), 1);
    assert_int_equal(vs_baseline_update(baseline, "prog", &runs[1].verdict.taken, false), VS_OK);
    write_text(baseline, after, sizeof after);
    assert_string_equal(before, after);
    assert_int_equal(vs_baseline_update(baseline, "prog", &runs[2].verdict.taken, false), VS_OK);
    write_text(baseline, after, sizeof after);
    assert_int_equal(times(after, "one thread"), 0);
    assert_int_equal(times(after, "another thread"), 1);
    vs_baseline_free(baseline);
    for (size_t i = 0; i < 3; i++)
        end(&runs[i]);
}

/* Files of earlier versions have no call sites of phases. None is then new. */
TEST(without_sites_of_a_phase_nothing_is_new)
{
    struct bench before, after;
    char why[VS_BUDGET_WHY_MAX], path[200];
    record_tests(&before, 0);
    record_tests(&after, 30);
    snprintf(path, sizeof path, "%s/base.json", before.b.dir);
    FILE *file = fopen(path, "w");
    fputs("{\"schema\": \"vramscope.baseline/1\", \"processes\": {\"prog\": {\"steps\": 0, \"devices\": {\"0\": "
          "{\"allocated\": 209715200, \"reserved\": 209715200}}, \"phases\": {\"test:small\": {\"0\": "
          "{\"allocated\": 209715200}}}, \"sites\": {\"0\": {\"allocated\": {\"large\": {\"bytes\": 209715200, "
          "\"count\": 1}}, \"reserved\": {\"unknown\": {\"bytes\": 209715200, \"count\": 1}}}}}}}", file);
    fclose(file);
    struct vs_baseline *baseline;
    assert_int_equal(vs_baseline_read(path, &baseline, why), VS_OK);
    after.budget.baseline = path;
    judge(&after, NULL, NULL, baseline);
    const struct vs_budget_row *row = row_of(&after, "test:small", VS_METRIC_ALLOCATED);
    assert_true(row->exceeded && !row->compared);
    for (size_t i = 0; i < after.verdict.count; i++)
        if (after.verdict.rows[i].quantity.metric == VS_METRIC_RESERVED)
            assert_false(after.verdict.rows[i].compared);
    vs_baseline_free(baseline);
    remove(path);
    end(&before);
    end(&after);
}

/* A forward pass of 69 MiB, whose peak may move to its end, and a backward pass of 72 MiB. *planted* is
 * live in both, *own* in the first half of the forward pass. */
static void record_passes(struct bench *t, uint64_t planted, uint64_t own)
{
    begin_trace(t, "caching", GIB);
    block(t, "weights", 0, 50);
    vs_builder_push(&t->b, "forward");
    if (own && planted)
        block(t, "planted", 700, planted);
    block(t, "attention", 100, 19);
    if (own)
        block(t, "own", 200, own);
    vs_builder_free(&t->b, 0, A(100));
    if (own)
        vs_builder_free(&t->b, 0, A(200));
    block(t, "output", 300, 5);
    if (!own && planted)
        block(t, "planted", 700, planted);
    if (!own && planted)
        vs_builder_free(&t->b, 0, A(700));
    vs_builder_pop(&t->b);
    vs_builder_push(&t->b, "backward");
    block(t, "gradients", 400, 17);
    vs_builder_free(&t->b, 0, A(400));
    vs_builder_pop(&t->b);
    measure_trace(t, VS_END_EXIT, 0, 0);
    judge(t, NULL, NULL, NULL);
}

/* Other blocks are live at the peak's new time: they are not new. */
TEST(a_phase_whose_peak_moved_has_the_line_of_the_program)
{
    struct bench before, after;
    record_passes(&before, 0, 0);
    record_passes(&after, 20, 0);
    struct vs_baseline *baseline = baseline_of(&before);
    after.budget.baseline = "base.json";
    const struct vs_budget_row *row = judge(&after, NULL, NULL, baseline);
    assert_true(row->exceeded && !row->follows && row->quantity.metric == VS_METRIC_ALLOCATED);
    assert_int_equal(row->quantity.value - row->baseline, 3 * MIB);
    assert_string_equal(row->culprits[0].site->api, "planted");
    row = row_of(&after, "forward", VS_METRIC_ALLOCATED);
    assert_int_equal(row->quantity.value - row->baseline, 6 * MIB);
    assert_true(row->exceeded && row->follows && row->compared);
    assert_int_equal(row->culprit_count, 1);
    assert_string_equal(row->culprits[0].site->api, "planted");
    assert_int_equal(row->culprits[0].delta, 20 * MIB);
    vs_baseline_free(baseline);
    end(&before);
    end(&after);
}

TEST(a_phase_with_a_line_of_its_own_is_shown)
{
    struct bench before, after;
    record_passes(&before, 0, 0);
    record_passes(&after, 3, 2);
    struct vs_baseline *baseline = baseline_of(&before);
    after.budget.baseline = "base.json";
    const struct vs_budget_row *row = judge(&after, NULL, NULL, baseline);
    assert_int_equal(row->quantity.value - row->baseline, 3 * MIB);
    assert_string_equal(row->culprits[0].site->api, "planted");
    row = row_of(&after, "forward", VS_METRIC_ALLOCATED);
    assert_int_equal(row->quantity.value - row->baseline, 5 * MIB);
    assert_true(row->exceeded && !row->follows);
    assert_int_equal(row->culprit_count, 2);
    vs_baseline_free(baseline);
    end(&before);
    end(&after);
}

/* Two tests or phases, each with a line of its own. */
static void record_two(struct bench *t, const char *kind, uint64_t first, uint64_t second)
{
    char name[32];
    begin_trace(t, "caching", GIB);
    snprintf(name, sizeof name, "%sfirst", kind);
    vs_builder_push(&t->b, name);
    block(t, "line of first", 0, 100 + first);
    vs_builder_free(&t->b, 0, A(0));
    vs_builder_pop(&t->b);
    snprintf(name, sizeof name, "%ssecond", kind);
    vs_builder_push(&t->b, name);
    block(t, "line of second", 0, 50 + second);
    vs_builder_free(&t->b, 0, A(0));
    vs_builder_pop(&t->b);
    measure_trace(t, VS_END_EXIT, 0, 0);
    judge(t, NULL, NULL, NULL);
}

/* The second one exceeds by less than the program, and followed from the line of the first. */
TEST(two_tests_that_exceed_for_two_reasons_are_both_shown)
{
    static const struct reason_case {
        const char *kind, *first, *second;
        uint64_t more;
        bool follows;
    } cases[] = {{"test:", "test:first", "test:second", 2, false}, {"test:", "test:first", "test:second", 1, false},
                 {"", "first", "second", 2, false}, {"", "first", "second", 1, true}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct bench before, after;
        record_two(&before, cases[i].kind, 0, 0);
        record_two(&after, cases[i].kind, 10, cases[i].more);
        struct vs_baseline *baseline = baseline_of(&before);
        after.budget.baseline = "base.json";
        const struct vs_budget_row *row = judge(&after, NULL, NULL, baseline);
        assert_true(row->exceeded && !row->follows && row->quantity.metric == VS_METRIC_ALLOCATED);
        assert_true(row_of(&after, cases[i].first, VS_METRIC_ALLOCATED)->follows);
        row = row_of(&after, cases[i].second, VS_METRIC_ALLOCATED);
        assert_true(row->exceeded && row->compared);
        assert_int_equal(row->follows, cases[i].follows);
        assert_string_equal(row->culprits[0].site->api, "line of second");
        vs_baseline_free(baseline);
        end(&before);
        end(&after);
    }
}

/* The reserved peak is in the optimizer's step; or in the forward pass, where other blocks are live, since a
 * segment of *segment* is needed there. *leaked* is live in both. */
static void record_two_moments(struct bench *t, uint64_t leaked, uint64_t segment)
{
    begin_trace(t, "caching", GIB);
    map(t, 0, 100);
    map(t, 300, 10);
    block(t, "weights", 0, 50);
    if (leaked)
        block(t, "leaked", 300, leaked);
    vs_builder_push(&t->b, "forward");
    block(t, "activations", 50, 45);
    if (segment)
        map(t, 200, segment);
    vs_builder_free(&t->b, 0, A(50));
    vs_builder_pop(&t->b);
    vs_builder_push(&t->b, "optimizer");
    block(t, "state", 50, 30);
    if (!segment)
        map(t, 200, 20);
    vs_builder_free(&t->b, 0, A(50));
    vs_builder_pop(&t->b);
    measure_trace(t, VS_END_EXIT, 0, 0);
    judge(t, NULL, NULL, NULL);
}

/* Blocks that are live at the new time, and were not at that of the baseline's peak, were called new. */
TEST(a_reserved_peak_that_moved_has_the_line_that_grew)
{
    for (uint64_t leaked = 0; leaked <= 8; leaked += 8) {
        struct bench before, after;
        record_two_moments(&before, 0, 0);
        record_two_moments(&after, leaked, 40);
        struct vs_baseline *baseline = baseline_of(&before);
        const struct vs_budget_row *row = judge(&after, "max-reserved", "135MiB", baseline);
        assert_int_equal(row->quantity.value - row->baseline, 20 * MIB);
        assert_true(row->exceeded && row->compared);
        assert_int_equal(row->culprit_count, 1);
        assert_int_equal(row->moved, leaked > 0);
        assert_int_equal(row->culprits[0].cached, leaked == 0);
        if (leaked)
            assert_string_equal(row->culprits[0].site->api, "leaked");
        vs_baseline_free(baseline);
        end(&before);
        end(&after);
    }
}

#define MANY 200

/* Both peaks are at the last allocation. */
static void record_two_lines(struct bench *t, uint64_t cache, uint64_t model)
{
    begin_trace(t, "caching", GIB);
    map(t, 0, 40);
    block(t, "cache", 0, cache);
    map(t, 100, model);
    block(t, "model", 100, model);
    measure_trace(t, VS_END_EXIT, 0, 0);
    judge(t, NULL, NULL, NULL);
}

/* The heading said that the peak was at another time than that of the baseline, as one line holds less. */
TEST(a_line_that_shrank_does_not_mean_another_moment)
{
    struct bench before, after;
    record_two_lines(&before, 40, 40);
    record_two_lines(&after, 32, 52);
    struct vs_baseline *baseline = baseline_of(&before);
    const struct vs_budget_row *row = judge(&after, "max-reserved", "85MiB", baseline);
    assert_true(row->exceeded && row->compared);
    assert_string_equal(row->culprits[0].site->api, "model");
    assert_int_equal(row->culprits[0].delta, 12 * MIB);
    assert_string_equal(vs_check_heading(row), "more than at any peak in the baseline:");
    vs_baseline_free(baseline);
    end(&before);
    end(&after);
}

/* Blocks of call sites: of a shared library whose functions have names or not, and of the program. */
static void record_library(struct bench *t, const char *library, uint64_t of_library, const char *program,
                           uint64_t leaked)
{
    begin_trace(t, "caching", GIB);
    block(t, library, 0, of_library);
    block(t, program, 200, 2);
    if (leaked)
        block(t, "leak (m.c) < main", 300, leaked);
    measure_trace(t, VS_END_EXIT, 0, 0);
    judge(t, NULL, NULL, NULL);
}

/* The run was judged by all functions of a stack and the baseline by the four of a name, so that a program that
 * calls a stripped library had names and its own baseline had none; and a list of which half the bytes are the
 * library's changed sides when the library allocated more. */
TEST(call_sites_of_a_stripped_library_are_compared)
{
    static const char stripped[] = "libw.so+0x10 (libw.so) < libw.so+0x20 < libw.so+0x30 < libw.so+0x40";
    static const char named[] = "work (w.c) < train < step < run", program[] = "named (m.c) < main";
    static const char bare[] = "m+0x10 (m) < m+0x20";
    static const struct library_case {
        const char *before, *after, *program_before, *program_after;
        uint64_t bytes_before, bytes_after, leaked;
        const char *culprit, *note; /* NULL: the sites are not compared; there is no note */
    } cases[] = {{stripped, stripped, program, program, 24, 24, 3, "leak (m.c) < main", NULL},
                 {stripped, stripped, program, program, 24, 28, 0, stripped, NULL},
                 {stripped, stripped, program, program, 1, 28, 0, stripped, NULL},
                 {stripped, stripped, bare, bare, 24, 28, 0, stripped, NULL},
                 {named, stripped, program, bare, 24, 28, 0, NULL, "the trace has no function names"},
                 {stripped, named, bare, program, 24, 28, 0, NULL,
                  "the baseline was written from a trace without function names"},
                 {named, stripped, program, program, 24, 28, 0, NULL, "the trace has no function names"},
                 {stripped, stripped, program, bare, 24, 28, 0, NULL, "the trace has no function names"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct library_case *c = &cases[i];
        struct bench before, after;
        record_library(&before, c->before, c->bytes_before, c->program_before, 0);
        record_library(&after, c->after, c->bytes_after, c->program_after, c->leaked);
        struct vs_baseline *baseline = baseline_of(&before);
        after.budget.baseline = "base.json";
        const struct vs_budget_row *row = judge(&after, NULL, NULL, baseline);
        assert_true(row->exceeded);
        assert_int_equal(row->compared, c->culprit != NULL);
        if (c->culprit) {
            assert_int_equal(row->culprit_count, 1);
            assert_string_equal(row->culprits[0].site->api, c->culprit);
        }
        const char *notes = "";
        for (size_t n = 0; n < after.verdict.note_count; n++)
            if (strstr(after.verdict.notes[n], "function names"))
                notes = after.verdict.notes[n];
        assert_int_equal(c->note ? strncmp(notes, c->note, strlen(c->note)) : (int)strlen(notes), 0);
        vs_baseline_free(baseline);
        end(&before);
        end(&after);
    }
}

/* Half a MiB at a further call site; another segment, of *mib*, is needed. */
static void record_segment(struct bench *t, uint64_t mib)
{
    begin_trace(t, "caching", GIB);
    map(t, 0, 10);
    block(t, "weights", 0, 9);
    if (mib)
        vs_builder_event(&t->b, (struct vs_event){
            .kind = VS_EVENT_alloc,
            .alloc = {.addr = A(9), .requested = MIB / 2, .size = MIB / 2, .family = VS_FAMILY_DEVICE, .context = 1,
                      .api = vs_builder_string(&t->b, "planted")}});
    if (mib)
        map(t, 20, mib);
    measure_trace(t, VS_END_EXIT, 0, 0);
    judge(t, NULL, NULL, NULL);
}

TEST(the_rest_of_a_segment_follows_from_the_line_that_needed_it)
{
    for (uint64_t mib = 2; mib <= 4; mib += 2) {
        struct bench before, after;
        record_segment(&before, 0);
        record_segment(&after, mib);
        struct vs_baseline *baseline = baseline_of(&before);
        after.budget.baseline = "base.json";
        const struct vs_budget_row *row = judge(&after, NULL, NULL, baseline);
        for (size_t i = 1; row->quantity.metric != VS_METRIC_RESERVED; i++, row++)
            assert_true(i < after.verdict.count);
        assert_int_equal(row->quantity.value - row->baseline, mib * MIB);
        assert_true(row->exceeded && row->compared && row->culprits[0].cached);
        assert_int_equal(row->follows, mib == 2);
        vs_baseline_free(baseline);
        end(&before);
        end(&after);
    }
}

/* A list of sites of one function, by their lines. */
struct lines {
    struct vs_report_frame frames[MANY];
    struct vs_report_site items[MANY];
    struct vs_report_sites sites;
};

static void line(struct lines *l, const char *function, unsigned number, uint64_t bytes, uint64_t count)
{
    size_t n = l->sites.count++;
    l->frames[n] = (struct vs_report_frame){.function = function, .file = "/src/a.cu", .module = "a", .line = number};
    l->items[n] = (struct vs_report_site){.frames = &l->frames[n], .frame_count = 1, .api = "", .bytes = bytes,
                                          .count = count, .stacks = 1};
    l->sites.items = l->items;
}

static size_t changes_of(const struct lines *before, const struct lines *after, struct vs_culprit out[4])
{
    struct vs_arena memory = {0};
    struct vs_named_sites a, b;
    vs_named_sites_of(&memory, &before->sites, VS_METRIC_ALLOCATED, &a);
    vs_named_sites_of(&memory, &after->sites, VS_METRIC_ALLOCATED, &b);
    size_t count = vs_culprits(&b, &a, VS_METRIC_ALLOCATED, 0, out, 4);
    vs_arena_free_all(&memory);
    return count;
}

TEST(of_two_alike_lines_both_are_named)
{
    struct lines before = {0}, after = {0};
    struct vs_culprit found[4];
    line(&before, "upload", 15, 40, 10);
    line(&after, "upload", 15, 40, 10);
    line(&after, "upload", 17, 40, 10);
    assert_int_equal(changes_of(&before, &after, found), 1);
    assert_int_equal(found[0].change, VS_CHANGE_NEW);
    assert_int_equal(found[0].line, 17);
    assert_int_equal(found[0].or_line, 15);
}

/* Both ways to pair the old line differ by as many bytes. */
TEST(the_line_that_resembles_the_old_one_is_the_old_one)
{
    struct lines before = {0}, after = {0};
    struct vs_culprit found[4];
    line(&before, "forward", 14, 90, 10);
    line(&after, "forward", 14, 95, 11);
    line(&after, "forward", 16, 320, 1);
    assert_int_equal(changes_of(&before, &after, found), 2);
    assert_int_equal(found[0].line, 16);
    assert_int_equal(found[0].change, VS_CHANGE_NEW);
    assert_int_equal(found[0].or_line, 0);
    assert_int_equal(found[1].line, 14);
    assert_int_equal(found[1].delta, 5);
}

/* A site of *function*, called on line *number* of *caller*. */
static void called(struct lines *l, const char *function, const char *caller, unsigned number, uint64_t bytes)
{
    static struct vs_report_frame frames[2 * MANY];
    static size_t used;
    size_t n = l->sites.count++;
    struct vs_report_frame *own = &frames[used];
    assert_true((used += 2) <= 2 * MANY);
    own[0] = (struct vs_report_frame){.function = function, .file = "/src/a.cu", .module = "a",
                                      .line = strcmp(function, "compute") == 0 ? 13 : 5};
    own[1] = (struct vs_report_frame){.function = caller, .file = "/src/a.cu", .module = "a", .line = number};
    l->items[n] = (struct vs_report_site){.frames = own, .frame_count = 2, .api = "", .bytes = bytes, .count = 1,
                                          .stacks = 1};
    l->sites.items = l->items;
}

/* A line of a model that training and evaluation run was named by the lines that call the model. */
TEST(a_line_that_two_call_is_named_and_an_allocation_function_is_not)
{
    struct lines before = {0}, after = {0};
    struct vs_culprit out[4];
    called(&before, "make_buffer", "load", 30, 64);
    called(&before, "make_buffer", "embed", 31, 32);
    called(&after, "make_buffer", "load", 30, 64);
    called(&after, "make_buffer", "embed", 31, 32);
    called(&after, "make_buffer", "keep", 32, 8);
    called(&after, "compute", "train", 23, 6);
    called(&after, "compute", "evaluate", 24, 4);
    assert_int_equal(changes_of(&before, &after, out), 3);
    assert_string_equal(out[0].function, "keep");
    assert_int_equal(out[0].line, 32);
    assert_string_equal(out[1].function, "compute");
    assert_int_equal(out[1].line, 13);
    assert_string_equal(out[2].function, "compute");
    struct lines all = {0}; /* of allocations of one function, all new */
    static const char *const callers[] = {"load", "embed", "keep", "save"};
    for (unsigned i = 0; i < 4; i++)
        called(&all, "make_buffer", callers[i], 30 + i, 100 - i);
    assert_int_equal(changes_of(&(struct lines){0}, &all, out), 4);
    for (unsigned i = 0; i < 4; i++)
        assert_string_equal(out[i].function, callers[i]);
}

TEST(a_template_with_another_argument_has_grown)
{
    struct lines before = {0}, after = {0};
    struct vs_culprit found[4];
    line(&before, "std::unique_ptr<char, D<char> > make<char, 1048576ul>()", 13, 4, 4);
    line(&before, "gone<int>()", 20, 6, 1);
    line(&after, "std::unique_ptr<char, D<char> > make<char, 2097152ul>()", 13, 8, 4);
    line(&after, "other<int>()", 30, 7, 1);
    assert_int_equal(changes_of(&before, &after, found), 2);
    assert_int_equal(found[0].line, 30);
    assert_int_equal(found[0].change, VS_CHANGE_NEW);
    assert_int_equal(found[1].line, 13);
    assert_int_equal(found[1].change, VS_CHANGE_GROWN);
    assert_int_equal(found[1].delta, 4);
}

/* Python's "<lambda>" and C++'s operators are no templates. */
TEST(names_in_angle_brackets_are_no_arguments)
{
    static const char *const pairs[][2] = {{"<lambda>", "<listcomp>"}, {"operator<<(A&)", "operator<<(B&)"}};
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        struct lines before = {0}, after = {0};
        struct vs_culprit found[4];
        line(&before, pairs[i][0], 13, 4, 4);
        line(&after, pairs[i][1], 13, 8, 4);
        assert_int_equal(changes_of(&before, &after, found), 1);
        assert_int_equal(found[0].change, VS_CHANGE_NEW);
    }
}

/* Layers of a network are of one size. */
TEST(many_sites_of_one_size_are_all_found_again)
{
    static struct lines before, after;
    static char old[MANY][40], new[MANY][40];
    struct vs_culprit found[4];
    for (unsigned i = 0; i < MANY; i++) {
        bool template = i % 2;
        snprintf(old[i], sizeof old[i], template ? "f<A>(x%u)" : "old_%u", i);
        snprintf(new[i], sizeof new[i], template ? "f<B>(x%u)" : "new_%u", i);
        line(&before, old[i], i + 1, 40, 10);
        line(&after, new[i], i + 1, template ? 80 : 40, 10);
    }
    assert_int_equal(changes_of(&before, &after, found), 4);
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(found[i].change, VS_CHANGE_GROWN);
        assert_int_equal(found[i].delta, 40);
    }
    after.sites.count = 0;
    for (unsigned i = 0; i < MANY; i++)
        line(&after, new[i], i + 1, 40, 10);
    assert_int_equal(changes_of(&before, &after, found), 0);
}
