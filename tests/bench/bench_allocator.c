/* SPDX-License-Identifier: Apache-2.0
 *
 * How fast the allocator is: alloc+free pairs served from the cache, several
 * patterns and thread counts, and the recorded traces given as arguments
 * (converted by snapshot_to_events.py). Beside each figure the C library's
 * malloc and free doing the same in the same run: the floor of what a
 * general-purpose allocator costs on this machine. Medians of several rounds. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/vs_clock.h"
#include "support/fake_device.h"
#include "support/replay_log.h"

#define ROUNDS 9
#define MIB (UINT64_C(1) << 20)

static void fail(const char *what)
{
    fprintf(stderr, "bench_allocator: %s failed\n", what);
    exit(1);
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static double median(double *values)
{
    qsort(values, ROUNDS, sizeof *values, ascending);
    return values[ROUNDS / 2];
}

static struct vs_allocator *new_allocator(struct fake_device *device)
{
    static const struct vs_allocator_config config = {.reuse = VS_REUSE_STREAM_ORDERED};
    struct vs_allocator *a;
    fake_device_init(device, UINT64_C(1) << 40);
    if (vs_allocator_create(&config, &fake_device_ops, device, NULL, NULL, &a))
        fail("create");
    return a;
}

static inline uint64_t take(struct vs_allocator *a, uint64_t bytes)
{
    struct vs_allocation got;
    if (vs_allocator_malloc(a, bytes, 0, &got))
        fail("malloc");
    return got.addr;
}

static inline void give(struct vs_allocator *a, uint64_t addr)
{
    if (vs_allocator_free(a, addr))
        fail("free");
}

/* What the host allocator is asked for instead of *bytes* of device memory: small
 * enough that it never goes to the system. */
static inline size_t host_bytes(uint64_t bytes)
{
    return bytes < 1024 ? (size_t)bytes : 1024;
}

static inline void *host_take(uint64_t bytes)
{
    void *p = malloc(host_bytes(bytes));
    __asm__ volatile("" : "+r"(p) : : "memory");
    return p;
}

/* --- one block, again and again --- */

#define PAIRS 300000

static double pairs(uint64_t bytes, bool host)
{
    static struct fake_device device;
    struct vs_allocator *a = new_allocator(&device);
    double ns[ROUNDS];
    for (int round = 0; round < ROUNDS; round++) {
        uint64_t start = vs_clock_ns();
        for (int i = 0; i < PAIRS; i++) {
            if (host)
                free(host_take(bytes));
            else
                give(a, take(a, bytes));
        }
        ns[round] = (double)(vs_clock_ns() - start) / PAIRS;
    }
    vs_allocator_destroy(a);
    return median(ns);
}

/* --- a working set: replace random blocks of random sizes --- */

#define SET 2000
#define REPLACEMENTS 200000

struct plan {
    uint16_t slot[REPLACEMENTS];
    uint64_t bytes[SET + REPLACEMENTS];
};

static void make_plan(struct plan *plan)
{
    uint64_t r = 88172645463325252u;
    for (int i = 0; i < SET + REPLACEMENTS; i++) {
        r ^= r << 13, r ^= r >> 7, r ^= r << 17;
        uint64_t power = UINT64_C(1) << (r % 7 == 0 ? 20 + (r >> 8) % 5 : (r >> 8) % 20);
        plan->bytes[i] = power + (r >> 20) % power;
        if (i >= SET)
            plan->slot[i - SET] = (uint16_t)((r >> 40) % SET);
    }
}

static double working_set(const struct plan *plan, bool host)
{
    static struct fake_device device;
    static uint64_t held[SET];
    struct vs_allocator *a = new_allocator(&device);
    double ns[ROUNDS];
    for (int i = 0; i < SET; i++)
        held[i] = host ? (uintptr_t)host_take(plan->bytes[i]) : take(a, plan->bytes[i]);
    for (int round = -1; round < ROUNDS; round++) { /* -1: warms the cache */
        uint64_t start = vs_clock_ns();
        for (int i = 0; i < REPLACEMENTS; i++) {
            uint64_t *slot = &held[plan->slot[i]];
            if (host) {
                free((void *)(uintptr_t)*slot);
                *slot = (uintptr_t)host_take(plan->bytes[SET + i]);
            } else {
                give(a, *slot);
                *slot = take(a, plan->bytes[SET + i]);
            }
        }
        if (round >= 0)
            ns[round] = (double)(vs_clock_ns() - start) / REPLACEMENTS;
    }
    for (int i = 0; host && i < SET; i++)
        free((void *)(uintptr_t)held[i]);
    vs_allocator_destroy(a);
    return median(ns);
}

/* --- threads, each with its own pairs on one allocator --- */

struct worker {
    struct vs_allocator *allocator;
    bool host;
};

static void *work(void *arg)
{
    const struct worker *w = arg;
    for (int i = 0; i < PAIRS; i++) {
        if (w->host)
            free(host_take(4096));
        else
            give(w->allocator, take(w->allocator, 4096));
    }
    return NULL;
}

