/* SPDX-License-Identifier: Apache-2.0
 *
 * The call sites of memory held from the device, live and cached, and those that a baseline keeps for
 * phases and tests. Without stacks, call sites are told apart by the API's name. */
#include "unit/budget/budget_test.h"
#include "viewer/check/check_words.h"

#define MANY 200

static struct bench before, after, third;

static void record(struct bench *t, const char *format, ...)
{
    char text[2048];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    begin_trace(t, "caching", text);
    measure_trace(t, VS_END_EXIT, 0, 0);
    judge(t, NULL);
}

/* Judges *after* against the baseline of *before*. */
static const struct vs_budget_row *judge_after(void)
{
    update_baseline(&before);
    after.budget.baseline = "base.json";
    return judge(&after, baseline);
}

/* Judges *t* by a limit of reserved memory. */
static const struct vs_budget_row *judge_reserved(struct bench *t, const char *most)
{
    set_limit(&t->budget, "max-reserved", most, NULL, false);
    return judge(t, baseline);
}

TEST(a_block_may_span_memory_that_was_mapped_in_pieces)
{
    record(&after,
           "grow 0 20M; grow 20 20M; grow 40 20M; by first; alloc 0 4M; by spanning; alloc 10 45M");
    const struct vs_budget_row *row = judge_reserved(&after, "50MiB");
    assert_true(row->exceeded);
    assert_int_equal(row->quantity.value, 60 * MIB);
    assert_int_equal(row->sites.total_bytes, 49 * MIB);
    assert_int_equal(row->unused.total_bytes, 11 * MIB);
    assert_false(row->culprits[0].cached); /* one line holds most of it */
    assert_int_equal(row->culprits[0].bytes, 45 * MIB);
}

/* The framework's segments are blocks of the device there. */
TEST(cached_memory_of_a_framework_is_not_live)
{
    record(&after, "alloc 0 20M; tensor 0 6M of 6M 20M; tensor 8 3M of 3M 20M; "
                   "by outside; alloc 100 5M"); /* holds no tensors */
    const struct vs_budget_row *row = judge_reserved(&after, "15MiB");
    assert_int_equal(row->quantity.value, 25 * MIB);
    assert_int_equal(row->sites.total_bytes, 14 * MIB);
    assert_int_equal(row->unused.total_bytes, 11 * MIB);
    assert_true(row->culprits[0].cached); /* without the cache the limit would hold */
}

static const struct vs_budget_row *row_of(const char *phase, enum vs_metric metric)
{
    for (size_t i = 0; i < after.verdict.count; i++) {
        const struct vs_quantity *quantity = &after.verdict.rows[i].quantity;
        if (quantity->metric == metric && quantity->phase && strcmp(quantity->phase, phase) == 0)
            return &after.verdict.rows[i];
    }
    fail_msg("no row of %s", phase);
    return NULL;
}

/* Two tests; the second has fewer bytes than the first, of twenty call sites and of *planted*. */
static void record_tests(struct bench *t, const char *planted)
{
    begin_trace(t, "caching",
                "push test:large; by large; alloc 0 500M; free 0; pop; push test:small");
    for (unsigned i = 0; i < 20; i++) /* of equal size: which of them the file has is not by size */
        vs_trace(&t->b, "by line %02u; alloc %u 10M", i, 1000 + 10 * i);
    vs_trace(&t->b, "%s; pop", planted);
    measure_trace(t, VS_END_EXIT, 0, 0);
    judge(t, NULL);
}

TEST(a_test_names_what_is_new_against_its_baseline)
{
    record_tests(&before, "");
    record_tests(&after, "by planted; alloc 2000 30M");
    judge_after();
    const struct vs_budget_row *row = row_of("test:small", VS_METRIC_ALLOCATED);
    assert_true(row->exceeded && row->compared);
    assert_int_equal(row->culprit_count, 1);
    assert_string_equal(row->culprits[0].site->api, "planted");
    assert_int_equal(row->culprits[0].change, VS_CHANGE_NEW);
    assert_int_equal(row->culprits[0].delta, 30 * MIB);
    row = row_of("test:small", VS_METRIC_RESERVED);
    assert_true(row->compared && !row->culprits[0].cached);
    assert_string_equal(row->culprits[0].site->api, "planted");
    row = row_of("test:small", VS_METRIC_LIVE_AT_END);
    assert_true(row->compared);
    assert_string_equal(row->culprits[0].site->api, "planted");
}

