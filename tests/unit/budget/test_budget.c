/* SPDX-License-Identifier: Apache-2.0
 *
 * Budgets and baselines on known traces: which limits hold, which call sites are named, what a
 * baseline keeps. */
#include <sys/resource.h>
#include <unistd.h>

#include "analysis/budget/quantity_sites.h"
#include "unit/budget/budget_test.h"

#define A(n) (0x700000000000 + (uint64_t)(n) * 0x10000000)

static void limit(struct bench *t, const char *key, const char *value, const char *phase, bool test)
{
    struct vs_budget_scope scope = {.phase = phase, .test = test};
    char why[VS_BUDGET_WHY_MAX] = "";
    assert_int_equal(vs_budget_set(&t->budget, vs_budget_key_find(key, strlen(key)), value, &scope,
                                   "--key", why), VS_OK);
}

static void judge(struct bench *t, const struct vs_baseline *baseline)
{
    vs_budget_finish(&t->budget);
    vs_budget_verdict_free(&t->verdict);
    assert_int_equal(vs_budget_verdict_build(&t->verdict, t->runs, 1, t->run.process, &t->budget, baseline),
                     VS_OK);
}

TEST(limits_hold_at_the_limit_and_not_above)
{
    struct bench t;
    begin_trace(&t, "observe", GIB);
    vs_builder_alloc(&t.b, 0, VS_FAMILY_DEVICE, A(0), 10 * MIB - 1, 10 * MIB);
    measure_trace(&t, VS_END_EXIT, 0, 0);
    limit(&t, "max-peak", "10MiB", NULL, false);
    limit(&t, "max-live-at-end", "10485759", NULL, false);
    limit(&t, "max-requested", "10485759", NULL, false);
    judge(&t, NULL);
    assert_int_equal(t.verdict.count, 3);
    assert_false(t.verdict.rows[0].exceeded);
    assert_true(t.verdict.rows[1].exceeded);
    assert_false(t.verdict.rows[2].exceeded);
    assert_int_equal(t.verdict.exceeded, 1);
    end(&t);
}

/* The segment of 20 MiB is reserved, 3 MiB of tensors in it are allocated. */
TEST(limits_of_pytorch_are_those_of_its_tensors)
{
    struct bench t;
    begin_trace(&t, "observe", GIB);
    vs_builder_alloc(&t.b, 0, VS_FAMILY_DEVICE, A(0), 20 * MIB, 20 * MIB);
    for (int i = 0; i < 3; i++)
        vs_builder_event(&t.b, (struct vs_event){.kind = VS_EVENT_framework_alloc,
                                                 .framework_alloc = {.addr = A(i), .size = MIB}});
    measure_trace(&t, VS_END_EXIT, 0, 0);
    limit(&t, "max-allocated", "1MiB", NULL, false);
    limit(&t, "max-leak", "1MiB", NULL, false);
    limit(&t, "max-reserved", "1MiB", NULL, false);
    limit(&t, "max-tensors", "2MiB", NULL, false);
    limit(&t, "max-tensors", "3MiB", NULL, false);
    judge(&t, NULL);
    assert_int_equal(t.verdict.rows[3].quantity.value, 3 * MIB);
    assert_true(t.verdict.rows[3].exceeded && !t.verdict.rows[4].exceeded);
    assert_true(t.verdict.rows[0].quantity.tensors && t.verdict.rows[1].quantity.tensors);
    assert_int_equal(t.verdict.rows[0].quantity.value, 3 * MIB);
    assert_int_equal(t.verdict.rows[0].sites.total_bytes, 3 * MIB);
    assert_int_equal(t.verdict.rows[1].quantity.value, 3 * MIB);
    assert_false(t.verdict.rows[2].quantity.tensors);
    assert_int_equal(t.verdict.rows[2].quantity.value, 20 * MIB);
    assert_int_equal(t.verdict.rows[2].sites.total_bytes, 20 * MIB);
    end(&t);
}