static double threads(int count, bool host)
{
    static struct fake_device device;
    struct vs_allocator *a = new_allocator(&device);
    struct worker w = {a, host};
    double ns[ROUNDS];
    for (int round = 0; round < ROUNDS; round++) {
        pthread_t ids[16];
        uint64_t start = vs_clock_ns();
        for (int i = 0; i < count; i++) {
            if (pthread_create(&ids[i], NULL, work, &w))
                fail("pthread_create");
        }
        for (int i = 0; i < count; i++)
            pthread_join(ids[i], NULL);
        ns[round] = (double)(vs_clock_ns() - start) / ((double)count * PAIRS);
    }
    vs_allocator_destroy(a);
    return median(ns);
}

/* --- recorded traces: ns per request or free --- */

static uint64_t replay_once(const struct replay_log *log)
{
    struct replay r;
    if (replay_begin(log, &r))
        fail("replay_begin");
    uint64_t start = vs_clock_ns();
    for (size_t i = 0; i < log->event_count; i++) {
        const struct replay_event *e = &log->events[i];
        if (e->kind == REPLAY_ALLOC) {
            if (take(r.allocator, e->size) != e->addr)
                fail("placement");
        } else if (e->kind == REPLAY_FREE) {
            give(r.allocator, e->addr);
        }
    }
    uint64_t ns = vs_clock_ns() - start;
    r.next = log->event_count;
    replay_end(&r);
    return ns;
}

/* *partner*: for each free, the event that allocated it, or SIZE_MAX. */
static uint64_t host_once(const struct replay_log *log, const size_t *partner, void **held)
{
    uint64_t start = vs_clock_ns();
    for (size_t i = 0; i < log->event_count; i++) {
        if (log->events[i].kind == REPLAY_ALLOC) {
            held[i] = host_take(log->events[i].size);
        } else if (partner[i] != SIZE_MAX) {
            free(held[partner[i]]);
            held[partner[i]] = NULL;
        }
    }
    uint64_t ns = vs_clock_ns() - start;
    for (size_t i = 0; i < log->event_count; i++)
        free(held[i]), held[i] = NULL;
    return ns;
}

static void pair_up(const struct replay_log *log, size_t *partner)
{
    struct vs_map last = {0};
    for (size_t i = 0; i < log->event_count; i++) {
        const struct replay_event *e = &log->events[i];
        uint64_t at;
        partner[i] = SIZE_MAX;
        if (e->kind == REPLAY_ALLOC && vs_map_put(&last, e->addr, i))
            fail("map");
        if (e->kind == REPLAY_FREE && vs_map_remove(&last, e->addr, &at))
            partner[i] = (size_t)at;
    }
    vs_map_free(&last);
}

static void trace(const char *path)
{
    struct replay_log log;
    double ours[ROUNDS], host[ROUNDS];
    const char *slash = strrchr(path, '/');
    replay_load(path, &log);
    size_t *partner = malloc(log.event_count * sizeof *partner);
    void **held = calloc(log.event_count, sizeof *held);
    if (!partner || !held)
        fail("malloc");
    pair_up(&log, partner);
    for (int round = 0; round < ROUNDS; round++) {
        ours[round] = (double)replay_once(&log) / (double)log.event_count;
        host[round] = (double)host_once(&log, partner, held) / (double)log.event_count;
    }
    double a = median(ours), b = median(host);
    printf("  %-40.40s %8zu %8.1f %8.1f %6.2f\n", slash ? slash + 1 : path, log.event_count, a, b,
           a / b);
    free(partner);
    free(held);
    replay_log_free(&log);
}

static void row(const char *name, double ours, double host)
{
    printf("  %-49s %8.1f %8.1f %6.2f\n", name, ours, host, ours / host);
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        uint64_t bytes;
    } sizes[] = {{"512 B", 512},       {"4 KiB", 4096},      {"64 KiB", 65536},
                 {"1 MiB", MIB},       {"2 MiB", 2 * MIB},   {"20 MiB", 20 * MIB},
                 {"256 MiB", 256 * MIB}, {"1 GiB", 1024 * MIB}};
    static struct plan plan;
    char name[64];
    printf("ns per alloc+free pair, cache hit%*s ours   malloc  ratio\n", 23, "");
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        row(sizes[i].name, pairs(sizes[i].bytes, false), pairs(sizes[i].bytes, true));
    make_plan(&plan);
    row("replace in a working set of 2000, 1 B to 32 MiB", working_set(&plan, false),
        working_set(&plan, true));
    for (int count = 1; count <= 4; count *= 2) {
        snprintf(name, sizeof name, "4 KiB, %d thread%s (wall time / all pairs)", count,
                 count > 1 ? "s" : "");
        row(name, threads(count, false), threads(count, true));
    }
    if (argc > 1)
        printf("\nns per recorded request or free%*s events     ours   malloc  ratio\n", 12, "");
    for (int i = 1; i < argc; i++)
        trace(argv[i]);
    return 0;
}
