/* SPDX-License-Identifier: Apache-2.0
 *
 * Budgets and baselines on known traces: which limits hold, which call sites are named, what a
 * baseline keeps. */
#define _GNU_SOURCE
#include <sys/resource.h>

#include "analysis/budget/quantity_sites.h"
#include "support/scratch_folder.h"
#include "unit/budget/budget_test.h"

static struct bench t;

static const struct budget_case runs[] = {
    {"limits_hold_at_the_limit_and_not_above", NULL, "alloc 0 10M-1 as 10M",
     "max-peak 10MiB; max-live-at-end 10485759; max-requested 10485759",
     "/traces/0/limits count 3; 0/held true; 1/held false; 2/held true"},
    /* The segment of 20 MiB is reserved, 3 MiB of tensors in it are allocated. */
    {"limits_of_pytorch_are_those_of_its_tensors", NULL, "alloc 0 20M; repeat 3 { tensor 100i 1M }",
     "max-allocated 1MiB; max-leak 1MiB; max-reserved 1MiB; max-tensors 2MiB; max-tensors 3MiB",
     "0/bytes 3M; 0/held false; 0/level tensors; 0/sites/total_bytes 3M; 1/bytes 3M; "
     "1/held false; 1/level tensors; 1/sites/total_bytes 3M; 2/bytes 20M; 2/held false; "
     "2/level device; 2/sites/total_bytes 20M; 3/bytes 3M; 3/held false; 4/bytes 3M; 4/held true"},
    {"phases_and_tests_have_their_own_peaks_and_net_changes", NULL,
     "alloc 0 1M; push test:tests/test_a.py::test_one[x-1]; alloc 100 8M; alloc 200 2M; "
     "free 100; pop; alloc 300 50M",
     "max-peak 10MiB test tests/test_a.py::test_*; no-leaks true test "
     "tests/test_a.py::test_one[x-1]; max-peak 1GiB phase no_such_phase",
     /* at that time */
     "/traces/0/limits count 2; 0/bytes 11M; 0/held false; 0/sites/total_bytes 11M; "
     "0/place test:tests/test_a.py::test_one[x-1]; 1/bytes 2M; 1/held false; "
     "/unmatched has no phase 'no_such_phase' occurred"},
    /* The name of a parametrised test may look like a path. */
    {"a_test_may_have_a_slash_in_its_name", NULL,
     "push test:div[a / b]; push inner / most; alloc 0 8M; pop; pop",
     "max-peak 4MiB test div*; max-peak 5MiB phase inner / most",
     "/traces/0/limits count 2; 0/held false; 1/held false; 0/phase test:div[a / b]; "
     "1/phase test:div[a / b] / inner / most"},
    {"a_failed_program_does_not_pass", NULL, "alloc 0 1M", "max-peak 1GiB",
     "0/held false; 0/metric exit status; 0/exit_status 3; 1/held true", 3},
    {"a_status_that_is_allowed_passes",
     NULL, "alloc 0 1M", "max-peak 1GiB; allow-exit 1,3", "/traces/0/held true", 3},
};

ROWS(runs, limits_of_a_run)
{
    check_row(*state, "observe");
}

TEST(long_names_of_tests_are_not_one_test)
{
    char long_name[160];
    snprintf(long_name, sizeof long_name, "tests/%0150d", 0);
    begin_trace(&t, "observe", "");
    vs_trace(&t.b, "push test:%s::test_one[large]; alloc 0 16M; free 0; pop; "
                   "push test:%s::test_one[small]; alloc 100 4M; free 100; "
                   "pop", long_name, long_name);
    measure_trace(&t, VS_END_EXIT, 0, 0);
    set_limits(&t.budget, "max-peak 4MiB test *test_one[small]; max-peak 4MiB test "
                          "tests/0*::test_one[large]");
    judge(&t, NULL);
    expect_limits(&t, "/traces/0/limits count 2; 0/held true; 1/held false");
    t.budget.baseline = "base.json";
    update_baseline(&t);
    judge(&t, baseline);
    assert_int_equal(t.verdict.exceeded, 1); /* the limit, and no quantity of the baseline */
}

