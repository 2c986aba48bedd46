/* SPDX-License-Identifier: Apache-2.0
 *
 * The cost of recorded allocations and frees compared with those that are only counted, in one run,
 * as ratios: all recorded, one of N recorded for several N, all below the minimum size; recorded
 * ones with a stack of about 20 native frames, from eight sites and in the sizes of a training
 * step, and with 256 blocks live. Then the bytes of the trace per pair. bench_sampling [PAIRS
 * [CASE]]: with a case (0-6) only that one, once, for callgrind. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../bench.h"
#include "base/vs_clock.h"
#include "trace/record/recorder.h"
#include "trace/record/selection.h"

#define LIVE 256u
#define SLICES 50

static char path[256];
static struct vs_recorder *recorder;
static uint64_t api[2];

static uint64_t stack_of(void *of) { return vs_recorder_stack(of, 0); }

static struct vs_book book;

struct block {
    uint64_t addr, bytes;
};

static void give_back(const struct block *block)
{
    struct vs_change change =
        vs_change_free(VS_LEVEL_DEVICE, VS_FAMILY_DEVICE, 0, block->bytes, block->bytes);
    struct vs_event event;
    vs_event_begin(&event, VS_EVENT_free);
    event.free = (struct vs_event_free){.addr = block->addr, .api = api[1]};
    vs_recorder_change(recorder, &book, change, false, &event);
}

static void pairs(uint64_t count)
{
    static const uint64_t sizes[] = {2097152, 524288, 8192, 6291456, 512, 2097152, 1024, 8388608};
    static struct block live[LIVE];
    static uint64_t i;
    for (uint64_t end = i + count; i < end; i++) {
        struct block *block = &live[i * 7 % LIVE];
        if (block->addr)
            give_back(block);
        *block = (struct block){UINT64_C(0x7f3a00000000) + (i * 2654435761u % 65536) * 512 * 64,
                                sizes[i % 8]};
        bool selected = vs_recorder_selects(recorder, VS_LEVEL_DEVICE, block->bytes);
        struct vs_change change =
            vs_change_alloc(VS_LEVEL_DEVICE, VS_FAMILY_DEVICE, 0, block->bytes, block->bytes);
        struct vs_event event;
        vs_event_begin(&event, VS_EVENT_alloc);
        event.alloc = (struct vs_event_alloc){.addr = block->addr, .requested = block->bytes,
                                              .size = block->bytes, .api = api[0],
                                              .stack = selected ? bench_from_a_site(20, stack_of, recorder) : 0};
        vs_recorder_change(recorder, &book, change, selected, &event);
    }
    for (unsigned k = 0; k < LIVE; k++) {
        if (live[k].addr)
            give_back(&live[k]);
        live[k].addr = 0;
    }
}

static const struct {
    const char *name;
    struct vs_recorder_config config;
} cases[] = {
    {"all recorded", {0}},          {"1 in 1, sizes asked", {.min_size = 1}},
    {"1 in 4", {.sample = 4}},      {"1 in 16", {.sample = 16}},
    {"1 in 64", {.sample = 64}},    {"1 in 1024", {.sample = 1024}},
    {"all too small", {.min_size = UINT64_C(1) << 40}},
};

static void begin(size_t i)
{
    struct vs_recorder_config config = cases[i].config;
    config.path = path;
    config.compression = 1;
    config.stack_depth_max = 64;
    config.flush_ms = 1000;
    if (vs_recorder_open(&config, &recorder)) {
        fprintf(stderr, "bench_sampling: cannot create %s\n", path);
        exit(1);
    }
    api[0] = vs_recorder_string(recorder, "cudaMalloc", SIZE_MAX);
    api[1] = vs_recorder_string(recorder, "cudaFree", SIZE_MAX);
}

static uint64_t end(void)
{
    struct stat st = {0};
    vs_recorder_close(recorder, VS_END_EXIT, 0);
    if (stat(path, &st))
        return 0;
    unlink(path);
    return (uint64_t)st.st_size;
}

static void measure(size_t i, uint64_t count, double *first)
{
    double best = 0;
    begin(i);
    for (int k = 0; k < SLICES; k++) {
        uint64_t from = vs_clock_ns();
        pairs(count / SLICES);
        double ns = (double)(vs_clock_ns() - from) / (double)(count / SLICES);
        best = k == 0 || ns < best ? ns : best;
    }
    uint64_t bytes = end();
    if (i == 0)
        *first = best;
    printf("%-20s %7.1f ns a pair, %4.2f of all recorded; %6.3f bytes a pair\n", cases[i].name,
           best, best / *first, (double)bytes / (double)count);
}

int main(int argc, char **argv)
{
    uint64_t count = argc > 1 ? strtoull(argv[1], NULL, 10) : 1000000;
    double first = 0;
    const char *tmp = getenv("TMPDIR");
    snprintf(path, sizeof path, "%s/bench_sampling.%ld.vst", tmp ? tmp : "/tmp", (long)getpid());
    if (argc > 2) {
        size_t i = strtoull(argv[2], NULL, 10) % (sizeof cases / sizeof *cases);
        begin(i);
        pairs(count);
        end();
        return 0;
    }
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        measure(i, count, &first);
    return 0;
}
