/* SPDX-License-Identifier: Apache-2.0
 *
 * What recording and reading cost, in one run: ns per event without a stack, with
 * a stack of about 20 native frames, with four threads at once; bytes per event
 * in the file; million events per second read. The events are allocations and
 * frees in the sizes and order of a training step. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/vs_clock.h"
#include "trace/reader.h"
#include "trace/recorder.h"

#define LIVE 256u
#define THREADS 4

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

static void record(struct vs_recorder *r, uint64_t events, uint64_t api[2], uint64_t stack)
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
        e.alloc.stack = stack ? vs_recorder_stack(r, 0) : 0;
        vs_recorder_event(r, &e);
    }
}

__attribute__((noinline)) static void at_depth(struct vs_recorder *r, uint64_t events,
                                               uint64_t api[2], int depth)
{
    if (depth)
        at_depth(r, events, api, depth - 1);
    else
        record(r, events, api, 1);
    __asm__ volatile("" ::: "memory"); /* no tail call */
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
    printf("  %-34s %8.1f M events/s\n", what, (double)events * 1000 / (double)took);
    vs_reader_close(reader);
}

static void report(const char *what, struct vs_recorder *r, uint64_t start)
{
    uint64_t took = vs_clock_ns() - start;
    struct vs_recorder_stats stats;
    vs_recorder_flush(r);
    vs_recorder_stats(r, &stats);
    printf("  %-34s %8.1f ns/event  %6.2f bytes/event encoded  %6.2f in the file\n", what,
           (double)took / (double)stats.events, (double)stats.bytes_encoded / (double)stats.events,
           (double)stats.bytes_written / (double)stats.events);
    vs_recorder_close(r, VS_END_EXIT, 0);
}

struct worker {
    struct vs_recorder *recorder;
    uint64_t events;
    uint64_t *api;
};

static void *work(void *arg)
{
    struct worker *w = arg;
    record(w->recorder, w->events, w->api, 0);
    return NULL;
}

int main(int argc, char **argv)
{
    uint64_t events = argc > 1 ? strtoull(argv[1], NULL, 10) : 2000000;
    const char *tmp = argc > 2 ? argv[2] : "/tmp";
    snprintf(path, sizeof path, "%s/bench_trace.%d.vst", tmp, (int)getpid());
    printf("%llu events\n", (unsigned long long)events);

    for (unsigned level = 0; level <= 1; level++) {
        struct vs_recorder *r = open_trace(level, 0);
        uint64_t api[2] = {vs_recorder_string(r, "cudaMalloc", SIZE_MAX),
                           vs_recorder_string(r, "cudaFree", SIZE_MAX)};
        uint64_t start = vs_clock_ns();
        record(r, events, api, 0);
        report(level ? "no stacks, zstd 1" : "no stacks, stored", r, start);
        read_back(level ? "read, zstd 1" : "read, stored");
    }

    struct vs_recorder *r = open_trace(1, 64);
    uint64_t api[2] = {1, 2}, start = vs_clock_ns();
    (void)vs_recorder_string(r, "cudaMalloc", SIZE_MAX);
    (void)vs_recorder_string(r, "cudaFree", SIZE_MAX);
    at_depth(r, events, api, 16);
    report("20 frames on each allocation", r, start);
    read_back("read, with stacks");

    r = open_trace(1, 0);
    struct worker worker = {r, events / THREADS, api};
    (void)vs_recorder_string(r, "cudaMalloc", SIZE_MAX);
    (void)vs_recorder_string(r, "cudaFree", SIZE_MAX);
    pthread_t threads[THREADS];
    start = vs_clock_ns();
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, work, &worker);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    report("four threads, no stacks", r, start);
    unlink(path);
    return 0;
}