TEST(phases_and_tests_have_their_own_peaks_and_net_changes)
{
    struct bench t;
    begin_trace(&t, "observe", GIB);
    vs_builder_alloc(&t.b, 0, VS_FAMILY_DEVICE, A(0), MIB, MIB);
    vs_builder_push(&t.b, "test:tests/test_a.py::test_one[x-1]");
    vs_builder_alloc(&t.b, 0, VS_FAMILY_DEVICE, A(1), 8 * MIB, 8 * MIB);
    vs_builder_alloc(&t.b, 0, VS_FAMILY_DEVICE, A(2), 2 * MIB, 2 * MIB);
    vs_builder_free(&t.b, 0, A(1));
    vs_builder_pop(&t.b);
    vs_builder_alloc(&t.b, 0, VS_FAMILY_DEVICE, A(3), 50 * MIB, 50 * MIB);
    measure_trace(&t, VS_END_EXIT, 0, 0);
    limit(&t, "max-peak", "10MiB", "tests/test_a.py::test_*", true);
    limit(&t, "no-leaks", "true", "tests/test_a.py::test_one[x-1]", true);
    limit(&t, "max-peak", "1GiB", "no_such_phase", false);
    judge(&t, NULL);
    assert_int_equal(t.verdict.count, 2);
    assert_int_equal(t.verdict.rows[0].quantity.value, 11 * MIB);
    assert_true(t.verdict.rows[0].exceeded);
    assert_int_equal(t.verdict.rows[0].sites.total_bytes, 11 * MIB); /* at that time */
    assert_string_equal(t.verdict.rows[0].quantity.place, "test:tests/test_a.py::test_one[x-1]");
    assert_int_equal(t.verdict.rows[1].quantity.value, 2 * MIB);
    assert_true(t.verdict.rows[1].exceeded);
    char why[VS_BUDGET_WHY_MAX];
    assert_non_null(vs_budget_unmatched(&t.budget, why));
    assert_non_null(strstr(why, "no phase 'no_such_phase' occurred"));
    end(&t);
}

TEST(long_names_of_tests_are_not_one_test)
{
    struct bench t;
    char names[2][200];
    begin_trace(&t, "observe", GIB);
    for (int i = 0; i < 2; i++) {
        snprintf(names[i], sizeof names[i], "test:tests/%0150d.py::test_one[%s]", 0, i ? "small" : "large");
        vs_builder_push(&t.b, names[i]);
        vs_builder_alloc(&t.b, 0, VS_FAMILY_DEVICE, A(i), (i ? 4 : 16) * MIB, (i ? 4 : 16) * MIB);
        vs_builder_free(&t.b, 0, A(i));
        vs_builder_pop(&t.b);
    }
    measure_trace(&t, VS_END_EXIT, 0, 0);
    limit(&t, "max-peak", "4MiB", "*test_one[small]", true);
    limit(&t, "max-peak", "4MiB", names[0] + strlen("test:"), true);
    judge(&t, NULL);
    assert_int_equal(t.verdict.count, 2);
    assert_false(t.verdict.rows[0].exceeded);
    assert_true(t.verdict.rows[1].exceeded);
    struct vs_baseline *baseline = vs_baseline_new();
    t.budget.baseline = "base.json";
    assert_int_equal(vs_baseline_update(baseline, t.run.process, &t.verdict.taken, false), VS_OK);
    judge(&t, baseline);
    assert_int_equal(t.verdict.exceeded, 1); /* the limit, and no quantity of the baseline */
    vs_baseline_free(baseline);
    end(&t);
}

