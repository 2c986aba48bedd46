/* SPDX-License-Identifier: Apache-2.0
 *
 * The cost of recording and reading, in one run: ns per event without a stack, with about 20 native
 * frames from eight call sites and with 15 Python frames as well, by one, two and four threads at
 * once, median and best of 200 slices; bytes per event of recorded PyTorch runs, packing and
 * reading; a minute out of a large trace.
 *
 *   bench_trace [--events N] [--window N] [--size-at-most BYTES] [SNAPSHOT]...
 *   bench_trace --events N --trace FILE    only records N events with 20 native frames, into FILE
 *   bench_trace --events N --cached FILE   the same as of a caching allocator: blocks of random sizes and
 *                                          lifetimes in segments, 512 of them live
 *
 * --window: events of the large trace, 0 skips it. --size-at-most measures only sizes, and fails
 * above this limit. scripts/bench-trace compares heaptrack and memray with this. */
#define _GNU_SOURCE
#include "bench_trace.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../bench.h"
#include "base/vs_clock.h"

#define LIVE 256u
#define THREADS_MAX 4

char bench_path[256];

struct vs_recorder *bench_open(unsigned compression, unsigned depth, bool python)
{
    struct vs_recorder_config config = {.path = bench_path,
                                        .compression = compression,
                                        .stack_depth_max = depth,
                                        .python = python,
                                        .flush_ms = 1000};
    struct vs_recorder *r = NULL;
    if (vs_recorder_open(&config, &r)) {
        fprintf(stderr, "bench_trace: cannot create %s\n", bench_path);
        exit(1);
    }
    return r;
}

/* The sizes of a layer's tensors, repeated. */
static uint64_t size_of(uint64_t i)
{
    static const uint64_t sizes[] = {2097152, 524288, 8192, 6291456, 512, 2097152, 1024, 8388608};
    return sizes[i % 8];
}

static uint64_t stack_of(void *recorder) { return vs_recorder_stack(recorder, 0); }

void bench_record(struct vs_recorder *r, uint64_t events, const uint64_t api[2], bool stack)
{
    uint64_t addresses[LIVE] = {0}, next = UINT64_C(0x7f3a00000000);
    unsigned random = 1;
    for (uint64_t n = 0; n < events / 2; n++) {
        random = random * 1664525u + 1013904223u;
        unsigned slot = (random >> 16) % LIVE, i = random >> 24;
        struct vs_event e = {.kind = VS_EVENT_free};
        if (addresses[slot]) {
            e.free.addr = addresses[slot];
            e.free.stream = 1;
            e.free.api = api[1];
            vs_recorder_event(r, &e);
        }
        memset(&e, 0, sizeof e);
        e.kind = VS_EVENT_alloc;
        e.alloc.requested = size_of(i) - i % 3;
        e.alloc.size = size_of(i);
        e.alloc.stream = 1;
        e.alloc.context = 1;
        e.alloc.addr = addresses[slot] = next + slot * 8388608;
        e.alloc.api = api[0];
        e.alloc.stack = stack ? bench_from_a_site(17, stack_of, r) : 0;
        vs_recorder_event(r, &e);
    }
}

#define CACHED_LIVE 512u
#define CACHED_SEGMENT (UINT64_C(64) << 20)
#define CACHED_ROOM (UINT64_C(8) << 20) /* of a block */

static void put_segment(struct vs_recorder *r, uint64_t number, bool freed)
{
    struct vs_event e = {.kind = freed ? VS_EVENT_segment_free : VS_EVENT_segment_alloc};
    uint64_t addr = UINT64_C(0x7f3a00000000) + number * CACHED_SEGMENT;
    if (freed) {
        e.segment_free.addr = addr;
        e.segment_free.size = CACHED_SEGMENT;
    } else {
        e.segment_alloc.addr = addr;
        e.segment_alloc.size = CACHED_SEGMENT;
        e.segment_alloc.context = 1;
        e.segment_alloc.pool = 1;
    }
    vs_recorder_event(r, &e);
}

/* Each block has its own room in a segment; every 1000 pairs a segment without blocks is
 * allocated, or released. */
static void record_cached(struct vs_recorder *r, uint64_t events, const uint64_t api[2])
{
    const uint64_t segments = CACHED_LIVE * CACHED_ROOM / CACHED_SEGMENT;
    static bool live[CACHED_LIVE];
    unsigned random = 1;
    for (uint64_t i = 0; i < segments; i++)
        put_segment(r, i, false);
    for (uint64_t n = 0; n < events / 2; n++) {
        random = random * 1664525u + 1013904223u;
        unsigned slot = (random >> 12) % CACHED_LIVE;
        struct vs_event e = {.kind = VS_EVENT_free};
        uint64_t addr = UINT64_C(0x7f3a00000000) + slot * CACHED_ROOM;
        if (live[slot]) {
            e.free.addr = addr;
            e.free.api = api[1];
            vs_recorder_event(r, &e);
        }
        live[slot] = true;
        random = random * 1664525u + 1013904223u;
        uint64_t size = ((random >> 8) % (CACHED_ROOM / 512) + 1) * 512;
        memset(&e, 0, sizeof e);
        e.kind = VS_EVENT_alloc;
        e.alloc.addr = addr;
        e.alloc.size = size;
        e.alloc.requested = size - random % 512;
        e.alloc.context = 1;
        e.alloc.api = api[0];
        e.alloc.stack = bench_from_a_site(17, stack_of, r);
        vs_recorder_event(r, &e);
        if (n % 1000 == 999)
            put_segment(r, segments, n / 1000 % 2);
    }
}

