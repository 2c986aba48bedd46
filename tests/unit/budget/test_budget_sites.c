/* SPDX-License-Identifier: Apache-2.0
 *
 * The call sites of memory held from the device, live and cached, and those that a baseline keeps
 * for phases and tests. Without stacks, call sites are told apart by the API's name. */
#include "unit/budget/budget_test.h"

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

/* A forward pass of 69 MiB, whose peak may move to its end, and a backward pass of 72 MiB: *begun*
 * at its begin, *beside* next to its peak, *ended* at its end. */
#define PASSES(begun, beside, ended)                                                              \
    "by weights; alloc 0 50M; push forward; " begun "; by attention; alloc 100 19M; " beside      \
    "; by output; alloc 300 5M; " ended "; pop; push backward; by gradients; alloc 400 17M; "     \
    "free 400; pop"
/* Two tests or phases, each with a line of its own. */
#define TWO(kind, first, second)                                                                  \
    "push " kind "first; by line of first; alloc 0 " first "; free 0; pop; push " kind "second; " \
    "by line of second; alloc 0 " second "; free 0; pop"
/* The second one exceeds by less than the program, and followed from the line of the first. */
#define REASONS(case, kind, second, follows)                                                      \
    {"two_tests_that_exceed_for_two_reasons_are_both_shown_" case, TWO(kind, "100M", "50M"),      \
     TWO(kind, "110M", second), NULL,                                                             \
     "0/held false; 0/follows false; 0/metric allocated; " FIRST(kind) "follows true; "           \
     SECOND(kind) "held false; " SECOND(kind) "compared true; "                                   \
     SECOND(kind) "follows " follows "; " SECOND(kind) "culprits/0/site line of second"}
#define FIRST(kind) "phase=" kind "first&metric=allocated/"
#define SECOND(kind) "phase=" kind "second&metric=allocated/"
/* The reserved peak is in the optimizer's step; or in the forward pass, where other blocks are
 * live, since a segment is needed there. *leaked* is live in both. */
#define TWO_PEAKS(leaked, forward, optimizer)                                                     \
    "grow 0 100M; grow 300 10M; by weights; alloc 0 50M; " leaked "; push forward; "              \
    "by activations; alloc 50 45M; " forward "; free 50; pop; push optimizer; by state; "         \
    "alloc 50 30M; " optimizer "; free 50; pop"
/* Blocks that are live at the new time, and were not at that of the baseline's peak, were called
 * new. */
#define MOVED_PEAK \
    "0/baseline_bytes 130M; 0/bytes 150M; 0/held false; 0/compared true; 0/culprits count 1; "
#define LINES(first, grown, second) \
    "grow 0 40M; by cache; alloc 0 " first "; grow 100 " grown "; by model; alloc 100 " second
/* Half a MiB at a further call site; another segment is needed. */
#define REST(size) "grow 0 10M; by weights; alloc 0 9M; by planted; alloc 9 512K; grow 20 " size
#define REST_FACTS                                                                                \
    "metric=reserved/held false; metric=reserved/compared true; "                                 \
    "metric=reserved/culprits/0/cached true; metric=reserved/follows "
/* Blocks of call sites: of a shared library whose functions have names or not, and of the program.
 * */
#define LIBRARY(library, size, program, leaked) \
    "by " library "; alloc 0 " size "; by " program "; alloc 200 2M; " leaked
#define STRIPPED "libw.so+0x10 (libw.so) < libw.so+0x20 < libw.so+0x30 < libw.so+0x40"
#define NAMED "work (w.c) < train < step < run"
#define PROGRAM "named (m.c) < main"
#define BARE "m+0x10 (m) < m+0x20"
#define LEAK "by leak (m.c) < main; alloc 300 3M"
#define CULPRIT(site) \
    "0/held false; 0/compared true; 0/culprits count 1; 0/culprits/0/site " site "; " \
    "/traces/0/notes not has function names"
#define NOT_COMPARED(why) "0/held false; 0/compared false; /traces/0/notes has " why