/* The first test has its peak last: the order of the rows is not that of their times. */
TEST(every_exceeded_phase_has_the_call_sites_of_its_point)
{
    enum { TESTS = 200 };
    begin_trace(&t, "observe", "");
    for (unsigned i = 0; i <= TESTS; i++) {
        unsigned size = (i + 1) * 4096;
        vs_trace(&t.b, "push test:t%u; segment 0 %u; alloc 0 %u; free 0; unsegment 0 %u; pop",
                 i % TESTS, 2 * size, size, 2 * size);
    }
    measure_trace(&t, VS_END_EXIT, 0, 0);
    set_limits(&t.budget, "max-allocated 1 test *; max-reserved 1 test *");
    judge(&t, NULL);
    assert_int_equal(t.verdict.exceeded, 2 * TESTS);
    for (size_t i = 0; i < 2 * TESTS; i++) {
        const struct vs_budget_row *row = &t.verdict.rows[i];
        uint64_t blocks = i % TESTS ? i % TESTS + 1 : TESTS + 1;
        assert_int_equal(row->quantity.value, blocks * 4096 * (i < TESTS ? 1 : 2));
        assert_int_equal(row->sites.total_bytes, blocks * 4096);
        assert_int_equal(row->unused.total_bytes, i < TESTS ? 0 : blocks * 4096);
        assert_int_equal(row->culprit_count, i < TESTS ? 1 : 2);
    }
}

/* Ranges of two domains overlap: each keeps what was allocated while it was open. */
TEST(ranges_of_other_domains_have_their_own_net_change)
{
    begin_trace(&t, "observe", "");
    for (uint64_t domain = 1; domain <= 2; domain++) {
        vs_builder_event(&t.b, EVENT(range_push, .domain = domain,
                                     .name = vs_builder_string(&t.b, domain == 1 ? "one" : "two")));
        vs_trace(&t.b, "alloc %u 1M", 100 * (unsigned)domain);
    }
    vs_builder_event(&t.b, EVENT(range_pop, .domain = 1));
    vs_trace(&t.b, "alloc 300 8M");
    vs_builder_event(&t.b, EVENT(range_pop, .domain = 2));
    measure_trace(&t, VS_END_EXIT, 0, 0);
    set_limits(&t.budget, "max-leak 0 phase one; max-leak 0 phase two");
    judge(&t, NULL);
    expect_limits(&t, "/traces/0/limits count 2; 0/bytes 2M; 1/bytes 9M");
}

/* As threads do that end inside their ranges. */
TEST(ranges_that_are_never_closed_take_bounded_memory)
{
    begin_trace(&t, "observe", "alloc 0 1M; repeat 300000 { push forward }");
    struct rusage before, after;
    getrusage(RUSAGE_SELF, &before);
    measure_trace(&t, VS_END_EXIT, 0, 0);
    getrusage(RUSAGE_SELF, &after);
    assert_true(after.ru_maxrss - before.ru_maxrss < 80 * 1024); /* KiB; with all of them 160 MiB */
}

static char path[300], why[VS_BUDGET_WHY_MAX];

static enum vs_err read_text(const char *text, struct vs_baseline **out)
{
    snprintf(path, sizeof path, "%s/base.json", scratch_folder());
    FILE *file = fopen(path, "w");
    fputs(text, file);
    fclose(file);
    return vs_baseline_read(path, out, why);
}

static void write_text(char *text, size_t size)
{
    FILE *file = fopen(path, "w+");
    vs_baseline_write(baseline, file);
    rewind(file);
    text[fread(text, 1, size - 1, file)] = 0;
    fclose(file);
    assert_true(*text);
}

TEST(baselines_are_read_as_they_were_written)
{
    char text[4096], again[4096];
    begin_trace(&t, "observe", "push load; alloc 0 7M; pop");
    measure_trace(&t, VS_END_EXIT, 0, 0);
    assert_int_equal(read_text("{\"schema\": \"vramscope.baseline/1\", \"z_note\": \"ours\", "
                               "\"processes\": {\"other\": {\"steps\": 4}}}", &baseline), VS_OK);
    assert_int_equal(vs_baseline_steps(baseline, "other"), 4);
    judge(&t, NULL);
    update_baseline(&t);
    write_text(text, sizeof text);
    vs_baseline_free(baseline);
    assert_non_null(strstr(text, "\"z_note\": \"ours\"")); /* kept */
    assert_int_equal(vs_baseline_read(path, &baseline, why), VS_OK);
    uint64_t value = 0;
    assert_true(vs_baseline_value(baseline, "prog", &t.run.items[0], &value));
    assert_int_equal(value, 7 * MIB);
    update_baseline(&t);
    write_text(again, sizeof again);
    assert_string_equal(again, text);
}

