/* SPDX-License-Identifier: Apache-2.0
 *
 * Runs one configuration of the differential test over its seeds: counts the mechanisms used,
 * shrinks and prints a difference. */
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#include "allocator_test.h"
#include "differential.h"

#define RUN_STEPS 5000

static int steps_expected = 40000;
static uint64_t first_seed = 20260101;
static bool brief;

/* For finding the step of a crash in a debugger. */
static struct {
    const char *test;
    uint64_t seed;
    int step;
} at;

static struct sigaction handlers_before[NSIG];

static void on_crash(int signal)
{
    char text[200];
    int n = snprintf(text, sizeof text, "signal %d in %s, seed %" PRIu64 ", step %d\n", signal,
                     at.test, at.seed, at.step);
    ssize_t written = write(2, text, (size_t)n);
    (void)written;
    sigaction(signal, &handlers_before[signal], NULL); /* then continue as without our handler */
}

void diff_suite(const struct diff_config *given)
{
    static struct diff_run run;
    static struct diff_step taken[DIFF_STEPS_MAX];
    uint64_t counts[MODEL_MECHANISM_COUNT] = {0};
    int done = 0;
    at.test = given->name;
    at.seed = first_seed;
    long steps_done = 0;
    for (int steps; done < steps_expected; done += steps, at.seed++) {
        struct diff_config config = *given;
        if (config.drawn)
            diff_draw_config(&config, at.seed);
        steps = steps_expected - done < RUN_STEPS ? steps_expected - done : RUN_STEPS;
        diff_start(&run, &config);
        run.seed = at.seed;
        run.random = at.seed * UINT64_C(0x9e3779b97f4a7c15) | 1;
        int count = 0;
        while (count < steps && !run.difference[0]) {
            at.step = count;
            taken[count] = diff_next(&run);
            diff_step(&run, &taken[count++]);
        }
        for (int i = 0; i < MODEL_MECHANISM_COUNT; i++)
            counts[i] += model_counts(run.model)[i];
        diff_stop(&run);
        steps_done += count;
        if (!run.difference[0])
            continue;
        if (brief) {
            printf("found after %ld steps by %s: %s\n", steps_done, at.test, run.difference);
            exit(1);
        }
        printf("%s: seed %" PRIu64 ", step %d: %s\n", at.test, at.seed, count, run.difference);
        fflush(stdout);
        count = diff_shrink(&config, taken, count);
        printf("the shortest sequence found:\n");
        diff_print(&config, taken, count);
        fail_msg("again: test_allocator_differential %d %" PRIu64 " '*%s*'", RUN_STEPS, at.seed,
                 at.test);
    }
    for (int i = 0; i < MODEL_MECHANISM_COUNT; i++) {
        if (counts[i])
            printf(" %s %" PRIu64, model_mechanism_names[i], counts[i]);
    }
    printf("\n");
    if (steps_expected < 40000)
        return; /* too few to use every mechanism */
    char *copy = strdup(given->reach), *rest = copy;
    for (char *name; (name = strsep(&rest, " ")) != NULL;) {
        int i = 0;
        while (i < MODEL_MECHANISM_COUNT && strcmp(name, model_mechanism_names[i]) != 0)
            i++;
        if (i == MODEL_MECHANISM_COUNT)
            fail_msg("'%s' is no mechanism", name);
        if (!counts[i])
            fail_msg("%s never ran", name);
    }
    free(copy);
}

void diff_suite_arguments(int argc, char **argv)
{
    static const int crashes[] = {SIGSEGV, SIGABRT, SIGBUS, SIGFPE};
    for (size_t i = 0; i < sizeof crashes / sizeof *crashes; i++) {
        struct sigaction action = {.sa_handler = on_crash, .sa_flags = SA_NODEFER};
        sigaction(crashes[i], &action, &handlers_before[crashes[i]]);
    }
    if (argc > 1)
        steps_expected = atoi(argv[1]);
    if (argc > 2)
        first_seed = strtoull(argv[2], NULL, 0);
    if (argc > 3)
        cmocka_set_test_filter(argv[3]);
    brief = argc > 4 && strcmp(argv[4], "brief") == 0;
}
