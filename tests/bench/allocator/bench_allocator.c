/* SPDX-License-Identifier: Apache-2.0
 *
 * How fast the allocator is, beside others in the same run: one table for each
 * number of threads, of pairs served from the cache, of blocks that another thread
 * gives back, and of single calls. All contenders take turns in every round, so that
 * what else the machine does meets all of them; figures are medians of the rounds. */
#include <dlfcn.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench_measure.h"

#define MIB (UINT64_C(1) << 20)
#define ROUNDS 9
#define CONTENDERS 6
#define LOADS 32

static struct {
    const struct bench_contender *contenders[CONTENDERS]; /* the first: ours */
    int count;
    struct bench_load loads[LOADS];
    int load_count, sizes; /* the first *sizes* loads: one block again and again */
    struct bench_load handed;
    size_t pairs; /* each thread does in a round, about */
    int rounds;
    const char *only;
} bench = {.pairs = 60000, .rounds = ROUNDS};

static void add_contender(const struct bench_contender *contender)
{
    if (bench.count == CONTENDERS) {
        fprintf(stderr, "bench_allocator: more than %d contenders\n", CONTENDERS);
        exit(2);
    }
    bench.contenders[bench.count++] = contender;
}

/* NULL, with a line on standard error, when it cannot be had. */
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

static void make_loads(char **traces, int count)
{
    static const struct {
        const char *name;
        uint64_t bytes;
    } sizes[] = {{"512 B", 512},     {"4 KiB", 4096},       {"64 KiB", 65536},
                 {"1 MiB", MIB},     {"2 MiB", 2 * MIB},    {"20 MiB", 20 * MIB},
                 {"256 MiB", 256 * MIB}, {"1 GiB", 1024 * MIB}};
    bench.sizes = sizeof sizes / sizeof *sizes;
    for (int i = 0; i < bench.sizes; i++)
        bench_load_pairs(&bench.loads[bench.load_count++], sizes[i].name, sizes[i].bytes, 1000);
    bench_load_working_set(&bench.loads[bench.load_count++]);
    bench_load_serving(&bench.loads[bench.load_count++]);
    bench_load_lengths(&bench.loads[bench.load_count++]);
    for (int i = 0; i < count; i++) {
        if (bench.load_count == LOADS) {
            fprintf(stderr, "bench_allocator: too many traces\n");
            exit(2);
        }
        bench_load_trace(&bench.loads[bench.load_count++], traces[i]);
    }
    bench_load_pairs(&bench.handed, "4 KiB, given back by another thread", 4096, 1000);
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *values)
{
    qsort(values, (size_t)bench.rounds, sizeof *values, ascending);
    return values[bench.rounds / 2];
}

static void open_all(void **selves)
{
    for (int c = 0; c < bench.count; c++) {
        selves[c] = bench.contenders[c]->open();
        if (!selves[c]) {
            fprintf(stderr, "bench_allocator: %s could not be set up\n", bench.contenders[c]->name);
            exit(1);
        }
    }
}

static void close_all(void **selves)
{
    for (int c = 0; c < bench.count; c++)
        bench.contenders[c]->close(selves[c]);
}

static struct bench_setup setup_for(const struct bench_load *load, int threads, bool stream_each)
{
    size_t laps = bench.pairs / (load->count / 2);
    return (struct bench_setup){threads, stream_each, laps ? laps : 1};
}

/* --- tables --- */

static bool wanted(const char *name)
{
    return !bench.only || strstr(name, bench.only);
}

static void head(const char *title)
{
    printf("\n%-38s %8s", title, bench.contenders[0]->name);
    for (int c = 1; c < bench.count; c++)
        printf(" %10s %7s", bench.contenders[c]->name, "ratio");
    putchar('\n');
}

static void row(const char *name, const double *ns)
{
    printf("  %-36.36s %8.1f", name, ns[0]);
    for (int c = 1; c < bench.count; c++)
        printf(" %10.1f %7.2f", ns[c], ns[c] / ns[0]);
    putchar('\n');
    fflush(stdout);
}

typedef double measure(const struct bench_contender *contender, void *self,
                       const struct bench_load *load, const struct bench_setup *setup);

static void pairs_row(const struct bench_load *load, int threads, bool stream_each, measure *get)
{
    void *selves[CONTENDERS];
    double ns[CONTENDERS][ROUNDS], medians[CONTENDERS];
    struct bench_setup setup = setup_for(load, threads, stream_each);
    if (!wanted(load->name))
        return;
    open_all(selves);
    for (int round = -1; round < bench.rounds; round++) { /* -1: fills the cache */
        for (int c = 0; c < bench.count; c++) {
            double took = get(bench.contenders[c], selves[c], load, &setup);
            if (round >= 0)
                ns[c][round] = took;
        }
    }
    for (int c = 0; c < bench.count; c++)
        medians[c] = median(ns[c]);
    close_all(selves);
    row(load->name, medians);
}

