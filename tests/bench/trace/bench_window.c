/* SPDX-License-Identifier: Apache-2.0
 *
 * A trace like that of a long run, directly through the recorder: events spread over two hours of
 * its own time; then measures opening it and reading a minute from its middle. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/vs_clock.h"
#include "bench_trace.h"
#include "trace/read/reader.h"

#define SPAN_NS (UINT64_C(2) * 3600 * 1000000000)
#define WINDOW_NS (UINT64_C(60) * 1000000000)
#define LIVE 4096u

static void generate(uint64_t events)
{
    struct vs_recorder *r = bench_open(1, 0, false);
    uint64_t start = vs_clock_ns(), random = 1;
    static uint64_t sizes[LIVE];
    memset(sizes, 0, sizeof sizes);
    for (uint64_t i = 0; i < events; i++) {
        random = random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        unsigned slot = (unsigned)(random >> 40) % LIVE;
        struct vs_event e = {.time_ns = start + i * (SPAN_NS / events) + (random >> 33) % 1000};
        uint64_t address = UINT64_C(0x7f0000000000) + slot * (UINT64_C(32) << 20);
        if (sizes[slot]) {
            e.kind = VS_EVENT_free;
            e.free.addr = address;
            e.free.stream = 1;
            sizes[slot] = 0;
        } else {
            e.kind = VS_EVENT_alloc;
            e.alloc.addr = address;
            e.alloc.requested = e.alloc.size = sizes[slot] = ((random >> 50) % 1024 + 1) * 512;
            e.alloc.context = e.alloc.stream = 1;
        }
        vs_recorder_event(r, &e);
    }
    vs_recorder_close(r, VS_END_EXIT, 0);
}

/* Milliseconds to open the trace and read the events of a minute from event *from* on; *read*: how
 * many. */
static double open_window(uint64_t from, uint64_t *read)
{
    struct vs_reader *reader = NULL;
    struct vs_event event;
    char why[VS_READER_WHY_MAX];
    uint64_t start = vs_clock_ns();
    if (vs_reader_open(bench_path, &reader, why) || vs_reader_seek_event(reader, from)) {
        fprintf(stderr, "bench_trace: %s\n", why);
        exit(1);
    }
    *read = 0;
    for (uint64_t end_ns = 0; !vs_reader_next(reader, &event); ++*read) {
        end_ns = end_ns ? end_ns : event.time_ns + WINDOW_NS;
        if (event.time_ns >= end_ns)
            break;
    }
    vs_reader_close(reader);
    return (double)(vs_clock_ns() - start) / 1e6;
}

void bench_window(uint64_t events)
{
    struct stat st = {0};
    uint64_t read = 0, started = vs_clock_ns();
    generate(events);
    double made = (double)(vs_clock_ns() - started) / 1e9;
    stat(bench_path, &st);
    printf("a trace of %.0f M events over two hours\n  %-44s %8.1f s\n  %-44s %8.2f\n",
           (double)events / 1e6, "made in", made, "bytes an event",
           (double)st.st_size / (double)events);
    double first = open_window(events / 2, &read);
    double again = open_window(events / 2, &read);
    printf("  %-44s %8.1f ms\n  %-44s %8.1f ms\n  %-44s %8.0f\n",
           "opening a minute in its middle, first time", first, "again", again,
           "events in that minute", (double)read);
    printf("  %-44s %8.1f s\n", "reading all of it",
           (double)events / bench_read() / 1e6);
}