/* The baseline's text, in *out*. */
static void write_text(char *out, size_t size)
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
    record_tests(&before, "");
    update_baseline(&before);
    char text[65536];
    write_text(text, sizeof text);
    char *phases = strstr(text, "\"phases\""), *sites = strstr(phases, "\n      \"sites\"");
    assert_non_null(sites);
    assert_int_equal(times(sites, "\"large\""), 2); /* allocated, and reserved in use */
    *sites = 0;
    assert_int_equal(times(phases, "\"large\""), 0);
    /* allocated and live at end; in use at the peak of reserved are those of allocated */
    assert_int_equal(times(phases, "\"line "), 2 * VS_BASELINE_PHASE_SITES_MAX);
}

/* Reserved memory has its peak while *thread* has a block. */
static void record_threads(struct bench *t, const char *line, const char *thread)
{
    record(t, "push step 1; grow 0 40M; by %s; alloc 0 30M; free 0; by %s; alloc 0 4M; "
           "grow 40 20M; free 0; pop", line, thread);
}

/* Which thread is first differs from run to run. */
TEST(an_update_by_an_unchanged_program_changes_nothing)
{
    char first[8192], then[8192];
    record_threads(&before, "main", "one thread");
    record_threads(&after, "main", "another thread");
    record_threads(&third, "another line", "another thread");
    update_baseline(&before);
    write_text(first, sizeof first);
    assert_int_equal(times(first, "one thread"), 1);
    update_baseline(&after);
    write_text(then, sizeof then);
    assert_string_equal(first, then);
    update_baseline(&third);
    write_text(then, sizeof then);
    assert_int_equal(times(then, "one thread"), 0);
    assert_int_equal(times(then, "another thread"), 1);
}

/* Files of earlier versions have no call sites of phases. None is then new. */
TEST(without_sites_of_a_phase_nothing_is_new)
{
    char why[VS_BUDGET_WHY_MAX], path[200];
    record_tests(&after, "by planted; alloc 2000 30M");
    snprintf(path, sizeof path, "%s/base.json", after.b.dir);
    FILE *file = fopen(path, "w");
    fputs("{\"schema\": \"vramscope.baseline/1\", \"processes\": {\"prog\": {\"steps\": 0, "
          "\"devices\": {\"0\": {\"allocated\": 209715200, \"reserved\": 209715200}}, \"phases\": "
          "{\"test:small\": {\"0\": {\"allocated\": 209715200}}}, \"sites\": {\"0\": "
          "{\"allocated\": {\"large\": {\"bytes\": 209715200, \"count\": 1}}, \"reserved\": "
          "{\"unknown\": {\"bytes\": 209715200, \"count\": 1}}}}}}}", file);
    fclose(file);
    assert_int_equal(vs_baseline_read(path, &baseline, why), VS_OK);
    after.budget.baseline = path;
    judge(&after, baseline);
    const struct vs_budget_row *row = row_of("test:small", VS_METRIC_ALLOCATED);
    assert_true(row->exceeded && !row->compared);
    for (size_t i = 0; i < after.verdict.count; i++)
        if (after.verdict.rows[i].quantity.metric == VS_METRIC_RESERVED)
            assert_false(after.verdict.rows[i].compared);
}

/* A forward pass of 69 MiB, whose peak may move to its end, and a backward pass of 72 MiB: *begun* at its
 * begin, *beside* next to its peak, *ended* at its end. */
static void record_passes(struct bench *t, const char *begun, const char *beside, const char *ended)
{
    record(t, "by weights; alloc 0 50M; push forward; %s; by attention; alloc 100 19M; %s; "
           "by output; alloc 300 5M; %s; pop; push backward; by gradients; alloc 400 17M; "
           "free 400; pop", begun, beside, ended);
}

