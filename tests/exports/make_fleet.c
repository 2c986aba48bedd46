/* SPDX-License-Identifier: Apache-2.0
 *
 * make_fleet FOLDER FIRST JOBS: writes FOLDER/NUMBER.RANK.vst, the traces of JOBS jobs from number FIRST on, each of four
 * ranks that train in steps. The same for every run. What queries are to find, by the job's number N:
 *   N % 5 == 2   a team's jobs reserve 3 GiB more than they use
 *   N % 2 == 1   began a week later, and load_batch needs 512 instead of 256 MiB
 *   N % 25 == 7  rank 3 has 2 GiB more than the others
 *   N % 20 == 4  rank 0 keeps 64 MiB a step, runs out of memory and ends with status 1
 *   N % 40 == 24 likewise, and that process has no rank, as without a launcher */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/trace_maker.h"
#include "trace/compose/composer.h"

#define RANKS 4
#define STEPS 8
#define HOUR_NS UINT64_C(3600000000000)
#define START_NS (365 * 24 * HOUR_NS)                 /* of the clock of the events */
#define MONDAY_NS (UINT64_C(1772409600) * 1000000000) /* 2 March 2026 */
#define MIB (UINT64_C(1) << 20)
#define BASE UINT64_C(0x7f0000000000)

struct maker {
    struct vs_composer *composer;
    struct vs_trace_maker out;
    uint64_t next; /* address */
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
    vs_maker_put(&m->out, HOUR_NS / 100, event);
}

static uint64_t stack(struct maker *m, const char *function, uint64_t line)
{
    uint32_t module = vs_composer_module(m->composer, text(m->composer, "/src/train.py"), text(m->composer, function));
    return vs_composer_node(m->composer, 0, module, line);
}

static uint64_t allocate(struct maker *m, uint64_t mib, uint64_t by)
{
    uint64_t at = m->next;
    struct vs_event event = vs_maker_alloc(at, mib * MIB, mib * MIB, 1);
    event.alloc.stack = by;
    m->next += mib * MIB;
    put(m, event);
    return at;
}

static void option(struct maker *m, const char *name, unsigned long long value)
{
    char number[32];
    snprintf(number, sizeof number, "%llu", value);
    put(m, (struct vs_event){.kind = VS_EVENT_option,
                             .option = {.name = text(m->composer, name), .value = text(m->composer, number)}});
}

static void make_trace(struct maker *m, unsigned job, unsigned rank)
{
    char host[32];
    snprintf(host, sizeof host, "node%03u", job % 100);
    m->out = (struct vs_trace_maker){m->composer, text, write_event, START_NS};
    m->next = BASE;
    struct vs_event process = {.kind = VS_EVENT_process}, device = {.kind = VS_EVENT_device};
    process.process.pid = 1000 + rank;
    process.process.start_ns = START_NS;
    process.process.start_realtime_ns = MONDAY_NS + (job % 2 * 7 * 24 + job % 24) * HOUR_NS;
    process.process.exe = text(m->composer, "/usr/bin/python3");
    process.process.cmdline = text(m->composer, "python3 train.py --lr 1");
    process.process.host = text(m->composer, host);
    put(m, process);
    option(m, "JOB", job);
    if (job % 40 != 24 || rank)
        option(m, "RANK", rank);
    option(m, "WORLD_SIZE", RANKS);
    device.device.name = text(m->composer, "NVIDIA H100 80GB HBM3");
    device.device.total_bytes = 81559 * MIB;
    put(m, device);
    uint64_t model = stack(m, "build_model", 12), batch = stack(m, "load_batch", 40), forward = stack(m, "forward", 61),
             log = stack(m, "log_loss", 77), segment = (uint64_t)(job % 5 == 2 ? 12 : 9) << 10;
    put(m, (struct vs_event){.kind = VS_EVENT_segment_alloc, .segment_alloc = {.addr = BASE, .size = segment * MIB}});
    allocate(m, 1024 + job % 7 * 100 + (job % 25 == 7 && rank == 3 ? 2048 : 0), model);
    for (unsigned step = 1; step <= STEPS; step++) {
        char name[32];
        snprintf(name, sizeof name, "step %u", step);
        put(m, (struct vs_event){.kind = VS_EVENT_range_push, .range_push = {.name = text(m->composer, name)}});
        if (job % 20 == 4 && rank == 0)
            allocate(m, 64, log);
        uint64_t data = allocate(m, job % 2 ? 512 : 256, batch), activations = allocate(m, 700, forward);
        put(m, vs_maker_free(activations));
        put(m, vs_maker_free(data));
        m->next = data;
        if (job % 20 == 4 && rank == 0 && step == STEPS)
            put(m, (struct vs_event){.kind = VS_EVENT_alloc_failed,
                                     .alloc_failed = {.requested = 80000 * MIB, .stack = forward, .error = 2}});
        put(m, (struct vs_event){.kind = VS_EVENT_range_pop});
    }
    put(m, (struct vs_event){.kind = VS_EVENT_end, .end = {.status = job % 20 == 4 && rank == 0}});
}

int main(int argc, char **argv)
{
    struct vs_composer_start start = {.time_ns = START_NS, .realtime_ns = MONDAY_NS};
    unsigned first = argc == 4 ? (unsigned)strtoul(argv[2], NULL, 10) : 0;
    unsigned jobs = argc == 4 ? (unsigned)strtoul(argv[3], NULL, 10) : 0;
    if (!jobs) {
        fputs("usage: make_fleet FOLDER FIRST JOBS\n", stderr);
        return 2;
    }
    for (unsigned i = 0; i < jobs * RANKS; i++) {
        struct maker m = {0};
        char path[4096];
        snprintf(path, sizeof path, "%s/%u.%u.vst", argv[1], first + i / RANKS, i % RANKS);
        FILE *out = fopen(path, "wb");
        memcpy(start.uuid, (unsigned[]){first + i / RANKS, i % RANKS}, 2 * sizeof(unsigned));
        if (out && !vs_composer_open(out, &start, &m.composer)) {
            make_trace(&m, first + i / RANKS, i % RANKS);
            if (!vs_composer_close(m.composer) && !fclose(out))
                continue;
        }
        perror(path);
        return 1;
    }
    return 0;
}