/* The first test has its peak last: the order of the rows is not that of their times. */
TEST(every_exceeded_phase_has_the_call_sites_of_its_moment)
{
    enum { TESTS = 200 };
    struct bench t;
    char name[32];
    begin_trace(&t, "observe", GIB);
    for (uint64_t i = 0; i <= TESTS; i++) {
        snprintf(name, sizeof name, "test:t%u", (unsigned)(i % TESTS));
        vs_builder_push(&t.b, name);
        vs_builder_segment(&t.b, 0, A(i), 2 * (i + 1) * 4096);
        vs_builder_alloc(&t.b, 0, VS_FAMILY_DEVICE, A(i), (i + 1) * 4096, (i + 1) * 4096);
        vs_builder_free(&t.b, 0, A(i));
        vs_builder_segment_free(&t.b, 0, A(i), 2 * (i + 1) * 4096);
        vs_builder_pop(&t.b);
    }
    measure_trace(&t, VS_END_EXIT, 0, 0);
    limit(&t, "max-allocated", "1", "*", true);
    limit(&t, "max-reserved", "1", "*", true);
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
    end(&t);
}

/* The name of a parametrised test may look like a path. */
TEST(a_test_may_have_a_slash_in_its_name)
{
    struct bench t;
    begin_trace(&t, "observe", GIB);
    vs_builder_push(&t.b, "test:div[a / b]");
    vs_builder_push(&t.b, "inner / most");
    vs_builder_alloc(&t.b, 0, VS_FAMILY_DEVICE, A(0), 8 * MIB, 8 * MIB);
    vs_builder_pop(&t.b);
    vs_builder_pop(&t.b);
    measure_trace(&t, VS_END_EXIT, 0, 0);
    limit(&t, "max-peak", "4MiB", "div*", true);
    limit(&t, "max-peak", "5MiB", "inner / most", false);
    judge(&t, NULL);
    assert_int_equal(t.verdict.count, 2);
    assert_int_equal(t.verdict.exceeded, 2);
    assert_string_equal(t.verdict.rows[0].quantity.phase, "test:div[a / b]");
    assert_string_equal(t.verdict.rows[1].quantity.phase, "test:div[a / b] / inner / most");
    end(&t);
}

/* Ranges of two domains overlap: each keeps what was allocated while it was open. */
TEST(ranges_of_other_domains_have_their_own_net_change)
{
    struct bench t;
    begin_trace(&t, "observe", GIB);
    for (uint64_t domain = 1; domain <= 2; domain++) {
        vs_builder_event(&t.b, (struct vs_event){
            .kind = VS_EVENT_range_push,
            .range_push = {.domain = domain, .name = vs_builder_string(&t.b, domain == 1 ? "one" : "two")}});
        vs_builder_alloc(&t.b, 0, VS_FAMILY_DEVICE, A(domain), MIB, MIB);
    }
    vs_builder_event(&t.b, (struct vs_event){.kind = VS_EVENT_range_pop, .range_pop = {.domain = 1}});
    vs_builder_alloc(&t.b, 0, VS_FAMILY_DEVICE, A(3), 8 * MIB, 8 * MIB);
    vs_builder_event(&t.b, (struct vs_event){.kind = VS_EVENT_range_pop, .range_pop = {.domain = 2}});
    measure_trace(&t, VS_END_EXIT, 0, 0);
    limit(&t, "max-leak", "0", "one", false);
    limit(&t, "max-leak", "0", "two", false);
    judge(&t, NULL);
    assert_int_equal(t.verdict.count, 2);
    assert_int_equal(t.verdict.rows[0].quantity.value, 2 * MIB);
    assert_int_equal(t.verdict.rows[1].quantity.value, 9 * MIB);
    end(&t);
}

/* As threads do that end inside their ranges. */
TEST(ranges_that_are_never_closed_take_bounded_memory)
{
    struct bench t;
    begin_trace(&t, "observe", GIB);
    vs_builder_alloc(&t.b, 0, VS_FAMILY_DEVICE, A(0), MIB, MIB);
    for (int i = 0; i < 300000; i++)
        vs_builder_push(&t.b, "forward");
    struct rusage before, after;
    getrusage(RUSAGE_SELF, &before);
    measure_trace(&t, VS_END_EXIT, 0, 0);
    getrusage(RUSAGE_SELF, &after);
    assert_true(after.ru_maxrss - before.ru_maxrss < 80 * 1024); /* KiB; with all of them 160 MiB */
    end(&t);
}

