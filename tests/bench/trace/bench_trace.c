/* SPDX-License-Identifier: Apache-2.0
 *
 * What recording and reading cost, in one run: ns per event without a stack and with
 * a stack of about 20 native frames from eight call sites, by one, two and four
 * threads at once, the best of 200 slices; bytes per event in the file; million
 * events per second read. The events are allocations and frees in the sizes and
 * order of a training step. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/vs_clock.h"
#include "trace/reader.h"
#include "trace/recorder.h"

#define LIVE 256u
#define THREADS_MAX 4
#define SLICES 200

static char path[256];

static struct vs_recorder *open_trace(unsigned compression, unsigned depth)
{
    struct vs_recorder_config config = {
        .path = path, .compression = compression, .stack_depth_max = depth, .flush_ms = 1000};
    struct vs_recorder *r = NULL;
    if (vs_recorder_open(&config, &r)) {
        fprintf(stderr, "bench_trace: cannot create %s\n", path);
        exit(1);
    }
    return r;
}

/* The sizes of a layer's tensors, again and again. */
static uint64_t size_of(uint64_t i)
{
    static const uint64_t sizes[] = {2097152, 524288, 8192, 6291456, 512, 2097152, 1024, 8388608};
    return sizes[i % 8];
}

__attribute__((noinline)) static uint64_t below(struct vs_recorder *r, int depth)
{
    uint64_t stack = depth ? below(r, depth - 1) : vs_recorder_stack(r, 0);
    __asm__ volatile("" ::: "memory"); /* no tail call */
    return stack;
}

/* From one of eight call sites, in no fixed order. */
__attribute__((noinline)) static uint64_t stack_at_depth(struct vs_recorder *r, int depth)
{
    static _Thread_local unsigned random = 1;
    random = random * 1664525u + 1013904223u;
    uint64_t stack = 0;
    switch (random >> 29) {
#define SITE(i)                            \
    case i:                                \
        stack = below(r, depth);           \
        __asm__ volatile("" ::: "memory"); \
        break;
        SITE(0) SITE(1) SITE(2) SITE(3) SITE(4) SITE(5) SITE(6) SITE(7)
#undef SITE
    }
    return stack;
}

static void record(struct vs_recorder *r, uint64_t events, uint64_t api[2], bool stack)
{
    uint64_t addresses[LIVE] = {0}, next = UINT64_C(0x7f3a00000000);
    for (uint64_t i = 0; i < events / 2; i++) {
        unsigned slot = (unsigned)(i * 7 % LIVE);
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
        e.alloc.stack = stack ? stack_at_depth(r, 17) : 0;
        vs_recorder_event(r, &e);
    }
}

static void read_back(const char *what)
{
    struct vs_reader *reader = NULL;
    struct vs_event event;
    char why[VS_READER_WHY_MAX];
    if (vs_reader_open(path, &reader, why)) {
        fprintf(stderr, "bench_trace: %s\n", why);
        exit(1);
    }
    uint64_t start = vs_clock_ns(), events = 0;
    while (!vs_reader_next(reader, &event))
        events++;
    uint64_t took = vs_clock_ns() - start;
    printf("  %-40s %8.1f M events/s\n", what, (double)events * 1000 / (double)took);
    vs_reader_close(reader);
}

/* *best*: ns per event. */
static void report(const char *what, struct vs_recorder *r, double best)
{
    struct vs_recorder_stats stats;
    vs_recorder_flush(r);
    vs_recorder_stats(r, &stats);
    printf("  %-40s %8.1f ns/event  %6.2f bytes/event encoded  %6.2f in the file\n", what,
           best, (double)stats.bytes_encoded / (double)stats.events,
           (double)stats.bytes_written / (double)stats.events);
    vs_recorder_close(r, VS_END_EXIT, 0);
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
    record(w->recorder, w->events, w->api, w->stacks);
    return NULL;
}

/* One slice by *count* threads; gives ns per event. */
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

static void record_by_threads(const char *what, uint64_t events, int count, unsigned compression,
                              bool stacks)
{
    uint64_t api[2];
    double best = 1e9;
    struct vs_recorder *r = open_trace(compression, stacks ? 64 : 0);
    api[0] = vs_recorder_string(r, "cudaMalloc", SIZE_MAX);
    api[1] = vs_recorder_string(r, "cudaFree", SIZE_MAX);
    struct worker worker = {r, events / SLICES / (uint64_t)count, api, stacks};
    for (int i = 0; i < SLICES; i++) {
        double ns = slice(&worker, count);
        best = ns < best ? ns : best;
    }
    report(what, r, best);
}

int main(int argc, char **argv)
{
    uint64_t events = argc > 1 ? strtoull(argv[1], NULL, 10) : 2000000;
    const char *tmp = argc > 2 ? argv[2] : "/tmp";
    char what[64];
    snprintf(path, sizeof path, "%s/bench_trace.%d.vst", tmp, (int)getpid());
    printf("%llu events; wall time over all events of all threads\n", (unsigned long long)events);
    record_by_threads("no stacks, stored, 1 thread", events, 1, 0, false);
    read_back("read, stored");
    for (int stacks = 0; stacks < 2; stacks++) {
        for (int threads = 1; threads <= THREADS_MAX; threads *= 2) {
            snprintf(what, sizeof what, "%s, %d thread%s",
                     stacks ? "20 frames on each allocation" : "no stacks", threads,
                     threads > 1 ? "s" : "");
            record_by_threads(what, events, threads, 1, stacks);
            if (threads == 1)
                read_back(stacks ? "read, with stacks" : "read, zstd 1");
        }
    }
    unlink(path);
    return 0;
}
