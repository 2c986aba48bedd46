/* SPDX-License-Identifier: Apache-2.0
 *
 * `vramscope run` and a program that is killed at a random time while allocating: by a signal, with
 * its whole group including `vramscope run`, or after `vramscope run` was killed alone. The trace
 * must contain every call that had returned, in each thread's order, and at most one more per
 * thread.
 *
 * test_crash [--kills N] [--seed S] */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "crash_tally.h"
#include "trace/read/reader.h"

#define KILLS 12
#define POLL_US 1000
#define TIMEOUT_S 250

static char folder[256], trace[512], tally_path[512], said_path[512];
static struct crash_tally *tally;

/* How a round ends. */
static const struct ending {
    const char *name, *said; /* on standard error of `run`; NULL: `run` was killed as well */
    int number;
    bool group, run_first;
} endings[] = {
    {"SIGKILL", "killed by signal 9", SIGKILL, false, false},
    {"SIGSEGV", "killed by signal 11", SIGSEGV, false, false},
    {"SIGABRT", "killed by signal 6", SIGABRT, false, false},
    {"SIGKILL to the group", NULL, SIGKILL, true, false},
    {"SIGKILL to run, then to the program", NULL, SIGKILL, false, true},
    {"SIGBUS", "killed by signal 7", SIGBUS, false, false},
};
#define ENDINGS (sizeof endings / sizeof *endings)

