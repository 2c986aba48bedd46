/* SPDX-License-Identifier: Apache-2.0
 *
 * A process with unrecorded events is killed at random times: the live memory and peaks in its
 * trace and FILE.live are the state before or after the change in progress, whether allocations
 * were omitted by size, by sampling or by the trace's size limit; and so are those of the rewritten
 * trace. Each process keeps its own tally in shared memory; with two threads each has its own
 * devices and tally. */
#include "unit/trace/trace_test.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "trace/record/recorder_internal.h"
#include "trace/read/rewrite.h"
#include "trace/record/selection.h"

#define DEVICES 3u
#define FAMILIES 2u
#define SLOTS 64u
#define SIZE_BITS 16
#define THREADS 2u
#define ALL_DEVICES DEVICES /* as a thread's device, and the host's memory as well */

static const enum vs_family families[FAMILIES] = {VS_FAMILY_DEVICE, VS_FAMILY_PINNED};

/* Live bytes and their peak: of each device, and of all host memory. */
struct state {
    uint64_t live[DEVICES + 1], peak[DEVICES + 1];
};

struct shared {
    _Atomic unsigned current; /* of both copies, the valid one */
    _Atomic bool ready;       /* enough changes for a useful kill */
    struct state state[2];
};

static unsigned account_of(unsigned device, unsigned family)
{
    return family ? DEVICES : device;
}

static void apply(struct state *s, unsigned account, uint64_t more, uint64_t less)
{
    s->live[account] += more - less;
    if (s->live[account] > s->peak[account])
        s->peak[account] = s->live[account];
}

/* --- the process --- */

struct process {
    struct vs_recorder *recorder;
    struct shared *shared;
    unsigned only, steps; /* only: this device's memory, or ALL_DEVICES */
    uint64_t random;
    uint64_t size[SLOTS];
};

static struct vs_book book; /* of the recorder that is open */

static void record(struct process *p, unsigned slot, bool alloc, uint64_t size)
{
    unsigned device = slot % DEVICES, family = slot / DEVICES % FAMILIES;
    uint64_t addr = (uint64_t)(slot + 1) << SIZE_BITS | size;
    struct vs_change change =
        (alloc ? vs_change_alloc : vs_change_free)(VS_LEVEL_DEVICE, families[family], device, size,
                                                   size);
    struct vs_event event = EVENT(free, .addr = addr, .device = device);
    if (alloc)
        event = EVENT(alloc, .addr = addr, .requested = size, .size = size,
                      .family = families[family], .device = device);
    bool selected = alloc && vs_recorder_selects(p->recorder, VS_LEVEL_DEVICE, size);
    vs_recorder_change(p->recorder, &book, change, selected, &event);
}

static void step(struct process *p)
{
    uint64_t random = vs_random(&p->random);
    unsigned slot = random % SLOTS, now = atomic_load(&p->shared->current);
    unsigned account = account_of(slot % DEVICES, slot / DEVICES % FAMILIES);
    if (p->only != ALL_DEVICES && account != p->only)
        return;
    uint64_t old = p->size[slot], size = old ? old : 1 + (random >> 20) % ((1u << SIZE_BITS) - 1);
    struct state *next = &p->shared->state[!now];
    *next = p->shared->state[now];
    apply(next, account, old ? 0 : size, old);
    record(p, slot, !old, size);
    atomic_store(&p->shared->current, !now);
    p->size[slot] = old ? 0 : size;
    if (random >> 58 == 0) { /* pending counts must be written before it */
        record_mark(p->recorder);
    }
}

static _Noreturn void *record_for_ever(void *arg)
{
    struct process *p = arg;
    for (uint64_t i = 0;; i++) {
        step(p);
        if (i == p->steps)
            atomic_store(&p->shared->ready, true);
    }
}

static _Noreturn void run(const struct vs_recorder_config *config, struct shared *shared,
                          uint64_t seed, unsigned steps)
{
    struct process p = {.shared = shared, .only = ALL_DEVICES, .random = seed, .steps = steps};
    memset(&book, 0, sizeof book);
    if (vs_recorder_open(config, &p.recorder))
        _exit(1);
    record_for_ever(&p);
}

