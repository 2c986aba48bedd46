/* SPDX-License-Identifier: Apache-2.0
 *
 * make_diff_trace FILE EVENTS SITES [edited]: writes a trace of a program with SITES call sites, each of
 * which holds a block at the peak, and then allocates and frees until there are EVENTS events. All
 * allocations go through one function. "edited": one function in ten has another name, one site in 100
 * needs more memory, one in 1000 is new and one is gone, and all lines differ. The same for every run. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/trace_maker.h"
#include "trace/compose/composer.h"

#define START_NS UINT64_C(1000000000)
#define EVENT_NS 1000 /* from one event to the next */
#define FUNCTION_SITES 20 /* call sites of a function, on a line each */
#define FILE_FUNCTIONS 50
#define BASE UINT64_C(0x7f0000000000)
#define BLOCK (UINT64_C(64) << 10)

struct maker {
    struct vs_composer *composer;
    struct vs_trace_maker out;
    uint64_t *stacks; /* of each site; 0: gone */
    size_t sites;
    bool edited;
};

static uint64_t text(void *composer, const char *of)
{
    return vs_composer_string(composer, of, strlen(of));
}

static void write_event(void *composer, struct vs_event *event)
{
    vs_composer_event(composer, event);
}

static void put(struct maker *m, struct vs_event event)
{
    vs_maker_put(&m->out, EVENT_NS, event);
}

static uint32_t function_of(struct maker *m, size_t number)
{
    char name[64], file[64];
    snprintf(name, sizeof name, "%s_%zu", m->edited && number % 10 == 3 ? "forward_layer" : "layer", number);
    snprintf(file, sizeof file, "/src/net_%zu.py", number / FILE_FUNCTIONS);
    return vs_composer_module(m->composer, text(m->composer, file), text(m->composer, name));
}

static void name_sites(struct maker *m)
{
    uint32_t wrapper = vs_composer_module(m->composer, text(m->composer, "/src/memory.py"), text(m->composer, "make_buffer"));
    uint32_t top = vs_composer_module(m->composer, text(m->composer, "/src/main.py"), text(m->composer, "main")), function = 0;
    uint64_t outer = vs_composer_node(m->composer, 0, top, 90);
    for (size_t i = 0; i < m->sites; i++) {
        if (i % FUNCTION_SITES == 0)
            function = function_of(m, i / FUNCTION_SITES);
        uint64_t line = 10 + 3 * (i % (FUNCTION_SITES * FILE_FUNCTIONS)) + (m->edited ? 4 : 0);
        uint64_t at = vs_composer_node(m->composer, outer, function, line);
        m->stacks[i] = i % 1000 == (m->edited ? 7 : 508) ? 0 : vs_composer_node(m->composer, at, wrapper, 5);
    }
}

static void allocate(struct maker *m, uint64_t addr, uint64_t size, uint64_t stack)
{
    struct vs_event event = vs_maker_alloc(addr, size, size, 1);
    event.alloc.stack = stack;
    put(m, event);
}

static void make_events(struct maker *m, uint64_t events)
{
    for (size_t i = 0; i < m->sites; i++) {
        uint64_t size = (1 + i % 61) << 9;
        if (m->stacks[i])
            allocate(m, BASE + i * BLOCK, m->edited && i % 100 == 50 ? size + 512 : size, m->stacks[i]);
    }
    uint64_t spare = BASE + m->sites * BLOCK;
    for (size_t i = 0; vs_composer_events(m->composer) + 2 <= events; i++) {
        if (!m->stacks[i % m->sites])
            continue;
        allocate(m, spare, 256, m->stacks[i % m->sites]);
        put(m, vs_maker_free(spare));
    }
}

int main(int argc, char **argv)
{
    struct maker m = {.edited = argc == 5 && strcmp(argv[4], "edited") == 0};
    struct vs_composer_start start = {.time_ns = START_NS, .realtime_ns = START_NS};
    uint64_t events = argc >= 4 ? strtoull(argv[2], NULL, 10) : 0;
    m.sites = argc >= 4 ? strtoull(argv[3], NULL, 10) : 0;
    if (!m.sites || argc > 5 || (argc == 5 && !m.edited)) {
        fputs("usage: make_diff_trace FILE EVENTS SITES [edited]\n", stderr);
        return 2;
    }
    FILE *out = fopen(argv[1], "wb");
    m.stacks = calloc(m.sites, sizeof *m.stacks);
    if (!out || !m.stacks || vs_composer_open(out, &start, &m.composer)) {
        perror(argv[1]);
        return 1;
    }
    m.out = (struct vs_trace_maker){m.composer, text, write_event, START_NS};
    vs_maker_begin(&m.out, EVENT_NS, "/usr/bin/train_many", "observe");
    name_sites(&m);
    make_events(&m, events);
    struct vs_event end = {.kind = VS_EVENT_end};
    put(&m, end);
    free(m.stacks);
    if (vs_composer_close(m.composer) || fclose(out)) {
        perror(argv[1]);
        return 1;
    }
    return 0;
}
