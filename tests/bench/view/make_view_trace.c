/* SPDX-License-Identifier: Apache-2.0
 *
 * make_view_trace FILE EVENTS [calls|random]: writes a trace like that of a training program on a caching
 * allocator, directly through the recorder, for measurements of `vramscope view` and of timelines: steps with a
 * forward and a backward phase, blocks of many sizes in segments, kernels on two streams, with "calls" the call
 * of each, a failed allocation at nine tenths. With "random" sizes do not repeat. The same for every run. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/vs_clock.h"
#include "support/trace_maker.h"
#include "trace/record/recorder.h"

#define LAYERS 96
#define TEMPORARIES 5 /* in a layer */
#define SEGMENT_BYTES (UINT64_C(1) << 30)
#define BASE UINT64_C(0x7f0000000000)
#define SITES 64
#define START_NS 2000 /* from the start to the process, and to the device */

struct maker {
    struct vs_recorder *recorder;
    struct vs_trace_maker out;
    uint64_t random, left, events;
    uint64_t sites[SITES], kernels[16], forward, backward, kernel_ns;
    uint64_t launch, correlation; /* launch: 0 without calls */
    bool random_sizes;
};

static uint64_t intern(void *recorder, const char *text)
{
    return vs_recorder_string(recorder, text, strlen(text));
}

static void write_event(void *recorder, struct vs_event *event)
{
    vs_recorder_event(recorder, event);
}

static uint64_t next_random(struct maker *m)
{
    m->random = m->random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return m->random >> 33;
}

static void put(struct maker *m, struct vs_event event)
{
    vs_maker_put(&m->out, 500 + next_random(m) % 4000, event);
    m->left -= m->left > 0;
}

static void put_range(struct maker *m, uint64_t name)
{
    struct vs_event event = {.kind = name ? VS_EVENT_range_push : VS_EVENT_range_pop};
    if (name)
        event.range_push.name = name;
    put(m, event);
}

static void put_alloc(struct maker *m, uint64_t addr, uint64_t size, unsigned site)
{
    if (m->random_sizes)
        size = 512 * (1 + next_random(m) % 4000);
    uint64_t unused = m->random_sizes ? next_random(m) % 512 : site % 7 * 64;
    struct vs_event event = vs_maker_alloc(addr, size - unused, size, 7);
    event.alloc.api = m->sites[site % SITES];
    put(m, event);
}

static void put_kernel(struct maker *m, unsigned which)
{
    if (m->launch) {
        struct vs_event call = {.kind = VS_EVENT_api_call};
        call.api_call.start_ns = m->out.now_ns;
        call.api_call.end_ns = m->out.now_ns + 300;
        call.api_call.thread = 1;
        call.api_call.api = m->launch;
        call.api_call.correlation = ++m->correlation;
        put(m, call);
    }
    struct vs_event event = {.kind = VS_EVENT_kernel};
    event.kernel.correlation = m->correlation;
    uint64_t length = 800 + next_random(m) % 6000;
    if (m->kernel_ns < m->out.now_ns)
        m->kernel_ns = m->out.now_ns;
    event.kernel.start_ns = m->kernel_ns + 200;
    event.kernel.end_ns = m->kernel_ns + 200 + length;
    m->kernel_ns = event.kernel.end_ns;
    event.kernel.stream = 7 + which % 2;
    event.kernel.name = m->kernels[which % 16];
    put(m, event);
}

static uint64_t size_of(unsigned layer, unsigned part)
{
    return 512 * (UINT64_C(1) + (layer * 37 + part * 101) % 4000);
}

/* The address of a block: each has its own 2 MiB. */
static uint64_t address_of(unsigned layer, unsigned part)
{
    return BASE + ((uint64_t)layer * (TEMPORARIES + 1) + part) * (UINT64_C(2) << 20);
}

static void make_layer(struct maker *m, unsigned layer, bool forward)
{
    for (unsigned t = 1; t <= TEMPORARIES; t++) {
        put_alloc(m, address_of(layer, t), size_of(layer, t), layer * 7 + t);
        put_kernel(m, layer + t);
        if (t > 1)
            put(m, vs_maker_free(address_of(layer, t - 1)));
    }
    put(m, vs_maker_free(address_of(layer, TEMPORARIES)));
    if (forward)
        put_alloc(m, address_of(layer, 0), size_of(layer, 0), layer * 7);
    else
        put(m, vs_maker_free(address_of(layer, 0)));
}

static void make_step(struct maker *m, uint64_t number)
{
    char name[32];
    snprintf(name, sizeof name, "step %" PRIu64, number);
    put_range(m, intern(m->recorder, name));
    put_range(m, m->forward);
    for (unsigned layer = 0; layer < LAYERS; layer++)
        make_layer(m, layer, true);
    put_range(m, 0);
    put_range(m, m->backward);
    for (unsigned layer = LAYERS; layer-- > 0;)
        make_layer(m, layer, false);
    put_range(m, 0);
    put_range(m, 0);
}

static void begin(struct maker *m)
{
    struct vs_recorder *r = m->recorder;
    char name[64];
    vs_maker_begin(&m->out, START_NS, "/usr/bin/train_long", "caching");
    for (unsigned i = 0; i < SITES; i++) {
        snprintf(name, sizeof name, "layer_%u_alloc", i);
        m->sites[i] = intern(r, name);
    }
    for (unsigned i = 0; i < 16; i++) {
        snprintf(name, sizeof name, "kernel_%u", i);
        m->kernels[i] = intern(r, name);
    }
    m->forward = intern(r, "forward");
    m->backward = intern(r, "backward");
    for (unsigned i = 0; i < 2; i++) {
        struct vs_event segment = {.kind = VS_EVENT_segment_alloc};
        segment.segment_alloc.addr = BASE + i * SEGMENT_BYTES;
        segment.segment_alloc.size = SEGMENT_BYTES;
        segment.segment_alloc.context = 1;
        segment.segment_alloc.stream = 7;
        put(m, segment);
    }
}

int main(int argc, char **argv)
{
    struct maker m = {.random = 1};
    m.events = m.left = argc >= 3 ? strtoull(argv[2], NULL, 10) : 0;
    struct vs_recorder_config config = {.path = argc >= 3 ? argv[1] : "", .compression = 1,
                                        .flush_ms = 1000};
    if (!m.events || vs_recorder_open(&config, &m.recorder)) {
        fputs("usage: make_view_trace FILE EVENTS [calls|random]\n", stderr);
        return 2;
    }
    m.out = (struct vs_trace_maker){m.recorder, intern, write_event, vs_clock_ns()};
    m.random_sizes = argc == 4 && strcmp(argv[3], "random") == 0;
    m.launch = argc == 4 && !m.random_sizes ? intern(m.recorder, "cudaLaunchKernel_v7000") : 0;
    begin(&m);
    bool failed = false;
    for (uint64_t step = 0; m.left; step++) {
        make_step(&m, step);
        if (failed || m.left > m.events / 10)
            continue;
        struct vs_event event = {.kind = VS_EVENT_alloc_failed};
        event.alloc_failed.requested = UINT64_C(90) << 30;
        event.alloc_failed.api = m.sites[0];
        event.alloc_failed.error = 2;
        put(&m, event);
        failed = true;
    }
    vs_recorder_close(m.recorder, VS_END_EXIT, 0);
    return 0;
}
