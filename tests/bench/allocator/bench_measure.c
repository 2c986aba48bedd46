/* SPDX-License-Identifier: Apache-2.0
 *
 * See the header. A measurement is a job that all of its threads start together. */
#define _GNU_SOURCE
#include "bench_measure.h"

#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../bench.h"
#include "base/vs_clock.h"

#if defined(__x86_64__)
#include <x86intrin.h>
#endif

#define QUEUE 256         /* blocks queued for another thread */

/* Counts of clock readings: FINE of one tick each, then as many of COARSE ticks, up to
 * milliseconds; the last takes all longer ones. */
#define FINE (1 << 15)
#define COARSE (1 << 9)
#define BUCKETS (2 * FINE)

struct block {
    uint64_t addr, bytes;
};

struct queue { /* one producer, one consumer; counters on separate cache lines */
    _Alignas(64) _Atomic size_t put;
    _Alignas(64) _Atomic size_t taken;
    _Alignas(64) struct block blocks[QUEUE];
};

struct worker {
    pthread_t thread;
    sem_t go, done;
    int index;
    struct block *held; /* by slot */
    uint64_t start_ns, end_ns, cpu_ns;
    uint32_t *take_ticks, *give_ticks; /* histogram of call durations */
};

static struct crew {
    struct worker workers[BENCH_THREADS];
    struct queue queues[BENCH_THREADS]; /* queue n: to worker n */
    bool started;
    pthread_barrier_t begin;
    _Atomic int awake;   /* threads that have passed it */
    _Atomic int putting; /* threads that still pass blocks on */
    void (*work)(struct worker *w);
    const struct bench_contender *contender;
    void *self;
    const struct bench_load *load;
    struct bench_setup setup;
} crew;

static void fail(const char *who, const char *what)
{
    fprintf(stderr, "bench_allocator: %s: %s failed\n", who, what);
    exit(1);
}

static inline unsigned stream_of(int worker)
{
    return crew.setup.stream_each ? (unsigned)worker : 0;
}

static inline void one(const struct bench_contender *c, void *self, const struct bench_op *op,
                       struct block *held, unsigned stream)
{
    if (op->bytes) {
        uint64_t addr = c->take(self, op->bytes, stream);
        if (!addr)
            fail(c->name, "a request");
        held[op->slot] = (struct block){addr, op->bytes};
    } else {
        c->give(self, held[op->slot].addr, held[op->slot].bytes, stream);
    }
}

static void run_laps(struct worker *w)
{
    const struct bench_contender *c = crew.contender;
    void *self = crew.self;
    const struct bench_op *ops = crew.load->ops, *end = ops + crew.load->count;
    unsigned stream = stream_of(w->index);
    for (size_t lap = 0; lap < crew.setup.laps; lap++) {
        for (const struct bench_op *op = ops; op < end; op++)
            one(c, self, op, w->held, stream);
    }
}

__attribute__((noinline)) void bench_lap(const struct bench_contender *contender, void *self,
                                         const struct bench_load *load)
{
    static struct block *held;
    free(held);
    held = calloc(load->slots, sizeof *held);
    if (!held)
        fail("the benchmark", "calloc");
    for (const struct bench_op *op = load->ops; op < load->ops + load->count; op++)
        one(contender, self, op, held, 0);
}

/* --- from one thread to another --- */

static bool give_next(struct worker *w)
{
    struct queue *q = &crew.queues[w->index];
    size_t at = atomic_load_explicit(&q->taken, memory_order_relaxed);
    if (at == atomic_load_explicit(&q->put, memory_order_acquire)) /* pairs with hand_over */
        return false;
    struct block b = q->blocks[at % QUEUE];
    atomic_store_explicit(&q->taken, at + 1, memory_order_release);
    int taker = (w->index + crew.setup.threads - 1) % crew.setup.threads;
    crew.contender->give(crew.self, b.addr, b.bytes, stream_of(taker));
    return true;
}