TEST(a_failed_program_does_not_pass)
{
    struct bench t;
    begin_trace(&t, "observe", GIB);
    vs_builder_alloc(&t.b, 0, VS_FAMILY_DEVICE, A(0), MIB, MIB);
    measure_trace(&t, VS_END_EXIT, 3, 0);
    limit(&t, "max-peak", "1GiB", NULL, false);
    judge(&t, NULL);
    assert_int_equal(t.verdict.exceeded, 1);
    assert_int_equal(t.verdict.rows[0].kind, VS_ROW_EXIT);
    assert_int_equal(t.verdict.rows[0].status, 3);
    limit(&t, "allow-exit", "1,3", NULL, false);
    judge(&t, NULL);
    assert_int_equal(t.verdict.exceeded, 0);
    end(&t);
}

TEST(baselines_are_read_as_they_were_written)
{
    struct bench t;
    char path[300], why[VS_BUDGET_WHY_MAX], text[4096] = "", again[4096] = "";
    begin_trace(&t, "observe", GIB);
    vs_builder_push(&t.b, "load");
    vs_builder_alloc(&t.b, 0, VS_FAMILY_DEVICE, A(0), 7 * MIB, 7 * MIB);
    vs_builder_pop(&t.b);
    measure_trace(&t, VS_END_EXIT, 0, 0);
    snprintf(path, sizeof path, "%s/base.json", t.b.dir);
    FILE *file = fopen(path, "w");
    fputs("{\"schema\": \"vramscope.baseline/1\", \"z_note\": \"ours\", \"processes\": {\"other\": {\"steps\": 4}}}",
          file);
    fclose(file);
    struct vs_baseline *baseline;
    assert_int_equal(vs_baseline_read(path, &baseline, why), VS_OK);
    assert_int_equal(vs_baseline_steps(baseline, "other"), 4);
    judge(&t, NULL);
    assert_int_equal(vs_baseline_update(baseline, "prog", &t.verdict.taken, false), VS_OK);
    file = fopen(path, "w+");
    vs_baseline_write(baseline, file);
    rewind(file);
    assert_true(fread(text, 1, sizeof text - 1, file) > 0);
    fclose(file);
    vs_baseline_free(baseline);
    assert_non_null(strstr(text, "\"z_note\": \"ours\"")); /* kept */
    assert_int_equal(vs_baseline_read(path, &baseline, why), VS_OK);
    uint64_t value = 0;
    assert_true(vs_baseline_value(baseline, "prog", &t.run.items[0], &value));
    assert_int_equal(value, 7 * MIB);
    assert_int_equal(vs_baseline_update(baseline, "prog", &t.verdict.taken, false), VS_OK);
    file = tmpfile();
    vs_baseline_write(baseline, file);
    rewind(file);
    assert_true(fread(again, 1, sizeof again - 1, file) > 0);
    fclose(file);
    assert_string_equal(again, text);
    vs_baseline_free(baseline);
    unlink(path);
    end(&t);
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
    struct bench t;
    char path[300], why[VS_BUDGET_WHY_MAX];
    struct vs_baseline *baseline;
    begin_trace(&t, "observe", GIB);
    snprintf(path, sizeof path, "%s/base.json", t.b.dir);
    assert_int_equal(vs_baseline_read(path, &baseline, why), VS_ERR_NOT_FOUND);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        FILE *file = fopen(path, "w");
        fputs(cases[i].text, file);
        fclose(file);
        assert_int_equal(vs_baseline_read(path, &baseline, why), VS_ERR_ARG);
        if (!strstr(why, cases[i].why))
            fail_msg("'%s' does not say '%s'", why, cases[i].why);
    }
    unlink(path);
    measure_trace(&t, VS_END_EXIT, 0, 0);
    end(&t);
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
    assert_int_equal(vs_culprits(&n, &b, VS_METRIC_ALLOCATED, 0, out, 5), 2);
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
    assert_int_equal(vs_culprits(&n, &b, VS_METRIC_ALLOCATED, 0, out, 5), 1);
    assert_int_equal(out[0].change, VS_CHANGE_NEW);
    assert_int_equal(out[0].delta, 700);
}

