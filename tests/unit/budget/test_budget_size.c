/* SPDX-License-Identifier: Apache-2.0
 *
 * The work of a check of many tests grows with their number, not with its square: measuring, comparing
 * with a baseline, deciding which rows follow from others, writing JUnit and OpenMetrics. Work is counted,
 * not timed: the code is compiled again with a call at each branch (-fsanitize-coverage=trace-pc). */
#include "unit/budget/budget_test.h"
#include "viewer/check/check_output.h"

#define A(n) (0x700000000000 + (uint64_t)(n) * 0x10000000)
#define FEW 400
#define FACTOR 4
#define MOST 6 /* times the work, because of sorting; the square would be 16 times */

static uint64_t branches;

void __sanitizer_cov_trace_pc(void);
void __sanitizer_cov_trace_pc(void)
{
    branches++;
}

/* *count* tests; their names end in *version*, and each has *mib* of its own. */
static void record(struct bench *t, unsigned count, uint64_t mib, const char *version)
{
    char name[48];
    begin_trace(t, "observe", UINT64_C(1) << 40);
    for (unsigned i = 0; i < count; i++) {
        snprintf(name, sizeof name, "test:t%u%s", i, version);
        vs_builder_push(&t->b, name);
        vs_builder_alloc(&t->b, 0, VS_FAMILY_DEVICE, A(0), mib * MIB, mib * MIB);
        vs_builder_free(&t->b, 0, A(0));
        vs_builder_pop(&t->b);
    }
    measure_trace(t, VS_END_EXIT, 0, 0);
}

static void judge(struct bench *t, struct vs_budget *budget, const struct vs_baseline *baseline)
{
    assert_int_equal(vs_budget_verdict_build(&t->verdict, t->runs, 1, "suite", budget, baseline), VS_OK);
}

/* Branches of a check against a baseline of *count* tests, each of which has *after* MiB instead of one. */
static uint64_t cost(unsigned count, uint64_t after, const char *version)
{
    struct bench old, new;
    struct vs_budget budget = {.baseline = "base.json"};
    struct vs_baseline *baseline = vs_baseline_new();
    FILE *out = fopen("/dev/null", "w");
    branches = 0;
    record(&old, count, 1, "");
    judge(&old, &budget, NULL);
    assert_int_equal(vs_baseline_update(baseline, "suite", &old.verdict.taken, false), VS_OK);
    record(&new, count, after, version);
    judge(&new, &budget, baseline);
    assert_int_equal(new.verdict.exceeded > count, after > 1 && !*version);
    assert_int_equal(new.verdict.note_count > 0, *version || after > 1);
    vs_check_junit(&(struct vs_check_result){.items = &new.verdict, .count = 1, .baseline = "base.json"}, out);
    fclose(out);
    uint64_t counted = branches;
    vs_baseline_free(baseline);
    end(&old);
    end(&new);
    return counted;
}

TEST(tests_that_hold)
{
    uint64_t few = cost(FEW, 1, "");
    assert_true(few > FEW);
    assert_in_range(cost(FACTOR * FEW, 1, ""), 0, MOST * few);
}

TEST(tests_that_all_exceed)
{
    uint64_t few = cost(FEW, 2, "");
    assert_in_range(cost(FACTOR * FEW, 2, ""), 0, MOST * few);
}

TEST(tests_that_were_all_renamed)
{
    uint64_t few = cost(FEW, 1, "new");
    assert_in_range(cost(FACTOR * FEW, 1, "new"), 0, MOST * few);
}

/* Branches of *count* tests with two limits each, which hold. */
static uint64_t cost_of_limits(unsigned count)
{
    static const struct vs_budget_scope all[2] = {{.phase = "*", .test = true}, {.phase = "t*", .test = true}};
    static const char key[] = "max-allocated";
    struct bench t;
    struct vs_budget budget = {0};
    char why[VS_BUDGET_WHY_MAX];
    FILE *out = fopen("/dev/null", "w");
    for (int i = 0; i < 2; i++)
        assert_int_equal(vs_budget_set(&budget, vs_budget_key_find(key, strlen(key)), "2MiB", &all[i], "--limit",
                                       why), VS_OK);
    vs_budget_finish(&budget);
    branches = 0;
    record(&t, count, 1, "");
    judge(&t, &budget, NULL);
    assert_int_equal(t.verdict.count, 2 * count);
    assert_int_equal(t.verdict.rows[2 * count - 1].again, 1);
    vs_check_openmetrics(&(struct vs_check_result){.items = &t.verdict, .count = 1}, out);
    fclose(out);
    uint64_t counted = branches;
    end(&t);
    vs_budget_free(&budget);
    return counted;
}

TEST(tests_with_two_limits)
{
    uint64_t few = cost_of_limits(FEW);
    assert_in_range(cost_of_limits(FACTOR * FEW), 0, MOST * few);
}

/* Branches of a comparison of *count* call sites, whose template arguments have all changed, or their
 * names although they are of one size. */
static uint64_t cost_of_sites(size_t count, bool templates)
{
    struct vs_named_site *now = calloc(count, sizeof *now), *before = calloc(count, sizeof *before);
    char (*names)[2][32] = calloc(count, sizeof *names);
    struct vs_culprit found[4];
    for (unsigned i = 0; i < count; i++) { /* as they are sorted */
        snprintf(names[i][0], sizeof names[i][0], templates ? "f<A>(x%06u)" : "old%06u (a.cu)", i);
        snprintf(names[i][1], sizeof names[i][1], templates ? "f<B>(x%06u)" : "new%06u (a.cu)", i);
        before[i] = (struct vs_named_site){.name = names[i][0], .bytes = 1, .count = 1};
        now[i] = (struct vs_named_site){.name = names[i][1], .bytes = 1, .count = 1};
    }
    branches = 0;
    assert_int_equal(vs_culprits(&(struct vs_named_sites){now, count}, &(struct vs_named_sites){before, count},
                                 VS_METRIC_ALLOCATED, 0, found, 4), 0);
    free(now);
    free(before);
    free(names);
    return branches;
}

TEST(sites_that_were_all_renamed)
{
    for (int templates = 0; templates < 2; templates++) {
        uint64_t few = cost_of_sites(FEW, templates);
        assert_true(few > FEW);
        assert_in_range(cost_of_sites(FACTOR * FEW, templates), 0, MOST * few);
    }
}