static void hand_over(struct worker *w, struct block b)
{
    struct queue *q = &crew.queues[(w->index + 1) % crew.setup.threads];
    size_t at = atomic_load_explicit(&q->put, memory_order_relaxed);
    /* the acquire pairs with give_next */
    while (at - atomic_load_explicit(&q->taken, memory_order_acquire) == QUEUE) {
        if (!give_next(w))
            sched_yield();
    }
    q->blocks[at % QUEUE] = b;
    atomic_store_explicit(&q->put, at + 1, memory_order_release);
}

static void run_handoff(struct worker *w)
{
    const struct bench_op *ops = crew.load->ops, *end = ops + crew.load->count;
    for (size_t lap = 0; lap < crew.setup.laps; lap++) {
        for (const struct bench_op *op = ops; op < end; op++) {
            if (!op->bytes)
                continue;
            uint64_t addr = crew.contender->take(crew.self, op->bytes, stream_of(w->index));
            if (!addr)
                fail(crew.contender->name, "a request");
            hand_over(w, (struct block){addr, op->bytes});
            give_next(w);
        }
    }
    atomic_fetch_add_explicit(&crew.putting, -1, memory_order_release);
    for (;;) { /* until the others are done too, because they wait when the queue is full */
        bool last = !atomic_load_explicit(&crew.putting, memory_order_acquire);
        while (give_next(w))
            ;
        if (last)
            return;
        sched_yield();
    }
}

/* --- single calls --- */

static inline uint64_t ticks(void)
{
#if defined(__x86_64__)
    _mm_lfence(); /* the calls before are complete */
    return __rdtsc();
#else
    return vs_clock_ns();
#endif
}

static double ns_per_tick(void)
{
#if defined(__x86_64__)
    static double known;
    if (known == 0) {
        uint64_t ns = vs_clock_ns(), t = ticks();
        while (vs_clock_ns() - ns < 20000000)
            ;
        known = (double)(vs_clock_ns() - ns) / (double)(ticks() - t);
    }
    return known;
#else
    return 1;
#endif
}

static inline size_t bucket_of(uint64_t took)
{
    uint64_t coarse = took / COARSE;
    return took < FINE ? took : coarse < FINE ? FINE + coarse : BUCKETS - 1;
}

static uint64_t ticks_of(size_t bucket)
{
    return bucket < FINE ? bucket : (bucket - FINE) * COARSE;
}

static void run_calls(struct worker *w)
{
    const struct bench_op *ops = crew.load->ops, *end = ops + crew.load->count;
    unsigned stream = stream_of(w->index);
    for (size_t lap = 0; lap < crew.setup.laps; lap++) {
        for (const struct bench_op *op = ops; op < end; op++) {
            uint32_t *counts = op->bytes ? w->take_ticks : w->give_ticks;
            uint64_t start = ticks();
            one(crew.contender, crew.self, op, w->held, stream);
            uint64_t took = ticks() - start;
            counts[bucket_of(took)]++;
        }
    }
}

static double percentile(const uint32_t *counts, double share)
{
    uint64_t all = 0, below = 0;
    for (size_t i = 0; i < BUCKETS; i++)
        all += counts[i];
    for (size_t i = 0; i < BUCKETS; i++) {
        below += counts[i];
        if ((double)below >= share * (double)all)
            return (double)ticks_of(i) * ns_per_tick();
    }
    return 0;
}

/* --- the crew --- */

static void *worker_main(void *arg)
{
    struct worker *w = arg;
    for (;;) {
        while (sem_wait(&w->go))
            ;
        pthread_barrier_wait(&crew.begin);
        crew.awake++;
        while (crew.awake < crew.setup.threads) /* the barrier wakes them one by one */
            sched_yield();
        double cpu_start = bench_ns(CLOCK_THREAD_CPUTIME_ID);
        w->start_ns = vs_clock_ns();
        crew.work(w);
        w->end_ns = vs_clock_ns();
        w->cpu_ns = (uint64_t)(bench_ns(CLOCK_THREAD_CPUTIME_ID) - cpu_start);
        sem_post(&w->done);
    }
    return NULL;
}

/* Pins thread n to the nth of the available processors: a busy scheduler could otherwise run
 * threads one after the other that should run together. */
