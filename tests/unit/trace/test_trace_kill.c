/* SPDX-License-Identifier: Apache-2.0
 *
 * A busy recording is killed at random times: several threads, stacks, windows that change. Each
 * thread counts in shared memory the events whose call has returned, and the n-th event of a thread
 * has number n. The trace must contain every one of them, in order, none twice, and at most one
 * more per thread: the one in progress. The trace that `recover` makes of it has the same events.
 *
 * test_trace_kill [--kills N] [--seed S] */
#include "unit/trace/trace_test.h"

#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "trace/read/rewrite.h"

#define THREADS 4
#define NAMES 500u
#ifdef __SANITIZE_ADDRESS__ /* several times slower */
#define KILLS 15
#else
#define KILLS 40
#endif

struct tally {
    _Atomic uint64_t recorded[THREADS]; /* events whose call has returned */
    _Atomic uint64_t with_stack[THREADS];
};

struct victim {
    struct vs_recorder *recorder;
    struct tally *tally;
    uint64_t who;
};

static uint64_t mix(uint64_t z)
{
    return vs_random(&z);
}

/* --- the n-th event of a thread --- */

/* Kinds whose first field is the event's id; where they have a name and a stack, 0: nowhere. */
static const struct {
    enum vs_event_kind kind;
    unsigned name, stack;
} kinds[] = {{VS_EVENT_alloc, 7, 8}, {VS_EVENT_free, 3, 4}, {VS_EVENT_range_start, 1, 0},
             {VS_EVENT_range_end, 0, 0}};

static void name_of(uint64_t who, uint64_t n, char out[32])
{
    snprintf(out, 32, "name %u of %u", (unsigned)(mix(n / 7) % NAMES), (unsigned)who);
}

static void fill(struct vs_event *e, uint64_t who, uint64_t n, uint64_t name, uint64_t stack)
{
    unsigned k = mix(who ^ n) % (sizeof kinds / sizeof *kinds);
    *e = (struct vs_event){.kind = kinds[k].kind};
    if (e->kind == VS_EVENT_alloc)
        e->alloc.size = mix(n);
    if (kinds[k].name)
        e->fields[kinds[k].name] = name;
    if (kinds[k].stack)
        e->fields[kinds[k].stack] = stack;
    e->fields[0] = who << 48 | n << 8;
}

/* --- the victim --- */

static __attribute__((noinline)) uint64_t stack_at(struct vs_recorder *r, unsigned depth)
{
    uint64_t id = depth ? stack_at(r, depth - 1) : vs_recorder_stack(r, 0);
    __asm__ volatile("" ::: "memory"); /* prevents a tail call: each depth is another stack */
    return id;
}

static void *record_forever(void *arg)
{
    struct victim *v = arg;
    char text[32];
    for (uint64_t n = 0;; n++) {
        struct vs_event e;
        name_of(v->who, n, text);
        uint64_t stack = stack_at(v->recorder, (unsigned)(mix(n / 3) % 24));
        fill(&e, v->who, n, vs_recorder_string(v->recorder, text, SIZE_MAX), stack);
        vs_recorder_event(v->recorder, &e);
        if (stack)
            atomic_fetch_add_explicit(&v->tally->with_stack[v->who], 1, memory_order_relaxed);
        atomic_store_explicit(&v->tally->recorded[v->who], n + 1, memory_order_release);
        if (v->who == 0 && mix(n) % 4096 == 0)
            vs_recorder_flush(v->recorder);
    }
    return NULL;
}

static _Noreturn void be_the_victim(const char *path, struct tally *tally)
{
    struct vs_recorder_config config = {.path = path, .compression = 1, .stack_depth_max = 32,
                                        .flush_ms = 10, .window_bytes = 128 << 10};
    struct victim victims[THREADS];
    struct vs_recorder *r = NULL;
    pthread_t thread;
    signal(SIGSEGV, SIG_DFL); /* a sanitizer's own handler would print a report */
    signal(SIGABRT, SIG_DFL);
    if (vs_recorder_open(&config, &r))
        _exit(1);
    for (uint64_t i = 0; i < THREADS; i++) {
        victims[i] = (struct victim){r, tally, i};
        if (i && pthread_create(&thread, NULL, record_forever, &victims[i]))
            _exit(1);
    }
    record_forever(&victims[0]);
    _exit(2);
}

/* --- the check --- */

struct round {
    unsigned number;
    const char *path;
    const struct tally *tally;
    uint64_t found[THREADS];
    uint64_t stacks;
    bool good;
};

static bool wrong(struct round *round, const char *what, uint64_t a, uint64_t b)
{
    fprintf(stderr, "kill %u: %s: %" PRIu64 ", %" PRIu64 "\n", round->number, what, a, b);
    return round->good = false;
}

static bool check_event(struct round *round, const struct vs_reader *reader,
                        const struct vs_event *e)
{
    char text[32];
    unsigned k = 0;
    struct vs_frame frames[128];
    struct vs_event expected;
    while (k < sizeof kinds / sizeof *kinds && kinds[k].kind != e->kind)
        k++;
    if (k == sizeof kinds / sizeof *kinds) /* the recorder's own, at best */
        return e->kind == VS_EVENT_module || e->kind == VS_EVENT_end ||
               wrong(round, "a foreign event", e->kind, 0);
    uint64_t id = e->fields[0], name = kinds[k].name ? e->fields[kinds[k].name] : 0;
    uint64_t stack = kinds[k].stack ? e->fields[kinds[k].stack] : 0;
    uint64_t who = id >> 48, n = (id & 0xffffffffffff) >> 8;
    if (who >= THREADS || n != round->found[who])
        return wrong(round, "out of order (thread, event)", who, n);
    round->found[who]++;
    fill(&expected, who, n, name, stack);
    if (expected.kind != e->kind || memcmp(expected.fields, e->fields, sizeof e->fields) != 0)
        return wrong(round, "another event than was recorded", who, n);
    name_of(who, n, text);
    if (name && strcmp(vs_reader_string(reader, name), text) != 0)
        return wrong(round, "another name than was recorded", who, n);
    round->stacks += stack != 0;
    return !stack || vs_reader_stack(reader, stack, frames, 128) > 0 ||
           wrong(round, "a stack without frames", who, n);
}

