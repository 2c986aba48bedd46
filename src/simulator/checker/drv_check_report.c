/* SPDX-License-Identifier: Apache-2.0
 *
 * Prints the checker's reports to standard error and passes them to a recorder, each pair of code
 * locations once. Reports are queued under the checker's lock and printed after its release: symbol lookup takes the dynamic
 * linker's lock, which a thread that loads a library may hold while it waits for ours. If the spec
 * asks for it, a process with a report exits with status 86 instead of its own. */
#include "simulator/checker/vs_sim_check_internal.h"
#include "simulator/memory/vs_sim_memory.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/vs_map.h"

#define EXIT_STATUS 86
#define STACK_SHOWN 12
#define REPORT_BYTES 16384
#define REPORTS_MAX 100 /* printed in full */
/* beyond an allocation: distances below this are printed */
#define NEARBY_BYTES (UINT64_C(1) << 30)

struct report {
    struct report *next;
    struct vs_sim_found found;
    bool has_block, freed;
    enum vs_sim_range_kind kind;
    uintptr_t base;
    size_t bytes;
    struct vs_sim_actor *alloc;
};

static struct vs_map seen; /* guarded by the checker's lock, like the next three */
static struct report *queued, **queued_end = &queued;
static unsigned distinct;
static uint64_t repeats;
static atomic_uint waiting; /* queued reports, readable without the lock */
static atomic_bool any, fatal;
static pthread_mutex_t print_mu = PTHREAD_MUTEX_INITIALIZER;
static pid_t own_pid;

/* ---- finding ---- */

/* Races are printed in program order, not in the order of this run. */
static struct vs_sim_found in_order(const struct vs_sim_found *found)
{
    struct vs_sim_found f = *found;
    if (f.kind == VS_SIM_REPORT_RACE && f.second->order < f.first->order) {
        f.first = found->second;
        f.first_how = found->second_how;
        f.second = found->first;
        f.second_how = found->first_how;
    }
    return f;
}

void vs_sim_check_found(const struct vs_sim_found *unordered)
{
    const struct vs_sim_found ordered = in_order(unordered), *found = &ordered;
    uint64_t key = 0;
    for (int i = 0; i < 2; i++) {
        const struct vs_sim_actor *actor = i ? found->second : found->first;
        uint64_t place = actor ? actor->stack ^ (uint64_t)(uintptr_t)actor->name << 20 : 0;
        key = (key * 0x9E3779B97F4A7C15u + place) * (i ? 0xC2B2AE3D27D4EB4Fu : 1);
    }
    key += found->kind + 1;
    key = key ? key : 1;
    uint64_t *before = vs_map_get(&seen, key);
    if (before) {
        ++*before;
        repeats++;
        return;
    }
    atomic_store(&any, true);
    if (found->kind <= VS_SIM_REPORT_EARLY)
        atomic_store(&fatal, true);
    if (vs_map_put(&seen, key, 1) != VS_OK || ++distinct > REPORTS_MAX)
        return;
    struct report *r = vs_sim_need(calloc(1, sizeof *r));
    r->found = *found;
    vs_sim_actor_ref(r->found.first);
    vs_sim_actor_ref(r->found.second);
    if (found->block) {
        r->has_block = true;
        r->freed = found->block->state == VS_SIM_OWNED_FREED;
        r->kind = found->block->kind;
        r->base = found->block->base;
        r->bytes = found->block->bytes;
        r->alloc = vs_sim_actor_ref(found->block->alloc);
    }
    *queued_end = r;
    queued_end = &r->next;
    atomic_fetch_add(&waiting, 1);
}

bool vs_sim_check_failed(void)
{
    return vs_sim_spec.check == VS_SIM_CHECK_FAIL && atomic_load(&fatal);
}

/* ---- words ---- */

struct check_report_text {
    char *at;
    size_t left;
};

__attribute__((format(printf, 2, 3))) static void append(struct check_report_text *t, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int n = vsnprintf(t->at, t->left, format, args);
    va_end(args);
    size_t did = n < 0 ? 0 : (size_t)n < t->left ? (size_t)n : t->left - 1;
    t->at += did;
    t->left -= did;
}

static void append_stack(struct check_report_text *t, uint32_t stack)
{
    size_t did = vs_sim_stack_print(stack, STACK_SHOWN, t->at, t->left);
    t->at += did;
    t->left -= did;
}