/* Other blocks are live at the peak's new time: they are not new. */
TEST(a_phase_whose_peak_moved_has_the_line_of_the_program)
{
    record_passes(&before, "", "free 100", "");
    record_passes(&after, "", "free 100", "by planted; alloc 700 20M; free 700");
    const struct vs_budget_row *row = judge_after();
    assert_true(row->exceeded && !row->follows && row->quantity.metric == VS_METRIC_ALLOCATED);
    assert_int_equal(row->quantity.value - row->baseline, 3 * MIB);
    assert_string_equal(row->culprits[0].site->api, "planted");
    row = row_of("forward", VS_METRIC_ALLOCATED);
    assert_int_equal(row->quantity.value - row->baseline, 6 * MIB);
    assert_true(row->exceeded && row->follows && row->compared);
    assert_int_equal(row->culprit_count, 1);
    assert_string_equal(row->culprits[0].site->api, "planted");
    assert_int_equal(row->culprits[0].delta, 20 * MIB);
}

/* *planted* is live in both passes, *own* in the first half of the forward pass. */
TEST(a_phase_with_a_line_of_its_own_is_shown)
{
    record_passes(&before, "", "free 100", "");
    record_passes(&after, "by planted; alloc 700 3M", "by own; alloc 200 2M; free 100; free 200",
                  "");
    const struct vs_budget_row *row = judge_after();
    assert_int_equal(row->quantity.value - row->baseline, 3 * MIB);
    assert_string_equal(row->culprits[0].site->api, "planted");
    row = row_of("forward", VS_METRIC_ALLOCATED);
    assert_int_equal(row->quantity.value - row->baseline, 5 * MIB);
    assert_true(row->exceeded && !row->follows);
    assert_int_equal(row->culprit_count, 2);
}

/* Two tests or phases, each with a line of its own. */
static void record_two(struct bench *t, const char *kind, unsigned first, unsigned second)
{
    record(t, "push %sfirst; by line of first; alloc 0 %uM; free 0; pop; push %ssecond; "
           "by line of second; alloc 0 %uM; free 0; pop", kind, 100 + first, kind, 50 + second);
}

/* The second one exceeds by less than the program, and followed from the line of the first. */
TEST(two_tests_that_exceed_for_two_reasons_are_both_shown)
{
    static const struct reason_case {
        const char *kind, *first, *second;
        unsigned more;
        bool follows;
    } cases[] = {{"test:", "test:first", "test:second", 2, false}, {"test:", "test:first", "test:second", 1, false},
                 {"", "first", "second", 2, false}, {"", "first", "second", 1, true}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        record_two(&before, cases[i].kind, 0, 0);
        record_two(&after, cases[i].kind, 10, cases[i].more);
        const struct vs_budget_row *row = judge_after();
        assert_true(row->exceeded && !row->follows && row->quantity.metric == VS_METRIC_ALLOCATED);
        assert_true(row_of(cases[i].first, VS_METRIC_ALLOCATED)->follows);
        row = row_of(cases[i].second, VS_METRIC_ALLOCATED);
        assert_true(row->exceeded && row->compared);
        assert_int_equal(row->follows, cases[i].follows);
        assert_string_equal(row->culprits[0].site->api, "line of second");
        end(NULL);
    }
}

/* The reserved peak is in the optimizer's step; or in the forward pass, where other blocks are live, since a
 * segment is needed there. *leaked* is live in both. */
static void record_two_moments(struct bench *t, const char *leaked, const char *forward, const char *optimizer)
{
    record(t, "grow 0 100M; grow 300 10M; by weights; alloc 0 50M; %s; push forward; "
           "by activations; alloc 50 45M; %s; free 50; pop; push optimizer; by state; "
           "alloc 50 30M; %s; free 50; pop", leaked, forward, optimizer);
}

/* Blocks that are live at the new time, and were not at that of the baseline's peak, were called new. */
TEST(a_reserved_peak_that_moved_has_the_line_that_grew)
{
    for (int leaked = 0; leaked < 2; leaked++) {
        record_two_moments(&before, "", "", "grow 200 20M");
        record_two_moments(&after, leaked ? "by leaked; alloc 300 8M" : "", "grow 200 40M", "");
        update_baseline(&before);
        const struct vs_budget_row *row = judge_reserved(&after, "135MiB");
        assert_int_equal(row->quantity.value - row->baseline, 20 * MIB);
        assert_true(row->exceeded && row->compared);
        assert_int_equal(row->culprit_count, 1);
        assert_int_equal(row->moved, leaked);
        assert_int_equal(row->culprits[0].cached, !leaked);
        if (leaked)
            assert_string_equal(row->culprits[0].site->api, "leaked");
        end(NULL);
    }
}