static const struct budget_case cases[] = {
    {"a_block_may_span_memory_that_was_mapped_in_pieces", NULL, /* one line holds most of it */
     "grow 0 20M; grow 20 20M; grow 40 20M; by first; alloc 0 4M; by spanning; "
     "alloc 10 45M", "max-reserved 50MiB",
     "0/held false; 0/bytes 60M; 0/sites/total_bytes 49M; 0/cached_sites/total_bytes 11M; "
     "0/culprits/0/cached false; 0/culprits/0/bytes 45M"},
    /* A line that allocates memory of two types has both: the first one was said to be all of it. */
    {"a_line_has_all_its_types_of_memory", NULL, 
     "at @one < line 10; alloc 0 64M async; at @two < line 10; alloc 100 16M managed", "max-peak 1MiB",
     "0/culprits count 1; 0/culprits/0/text /opt/demo/train.py:10: 80.0 MiB in 2 blocks: async + managed: line "
     "(train.py:10)"},
    /* The framework's segments are blocks of the device there. Without the cache the limit would
     * hold. */
    {"cached_memory_of_a_framework_is_not_live", NULL, /* the last one holds no tensors */
     "alloc 0 20M; tensor 0 6M of 6M 20M; tensor 8 3M of 3M 20M; by outside; "
     "alloc 100 5M", "max-reserved 15MiB",
     "0/bytes 25M; 0/sites/total_bytes 14M; 0/cached_sites/total_bytes 11M; "
     "0/culprits/0/cached true"},
    /* Other blocks are live at the peak's new time: they are not new. */
    {"a_phase_whose_peak_moved_has_the_line_of_the_program", PASSES("", "free 100", ""),
     PASSES("", "free 100", "by planted; alloc 700 20M; free 700"), NULL,
     "0/held false; 0/follows false; 0/metric allocated; 0/excess_bytes 3M; "
     "0/culprits/0/site planted; phase=forward&metric=allocated/excess_bytes 6M; "
     "phase=forward&metric=allocated/follows true; phase=forward&metric=allocated/compared true; "
     "phase=forward&metric=allocated/culprits count 1; "
     "phase=forward&metric=allocated/culprits/0/site planted; "
     "phase=forward&metric=allocated/culprits/0/delta 20M"},
    /* *planted* is live in both passes, *own* in the first half of the forward pass. */
    {"a_phase_with_a_line_of_its_own_is_shown", PASSES("", "free 100", ""),
     PASSES("by planted; alloc 700 3M", "by own; alloc 200 2M; free 100; free 200", ""), NULL,
     "0/excess_bytes 3M; 0/culprits/0/site planted; phase=forward&metric=allocated/excess_bytes "
     "5M; phase=forward&metric=allocated/follows false; phase=forward&metric=allocated/culprits "
     "count 2"},
    REASONS("as_tests", "test:", "52M", "false"), REASONS("as_tests_of_one_more", "test:",
    "51M", "false"),
    REASONS("as_phases", "", "52M", "false"), REASONS("as_phases_of_one_more", "", "51M", "true"),
    {"a_reserved_peak_that_moved_has_the_cache_that_grew", TWO_PEAKS("", "", "grow 200 20M"),
     TWO_PEAKS("", "grow 200 40M", ""), "max-reserved 135MiB", MOVED_PEAK "0/moved false; "
     "0/culprits/0/cached true"},
    {"a_reserved_peak_that_moved_has_the_line_that_grew", TWO_PEAKS("", "", "grow 200 20M"),
     TWO_PEAKS("by leaked; alloc 300 8M", "grow 200 40M", ""), "max-reserved 135MiB",
     MOVED_PEAK "0/moved true; 0/culprits/0/cached false; 0/culprits/0/site leaked"},
    /* Both peaks are at the last allocation. The heading said that the peak was at another time
     * than that of the baseline, as one line holds less. */
    {"a_line_that_shrank_does_not_mean_another_moment",
     LINES("40M", "40M", "40M"), LINES("32M", "52M", "52M"),
     "max-reserved 85MiB",
     "0/held false; 0/compared true; 0/culprits/0/site model; 0/culprits/0/delta 12M; "
     "0/heading more than at any peak in the baseline:"},
    /* The run was judged by all functions of a stack and the baseline by the four of a name, so
     * that a program that calls a stripped library had names and its own baseline had none; and a
     * list of which half the bytes are the library's changed sides when the library allocated more.
     * */
    {"a_leak_beside_a_stripped_library_is_named", LIBRARY(STRIPPED, "24M", PROGRAM, ""),
     LIBRARY(STRIPPED, "24M", PROGRAM, LEAK), NULL, CULPRIT("leak (m.c) < main")},
    {"a_stripped_library_is_named",
     LIBRARY(STRIPPED, "24M", PROGRAM, ""), LIBRARY(STRIPPED, "28M", PROGRAM, ""),
     NULL, CULPRIT(STRIPPED)},
    {"a_stripped_library_that_grew_to_most_is_named", LIBRARY(STRIPPED, "1M", PROGRAM, ""),
     LIBRARY(STRIPPED, "28M", PROGRAM, ""), NULL, CULPRIT(STRIPPED)},
    {"a_stripped_library_of_a_stripped_program_is_named", LIBRARY(STRIPPED, "24M", BARE, ""),
     LIBRARY(STRIPPED, "28M", BARE, ""), NULL, CULPRIT(STRIPPED)},
    {"a_run_without_names_is_not_compared",
     LIBRARY(NAMED, "24M", PROGRAM, ""), LIBRARY(STRIPPED, "28M", BARE, ""),
     NULL, NOT_COMPARED("the trace has no function names")},
    {"a_baseline_without_names_is_not_compared", LIBRARY(STRIPPED, "24M", BARE, ""),
     LIBRARY(NAMED, "28M", PROGRAM, ""), NULL,
     NOT_COMPARED("the baseline was written from a trace without function names")},
    {"a_library_that_was_stripped_is_not_compared", LIBRARY(NAMED, "24M", PROGRAM, ""),
     LIBRARY(STRIPPED, "28M", PROGRAM, ""), NULL, NOT_COMPARED("the trace has no function names")},
    {"a_program_that_was_stripped_is_not_compared", LIBRARY(STRIPPED, "24M", PROGRAM, ""),
     LIBRARY(STRIPPED, "28M", BARE, ""), NULL, NOT_COMPARED("the trace has no function names")},
    {"the_rest_of_a_segment_follows_from_the_line_that_needed_it",
     "grow 0 10M; by weights; alloc 0 9M", REST("2M"),
     NULL, "metric=reserved/excess_bytes 2M; " REST_FACTS "true"},
    {"a_segment_of_more_does_not_follow", "grow 0 10M; by weights; alloc 0 9M", REST("4M"), NULL,
     "metric=reserved/excess_bytes 4M; " REST_FACTS "false"},
};