static const char *const titles[VS_SIM_REPORT_KINDS] = {
    [VS_SIM_REPORT_RACE] = "race: nothing orders two pieces of work on the same memory",
    [VS_SIM_REPORT_FREED] = "use after free: work touches memory that has been freed",
    [VS_SIM_REPORT_FREED_IN_USE] = "freed in use: memory is freed while work on it may still run",
    [VS_SIM_REPORT_EARLY] = "wrong owner: work is not ordered after the allocation of its memory",
    [VS_SIM_REPORT_FREED_POINTER] = "freed pointer: a call receives memory that has been freed",
    [VS_SIM_REPORT_UNWRITTEN] = "uninitialised read: work reads device memory that was never written",
    [VS_SIM_REPORT_DOUBLE_FREE] = "double free: the memory has already been freed",
    [VS_SIM_REPORT_FOREIGN_FREE] = "foreign free: the address is not the start of a live allocation",
    [VS_SIM_REPORT_LEAK] = "leak: memory is still allocated when its context is destroyed",
};

#define ADVICE_FREE                                                                 \
    "Free after the work: synchronise with it first, or free in its stream, or in one\n" \
    "  that waits for it."

static const char *const advice[VS_SIM_REPORT_KINDS] = {
    [VS_SIM_REPORT_RACE] =
        "Record an event after the first and let the second's stream wait for it before the\n"
        "  second is submitted. An allocator must keep memory from its next owner until then.",
    [VS_SIM_REPORT_FREED] = ADVICE_FREE,
    [VS_SIM_REPORT_FREED_IN_USE] = ADVICE_FREE,
    [VS_SIM_REPORT_EARLY] =
        "Use stream-ordered memory in the stream that allocates it, or in one that waits for an\n"
        "  event recorded after the allocation; use no pointer beyond its free.",
    [VS_SIM_REPORT_FREED_POINTER] = "Use no pointer beyond its free.",
    [VS_SIM_REPORT_UNWRITTEN] = "Write the memory first; the contents of fresh device memory are undefined.",
    [VS_SIM_REPORT_DOUBLE_FREE] = "Free it once; a pointer set to 0 at its free can be freed again.",
    [VS_SIM_REPORT_FOREIGN_FREE] = "Free exactly the address that the allocation returned.",
    [VS_SIM_REPORT_LEAK] = "Free it before the context is destroyed.",
};

static const char advice_host[] =
    "Synchronise with the stream before the host touches what its work touches.";

static const char *memory_name(enum vs_sim_range_kind kind)
{
    switch (kind) {
    case VS_SIM_RANGE_DEVICE: return "device memory";
    case VS_SIM_RANGE_POOL: return "pool memory";
    case VS_SIM_RANGE_GLOBAL: return "a device variable";
    case VS_SIM_RANGE_MANAGED: return "managed memory";
    case VS_SIM_RANGE_HOST: return "pinned host memory";
    case VS_SIM_RANGE_REGISTERED: return "registered host memory";
    case VS_SIM_RANGE_ARRAY: return "an array";
    case VS_SIM_RANGE_GRAPH: return "memory of a graph";
    case VS_SIM_RANGE_OPENED: return "another process's memory";
    case VS_SIM_RANGE_MAPPED: return "mapped memory";
    default: return "memory";
    }
}

/* "a copy writes it" */
static void append_work(struct check_report_text *t, const struct vs_sim_actor *a, const char *does)
{
    static const char *const names[] = {
        [VS_SIM_WHAT_CALL] = "the call", [VS_SIM_WHAT_HOST] = "the host",
        [VS_SIM_WHAT_ALLOC] = "",        [VS_SIM_WHAT_FREE] = "",
        [VS_SIM_WHAT_KERNEL] = "kernel", [VS_SIM_WHAT_COPY] = "a copy",
        [VS_SIM_WHAT_SET] = "a memset",  [VS_SIM_WHAT_OTHER] = "work",
    };
    char name[256];
    append(t, "%s", names[a->what]);
    if (a->name)
        append(t, " %s", vs_sim_stack_name(a->name, name, sizeof name));
    append(t, "%s", does);
}