/* *shared*: one per thread. */
static _Noreturn void run_threads(const struct vs_recorder_config *config, struct shared *shared,
                                  uint64_t seed, unsigned steps)
{
    static struct process all[THREADS];
    struct vs_recorder *recorder;
    pthread_t thread;
    memset(&book, 0, sizeof book);
    if (vs_recorder_open(config, &recorder))
        _exit(1);
    for (unsigned i = 0; i < THREADS; i++)
        all[i] = (struct process){recorder, &shared[i], i, steps, seed * THREADS + i, {0}};
    for (unsigned i = 1; i < THREADS; i++) {
        if (pthread_create(&thread, NULL, record_for_ever, &all[i]))
            _exit(1);
    }
    record_for_ever(&all[0]);
}

typedef void run_fn(const struct vs_recorder_config *, struct shared *, uint64_t, unsigned);

static bool are_ready(struct shared *shared, unsigned threads)
{
    bool ready = true;
    for (unsigned i = 0; i < threads; i++)
        ready = ready && atomic_load(&shared[i].ready);
    return ready;
}

/* *threads* of them, started by *runs*. */
static void kill_one(const struct vs_recorder_config *config, struct shared *shared,
                     unsigned threads, run_fn *runs, uint64_t seed, unsigned steps)
{
    uint64_t random = seed, until = vs_clock_ns() + UINT64_C(250000000000);
    memset(shared, 0, threads * sizeof *shared);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (!pid)
        runs(config, shared, seed, steps);
    while (!are_ready(shared, threads) && vs_clock_ns() < until && !waitpid(pid, NULL, WNOHANG))
        usleep(500);
    assert_true(are_ready(shared, threads));
    usleep((unsigned)(vs_random(&random) % 3000));
    kill(pid, SIGKILL);
    assert_int_equal(waitpid(pid, NULL, 0), pid);
}

/* --- the remaining trace --- */

struct totals_read {
    struct state state;
    bool summed_up;
};

static unsigned host_or_device(uint64_t device, uint64_t family)
{
    assert_true(device < DEVICES);
    return account_of((unsigned)device, family == VS_FAMILY_PINNED);
}

static struct totals_read read_back(const char *path, enum vs_condition condition)
{
    struct vs_reader *reader = open_reader(path);
    struct totals_read t = {0};
    for (struct vs_event e; next_plain(reader, &e);) {
        assert_false(t.summed_up && e.kind != VS_EVENT_end);
        if (e.kind == VS_EVENT_unrecorded) {
            const struct vs_event_unrecorded *u = &e.unrecorded;
            unsigned account = host_or_device(u->device, u->family);
            uint64_t highest = t.state.live[account] + u->peak_allocated;
            if (u->peak_allocated && highest > t.state.peak[account])
                t.state.peak[account] = highest;
            t.state.live[account] += u->size - u->freed_size;
            assert_int_equal(u->reserved, u->size - u->freed_size);
        } else if (e.kind == VS_EVENT_alloc)
            apply(&t.state, host_or_device(e.alloc.device, e.alloc.family), e.alloc.size, 0);
        else if (e.kind == VS_EVENT_free)
            apply(&t.state, account_of((unsigned)e.free.device,
                                       ((e.free.addr >> SIZE_BITS) - 1) / DEVICES % FAMILIES),
                  0, e.free.addr & ((1u << SIZE_BITS) - 1));
        t.summed_up |= e.kind == VS_EVENT_recording_changed &&
                       e.recording_changed.what == VS_RECORDING_SUMMED_UP;
    }
    close_reader(reader, condition);
    return t;
}

static bool same(const struct state *a, const struct state *b)
{
    return memcmp(a, b, sizeof *a) == 0;
}

static _Noreturn void differs(const struct totals_read *t, const struct shared *shared,
                              unsigned step)
{
    unsigned now = shared->current;
    if (!t->summed_up)
        print_error("not summed up\n");
    for (unsigned i = 0; i <= DEVICES; i++)
        print_error("account %u: live %llu of %llu or %llu, peak %llu of %llu or %llu\n", i,
                    (unsigned long long)t->state.live[i],
                    (unsigned long long)shared->state[now].live[i],
                    (unsigned long long)shared->state[!now].live[i],
                    (unsigned long long)t->state.peak[i],
                    (unsigned long long)shared->state[now].peak[i],
                    (unsigned long long)shared->state[!now].peak[i]);
    fail_msg("step %u: the sums are not those of that moment", step);
    abort();
}

