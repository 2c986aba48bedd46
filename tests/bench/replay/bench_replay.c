/* SPDX-License-Identifier: Apache-2.0
 *
 * Events per second and peak memory of `vramscope replay` on large traces:
 *   bench_replay [EVENTS]
 * 10 million events unless given. The traces: "training" repeats the same requests in every step,
 * "serving" has random sizes and lives and never repeats. */
#define _GNU_SOURCE
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/vs_clock.h"
#include "support/trace_builder.h"

#define KIB (UINT64_C(1) << 10)
#define LIVE 2000      /* blocks in use at a time */
#define STEP 4000      /* requests of a step */
#define GIB80 (UINT64_C(80) << 30)

static uint64_t state;

static uint64_t draw(uint64_t below)
{
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (state >> 33) % below;
}

static uint64_t draw_size(void)
{
    switch (draw(4)) {
    case 0: return 512 + draw(64 * KIB);
    case 1: return 64 * KIB + draw(1024) * KIB;
    case 2: return 1024 * KIB + draw(8192) * KIB;
    default: return 8192 * KIB + draw(32768) * KIB;
    }
}

static uint64_t next_addr;

static uint64_t give_out(struct vs_builder *b, uint64_t bytes)
{
    uint64_t addr = next_addr;
    next_addr += (bytes + 511) & ~UINT64_C(511);
    vs_builder_alloc(b, 0, VS_FAMILY_DEVICE, addr, bytes, bytes);
    return addr;
}

/* A block in place of the one at a random position of *addrs*; the number of events. */
static uint64_t replace_one(struct vs_builder *b, uint64_t *addrs)
{
    size_t at = draw(LIVE);
    uint64_t had = addrs[at];
    if (had)
        vs_builder_free(b, 0, had);
    addrs[at] = give_out(b, draw_size());
    return 1 + (had != 0);
}

/* The same requests in every step, all of whose blocks end with it. */
static uint64_t one_step(struct vs_builder *b, uint64_t *addrs, unsigned number)
{
    uint64_t events = 2;
    state = 1;
    vs_builder_step(b, number);
    for (unsigned i = 0; i < STEP; i++)
        events += replace_one(b, addrs);
    for (size_t i = 0; i < LIVE; i++) {
        events += addrs[i] != 0;
        if (addrs[i])
            vs_builder_free(b, 0, addrs[i]);
        addrs[i] = 0;
    }
    vs_builder_pop(b);
    return events;
}

/* Addresses are unique while in use; sizes and lives decide everything else. */
static void fill(struct vs_builder *b, const char *shape, uint64_t events)
{
    static uint64_t addrs[LIVE];
    bool repeats = strcmp(shape, "training") == 0;
    unsigned number = 0;
    memset(addrs, 0, sizeof addrs);
    next_addr = UINT64_C(0x7f0000000000);
    state = 1;
    for (unsigned i = 0; repeats && i < 300; i++)
        give_out(b, draw_size());
    for (uint64_t n = 0; n < events;)
        n += repeats ? one_step(b, addrs, number++) : replace_one(b, addrs);
}

/* Runs `vramscope replay` on the trace; prints one line. */
static int measure(const char *shape, const char *option, const char *path, uint64_t events)
{
    struct rusage usage;
    int status;
    uint64_t begin = vs_clock_ns();
    pid_t child = fork();
    if (child == 0) {
        if (!freopen("/dev/null", "w", stdout))
            _exit(127);
        if (option)
            execl(VS_COMMAND, "vramscope", "replay", option, path, (char *)NULL);
        else
            execl(VS_COMMAND, "vramscope", "replay", path, (char *)NULL);
        _exit(127);
    }
    if (child < 0 || wait4(child, &status, 0, &usage) != child)
        return 1;
    double seconds = (double)(vs_clock_ns() - begin) / 1e9;
    printf("%-10s %-22s %8.2f s %8.2f M events/s %8.0f MiB\n", shape,
           option ? option : "", seconds, (double)events / seconds / 1e6,
           (double)usage.ru_maxrss / 1024);
    fflush(stdout);
    return status != 0;
}

int main(int argc, char **argv)
{
    static const char *const shapes[] = {"training", "serving"};
    uint64_t events = argc > 1 ? strtoull(argv[1], NULL, 10) : 10000000;
    int failed = 0;
    printf("%" PRIu64 " events, %ld processors\n", events, sysconf(_SC_NPROCESSORS_ONLN));
    fflush(stdout);
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        struct vs_builder b;
        vs_builder_open(&b, "observe");
        vs_builder_device(&b, 0, "GPU", GIB80);
        fill(&b, shapes[i], events);
        vs_builder_close(&b, VS_END_EXIT, 0);
        failed |= measure(shapes[i], "--policy=pytorch", b.path, events);
        failed |= measure(shapes[i], NULL, b.path, events);
    }
    return failed;
}
