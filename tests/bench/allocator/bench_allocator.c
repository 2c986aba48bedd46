/* SPDX-License-Identifier: Apache-2.0
 *
 * Measures the allocator beside others in the same run: for each number of threads, pairs served
 * from the cache, blocks freed by another thread, and single calls; then our policies beside each
 * other. */
#include <dlfcn.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../bench.h"
#include "bench_measure.h"

#define MIB (UINT64_C(1) << 20)
#define LOADS 32
#define CONTENDERS 6
#define ROUNDS 25

/* Nanoseconds: a row for each load, a column for each contender, and the ratio of each to the
 * first. The contenders take turns in every round, so that other activity on the machine affects
 * all of them; figures are medians of the rounds. A row is measured and printed at once. */
struct table {
    const struct bench_contender *contenders[CONTENDERS];
    int count;
    int rounds;   /* 1 to ROUNDS */
    size_t pairs; /* pairs of each thread in a round, approximately: whole laps */
    int threads;
    bool stream_each;
};

static struct table contest = {.rounds = ROUNDS, .pairs = 8000};
static struct bench_load loads[LOADS];
static int load_count, first_trace;
static struct bench_load handed;
static const char *only;

static const struct {
    const char *name;
    uint64_t bytes;
} sizes[] = {{"512 B", 512},     {"4 KiB", 4096},        {"64 KiB", 65536},
             {"1 MiB", MIB},     {"2 MiB", 2 * MIB},     {"20 MiB", 20 * MIB},
             {"256 MiB", 256 * MIB}, {"1 GiB", 1024 * MIB}};
#define SIZES ((int)(sizeof sizes / sizeof *sizes))

/* NULL, with a line on standard error, when it is not available. */
static const struct bench_contender *load_contender(const char *path)
{
    void *lib = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    const struct bench_contender *(*get)(void) = NULL;
    if (lib)
        *(void **)&get = dlsym(lib, "bench_contender");
    if (!get)
        fprintf(stderr, "bench_allocator: %s\n", dlerror());
    return get ? get() : NULL;
}

static struct bench_load *next_load(void)
{
    if (load_count == LOADS) {
        fprintf(stderr, "bench_allocator: too many traces\n");
        exit(2);
    }
    return &loads[load_count++];
}

static void make_loads(char **traces, int count)
{
    for (int i = 0; i < SIZES; i++)
        bench_load_pairs(next_load(), sizes[i].name, sizes[i].bytes, 1000);
    bench_load_working_set(next_load());
    bench_load_program(next_load(), "serving");
    bench_load_program(next_load(), "varlen");
    first_trace = load_count;
    for (int i = 0; i < count; i++)
        bench_load_trace(next_load(), traces[i]);
    bench_load_pairs(&handed, "4 KiB, given back by another thread", 4096, 1000);
}

/* --- tables --- */

typedef double measure_fn(const struct bench_contender *contender, void *self,
                          const struct bench_load *load, const struct bench_setup *setup);

static void open_all(const struct table *t, void **selves)
{
    for (int c = 0; c < t->count; c++) {
        selves[c] = t->contenders[c]->open();
        if (!selves[c]) {
            fprintf(stderr, "bench_allocator: %s could not be set up\n", t->contenders[c]->name);
            exit(1);
        }
    }
}

static struct bench_setup setup_for(const struct table *t, const struct bench_load *load)
{
    size_t laps = t->pairs / (load->count / 2);
    return (struct bench_setup){t->threads, t->stream_each, laps ? laps : 1};
}

static void head(const struct table *t, const char *title)
{
    printf("\n%-38s %8s", title, t->contenders[0]->name);
    for (int c = 1; c < t->count; c++)
        printf(" %10s %7s", t->contenders[c]->name, "ratio");
    putchar('\n');
}

static void table_row(const struct table *t, const char *name, const double *ns)
{
    printf("  %-36.36s %8.1f", name, ns[0]);
    for (int c = 1; c < t->count; c++)
        printf(" %10.1f %7.2f", ns[c], ns[c] / ns[0]);
    putchar('\n');
    fflush(stdout);
}

static void pair_row(const struct table *t, const struct bench_load *load, measure_fn *measure)
{
    void *selves[CONTENDERS];
    double ns[CONTENDERS][ROUNDS], medians[CONTENDERS];
    struct bench_setup setup = setup_for(t, load);
    open_all(t, selves);
    for (int round = -1; round < t->rounds; round++) { /* -1: fills the cache */
        for (int c = 0; c < t->count; c++) {
            double took = measure(t->contenders[c], selves[c], load, &setup);
            if (round >= 0)
                ns[c][round] = took;
        }
    }
    for (int c = 0; c < t->count; c++) {
        t->contenders[c]->close(selves[c]);
        medians[c] = bench_median(ns[c], (size_t)t->rounds);
    }
    table_row(t, load->name, medians);
}