ROWS(cases, sites_of_a_limit)
{
    check_row(*state, "caching");
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

/* The large test has the program's peak, so its sites are those of the program. */
TEST(a_baseline_keeps_few_sites_of_a_phase_and_none_twice)
{
    record_tests(&before, "");
    update_baseline(&before);
    char text[65536];
    write_text(text, sizeof text);
    char *phases = strstr(text, "\"phases\""), *sites = strstr(phases, "\n      \"sites\"");
    assert_non_null(sites);
    assert_int_equal(vs_times(sites, "\"large\""), 2); /* allocated, and reserved in use */
    *sites = 0;
    assert_int_equal(vs_times(phases, "\"large\""), 0);
    /* allocated and live at end; in use at the peak of reserved are those of allocated */
    assert_int_equal(vs_times(phases, "\"line "), 2 * VS_BASELINE_PHASE_SITES_MAX);
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
    assert_int_equal(vs_times(first, "one thread"), 1);
    update_baseline(&after);
    write_text(then, sizeof then);
    assert_string_equal(first, then);
    update_baseline(&third);
    write_text(then, sizeof then);
    assert_int_equal(vs_times(then, "one thread"), 0);
    assert_int_equal(vs_times(then, "another thread"), 1);
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

/* --- which lines have changed --- */

struct lines {
    struct vs_report_frame frames[MANY][2];
    struct vs_report_site items[MANY];
    struct vs_report_sites sites;
    char text[MANY * 40];
};

/* "upload 15 40 10; keep@5 < load 30 8 1": call sites, each a function, its line, bytes and count;
 * with a caller the line is the caller's. */
static void read_lines(struct lines *l, const char *text)
{
    l->sites = (struct vs_report_sites){.items = l->items};
    snprintf(l->text, sizeof l->text, "%s", text);
    char *next = l->text, *name;
    while ((name = strsep(&next, ";")) != NULL && *name) {
        struct vs_report_site *site = &l->items[l->sites.count];
        struct vs_report_frame *frames = l->frames[l->sites.count++];
        uint64_t numbers[3]; /* from the last on */
        for (int i = 0; i < 3; i++) {
            char *number = strrchr(name, ' ');
            numbers[i] = strtoull(number, NULL, 10);
            *number = 0;
        }
        name += *name == ' ';
        char *caller = strstr(name, " < ");
        frames[0] = frames[1] = (struct vs_report_frame){
            .function = name, .file = "/src/a.cu", .module = "a", .line = (unsigned)numbers[2]};
        if (caller) {
            *caller = 0;
            frames[0].line = (unsigned)strtoul(strchr(name, '@') + 1, NULL, 10);
            *strchr(name, '@') = 0;
            frames[1].function = caller + 3;
        }
        *site = (struct vs_report_site){.frames = frames, .frame_count = caller ? 2 : 1, .api = "",
                                        .bytes = numbers[1], .count = numbers[0], .stacks = 1};
    }
}

/* The first four changes as text: "new upload 17 or 15 +40; grown forward 14 +5". */
static const char *changes_of(const char *before_text, const char *now_text)
{
    static struct lines old, now;
    static char text[400];
    static const char *const names[] = {[VS_CHANGE_NEW] = "new", [VS_CHANGE_GROWN] = "grown"};
    struct vs_arena memory = {0};
    struct vs_named_sites a, b;
    struct vs_culprit found[4];
    read_lines(&old, before_text);
    read_lines(&now, now_text);
    vs_named_sites_of(&memory, &old.sites, VS_METRIC_ALLOCATED, &a);
    vs_named_sites_of(&memory, &now.sites, VS_METRIC_ALLOCATED, &b);
    size_t count = vs_culprits(&b, NULL, &a, VS_METRIC_ALLOCATED, 0, found, 4), length = 0;
    *text = 0;
    for (size_t i = 0; i < count; i++) {
        const struct vs_culprit *one = &found[i];
        char other[24] = "";
        if (one->or_line)
            snprintf(other, sizeof other, " or %u", (unsigned)one->or_line);
        length += (size_t)snprintf(text + length, sizeof text - length, "%s%s %s %u%s +%lld",
                                   i ? "; " : "", names[one->change], one->function,
                                   (unsigned)one->line, other, (long long)one->delta);
    }
    vs_arena_free_all(&memory);
    return text;
}

static const struct {
    const char *name, *old, *now, *changes;
} line_cases[] = {
    {"of_two_alike_lines_both_are_named",
     "upload 15 40 10", "upload 15 40 10; upload 17 40 10", "new upload 17 or 15 +40"},
    /* both ways to pair the old line differ by as many bytes */
    {"the_line_that_resembles_the_old_one_is_the_old_one",
     "forward 14 90 10", "forward 14 95 11; forward 16 320 1",
     "new forward 16 +320; grown forward 14 +5"},
    /* a line of a model that training and evaluation run was named by the lines that call it */
    {"a_line_that_two_call_is_named_and_an_allocation_function_is_not",
     "make_buffer@5 < load 30 64 1; make_buffer@5 < embed 31 32 1",
     "make_buffer@5 < load 30 64 1; make_buffer@5 < embed 31 32 1; make_buffer@5 < keep 32 8 1; "
     "compute@13 < train 23 6 1; compute@13 < evaluate 24 4 1",
     "new keep 32 +8; new compute 13 +6; new compute 13 +4"},
    {"callers_of_one_allocation_function_are_named_where_all_are_new", "",
     "make_buffer@5 < load 30 100 1; make_buffer@5 < embed 31 99 1; make_buffer@5 < keep 32 98 1; "
     "make_buffer@5 < save 33 97 1",
     "new load 30 +100; new embed 31 +99; new keep 32 +98; new save 33 +97"},
    {"a_template_with_another_argument_has_grown",
     "std::unique_ptr<char, D<char> > make<char, 1048576ul>() 13 4 4; gone<int>() 20 6 1",
     "std::unique_ptr<char, D<char> > make<char, 2097152ul>() 13 8 4; other<int>() 30 7 1",
     "new other<int>() 30 +7; grown std::unique_ptr<char, D<char> > make<char, 2097152ul>() 13 +4"},
    /* Python's "<lambda>" and C++'s operators are no templates */
    {"names_in_angle_brackets_are_no_arguments", "<lambda> 13 4 4", "<listcomp> 13 8 4",
     "new <listcomp> 13 +8"},
    {"operators_are_no_templates", "operator<<(A&) 13 4 4", "operator<<(B&) 13 8 4",
     "new operator<<(B&) 13 +8"},
};

ROWS(line_cases, lines_have_changed)
{
    const char *const *row = *state; /* name, old, now, changes */
    assert_string_equal(changes_of(row[1], row[2]), row[3]);
}

/* Layers of a network are of one size. */
TEST(many_sites_of_one_size_are_all_found_again)
{
    static char old[MANY * 40], now[2][MANY * 40];
    for (unsigned i = 0; i < MANY; i++) {
        char *const texts[] = {old, now[0], now[1]};
        for (int k = 0; k < 3; k++) {
            char *end = strchr(texts[k], 0);
            snprintf(end, 40, "%s%s%u %u %d 10", i ? "; " : "",
                     i % 2 ? (k ? "f<B>" : "f<A>") : (k ? "new_" : "old_"), i, i + 1,
                     i % 2 && k == 1 ? 80 : 40);
        }
    }
    const char *changes = changes_of(old, now[0]);
    assert_int_equal(vs_times(changes, "grown "), 4);
    assert_int_equal(vs_times(changes, " +40"), 4);
    assert_string_equal(changes_of(old, now[1]), "");
}