/* Under the same callers a similar name in another file is the same function, as in a comparison of two
 * traces. Another name, other callers, or another number in the name is another function. */
TEST(a_site_renamed_and_moved_at_once_is_not_new)
{
    static const char *const same[][2] = {
        {"forward (net.c) < main (app.c)", "forward_pass (layers.c) < main (app.c)"},
        {"scale_rows (net.c) < block < main (app.c)", "scale_rows_by (ops.c) < block (net.c) < main (app.c)"}};
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
        assert_int_equal(vs_culprits(&n, &b, VS_METRIC_ALLOCATED, 0, out, 5), i < first ? 0 : 1);
        now.bytes = 301; /* of another size it need not be the same */
        assert_int_equal(vs_culprits(&n, &b, VS_METRIC_ALLOCATED, 0, out, 5), 1);
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
        {"max-transfers", "12 copy/day"}, {"max-transfers", "up:1MiB"}, {"tolerance", "2"
        " percent"}, {"tolerance", "-1%"}, {"tolerance", "nan%"}, {"tolerance", "5"}, {"tolerance", "0.5"}, {"take", "mean"},
        {"allow-exit", "256"}, {"allow-exit", "1,"}, {"metric", "live at end"}};
    static const struct vs_budget_scope any;
    struct vs_budget budget = {0};
    char why[VS_BUDGET_WHY_MAX];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct vs_budget_key *key = vs_budget_key_find(cases[i][0], strlen(cases[i][0]));
        if (vs_budget_set(&budget, key, cases[i][1], &any, "--x", why) != VS_ERR_ARG)
            fail_msg("%s takes '%s'", cases[i][0], cases[i][1]);
        assert_non_null(strstr(why, "takes "));
    }
    vs_budget_free(&budget);
}

/* A prepared step had begun where the last one ended: its peak was "in step 4" of a program of three. */
TEST(memory_after_the_last_step_is_in_no_step)
{
    static const struct { int status; bool fails; const char *place, *by_step, *by_phase; } ends[] = {
        {0, false, "after the last step", "after the last step", "after the last step"},
        {1, false, "step 4 / forward", "step 4", "step / forward"}, /* it was in the step */
        {0, true, "step 4 / forward", "step 4", "step / forward"},
    };
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        struct bench t;
        begin_trace(&t, "observe", GIB);
        for (unsigned step = 1; step <= 4; step++) {
            uint64_t bytes = (step < 4 ? 1 : 8) * MIB;
            vs_builder_step(&t.b, step);
            vs_builder_push(&t.b, "forward");
            vs_builder_alloc(&t.b, 0, VS_FAMILY_DEVICE, A(10 * step), bytes, bytes);
            if (step == 4)
                break;
            vs_builder_free(&t.b, 0, A(10 * step));
            vs_builder_pop(&t.b);
            vs_builder_pop(&t.b);
        }
        if (ends[i].fails)
            vs_builder_failed(&t.b, 0, VS_FAMILY_DEVICE, GIB, MIB, GIB);
        measure_trace(&t, VS_END_EXIT, ends[i].status, 0);
        const struct vs_report_device *device = &t.run.report->devices[0];
        assert_string_equal(device->peak_allocated.place, ends[i].place);
        assert_string_equal(device->held.by[VS_BY_STEP].rows[0].label, ends[i].by_step);
        assert_string_equal(device->held.by[VS_BY_PHASE].rows[0].label, ends[i].by_phase);
        limit(&t, "max-peak", "1MiB", "step / forward", false);
        judge(&t, NULL);
        assert_string_equal(t.verdict.rows[t.verdict.count - 1].quantity.place, ends[i].place);
        end(&t);
    }
}