/* "a copy writes it in stream 13 (number 2), submitted at", and the stack. */
static void append_actor(struct check_report_text *t, const char *which, const struct vs_sim_actor *a,
                      const char *does)
{
    bool plain = a->what == VS_SIM_WHAT_ALLOC || a->what == VS_SIM_WHAT_FREE;
    if (plain) {
        append(t, "  %s", a->what == VS_SIM_WHAT_ALLOC ? "allocated" : "freed");
    } else {
        append(t, "  %s: ", which);
        append_work(t, a, does);
    }
    if (a->stream)
        append(t, " in stream %u (number %llu), submitted at\n", a->stream,
            (unsigned long long)a->seq);
    else
        append(t, " at\n");
    append_stack(t, a->stack);
    if (!a->made)
        return;
    append(t, "    as part of a graph, made at\n");
    append_stack(t, a->made);
}

static const char *does(const struct report *r, const struct vs_sim_actor *a, enum vs_sim_how how)
{
    if (a->what == VS_SIM_WHAT_CALL)
        return "";
    if (a->what == VS_SIM_WHAT_KERNEL && !r->found.bytes)
        return ", with a pointer to it,";
    return how == VS_SIM_CHANGES ? " changes it" : how == VS_SIM_WRITES ? " writes it" : " reads it";
}

static void append_memory(struct check_report_text *t, const struct report *r)
{
    const struct vs_sim_found *f = &r->found;
    if (f->kind == VS_SIM_REPORT_LEAK) {
        append(t, "  memory: %llu allocation%s, %zu bytes in all, of %s, the first at 0x%lx\n",
            (unsigned long long)f->count, f->count == 1 ? "" : "s", f->bytes, memory_name(r->kind),
            (unsigned long)f->address);
        return;
    }
    append(t, "  memory: 0x%lx", (unsigned long)f->address);
    if (f->bytes)
        append(t, ", %zu bytes", f->bytes);
    if (!r->has_block || f->address - r->base > r->bytes + NEARBY_BYTES) {
        append(t, ", in no allocation\n");
        return;
    }
    if (f->address - r->base < r->bytes)
        append(t, ", at offset %zu of", (size_t)(f->address - r->base));
    else
        append(t, ", %zu bytes after the end of", (size_t)(f->address - r->base - r->bytes));
    append(t, " %zu bytes of %s%s at 0x%lx\n", r->bytes, r->freed ? "freed " : "",
        memory_name(r->kind), (unsigned long)r->base);
}

static void compose(struct check_report_text *t, const struct report *r)
{
    const struct vs_sim_found *f = &r->found;
    const struct vs_sim_actor *first = f->first, *second = f->second;
    append(t, "vramscope checker: %s\n", titles[f->kind]);
    append_memory(t, r);
    if (r->alloc && r->alloc != first && f->address - r->base <= r->bytes + NEARBY_BYTES)
        append_actor(t, "", r->alloc, "");
    if (first)
        append_actor(t, "first", first, does(r, first, f->first_how));
    if (second)
        append_actor(t, f->kind == VS_SIM_REPORT_RACE ? "second" : "then", second,
                  does(r, second, f->second_how));
    bool host = second && (second->what == VS_SIM_WHAT_HOST || (first && first->what == VS_SIM_WHAT_HOST));
    append(t, "  %s\n", f->kind == VS_SIM_REPORT_RACE && host ? advice_host : advice[f->kind]);
}

/* ---- recording ---- */

/* Receives each report: *what* as in the event `finding` (docs/internals/trace-format.md), and three stacks: of the
 * call, of the memory's allocation, and of the earlier call that it conflicts with; without frames where
 * not known. Called on any thread, without a lock of the driver's. */
typedef void finding_sink(unsigned what, uint64_t addr, uint64_t bytes, const char *text,
                          void *const *const frames[3], const size_t counts[3]);

static _Atomic(finding_sink *) recorder; /* of this process; NULL: none */

/* Found by dlsym: a recorder in this process. */
VS_SIM_EXPORT void vramscopeSimFindings(finding_sink *sink);
void vramscopeSimFindings(finding_sink *sink) { atomic_store(&recorder, sink); }

