/* SPDX-License-Identifier: Apache-2.0
 *
 * The work of a check of many tests grows with their number, not with its square: measuring, comparing
 * with a baseline, deciding which rows follow from others, writing JUnit and OpenMetrics. Work is counted,
 * not timed: the code is compiled again with a call at each branch (-fsanitize-coverage=trace-pc). */
#include "unit/budget/budget_test.h"
#include "viewer/check/check_output.h"

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
static void record(struct bench *t, unsigned count, unsigned mib, const char *version)
{
    struct vs_budget budget = t->budget;
    begin_trace(t, "observe", "");
    t->budget = budget;
    for (unsigned i = 0; i < count; i++)
        vs_trace(&t->b, "push test:t%u%s; alloc 0 %uM; free 0; pop", i, version, mib);
    measure_trace(t, VS_END_EXIT, 0, 0);
}

/* Branches of a check against a baseline of *count* tests, each of which has *after* MiB instead of one. */
static uint64_t cost(unsigned count, unsigned after, const char *version)
{
    struct bench old = {.budget.baseline = "base.json"}, new = old;
    FILE *out = fopen("/dev/null", "w");
    branches = 0;
    record(&old, count, 1, "");
    judge(&old, NULL);
    update_baseline(&old);
    record(&new, count, after, version);
    judge(&new, baseline);
    assert_int_equal(new.verdict.exceeded > count, after > 1 && !*version);
    assert_int_equal(new.verdict.note_count > 0, *version || after > 1);
    vs_check_junit(&(struct vs_check_result){.items = &new.verdict, .count = 1, .baseline = "base.json"}, out);
    fclose(out);
    uint64_t counted = branches;
    end(NULL);
    return counted;
}

TEST(tests_that_hold_all_exceed_or_were_all_renamed)
{
    static const struct {
        unsigned after;
        const char *version;
    } cases[] = {{1, ""}, {2, ""}, {1, "new"}};
    for (size_t i = 0; i < 3; i++) {
        uint64_t few = cost(FEW, cases[i].after, cases[i].version);
        assert_true(few > FEW);
        assert_in_range(cost(FACTOR * FEW, cases[i].after, cases[i].version), 0, MOST * few);
    }
}

/* Branches of *count* tests with two limits each, which hold. */
static uint64_t cost_of_limits(unsigned count)
{
    struct bench t = {0};
    FILE *out = fopen("/dev/null", "w");
    set_limit(&t.budget, "max-allocated", "2MiB", "*", true);
    set_limit(&t.budget, "max-allocated", "2MiB", "t*", true);
    vs_budget_finish(&t.budget);
    branches = 0;
    record(&t, count, 1, "");
    judge(&t, NULL);
    assert_int_equal(t.verdict.count, 2 * count);
    assert_int_equal(t.verdict.rows[2 * count - 1].again, 1);
    vs_check_openmetrics(&(struct vs_check_result){.items = &t.verdict, .count = 1}, out);
    fclose(out);
    uint64_t counted = branches;
    end(NULL);
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
    assert_int_equal(vs_culprits(&(struct vs_named_sites){now, count}, NULL, &(struct vs_named_sites){before, count},
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