/* Four rows: median and 99.9th percentile of the requests and of the frees. */
static void call_rows(const struct table *t, const struct bench_load *load)
{
    static const char *const names[] = {"  alloc, p50", "  alloc, p99.9", "  free, p50",
                                        "  free, p99.9"};
    static double ns[4][CONTENDERS][ROUNDS];
    void *selves[CONTENDERS];
    struct bench_setup setup = setup_for(t, load);
    open_all(t, selves);
    for (int round = -1; round < t->rounds; round++) {
        for (int c = 0; c < t->count; c++) {
            struct bench_calls calls;
            bench_calls_ns(t->contenders[c], selves[c], load, &setup, &calls);
            const double got[] = {calls.take_p50, calls.take_p999, calls.give_p50, calls.give_p999};
            for (int i = 0; i < 4 && round >= 0; i++)
                ns[i][c][round] = got[i];
        }
    }
    for (int c = 0; c < t->count; c++)
        t->contenders[c]->close(selves[c]);
    printf("  %s\n", load->name);
    for (int i = 0; i < 4; i++) {
        double medians[CONTENDERS];
        for (int c = 0; c < t->count; c++)
            medians[c] = bench_median(ns[i][c], (size_t)t->rounds);
        table_row(t, names[i], medians);
    }
}

static bool wanted(const struct bench_load *load)
{
    return !only || strstr(load->name, only);
}

/* Rounds of one thread are short, so that most are not interrupted; those of several are long, so
 * that the threads run side by side in most of each. */
static void tables(int threads, bool stream_each)
{
    struct table table = contest;
    char title[64];
    if (threads > 1)
        table.pairs *= 6, table.rounds = (table.rounds + 2) / 3;
    const char *streams = threads == 1 ? "" : stream_each ? ", a stream each" : ", one stream";
    const char *s = threads == 1 ? "" : "s";
    table.threads = threads;
    table.stream_each = stream_each;
    snprintf(title, sizeof title, "%d thread%s%s: pairs", threads, s, streams);
    head(&table, title);
    for (int i = 0; i < load_count; i++) {
        if (wanted(&loads[i]))
            pair_row(&table, &loads[i], bench_pairs_ns);
    }
    if (threads > 1 && wanted(&handed))
        pair_row(&table, &handed, bench_handoff_ns);
    snprintf(title, sizeof title, "%d thread%s%s: calls", threads, s, streams);
    head(&table, title);
    for (int i = SIZES; i < first_trace; i++) {
        if (wanted(&loads[i]))
            call_rows(&table, &loads[i]);
    }
}

/* One thread, the recorded traces and the generated programs. */
static void policy_tables(void)
{
    struct table policies = {.rounds = contest.rounds, .pairs = contest.pairs, .threads = 1};
    struct bench_load program;
    for (size_t i = 0; bench_policies[i]; i++) {
        void *self = bench_policies[i]->open();
        if (self)
            bench_policies[i]->close(self), policies.contenders[policies.count++] = bench_policies[i];
        else
            printf("\nno column %s: that policy is not in this build\n", bench_policies[i]->name);
    }
    head(&policies, "our policies: pairs");
    for (int i = 0; i < load_count; i++) {
        if ((i == 1 || i >= SIZES) && wanted(&loads[i]))
            pair_row(&policies, &loads[i], bench_pairs_ns);
    }
    for (size_t i = 0; bench_programs[i]; i++) {
        bench_load_program(&program, bench_programs[i]);
        if (wanted(&program))
            pair_row(&policies, &program, bench_pairs_ns);
        bench_load_free(&program);
    }
    head(&policies, "our policies: calls");
    for (size_t i = 0; bench_programs[i]; i++) {
        bench_load_program(&program, bench_programs[i]);
        if (wanted(&program))
            call_rows(&policies, &program);
        bench_load_free(&program);
    }
}

static double own_cost(void)
{
    struct bench_setup setup = {1, false, 30};
    double best = 1e9;
    for (int round = 0; round < ROUNDS; round++) {
        double ns = bench_pairs_ns(&bench_nothing, NULL, &loads[0], &setup);
        best = ns < best ? ns : best;
    }
    return best;
}

static void introduce(void)
{
    printf("Nanoseconds. pairs: time over all alloc+free pairs of all threads, each of which\n"
           "runs the whole load: CPU time of one thread, wall time of several. calls: single\n"
           "calls, between two readings of the clock. Medians of %d rounds, of fewer with threads.\n"
           "ratio: what the other costs over what the first costs; above 1, the first is faster.\n"
           "The benchmark's own part of a pair is %.1f ns, left in.\n",
           contest.rounds, own_cost());
    for (int c = 0; c < contest.count; c++)
        printf("  %-10s %s\n", contest.contenders[c]->name, contest.contenders[c]->what);
}