static int write_cached(const char *path, uint64_t events)
{
    snprintf(bench_path, sizeof bench_path, "%s", path);
    struct vs_recorder *r = bench_open(1, 64, false);
    const uint64_t api[2] = {vs_recorder_string(r, "cudaMalloc", SIZE_MAX), vs_recorder_string(r, "cudaFree", SIZE_MAX)};
    record_cached(r, events, api);
    vs_recorder_close(r, VS_END_EXIT, 0);
    return 0;
}

struct bench_figure bench_figure(double *slices, unsigned count)
{
    double median = bench_median(slices, count);
    return (struct bench_figure){median, slices[0]};
}

struct worker {
    struct vs_recorder *recorder;
    uint64_t events;
    uint64_t *api;
    bool stacks;
};

static void *work(void *arg)
{
    struct worker *w = arg;
    bench_record(w->recorder, w->events, w->api, w->stacks);
    return NULL;
}

/* One slice by *count* threads; returns ns per event. */
static double slice(struct worker *worker, int count)
{
    pthread_t threads[THREADS_MAX];
    uint64_t start = vs_clock_ns();
    for (int i = 1; i < count; i++)
        pthread_create(&threads[i], NULL, work, worker);
    work(worker);
    for (int i = 1; i < count; i++)
        pthread_join(threads[i], NULL);
    return (double)(vs_clock_ns() - start) / (double)(worker->events * (uint64_t)count);
}

static double first_median;

static void report(const char *what, struct bench_figure figure)
{
    if (first_median == 0)
        first_median = figure.median;
    printf("  %-44s %8.1f %8.1f %8.2f\n", what, figure.median, figure.best,
           figure.median / first_median);
    fflush(stdout);
}

static void record_by_threads(const char *what, uint64_t events, int count, bool stacks)
{
    uint64_t api[2];
    double slices[BENCH_SLICES];
    struct vs_recorder *r = bench_open(1, stacks ? 64 : 0, false);
    api[0] = vs_recorder_string(r, "cudaMalloc", SIZE_MAX);
    api[1] = vs_recorder_string(r, "cudaFree", SIZE_MAX);
    struct worker worker = {r, events / BENCH_SLICES / (uint64_t)count, api, stacks};
    for (int i = 0; i < BENCH_SLICES; i++)
        slices[i] = slice(&worker, count);
    vs_recorder_close(r, VS_END_EXIT, 0);
    report(what, bench_figure(slices, BENCH_SLICES));
    struct stat st;
    if (stacks && count == 1 && !stat(bench_path, &st))
        printf("  %-44s %8.2f\n", "20 native frames on each allocation: bytes an event",
               (double)st.st_size / (double)(worker.events * BENCH_SLICES));
}

int main(int argc, char **argv)
{
    uint64_t events = 2000000, window = 1000000;
    double limit = 0;
    const char *trace = NULL;
    int at = 1;
    for (; at + 1 < argc && !strncmp(argv[at], "--", 2); at += 2) {
        if (!strcmp(argv[at], "--events"))
            events = strtoull(argv[at + 1], NULL, 10);
        else if (!strcmp(argv[at], "--window"))
            window = strtoull(argv[at + 1], NULL, 10);
        else if (!strcmp(argv[at], "--size-at-most"))
            limit = strtod(argv[at + 1], NULL);
        else if (!strcmp(argv[at], "--trace"))
            trace = argv[at + 1];
        else if (!strcmp(argv[at], "--cached"))
            return write_cached(argv[at + 1], events);
        else
            break;
    }
    if (at < argc && !strncmp(argv[at], "--", 2)) {
        fprintf(stderr, "bench_trace: %s is not an option of it, or lacks its value\n", argv[at]);
        return 2;
    }
    if (trace) {
        snprintf(bench_path, sizeof bench_path, "%s", trace);
        record_by_threads("20 native frames on each allocation, 1 thread", events, 1, true);
        return 0;
    }
    const char *tmp = getenv("TMPDIR");
    snprintf(bench_path, sizeof bench_path, "%.200s/bench_trace.%d.vst", tmp ? tmp : "/tmp",
             (int)getpid());
    if (!(limit > 0)) {
        char what[64];
        struct bench_figure figure;
        printf("recording, ns an event (wall time over all events of all threads)\n"
               "  %-44s %8s %8s %8s\n", "", "median", "best", "ratio");
        for (int stacks = 0; stacks < 2; stacks++) {
            for (int threads = 1; threads <= THREADS_MAX; threads *= 2) {
                snprintf(what, sizeof what, "%s, %d thread%s",
                         stacks ? "20 native frames on each allocation" : "no stacks", threads,
                         threads > 1 ? "s" : "");
                record_by_threads(what, events, threads, stacks);
            }
        }
        if (bench_python(events, &figure))
            report("20 native + 15 Python frames, 1 thread", figure);
        else
            printf("  %-44s %8s\n", "20 native + 15 Python frames, 1 thread", "n/a (no libpython)");
    }
    bool small = bench_snapshots(argv + at, argc - at, limit);
    if (!(limit > 0) && window)
        bench_window(window);
    unlink(bench_path);
    return small ? 0 : 1;
}