static void record(const struct report *r)
{
    static const unsigned codes[VS_SIM_REPORT_KINDS] = {
        [VS_SIM_REPORT_RACE] = 1,          [VS_SIM_REPORT_FREED] = 2,
        [VS_SIM_REPORT_FREED_IN_USE] = 3,  [VS_SIM_REPORT_EARLY] = 4,
        [VS_SIM_REPORT_FREED_POINTER] = 5, [VS_SIM_REPORT_UNWRITTEN] = 6,
        [VS_SIM_REPORT_DOUBLE_FREE] = 0,   [VS_SIM_REPORT_FOREIGN_FREE] = 0,
        [VS_SIM_REPORT_LEAK] = 7,
    };
    finding_sink *sink = atomic_load(&recorder);
    const struct vs_sim_found *f = &r->found;
    const struct vs_sim_actor *at = f->second ? f->second : f->first;
    bool inside = r->has_block && f->address - r->base < r->bytes;
    void *const *frames[3] = {NULL, NULL, NULL};
    size_t counts[3] = {0, 0, 0};
    char text[512] = "";
    struct check_report_text t = {text, sizeof text};
    if (!sink || !at)
        return;
    if (at->what != VS_SIM_WHAT_CALL && at->what != VS_SIM_WHAT_ALLOC && at->what != VS_SIM_WHAT_FREE)
        append_work(&t, at, does(r, at, f->second_how));
    frames[0] = vs_sim_stack_frames(at->stack, &counts[0]);
    if (inside && r->alloc)
        frames[1] = vs_sim_stack_frames(r->alloc->stack, &counts[1]);
    if (inside && f->first && f->first != at && f->first != r->alloc)
        frames[2] = vs_sim_stack_frames(f->first->stack, &counts[2]);
    sink(codes[f->kind], f->address, f->bytes, text, frames, counts);
}

static void put(const char *text, size_t bytes)
{
    while (bytes) {
        ssize_t did = write(STDERR_FILENO, text, bytes);
        if (did < 0 && errno == EINTR)
            continue;
        if (did <= 0)
            return; /* nowhere to print */
        text += did;
        bytes -= (size_t)did;
    }
}

void vs_sim_check_print(void)
{
    static char buffer[REPORT_BYTES]; /* guarded by print_mu */
    if (!atomic_load(&waiting))
        return;
    int kept = errno;
    pthread_mutex_lock(&print_mu);
    vs_sim_check_lock();
    struct report *all = queued;
    queued = NULL;
    queued_end = &queued;
    atomic_store(&waiting, 0);
    vs_sim_check_release();
    for (struct report *r = all, *next; r; r = next) {
        struct check_report_text t = {buffer, sizeof buffer};
        next = r->next;
        compose(&t, r);
        put(buffer, (size_t)(t.at - buffer));
        record(r);
        vs_sim_check_lock();
        vs_sim_actor_unref(r->found.first);
        vs_sim_actor_unref(r->found.second);
        vs_sim_actor_unref(r->alloc);
        vs_sim_check_release();
        free(r);
    }
    pthread_mutex_unlock(&print_mu);
    errno = kept;
}

/* ---- beginning and end ---- */

void vs_sim_check_start(void)
{
    own_pid = getpid();
    vs_sim_stack_here(); /* loads the unwinder while no lock is held */
    vs_sim_checking = true;
}

/* Runs after the program's own exit handlers and its flushes. */
__attribute__((destructor)) static void at_exit(void)
{
    if (!vs_sim_checking || getpid() != own_pid)
        return;
    if (vs_sim_spec.check_leaks)
        vs_sim_check_leaks(NULL);
    char line[256];
    vs_sim_check_lock();
    unsigned long long unseen = (unsigned long long)vs_sim_check_unseen_kernels();
    vs_sim_check_release();
    if (unseen) { /* silence must not suggest a clean program */
        int n = snprintf(
            line, sizeof line,
            "vramscope checker: the accesses of %llu kernel%s are unknown, so races with %s are "
            "not found; see docs/simulator.md, \"What it sees\"\n",
            unseen, unseen == 1 ? "" : "s", unseen == 1 ? "it" : "them");
        put(line, (size_t)n);
    }
    if (!atomic_load(&any))
        return;
    /* wait for a report that a stream's thread is printing, with a limit, since that thread may wait
     * for a lock held by the exiting one */
    struct timespec until;
    vs_sim_check_print();
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += 2;
    if (!pthread_mutex_timedlock(&print_mu, &until))
        pthread_mutex_unlock(&print_mu);
    vs_sim_check_lock();
    int n = snprintf(line, sizeof line, "vramscope checker: %u report%s, found %llu more times\n",
                     distinct, distinct == 1 ? "" : "s", (unsigned long long)repeats);
    vs_sim_check_release();
    put(line, (size_t)n);
    if (vs_sim_spec.check != VS_SIM_CHECK_FAIL)
        return;
    fflush(NULL);
    _exit(EXIT_STATUS);
}