static void calls_rows(const struct bench_load *load, int threads, bool stream_each)
{
    static const char *const names[] = {"alloc, p50", "alloc, p99.9", "free, p50", "free, p99.9"};
    static double ns[4][CONTENDERS][ROUNDS];
    void *selves[CONTENDERS];
    struct bench_setup setup = setup_for(load, threads, stream_each);
    if (!wanted(load->name))
        return;
    open_all(selves);
    for (int round = -1; round < bench.rounds; round++) {
        for (int c = 0; c < bench.count; c++) {
            struct bench_calls calls;
            bench_calls_ns(bench.contenders[c], selves[c], load, &setup, &calls);
            const double got[] = {calls.take_p50, calls.take_p999, calls.give_p50, calls.give_p999};
            for (int i = 0; i < 4 && round >= 0; i++)
                ns[i][c][round] = got[i];
        }
    }
    close_all(selves);
    printf("  %s\n", load->name);
    for (int i = 0; i < 4; i++) {
        double medians[CONTENDERS];
        for (int c = 0; c < bench.count; c++)
            medians[c] = median(ns[i][c]);
        char name[40];
        snprintf(name, sizeof name, "  %s", names[i]);
        row(name, medians);
    }
}

static void tables(int threads, bool stream_each)
{
    char title[64];
    const char *streams = threads == 1 ? "" : stream_each ? ", a stream each" : ", one stream";
    const char *s = threads == 1 ? "" : "s";
    snprintf(title, sizeof title, "%d thread%s%s: pairs", threads, s, streams);
    head(title);
    for (int i = 0; i < bench.load_count; i++)
        pairs_row(&bench.loads[i], threads, stream_each, bench_pairs_ns);
    if (threads > 1)
        pairs_row(&bench.handed, threads, stream_each, bench_handoff_ns);
    snprintf(title, sizeof title, "%d thread%s%s: calls", threads, s, streams);
    head(title);
    for (int i = bench.sizes; i < bench.sizes + 3; i++)
        calls_rows(&bench.loads[i], threads, stream_each);
}

static void introduce(void)
{
    puts("Nanoseconds. pairs: wall time over all alloc+free pairs of all threads, each of\n"
         "which runs the whole load. calls: single calls, between two readings of the clock.\n"
         "ratio: what the other costs over what ours costs; above 1, ours is faster.");
    for (int c = 0; c < bench.count; c++)
        printf("  %-10s %s\n", bench.contenders[c]->name, bench.contenders[c]->what);
}

/* So many laps of one load, for a tool that counts instructions: no clock, no thread. */
static int laps_only(const char *contender, const char *load, size_t laps)
{
    const struct bench_contender *chosen = !strcmp(contender, "nothing") ? &bench_nothing : NULL;
    for (int c = 0; c < bench.count; c++) {
        bool host = c == bench.count - 1 && !strcmp(contender, "host");
        if (host || !strcmp(bench.contenders[c]->name, contender))
            chosen = bench.contenders[c];
    }
    for (int i = 0; chosen && i < bench.load_count; i++) {
        if (!strstr(bench.loads[i].name, load))
            continue;
        void *self = chosen->open();
        if (!self)
            return 1;
        for (size_t lap = 0; lap < laps; lap++)
            bench_lap(chosen, self, &bench.loads[i]);
        chosen->close(self);
        printf("%zu\n", bench.loads[i].count / 2);
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
          "  --laps CONTENDER LOAD N   N laps without measuring; prints the pairs of a lap.\n"
          "                 CONTENDER may be host: mimalloc or malloc; or nothing\n",
          to);
}

int main(int argc, char **argv)
{
    static const struct option options[] = {
        {"ours", required_argument, NULL, 'o'},  {"peer", required_argument, NULL, 'p'},
        {"only", required_argument, NULL, 'n'},  {"quick", no_argument, NULL, 'q'},
        {"laps", required_argument, NULL, 'l'},  {"help", no_argument, NULL, 'h'},
        {NULL, 0, NULL, 0}};
    const char *ours = NULL, *laps_of = NULL;
    const char *peers[CONTENDERS];
    int peer_count = 0;
    for (int c; (c = getopt_long(argc, argv, "", options, NULL)) != -1;) {
        switch (c) {
        case 'o': ours = optarg; break;
        case 'p':
            if (peer_count < CONTENDERS)
                peers[peer_count++] = optarg;
            break;
        case 'n': bench.only = optarg; break;
        case 'q': bench.pairs = 500, bench.rounds = 1; break;
        case 'l': laps_of = optarg; break;
        case 'h': usage(stdout); return 0;
        default: usage(stderr); return 2;
        }
    }
    const struct bench_contender *chosen = ours ? load_contender(ours) : &bench_ours;
    if (!chosen)
        return 2;
    add_contender(chosen);
    for (int i = 0; i < peer_count; i++) {
        if ((chosen = load_contender(peers[i])))
            add_contender(chosen);
        else
            printf("%s cannot run here and is left out\n", peers[i]);
    }
    add_contender(bench_host());
    int first = optind + (laps_of ? 2 : 0);
    if (first > argc)
        return usage(stderr), 2;
    make_loads(argv + first, argc - first);
    if (laps_of)
        return laps_only(laps_of, argv[optind], strtoull(argv[optind + 1], NULL, 10));
    introduce();
    for (int threads = 1; threads <= BENCH_THREADS; threads *= 2) {
        tables(threads, false);
        if (threads > 1)
            tables(threads, true);
    }
    return 0;
}