/* --- the command --- */

static const struct bench_contender *find_contender(const char *name)
{
    if (!strcmp(name, "nothing"))
        return &bench_nothing;
    if (!strcmp(name, "host"))
        return bench_host();
    for (int c = 0; c < contest.count; c++) {
        if (!strcmp(contest.contenders[c]->name, name))
            return contest.contenders[c];
    }
    for (size_t i = 0; bench_policies[i]; i++) {
        if (!strcmp(bench_policies[i]->name, name))
            return bench_policies[i];
    }
    return NULL;
}

/* Runs *laps* of one load, for a tool that counts instructions: no clock, no thread. */
static int laps_only(const char *contender, const char *load, size_t laps)
{
    const struct bench_contender *chosen = find_contender(contender);
    for (int i = 0; chosen && i < load_count; i++) {
        if (!strstr(loads[i].name, load))
            continue;
        void *self = chosen->open();
        if (!self) {
            fprintf(stderr, "bench_allocator: %s could not be set up\n", contender);
            return 1;
        }
        for (size_t lap = 0; lap < laps; lap++)
            bench_lap(chosen, self, &loads[i]);
        chosen->close(self);
        printf("%zu\n", loads[i].count / 2);
        return 0;
    }
    fprintf(stderr, "bench_allocator: no contender '%s' or no load '%s'\n", contender, load);
    return 2;
}

static void usage(FILE *to)
{
    fputs("Usage: bench_allocator [OPTION...] [TRACE.events...]\n"
          "  --ours FILE    take ours from this library instead of the one built in\n"
          "  --peer FILE    another contender, from a library; may be repeated\n"
          "  --only TEXT    only loads whose name contains TEXT\n"
          "  --quick        few pairs and one round: does it work at all?\n"
          "  --threads N    up to 1, 2 or 4 threads (default: 4)\n"
          "  --policies     only our policies beside each other\n"
          "  --laps CONTENDER LOAD N   N laps without measuring; prints the pairs of a lap.\n"
          "                 CONTENDER may be nothing, host (mimalloc or malloc) or a policy\n",
          to);
}

/* *ours*: NULL for the one built in. False when that is not available; a missing peer is skipped. */
static bool gather(const char *ours, const char *const *peers, int count)
{
    const struct bench_contender *chosen = ours ? load_contender(ours) : &bench_ours;
    if (!chosen)
        return false;
    contest.contenders[contest.count++] = chosen;
    for (int i = 0; i < count; i++) {
        if ((chosen = load_contender(peers[i])))
            contest.contenders[contest.count++] = chosen;
        else
            printf("%s cannot run here and is left out\n", peers[i]);
    }
    contest.contenders[contest.count++] = bench_host();
    return true;
}

static const struct option options[] = {
    {"ours", required_argument, NULL, 'o'}, {"peer", required_argument, NULL, 'p'},
    {"only", required_argument, NULL, 'n'}, {"quick", no_argument, NULL, 'q'},
    {"policies", no_argument, NULL, 'c'},   {"threads", required_argument, NULL, 't'},
    {"laps", required_argument, NULL, 'l'}, {"help", no_argument, NULL, 'h'},
    {NULL, 0, NULL, 0}};

int main(int argc, char **argv)
{
    const char *ours = NULL, *laps_of = NULL, *peers[CONTENDERS - 2];
    int peer_count = 0, threads_max = BENCH_THREADS;
    for (int c; (c = getopt_long(argc, argv, "", options, NULL)) != -1;) {
        switch (c) {
        case 'o': ours = optarg; break;
        case 'p':
            if (peer_count == CONTENDERS - 2)
                return fputs("bench_allocator: too many peers\n", stderr), 2;
            peers[peer_count++] = optarg;
            break;
        case 'n': only = optarg; break;
        case 'q': contest.pairs = 500, contest.rounds = 1; break;
        case 'c': threads_max = 0; break;
        case 't':
            if ((threads_max = atoi(optarg)) < 1)
                return usage(stderr), 2;
            break;
        case 'l': laps_of = optarg; break;
        case 'h': usage(stdout); return 0;
        default: usage(stderr); return 2;
        }
    }
    int first = optind + (laps_of ? 2 : 0);
    if (first > argc)
        return usage(stderr), 2;
    if (!gather(ours, peers, peer_count))
        return 2;
    make_loads(argv + first, argc - first);
    if (laps_of)
        return laps_only(laps_of, argv[optind], strtoull(argv[optind + 1], NULL, 10));
    introduce();
    for (int threads = 1; threads <= threads_max && threads <= BENCH_THREADS; threads *= 2) {
        tables(threads, false);
        if (threads > 1)
            tables(threads, true);
    }
    if (!ours)
        policy_tables();
    return 0;
}