TEST(unusable_baselines_are_named)
{
    static const struct {
        const char *text, *why;
    } cases[] = {{"", "ends too early"},
                 {"{\"schema\": \"vramscope.ba", "ends too early"},
                 {"[1]", "not a JSON object"},
                 {"{\"schema\": \"vramscope.baseline/1\"}\n>>>>>>> main\n", "more text follows"},
                 {"{}", "has no \"schema\""},
                 {"{\"schema\": \"vramscope.baseline/9\"}", "newer vramscope"},
                 {"nonsense", "not a baseline"}};
    struct vs_baseline *none;
    assert_int_equal(vs_baseline_read("/nowhere/base.json", &none, why), VS_ERR_NOT_FOUND);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(read_text(cases[i].text, &none), VS_ERR_ARG);
        if (!strstr(why, cases[i].why))
            fail_msg("'%s' does not say '%s'", why, cases[i].why);
    }
}

/* Sites of one function: (line, bytes) lists before and now. */
static struct vs_report_frame frames[16];
static struct vs_report_site sites[16];

static struct vs_named_sites named(struct vs_arena *memory, const unsigned (*rows)[2], size_t count,
                                   size_t from)
{
    struct vs_named_sites out;
    struct vs_report_sites list = {.items = &sites[from], .count = count};
    for (size_t i = 0; i < count; i++) {
        frames[from + i] = (struct vs_report_frame){.function = "main", .file = "/src/a.c",
                                                    .line = rows[i][0], .known = true};
        sites[from + i] = (struct vs_report_site){.api = "cudaMalloc", .frames = &frames[from + i],
                                                  .frame_count = 1, .bytes = rows[i][1], .count = 1};
    }
    vs_named_sites_of(memory, &list, VS_METRIC_ALLOCATED, &out);
    return out;
}

TEST(an_inserted_line_is_new_and_its_neighbours_are_not)
{
    static const unsigned before[][2] = {{10, 100}, {20, 200}, {30, 300}};
    static const unsigned now[][2] = {{11, 100}, {15, 150}, {22, 200}, {32, 310}};
    struct vs_arena memory = {0};
    struct vs_culprit out[5];
    struct vs_named_sites b = named(&memory, before, 3, 0), n = named(&memory, now, 4, 8);
    assert_int_equal(vs_culprits(&n, NULL, &b, VS_METRIC_ALLOCATED, 0, out, 5), 2);
    assert_int_equal(out[0].change, VS_CHANGE_NEW);
    assert_int_equal(out[0].line, 15);
    assert_int_equal(out[0].delta, 150);
    assert_int_equal(out[1].change, VS_CHANGE_GROWN);
    assert_int_equal(out[1].line, 32);
    assert_int_equal(out[1].delta, 10);
    vs_arena_free_all(&memory);
}

/* The bytes of a site that is gone, and a function or file of its name: it was renamed. */
TEST(a_renamed_site_is_not_new)
{
    static const struct vs_report_site site = {.api = "cudaMalloc"};
    struct vs_named_site before[] = {
        {.name = "decode (video.c) < main (main.c)", .bytes = 700, .count = 1, .site = &site},
        {.name = "forward (net.c) < main", .bytes = 300, .count = 2, .site = &site},
        {.name = "read_weights (net.c) < main", .bytes = 500, .count = 1, .site = &site},
    };
    struct vs_named_site now[] = {
        {.name = "forward (layers.c) < main (main.c)", .bytes = 300, .count = 2, .site = &site},
        {.name = "keep_history (debug.c) < main (main.c)", .bytes = 700, .count = 1, .site = &site},
        {.name = "load_checkpoint (net.c) < main", .bytes = 500, .count = 1, .site = &site},
    };
    struct vs_named_sites b = {before, 3}, n = {now, 3};
    struct vs_culprit out[5];
    assert_int_equal(vs_culprits(&n, NULL, &b, VS_METRIC_ALLOCATED, 0, out, 5), 1);
    assert_int_equal(out[0].change, VS_CHANGE_NEW);
    assert_int_equal(out[0].delta, 700);
}

/* Under the same callers a similar name in another file is the same function, as in a comparison of
 * two traces. Another name, other callers, or another number in the name is another function. */