/* Reads the trace, which must end with *condition*. */
static bool read_trace(struct round *round, enum vs_condition condition)
{
    struct vs_reader *reader;
    struct vs_event e;
    char why[VS_READER_WHY_MAX] = "";
    memset(round->found, 0, sizeof round->found);
    round->stacks = 0;
    if (vs_reader_open(round->path, &reader, why)) {
        fprintf(stderr, "kill %u: %s\n", round->number, why);
        return round->good = false;
    }
    while (round->good && !vs_reader_next(reader, &e))
        check_event(round, reader, &e);
    enum vs_condition got = vs_reader_condition(reader, why);
    if (round->good && got != condition) {
        fprintf(stderr, "kill %u: %s\n", round->number, why);
        wrong(round, "another condition", got, condition);
    }
    vs_reader_close(reader);
    return round->good;
}

static bool check_trace(struct round *round)
{
    bool any = false;
    for (int i = 0; i < THREADS; i++)
        any |= round->tally->recorded[i] != 0;
    struct vs_reader *reader;
    if (!any && !vs_reader_open(round->path, &reader, NULL))
        vs_reader_close(reader);
    if (!any)
        return true; /* killed before the file was created, or had any contents */
    if (!read_trace(round, VS_TRACE_LIVE))
        return false;
    uint64_t with_stack = 0;
    for (int i = 0; i < THREADS; i++) {
        uint64_t counted = round->tally->recorded[i];
        with_stack += round->tally->with_stack[i];
        if (round->found[i] < counted || round->found[i] > counted + 1)
            wrong(round, "found of those in the tally", round->found[i], counted);
    }
    return round->good && with_stack > 0;
}

/* The same events in a finished file, and no temporary files left. */
static bool check_recovered(struct round *round)
{
    uint64_t before[THREADS], stacks = round->stacks;
    struct vs_rewrite *rewrite;
    char why[VS_READER_WHY_MAX] = "";
    memcpy(before, round->found, sizeof before);
    if (vs_rewrite_open(round->path, NULL, 0, &rewrite, why) || vs_rewrite_commit(rewrite, why)) {
        fprintf(stderr, "kill %u: %s\n", round->number, why);
        return round->good = false;
    }
    if (!read_trace(round, VS_TRACE_COMPLETE))
        return false;
    return (!memcmp(before, round->found, sizeof before) && stacks == round->stacks &&
            access(live_of(round->path), F_OK)) ||
           wrong(round, "recovered otherwise than read", stacks, round->stacks);
}

static bool one_round(struct round *round, struct tally *tally, uint64_t *seed)
{
    static const int signals[] = {SIGKILL, SIGKILL, SIGSEGV, SIGKILL, SIGABRT};
    int number = signals[round->number % 5], status;
    memset(tally, 0, sizeof *tally);
    unlink(round->path);
    pid_t pid = fork();
    if (!pid)
        be_the_victim(round->path, tally);
    *seed = mix(*seed);
    bool busy = round->number % 8; /* otherwise at any time, also at its start */
    for (unsigned i = 0; busy && !tally->recorded[THREADS - 1] && i < 30000; i++)
        usleep(1000);
    usleep((useconds_t)(*seed % (busy ? 40000 : 8000)));
    if (pid <= 0 || kill(pid, number) || waitpid(pid, &status, 0) != pid)
        return wrong(round, "no victim", (uint64_t)errno, 0);
    if (!WIFSIGNALED(status))
        return wrong(round, "the victim ended by itself", (uint64_t)status, 0);
    if (!check_trace(round))
        return false;
    return !round->found[0] || round->number % 4 || check_recovered(round);
}

int main(int argc, char **argv)
{
    static const struct option options[] = {
        {"kills", required_argument, NULL, 'k'}, {"seed", required_argument, NULL, 's'}, {0}};
    unsigned kills = KILLS, bad = 0, empty = 0;
    uint64_t seed = 1, events = 0;
    char path[300];
    int c;
    while ((c = getopt_long(argc, argv, "", options, NULL)) != -1) {
        if (c == 'k')
            kills = (unsigned)strtoul(optarg, NULL, 10);
        else if (c == 's')
            seed = strtoull(optarg, NULL, 10);
        else
            return 2;
    }
#ifdef __SANITIZE_THREAD__
    puts("skipped: ThreadSanitizer does not follow a child that starts threads");
    return 77;
#endif
    struct tally *tally =
        mmap(NULL, sizeof *tally, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (tally == MAP_FAILED)
        return 2;
    snprintf(path, sizeof path, "%s/killed.vst", scratch_dir);
    printf("seed %" PRIu64 "\n", seed);
    fflush(stdout);
    for (unsigned i = 0; i < kills; i++) {
        struct round round = {.number = i, .path = path, .tally = tally, .good = true};
        bad += !one_round(&round, tally, &seed);
        uint64_t found = 0;
        for (int t = 0; t < THREADS; t++)
            found += round.found[t];
        events += found;
        empty += !found;
    }
    printf("%u kills, %" PRIu64 " events found, %u kills before the first event, %u bad\n", kills,
           events, empty, bad);
    return bad || empty > kills / 2;
}