static uint64_t next_random(uint64_t *seed)
{
    uint64_t z = *seed += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

static bool wrong(const struct ending *ending, const char *what, uint64_t a, uint64_t b)
{
    fprintf(stderr, "%s: %s: %" PRIu64 ", %" PRIu64 "\n", ending->name, what, a, b);
    return false;
}

static pid_t start(unsigned round)
{
    char policy[64];
    snprintf(policy, sizeof policy, "--allocator=%s", round % 2 ? "observe" : "caching");
    pid_t pid = fork();
    if (pid)
        return pid;
    int fd = open(said_path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    setpgid(0, 0);
    dup2(fd, STDERR_FILENO);
    dup2(fd, STDOUT_FILENO);
    setenv("TMPDIR", folder, 1);
    execl(VS_COMMAND, VS_COMMAND, "run", "--simulate", "t4-16g,capacity=1GiB,context=400MiB", policy, "--flush-ms=20",
          "-o", trace, "--", VS_CRASH_VICTIM, tally_path, (char *)NULL);
    _exit(127);
}

static bool wait_until_busy(void)
{
    for (unsigned i = 0; i < TIMEOUT_S * 1000000u / POLL_US; i++) {
        unsigned busy = 0;
        for (int t = 0; t < CRASH_THREADS; t++)
            busy += atomic_load(&tally->threads[t].returned) > 0;
        if (busy == CRASH_THREADS)
            return true;
        usleep(POLL_US);
    }
    return false;
}

static bool was_said(const char *text)
{
    static char said[65536];
    FILE *f = fopen(said_path, "r");
    size_t n = f ? fread(said, 1, sizeof said - 1, f) : 0;
    said[n] = 0;
    if (f)
        fclose(f);
    return strstr(said, text) != NULL;
}

/* --- the trace against the tally --- */

/* A free that another thread recorded: it received the address before the driver's result returned
 * to the freeing thread, which then records none. */
#define EARLY_MAX 256

struct match {
    const struct ending *ending;
    uint64_t found[CRASH_THREADS];
    uint64_t early[EARLY_MAX];
    unsigned early_count;
};

/* Passes over calls of thread *t* whose events another thread recorded. */
static void skip_early(struct match *m, int t, uint64_t but)
{
    const struct crash_thread *thread = &tally->threads[t];
    while (m->found[t] < thread->returned) {
        const struct crash_call *call = &thread->calls[m->found[t]];
        unsigned i = 0;
        while (i < m->early_count && m->early[i] != call->address)
            i++;
        if (call->bytes || call->address == but || i == m->early_count)
            return;
        m->early[i] = m->early[--m->early_count];
        m->found[t]++;
    }
}

static bool match_event(struct match *m, const struct vs_event *e)
{
    bool alloc = e->kind == VS_EVENT_alloc;
    if (!alloc && e->kind != VS_EVENT_free)
        return true;
    int t = 0;
    while (t < CRASH_THREADS && tally->threads[t].tid != e->tid)
        t++;
    if (t == CRASH_THREADS)
        return wrong(m->ending, "an event of an unknown thread", e->tid, e->kind);
    uint64_t address = alloc ? e->alloc.addr : e->free.addr;
    skip_early(m, t, alloc ? 0 : address);
    uint64_t n = m->found[t], returned = tally->threads[t].returned;
    const struct crash_call *call = &tally->threads[t].calls[n];
    if (!alloc && m->early_count < EARLY_MAX &&
        (n >= returned || call->bytes || call->address != address)) {
        m->early[m->early_count++] = address;
        return true;
    }
    m->found[t]++;
    if (n >= returned)
        return n == returned || wrong(m->ending, "more than one call not in the tally", n, returned);
    if (alloc != (call->bytes != 0) || address != call->address)
        return wrong(m->ending, "another call than was made (thread, call)", (uint64_t)t, n);
    return !alloc || e->alloc.requested == call->bytes ||
           wrong(m->ending, "another size (thread, call)", (uint64_t)t, n);
}

/* Every call is found, and at most one free per thread that was not in the tally. */
static bool match_trace(const struct ending *ending, enum vs_condition condition, uint64_t *events)
{
    struct match m = {.ending = ending};
    struct vs_reader *reader;
    struct vs_event e;
    char why[VS_READER_WHY_MAX] = "";
    bool good = true;
    if (vs_reader_open(trace, &reader, why)) {
        fprintf(stderr, "%s: %s\n", ending->name, why);
        return false;
    }
    while (good && !vs_reader_next(reader, &e))
        good = match_event(&m, &e);
    if (good && vs_reader_condition(reader, why) != condition) {
        fprintf(stderr, "%s: %s\n", ending->name, why);
        good = false;
    }
    vs_reader_close(reader);
    *events = 0;
    for (int t = 0; good && t < CRASH_THREADS; t++) {
        skip_early(&m, t, 0);
        *events += m.found[t];
        if (m.found[t] < tally->threads[t].returned)
            good = wrong(ending, "found of those in the tally", m.found[t],
                         tally->threads[t].returned);
    }
    return good && (m.early_count <= CRASH_THREADS ||
                    wrong(ending, "frees that nobody made", m.early_count, 0));
}

static bool recover_and_match(const struct ending *ending, uint64_t before)
{
    char command[2048];
    uint64_t events;
    for (int i = 0; i < 2; i++) { /* twice is as good as once */
        snprintf(command, sizeof command, "'%s' recover '%s' >'%s' 2>&1", VS_COMMAND, trace,
                 said_path);
        int status = system(command);
        if (status)
            return wrong(ending, "recover's status", (uint64_t)status, 0);
        if (!was_said(i ? "nothing to recover" : "is complete now"))
            return wrong(ending, "recover says otherwise", (uint64_t)i, 0);
        if (!match_trace(ending, VS_TRACE_COMPLETE, &events) || events != before)
            return wrong(ending, "events after recover", events, before);
    }
    return true;
}

static bool one_round(unsigned round, uint64_t *seed, uint64_t *events)
{
    const struct ending *ending = &endings[round % ENDINGS];
    memset(tally, 0, sizeof *tally);
    unlink(trace);
    pid_t run = start(round);
    if (run < 0 || !wait_until_busy()) {
        kill(-run, SIGKILL);
        return wrong(ending, "it does not begin", (uint64_t)run, 0);
    }
    usleep((useconds_t)(next_random(seed) % 40000));
    pid_t program = (pid_t)tally->pid;
    if (ending->run_first)
        kill(run, SIGKILL);
    if (ending->run_first)
        usleep(5000); /* it continues meanwhile */
    kill(ending->group ? -run : program, ending->number);
    int status = 0;
    if (waitpid(run, &status, 0) != run)
        return wrong(ending, "run was lost", (uint64_t)errno, 0);
    /* a process that is not our child must also have ended, with all its threads */
    for (unsigned i = 0; i < TIMEOUT_S * 1000000u / POLL_US && vs_reader_recorded_by(trace); i++)
        usleep(POLL_US);
    if (ending->said && (!WIFEXITED(status) || WEXITSTATUS(status) != 128 + ending->number))
        return wrong(ending, "run's status", (uint64_t)status, 0);
    if (ending->said && (!was_said(ending->said) || !was_said("peak allocated")))
        return wrong(ending, "run's summary does not tell", 0, 0);
    return match_trace(ending, VS_TRACE_LIVE, events) &&
           (round % 3 || recover_and_match(ending, *events));
}

int main(int argc, char **argv)
{
    static const struct option options[] = {
        {"kills", required_argument, NULL, 'k'}, {"seed", required_argument, NULL, 's'}, {0}};
    unsigned kills = KILLS, bad = 0;
    uint64_t seed = (uint64_t)time(NULL) << 20 ^ (uint64_t)getpid(), events, all = 0;
    const char *tmp = getenv("TMPDIR");
    char command[300];
    int c;
    while ((c = getopt_long(argc, argv, "", options, NULL)) != -1) {
        if (c == 'k')
            kills = (unsigned)strtoul(optarg, NULL, 10);
        else if (c == 's')
            seed = strtoull(optarg, NULL, 10);
        else
            return 2;
    }
    snprintf(folder, sizeof folder, "%s/vs-crash-XXXXXX", tmp ? tmp : "/tmp");
    if (!mkdtemp(folder))
        return 2;
    snprintf(trace, sizeof trace, "%s/trace.vst", folder);
    snprintf(tally_path, sizeof tally_path, "%s/tally", folder);
    snprintf(said_path, sizeof said_path, "%s/said", folder);
    int fd = open(tally_path, O_RDWR | O_CREAT, 0600);
    if (fd < 0 || ftruncate(fd, sizeof *tally))
        return 2;
    tally = mmap(NULL, sizeof *tally, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (tally == MAP_FAILED)
        return 2;
    printf("seed %" PRIu64 "\n", seed);
    fflush(stdout);
    for (unsigned i = 0; i < kills; i++) {
        events = 0;
        bad += !one_round(i, &seed, &events);
        all += events;
    }
    printf("%u kills, %" PRIu64 " calls found, %u bad\n", kills, all, bad);
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    return system(command) || bad || !all;
}