TEST(a_site_renamed_and_moved_at_once_is_not_new)
{
    static const char *const same[][2] = {
        {"forward (net.c) < main (app.c)", "forward_pass (layers.c) < main (app.c)"},
        {"scale_rows (net.c) < block < main (app.c)",
         "scale_rows_by (ops.c) < block (net.c) < main (app.c)"}};
    static const char *const other[][2] = {
        {"forward (net.c) < main (app.c)", "keep_history (debug.c) < main (app.c)"},
        {"forward (net.c) < main (app.c)", "forward_pass (layers.c) < start (run.c)"},
        {"forward (net.c)", "forward_pass (layers.c)"},
        {"layer_1 (net.c) < main (app.c)", "layer_12 (layers.c) < main (app.c)"}};
    static const struct vs_report_site site = {.api = "cudaMalloc"};
    struct vs_culprit out[5];
    for (size_t i = 0; i < sizeof same / sizeof *same + sizeof other / sizeof *other; i++) {
        size_t first = sizeof same / sizeof *same;
        const char *const *names = i < first ? same[i] : other[i - first];
        struct vs_named_site before = {.name = names[0], .bytes = 300, .count = 2, .site = &site};
        struct vs_named_site now = {.name = names[1], .bytes = 300, .count = 2, .site = &site};
        struct vs_named_sites b = {&before, 1}, n = {&now, 1};
        assert_int_equal(vs_culprits(&n, NULL, &b, VS_METRIC_ALLOCATED, 0, out, 5), i < first ? 0 : 1);
        now.bytes = 301; /* of another size it need not be the same */
        assert_int_equal(vs_culprits(&n, NULL, &b, VS_METRIC_ALLOCATED, 0, out, 5), 1);
        assert_int_equal(out[0].change, VS_CHANGE_NEW);
    }
}

/* Only the number of a line is left out of a name. */
TEST(names_of_call_sites_keep_all_but_the_line)
{
    static const char *const cases[][2] = {
        {"loss.backward() (train.py:40)", "loss.backward() (train.py)"},
        {"d[1:2].cuda() (train.py:40)", "d[1:2].cuda() (train.py)"},
        {"PyTorch's backward pass: ReluBackward0", "PyTorch's backward pass: ReluBackward0"},
        {"PyTorch: torch.mm", "PyTorch: torch.mm"},
        {"f(a:b)", "f(a:b)"}, {"f(a:)", "f(a:)"}, {":4)", ")"}, {"4)", "4)"}, {")", ")"}, {"", ""}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[VS_SITE_NAME_MAX];
        struct vs_report_site site = {.api = "", .line = cases[i][0]};
        assert_string_equal(vs_site_stable_name(text, &site), cases[i][1]);
    }
}

TEST(keys_reject_other_values)
{
    static const char *const cases[][2] = {
        {"max-peak", "lots"}, {"max-peak", ""}, {"max-peak", "-1"}, {"no-leaks", "yes"},
        {"max-transfers",
         "12 copy/day"}, {"max-transfers", "up:1MiB"}, {"tolerance", "2 percent"}, {
         "tolerance", "-1%"}, {"tolerance", "nan%"}, {"tolerance", "5"}, {"tolerance",
         "0.5"}, {"take", "mean"},
        {"allow-exit", "256"}, {"allow-exit", "1,"}, {"metric", "live at end"}};
    static const struct vs_budget_scope any;
    struct vs_budget budget = {0};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct vs_budget_key *key = vs_budget_key_find(cases[i][0], strlen(cases[i][0]));
        if (vs_budget_set(&budget, key, cases[i][1], &any, "--x", why) != VS_ERR_ARG)
            fail_msg("%s takes '%s'", cases[i][0], cases[i][1]);
        assert_non_null(strstr(why, "takes "));
    }
    vs_budget_free(&budget);
}

/* A prepared step had begun where the last one ended: its peak was "in step 4" of a program of
 * three. */
TEST(memory_after_the_last_step_is_in_no_step)
{
    static const struct { int status; bool fails; const char *place, *by_step, *by_phase; } ends[] = {
        {0, false, "after the last step", "after the last step", "after the last step"},
        {1, false, "step 4 / forward", "step 4", "step / forward"}, /* it was in the step */
        {0, true, "step 4 / forward", "step 4", "step / forward"},
    };
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        begin_trace(&t, "observe",
                        "repeat 3 { step i+1; push forward; alloc 0 1M; free 0; pop; pop }; "
                        "step 4; push forward; alloc 0 8M");
        if (ends[i].fails)
            vs_trace(&t.b, "fail 1G free 1M");
        measure_trace(&t, VS_END_EXIT, ends[i].status, 0);
        const struct vs_report_device *device = &t.run.report->devices[0];
        assert_string_equal(device->peak_allocated.place, ends[i].place);
        assert_int_equal(t.run.report->phases[1].peaks[0], i ? 8 * MIB : MIB); /* of step / forward */
        assert_string_equal(device->held.by[VS_BY_STEP].rows[0].label, ends[i].by_step);
        assert_string_equal(device->held.by[VS_BY_PHASE].rows[0].label, ends[i].by_phase);
        set_limits(&t.budget, "max-peak 1MiB phase step / forward");
        judge(&t, NULL);
        const struct vs_quantity *judged = &t.verdict.rows[t.verdict.count - 1].quantity;
        assert_int_equal(judged->value, i ? 8 * MIB : MIB);
        assert_string_equal(judged->place, i ? ends[i].place : "step 1 / forward");
        end(NULL);
    }
}