/* Both peaks are at the last allocation. The heading said that the peak was at another time than that of the
 * baseline, as one line holds less. */
TEST(a_line_that_shrank_does_not_mean_another_moment)
{
    static const char two_lines[] = "grow 0 40M; by cache; alloc 0 %uM; grow 100 %uM; by model; alloc 100 %uM";
    record(&before, two_lines, 40, 40, 40);
    record(&after, two_lines, 32, 52, 52);
    update_baseline(&before);
    const struct vs_budget_row *row = judge_reserved(&after, "85MiB");
    assert_true(row->exceeded && row->compared);
    assert_string_equal(row->culprits[0].site->api, "model");
    assert_int_equal(row->culprits[0].delta, 12 * MIB);
    assert_string_equal(vs_check_heading(row), "more than at any peak in the baseline:");
}

/* Blocks of call sites: of a shared library whose functions have names or not, and of the program.
 * The run was judged by all functions of a stack and the baseline by the four of a name, so that a program that
 * calls a stripped library had names and its own baseline had none; and a list of which half the bytes are the
 * library's changed sides when the library allocated more. */
TEST(call_sites_of_a_stripped_library_are_compared)
{
    static const char blocks[] = "by %s; alloc 0 %uM; by %s; alloc 200 2M; %s";
    static const char leak[] = "by leak (m.c) < main; alloc 300 3M";
    static const char stripped[] = "libw.so+0x10 (libw.so) < libw.so+0x20 < libw.so+0x30 < libw.so+0x40";
    static const char named[] = "work (w.c) < train < step < run", program[] = "named (m.c) < main";
    static const char bare[] = "m+0x10 (m) < m+0x20";
    static const struct library_case {
        const char *before, *after, *program_before, *program_after;
        unsigned mib_before, mib_after;
        const char *leaked;
        const char *culprit, *note; /* NULL: the sites are not compared; there is no note */
    } cases[] = {{stripped, stripped, program, program, 24, 24, leak, "leak (m.c) < main", NULL},
                 {stripped, stripped, program, program, 24, 28, "", stripped, NULL},
                 {stripped, stripped, program, program, 1, 28, "", stripped, NULL},
                 {stripped, stripped, bare, bare, 24, 28, "", stripped, NULL},
                 {named, stripped, program, bare, 24, 28, "", NULL, "the trace has no function names"},
                 {stripped, named, bare, program, 24, 28, "", NULL,
                  "the baseline was written from a trace without function names"},
                 {named, stripped, program, program, 24, 28, "", NULL, "the trace has no function names"},
                 {stripped, stripped, program, bare, 24, 28, "", NULL, "the trace has no function names"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct library_case *c = &cases[i];
        record(&before, blocks, c->before, c->mib_before, c->program_before, "");
        record(&after, blocks, c->after, c->mib_after, c->program_after, c->leaked);
        const struct vs_budget_row *row = judge_after();
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
        assert_int_equal(c->note ? strncmp(notes, c->note, strlen(c->note)) : (int)strlen(notes),
                         0);
        end(NULL);
    }
}

/* Half a MiB at a further call site; another segment is needed. */
TEST(the_rest_of_a_segment_follows_from_the_line_that_needed_it)
{
    for (unsigned mib = 2; mib <= 4; mib += 2) {
        record(&before, "grow 0 10M; by weights; alloc 0 9M");
        record(&after, "grow 0 10M; by weights; alloc 0 9M; by planted; alloc 9 512K; grow 20 %uM",
               mib);
        const struct vs_budget_row *row = judge_after();
        for (size_t i = 1; row->quantity.metric != VS_METRIC_RESERVED; i++, row++)
            assert_true(i < after.verdict.count);
        assert_int_equal(row->quantity.value - row->baseline, mib * MIB);
        assert_true(row->exceeded && row->compared && row->culprits[0].cached);
        assert_int_equal(row->follows, mib == 2);
        end(NULL);
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

static size_t changes_of(const struct lines *old, const struct lines *now, struct vs_culprit out[4])
{
    struct vs_arena memory = {0};
    struct vs_named_sites a, b;
    vs_named_sites_of(&memory, &old->sites, VS_METRIC_ALLOCATED, &a);
    vs_named_sites_of(&memory, &now->sites, VS_METRIC_ALLOCATED, &b);
    size_t count = vs_culprits(&b, &a, VS_METRIC_ALLOCATED, 0, out, 4);
    vs_arena_free_all(&memory);
    return count;
}

TEST(of_two_alike_lines_both_are_named)
{
    struct lines old = {0}, now = {0};
    struct vs_culprit found[4];
    line(&old, "upload", 15, 40, 10);
    line(&now, "upload", 15, 40, 10);
    line(&now, "upload", 17, 40, 10);
    assert_int_equal(changes_of(&old, &now, found), 1);
    assert_int_equal(found[0].change, VS_CHANGE_NEW);
    assert_int_equal(found[0].line, 17);
    assert_int_equal(found[0].or_line, 15);
}

/* Both ways to pair the old line differ by as many bytes. */
TEST(the_line_that_resembles_the_old_one_is_the_old_one)
{
    struct lines old = {0}, now = {0};
    struct vs_culprit found[4];
    line(&old, "forward", 14, 90, 10);
    line(&now, "forward", 14, 95, 11);
    line(&now, "forward", 16, 320, 1);
    assert_int_equal(changes_of(&old, &now, found), 2);
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
    struct lines old = {0}, now = {0};
    struct vs_culprit out[4];
    called(&old, "make_buffer", "load", 30, 64);
    called(&old, "make_buffer", "embed", 31, 32);
    called(&now, "make_buffer", "load", 30, 64);
    called(&now, "make_buffer", "embed", 31, 32);
    called(&now, "make_buffer", "keep", 32, 8);
    called(&now, "compute", "train", 23, 6);
    called(&now, "compute", "evaluate", 24, 4);
    assert_int_equal(changes_of(&old, &now, out), 3);
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
    struct lines old = {0}, now = {0};
    struct vs_culprit found[4];
    line(&old, "std::unique_ptr<char, D<char> > make<char, 1048576ul>()", 13, 4, 4);
    line(&old, "gone<int>()", 20, 6, 1);
    line(&now, "std::unique_ptr<char, D<char> > make<char, 2097152ul>()", 13, 8, 4);
    line(&now, "other<int>()", 30, 7, 1);
    assert_int_equal(changes_of(&old, &now, found), 2);
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
        struct lines old = {0}, now = {0};
        struct vs_culprit found[4];
        line(&old, pairs[i][0], 13, 4, 4);
        line(&now, pairs[i][1], 13, 8, 4);
        assert_int_equal(changes_of(&old, &now, found), 1);
        assert_int_equal(found[0].change, VS_CHANGE_NEW);
    }
}

/* Layers of a network are of one size. */
TEST(many_sites_of_one_size_are_all_found_again)
{
    static struct lines old, now;
    static char names[MANY][2][40];
    struct vs_culprit found[4];
    for (unsigned i = 0; i < MANY; i++) {
        bool template = i % 2;
        snprintf(names[i][0], sizeof names[i][0], template ? "f<A>(x%u)" : "old_%u", i);
        snprintf(names[i][1], sizeof names[i][1], template ? "f<B>(x%u)" : "new_%u", i);
        line(&old, names[i][0], i + 1, 40, 10);
        line(&now, names[i][1], i + 1, template ? 80 : 40, 10);
    }
    assert_int_equal(changes_of(&old, &now, found), 4);
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(found[i].change, VS_CHANGE_GROWN);
        assert_int_equal(found[i].delta, 40);
    }
    now.sites.count = 0;
    for (unsigned i = 0; i < MANY; i++)
        line(&now, names[i][1], i + 1, 40, 10);
    assert_int_equal(changes_of(&old, &now, found), 0);
}