static void pin(pthread_t thread, int n)
{
    cpu_set_t allowed, one;
    if (sched_getaffinity(0, sizeof allowed, &allowed))
        return;
    n %= CPU_COUNT(&allowed);
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
        if (!CPU_ISSET(cpu, &allowed) || n-- > 0)
            continue;
        CPU_ZERO(&one);
        CPU_SET(cpu, &one);
        pthread_setaffinity_np(thread, sizeof one, &one); /* pinning is optional */
        return;
    }
}

static void prepare(struct worker *w, bool calls)
{
    w->held = calloc(crew.load->slots, sizeof *w->held);
    if (calls) {
        w->take_ticks = calloc(BUCKETS, sizeof *w->take_ticks);
        w->give_ticks = calloc(BUCKETS, sizeof *w->give_ticks);
    }
    if (!w->held || (calls && (!w->take_ticks || !w->give_ticks)))
        fail("the benchmark", "calloc");
}

/* Returns ns from the first start to the last end; for a single thread its CPU time, which other
 * programs on the machine do not affect. */
static uint64_t run(void (*work)(struct worker *w))
{
    int n = crew.setup.threads;
    uint64_t first = UINT64_MAX, last = 0;
    if (!crew.started) {
        for (int i = 0; i < BENCH_THREADS; i++) {
            struct worker *w = &crew.workers[i];
            w->index = i;
            if (sem_init(&w->go, 0, 0) || sem_init(&w->done, 0, 0) ||
                pthread_create(&w->thread, NULL, worker_main, w))
                fail("the benchmark", "a thread");
            pin(w->thread, i);
        }
        crew.started = true;
    }
    crew.work = work;
    memset(crew.queues, 0, sizeof crew.queues);
    pthread_barrier_init(&crew.begin, NULL, (unsigned)n);
    crew.putting = n;
    crew.awake = 0;
    for (int i = 0; i < n; i++) {
        prepare(&crew.workers[i], work == run_calls);
        sem_post(&crew.workers[i].go);
    }
    for (int i = 0; i < n; i++) {
        struct worker *w = &crew.workers[i];
        while (sem_wait(&w->done))
            ;
        first = w->start_ns < first ? w->start_ns : first;
        last = w->end_ns > last ? w->end_ns : last;
        free(w->held);
    }
    pthread_barrier_destroy(&crew.begin);
    return n == 1 ? crew.workers[0].cpu_ns : last - first;
}

static double per_pair(void (*work)(struct worker *w))
{
    double pairs = (double)crew.load->count / 2 * (double)crew.setup.laps * crew.setup.threads;
    return (double)run(work) / pairs;
}

static void assign(const struct bench_contender *contender, void *self,
                   const struct bench_load *load, const struct bench_setup *setup)
{
    crew.contender = contender;
    crew.self = self;
    crew.load = load;
    crew.setup = *setup;
}

double bench_pairs_ns(const struct bench_contender *contender, void *self,
                      const struct bench_load *load, const struct bench_setup *setup)
{
    assign(contender, self, load, setup);
    return per_pair(run_laps);
}

double bench_handoff_ns(const struct bench_contender *contender, void *self,
                        const struct bench_load *load, const struct bench_setup *setup)
{
    assign(contender, self, load, setup);
    return per_pair(run_handoff);
}

void bench_calls_ns(const struct bench_contender *contender, void *self,
                    const struct bench_load *load, const struct bench_setup *setup,
                    struct bench_calls *out)
{
    assign(contender, self, load, setup);
    run(run_calls);
    struct worker *all = &crew.workers[0];
    for (int i = 1; i < setup->threads; i++) {
        struct worker *w = &crew.workers[i];
        for (size_t t = 0; t < BUCKETS; t++)
            all->take_ticks[t] += w->take_ticks[t], all->give_ticks[t] += w->give_ticks[t];
    }
    *out = (struct bench_calls){percentile(all->take_ticks, 0.5), percentile(all->take_ticks, 0.999),
                                percentile(all->give_ticks, 0.5), percentile(all->give_ticks, 0.999)};
    for (int i = 0; i < setup->threads; i++) {
        free(crew.workers[i].take_ticks), crew.workers[i].take_ticks = NULL;
        free(crew.workers[i].give_ticks), crew.workers[i].give_ticks = NULL;
    }
}