static void sums_after_kills(struct vs_recorder_config config, unsigned kills, unsigned steps)
{
    const char *path = scratch("counted.vst");
    struct shared *shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE,
                                 MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_true(shared != MAP_FAILED);
    config.path = path;
    config.flush_ms = 1000;
    for (unsigned i = 0; i < kills; i++) {
        kill_one(&config, shared, 1, run, i + 1, steps);
        struct totals_read killed = read_back(path, VS_TRACE_LIVE);
        assert_true(killed.summed_up);
        if (!same(&killed.state, &shared->state[0]) && !same(&killed.state, &shared->state[1]))
            differs(&killed, shared, 0);
        if (i % 8)
            continue;
        struct vs_rewrite *rewrite = NULL;
        char why[VS_READER_WHY_MAX] = "";
        assert_int_equal(vs_rewrite_open(path, NULL, 0, &rewrite, why), VS_OK);
        assert_int_equal(vs_rewrite_commit(rewrite, why), VS_OK);
        struct totals_read whole = read_back(path, VS_TRACE_COMPLETE);
        assert_true(whole.summed_up && same(&whole.state, &killed.state));
    }
    munmap(shared, sizeof *shared);
}

TEST(sums_and_peaks_of_small_allocations_outlive_a_kill)
{
    SKIP_UNDER_TSAN();
    sums_after_kills((struct vs_recorder_config){.min_size = 60000}, 40, 2000);
    sums_after_kills((struct vs_recorder_config){.min_size = MIB}, 30, 2000);
}

TEST(sums_and_peaks_of_what_was_no_sample_outlive_a_kill)
{
    SKIP_UNDER_TSAN();
    sums_after_kills((struct vs_recorder_config){.sample = 16}, 50, 2000);
}

TEST(sums_and_peaks_outlive_a_kill_in_the_last_stage)
{
    SKIP_UNDER_TSAN();
    sums_after_kills((struct vs_recorder_config){.limit_bytes = MIB, .compression = 1}, 6, 300000);
}

static void assert_truth_of_thread(const struct totals_read *t, const struct shared *shared,
                                   unsigned i)
{
    for (unsigned k = 0; k < 2; k++) {
        const struct state *s = &shared[i].state[k];
        if (t->state.live[i] == s->live[i] && t->state.peak[i] == s->peak[i])
            return;
    }
    differs(t, &shared[i], 0);
}

/* Windows are small, so that often one thread waits for room while the other counts and records. */
TEST(sums_and_peaks_of_two_threads_outlive_a_kill)
{
    SKIP_UNDER_TSAN();
    size_t bytes = THREADS * sizeof(struct shared);
    struct vs_recorder_config config = {.path = scratch("threads.vst"), .min_size = 20000,
                                        .flush_ms = 20, .window_bytes = VS_WINDOW_BYTES_MIN};
    struct shared *shared =
        mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_true(shared != MAP_FAILED);
    for (unsigned i = 0; i < 20; i++) {
        kill_one(&config, shared, THREADS, run_threads, i + 1, 60000);
        struct totals_read t = read_back(config.path, VS_TRACE_LIVE);
        assert_true(t.summed_up);
        for (unsigned k = 0; k < THREADS; k++)
            assert_truth_of_thread(&t, shared, k);
    }
    munmap(shared, bytes);
}

/* No other thread changes anything meanwhile, so that after each step it is exactly this state; at
 * first every other step is a new peak. */
static void after_every_step(struct vs_recorder_config config, uint64_t seed)
{
    const char *path = scratch("steps.vst");
    struct shared shared = {0};
    struct process p = {.shared = &shared, .only = ALL_DEVICES, .random = seed};
    config.path = path;
    config.flush_ms = 600000;
    memset(&book, 0, sizeof book);
    assert_int_equal(vs_recorder_open(&config, &p.recorder), VS_OK);
    for (unsigned i = 0; i < 300; i++) {
        step(&p);
        struct totals_read t; /* until the background thread has done its work */
        uint64_t until = vs_clock_ns() + UINT64_C(250000000000);
        while (!(t = read_back(path, VS_TRACE_LIVE)).summed_up && vs_clock_ns() < until)
            usleep(1000);
        if (!t.summed_up || !same(&t.state, &shared.state[shared.current]))
            differs(&t, &shared, i);
    }
    vs_recorder_close(p.recorder, VS_END_EXIT, 0);
}

TEST(sums_and_peaks_are_those_of_every_step)
{
    for (uint64_t seed = 1; seed <= 3; seed++) {
        after_every_step((struct vs_recorder_config){.min_size = 30000}, seed);
        after_every_step((struct vs_recorder_config){.sample = 3}, seed);
    }
}
