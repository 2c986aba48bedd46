/* SPDX-License-Identifier: Apache-2.0
 *
 * Walks and trails; see the header. A wrong rule (code was unloaded and replaced at the same
 * address, not noticed yet) can lead a walk anywhere, so a walk reads only within the mapping of
 * its thread's stack, which is looked up once per thread. Checking a trail needs no such bounds:
 * each word that matched proves that the next one is the one that the walk would read. */
#define _GNU_SOURCE
#include "trace/stacks/walk.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include "base/vs_arena.h"
#include "base/vs_quick_lock.h"
#include "trace/stacks/cfi.h"

static _Atomic uint32_t epoch = 1;

uint32_t vs_walk_epoch(void)
{
    return atomic_load_explicit(&epoch, memory_order_relaxed);
}

void vs_walk_discard_trails(void)
{
    atomic_fetch_add_explicit(&epoch, 1, memory_order_relaxed);
}

#if defined(__x86_64__)

/* --- rules ---
 *
 * Those that were looked up once are cached for the whole process in a table that is read without
 * locks: a return address and the number of its rule fit one word. A rule that finds no empty slot
 * replaces another, which is looked up again when needed. */

#define TABLE_BITS 15
#define PROBES 4u
#define RULES_MAX 4096u

static _Atomic uint64_t table[(1u << TABLE_BITS) + PROBES]; /* pc << 16 | rule; 0 = empty */
static struct vs_frame_rule rules[RULES_MAX]; /* the first is VS_FRAME_OTHER; never changed */
static const struct vs_frame_rule none = {.kind = VS_FRAME_NONE};
static _Atomic bool saw_unknown; /* code outside any object was seen since discarding */
static uint32_t rule_count = 1; /* guarded by rules_lock */
static struct vs_quick_lock rules_lock = {.rank = VS_RANK_WRITER, .name = "frame rules"};

static size_t home(uint64_t pc)
{
    return (size_t)((pc * UINT64_C(0x9e3779b97f4a7c15)) >> (64 - TABLE_BITS));
}

static inline const struct vs_frame_rule *look_up(uint64_t pc)
{
    size_t h = home(pc);
    for (size_t i = h; i < h + PROBES; i++) {
        /* acquire pairs with enter: the rule was stored before */
        uint64_t word = atomic_load_explicit(&table[i], memory_order_acquire);
        if (word >> 16 == pc)
            return &rules[word & 0xffff];
    }
    return NULL;
}

static uint32_t number_of_rule_locked(const struct vs_frame_rule *rule)
{
    uint32_t i = 0;
    while (i < rule_count && memcmp(&rules[i], rule, sizeof *rule) != 0)
        i++;
    if (i == RULES_MAX)
        return 0;
    if (i == rule_count)
        rules[rule_count++] = *rule;
    return i;
}

static void enter(uint64_t pc, const struct vs_frame_rule *rule)
{
    size_t h = home(pc), at = h + (pc >> 2) % PROBES;
    vs_quick_acquire(&rules_lock);
    uint64_t word = pc << 16 | number_of_rule_locked(rule);
    for (size_t i = h; i < h + PROBES; i++) {
        if (!atomic_load_explicit(&table[i], memory_order_relaxed)) {
            at = i;
            break;
        }
    }
    atomic_store_explicit(&table[at], word, memory_order_release);
    vs_quick_release(&rules_lock);
}

static __attribute__((noinline)) const struct vs_frame_rule *find_rule(uint64_t pc)
{
    const struct vs_frame_rule *rule = NULL;
    if (pc >> 48)
        return &rules[0];
    vs_cfi_find(pc, enter);
    rule = look_up(pc);
    if (!rule) { /* outside any object: code generated at run time, which other code may replace */
        atomic_store_explicit(&saw_unknown, true, memory_order_relaxed);
        rule = &none;
    }
    return rule;
}

/* The rule of the code that returns to *pc*, never NULL: VS_FRAME_NONE for code outside any object.
 * Costs a table lookup; the first time, a search in the object's tables, which takes locks. */
static const struct vs_frame_rule *rule_of(uint64_t pc)
{
    const struct vs_frame_rule *rule = look_up(pc);
    return rule ? rule : find_rule(pc);
}

static void discard_rules(void)
{
    vs_quick_acquire(&rules_lock);
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        atomic_store_explicit(&table[i], 0, memory_order_relaxed);
    atomic_store_explicit(&saw_unknown, false, memory_order_relaxed);
    vs_quick_release(&rules_lock);
}

bool vs_walk_saw_unknown(void)
{
    return atomic_load_explicit(&saw_unknown, memory_order_relaxed);
}

/* reads other functions' frames on purpose */
#define NOT_CHECKED __attribute__((no_sanitize("address", "thread", "undefined")))

/* --- per-thread data --- */

#define SETS 16u
#define WAYS 8u
#define LOOKS_MAX 64 /* lookups in the mappings, per thread */
#define MAIN_STACK_MARGIN UINT64_C(0x100000) /* the kernel leaves a gap of this size below it
                                              * (stack_guard_gap) */

struct walk_memory {
    uint64_t stack_low, stack_high; /* the mapping of a stack of this thread */
    int looks;
    uint32_t last; /* the last trail used */
    uint8_t turn[SETS];
    struct vs_trail trails[SETS * WAYS];
};

static _Thread_local struct walk_memory *mine __attribute__((tls_model("initial-exec")));
static pthread_key_t key; /* only for its destructor */
static pthread_once_t key_once = PTHREAD_ONCE_INIT;
static bool key_made;

static void thread_ended(void *memory)
{
    mine = NULL;
    vs_pages_unmap(memory, sizeof(struct walk_memory));
}

static void make_key(void)
{
    key_made = pthread_key_create(&key, thread_ended) == 0;
}

static struct walk_memory *memory_of_thread(void)
{
    if (mine)
        return mine;
    pthread_once(&key_once, make_key);
    struct walk_memory *m = key_made ? vs_pages_map(sizeof *m) : NULL;
    if (m && pthread_setspecific(key, m)) {
        vs_pages_unmap(m, sizeof *m);
        m = NULL;
    }
    mine = m;
    return m;
}

static uint64_t hex(const char **p)
{
    uint64_t value = 0;
    for (;; ++*p) {
        char c = **p;
        if (c >= '0' && c <= '9')
            value = value << 4 | (uint64_t)(c - '0');
        else if (c >= 'a' && c <= 'f')
            value = value << 4 | (uint64_t)(c - 'a' + 10);
        else
            return value;
    }
}

/* A line of /proc/self/maps. true when *sp* lies in it. */
static bool look_at_mapping(struct walk_memory *m, const char *line, uint64_t sp)
{
    const char *p = line;
    uint64_t low = hex(&p);
    if (*p++ != '-')
        return false;
    uint64_t high = hex(&p);
    if (sp < low || sp >= high)
        return false;
    m->stack_low = strstr(p, "[stack]") ? low - MAIN_STACK_MARGIN : low;
    m->stack_high = high;
    return true;
}

/* The buffer is small because the thread's stack may be. Of a line that does not fit, only its begin is
 * looked at, which has the addresses. */
static bool find_stack(struct walk_memory *m, uint64_t sp)
{
    char text[1024];
    size_t have = 0;
    bool found = false, cut = false;
    int fd = m->looks++ < LOOKS_MAX ? open("/proc/self/maps", O_RDONLY | O_CLOEXEC) : -1;
    if (fd < 0)
        return false;
    for (ssize_t n; !found && (n = read(fd, text + have, sizeof text - 1 - have)) > 0;) {
        have += (size_t)n;
        text[have] = 0;
        char *line = text;
        for (char *end; !found && (end = strchr(line, '\n')); line = end + 1) {
            *end = 0;
            found = !cut && look_at_mapping(m, line, sp);
            cut = false; /* the rest of a cut line ended */
        }
        have -= (size_t)(line - text);
        memmove(text, line, have);
        if (!found && have == sizeof text - 1) {
            found = !cut && look_at_mapping(m, text, sp);
            cut = true;
            have = 0;
        }
    }
    close(fd);
    return found;
}

static bool stack_known(struct walk_memory *m, uint64_t sp)
{
    return (sp >= m->stack_low && sp < m->stack_high) || find_stack(m, sp);
}

/* --- trails --- */

static struct vs_trail *set_of(struct walk_memory *m, const struct vs_walk_start *start, uint32_t *set)
{
    *set = (uint32_t)((start->sp >> 4 ^ start->sp >> 9 ^ start->pc ^ start->python) % SETS);
    return &m->trails[*set * WAYS];
}

NOT_CHECKED static inline bool leads_here(const struct vs_trail *t, struct vs_walk_owner owner,
                                          const struct vs_walk_start *start)
{
    if (t->start.sp != start->sp || t->start.fp != start->fp || t->start.pc != start->pc ||
        t->start.python != start->python || t->owner.recorder != owner.recorder ||
        t->owner.skip != owner.skip || !t->id || t->epoch != vs_walk_epoch())
        return false;
    const char *base = (const char *)(uintptr_t)start->sp;
    /* in order: the next word may be read only after this one matched */
#pragma GCC unroll 4
    for (uint32_t i = 0; i < t->words; i++) {
        if (*(const volatile uint64_t *)(const void *)(base + t->offset[i]) != t->value[i])
            return false;
    }
    return true;
}

uint64_t vs_walk_cached(struct vs_walk_owner owner, const struct vs_walk_start *start)
{
    struct walk_memory *m = mine;
    if (!m)
        return 0;
    struct vs_trail *last = &m->trails[m->last], *likely = &m->trails[last->next];
    if (leads_here(likely, owner, start)) {
        m->last = last->next;
        return likely->id;
    }
    uint32_t set;
    struct vs_trail *t = set_of(m, start, &set);
    for (uint32_t i = 0; i < WAYS; i++, t++) {
        if (t != likely && leads_here(t, owner, start)) {
            m->last = last->next = set * WAYS + i;
            return t->id;
        }
    }
    return 0;
}

static struct vs_trail *take_trail(struct walk_memory *m, struct vs_walk_owner owner,
                                   const struct vs_walk_start *start)
{
    uint32_t set;
    struct vs_trail *t = set_of(m, start, &set) + m->turn[set]++ % WAYS;
    t->id = 0;
    t->owner = owner;
    t->start = *start;
    t->epoch = vs_walk_epoch();
    t->words = 0;
    return t;
}

void vs_walk_cache(struct vs_trail *trail, uint64_t id)
{
    if (!trail || trail->words > VS_TRAIL_WORDS)
        return;
    trail->id = id;
    struct walk_memory *m = mine;
    uint32_t index = (uint32_t)(trail - m->trails);
    m->trails[m->last].next = index;
    m->last = index;
}

/* --- walking --- */

struct walk_walk {
    struct vs_trail *trail;
    uint64_t low, high;
    bool lost; /* a word outside the stack was needed */
};

NOT_CHECKED static inline uint64_t read_word(struct walk_walk *w, uint64_t at)
{
    if (at < w->low || at > w->high - sizeof(uint64_t) || at % sizeof(uint64_t)) {
        w->lost = true;
        return 0;
    }
    uint64_t value = *(const volatile uint64_t *)(uintptr_t)at, offset = at - w->low;
    struct vs_trail *t = w->trail;
    if (t->words < VS_TRAIL_WORDS && offset <= UINT32_MAX) {
        t->offset[t->words] = (uint32_t)offset;
        t->value[t->words++] = value;
    } else {
        t->words = VS_TRAIL_WORDS + 1;
    }
    return value;
}

/* Goes from the registers of a frame to those of its caller. */
static inline void step(struct walk_walk *w, const struct vs_frame_rule *rule, struct vs_walk_start *at)
{
    uint64_t offset = (uint64_t)(int64_t)rule->cfa_offset;
    uint64_t saved = (uint64_t)(int64_t)rule->fp_offset, fp = at->fp;
    uint64_t cfa = rule->kind == VS_FRAME_SP ? at->sp + offset : at->fp + offset;
    if (rule->kind == VS_FRAME_FP_LOAD)
        cfa = read_word(w, cfa);
    if (cfa <= at->sp) {
        w->lost = true;
        return;
    }
    at->pc = read_word(w, cfa - sizeof(uint64_t));
    if (rule->saved_fp == VS_FP_AT_CFA)
        at->fp = read_word(w, cfa + saved);
    else if (rule->saved_fp == VS_FP_AT_FP)
        at->fp = read_word(w, fp + saved);
    at->sp = cfa;
}

/* Goes to the frame that a signal interrupted, on the same stack; the walk is lost on any other. */
static __attribute__((noinline)) void step_signal(struct walk_walk *w, struct vs_walk_start *at)
{
    uint64_t sp = read_word(w, at->sp + VS_SIGNAL_SP);
    at->pc = read_word(w, at->sp + VS_SIGNAL_PC) + 1; /* not a call: the pc is the interrupted
                                                       * instruction */
    at->fp = read_word(w, at->sp + VS_SIGNAL_FP);
    w->lost |= sp <= at->sp || sp > w->high - sizeof(uint64_t);
    at->sp = sp;
}

size_t vs_walk_stack(struct vs_walk_owner owner, const struct vs_walk_start *start, void **pcs,
                     uint64_t *sps, size_t max, enum vs_walk_end *end, struct vs_trail **trail)
{
    struct walk_memory *m = memory_of_thread();
    *trail = NULL;
    if (!m || !stack_known(m, start->sp))
        return 0;
    struct walk_walk w = {take_trail(m, owner, start), start->sp, m->stack_high, false};
    struct vs_walk_start at = *start;
    size_t n = 0;
    *end = VS_WALK_MORE;
    while (n < max) {
        *end = VS_WALK_BOTTOM;
        if (!at.pc)
            break;
        if (sps)
            sps[n] = at.sp;
        pcs[n++] = (void *)(uintptr_t)at.pc;
        const struct vs_frame_rule *rule = rule_of(at.pc);
        if (rule->kind == VS_FRAME_END)
            break;
        *end = VS_WALK_LOST;
        if (rule->kind == VS_FRAME_NONE)
            break;
        if (rule->kind == VS_FRAME_OTHER)
            return 0;
        if (rule->kind == VS_FRAME_SIGNAL)
            step_signal(&w, &at);
        else
            step(&w, rule, &at);
        if (w.lost)
            return 0;
        *end = VS_WALK_MORE;
    }
    *trail = w.trail;
    return n;
}

struct vs_trail *vs_walk_nothing(struct vs_walk_owner owner, const struct vs_walk_start *start)
{
    struct walk_memory *m = memory_of_thread();
    return m ? take_trail(m, owner, start) : NULL;
}

size_t vs_walk_check(void **pcs, size_t count, enum vs_walk_end *end)
{
    *end = VS_WALK_LOST;
    for (size_t i = 0; i < count; i++) {
        const struct vs_frame_rule *rule = rule_of((uint64_t)(uintptr_t)pcs[i]);
        if (rule->kind == VS_FRAME_NONE)
            return i + 1;
        if (rule->kind == VS_FRAME_SIGNAL && i + 1 < count)
            pcs[i + 1] = (char *)pcs[i + 1] + 1;
        /* for a frame without a rule, libunwind may find that it is the last one */
        if (rule->kind == VS_FRAME_END || (rule->kind == VS_FRAME_OTHER && i + 1 == count))
            *end = VS_WALK_BOTTOM;
    }
    return count;
}

#else /* other machines: libunwind only */

bool vs_walk_saw_unknown(void)
{
    return false;
}

static void discard_rules(void) {}

uint64_t vs_walk_cached(struct vs_walk_owner owner, const struct vs_walk_start *start)
{
    (void)owner, (void)start;
    return 0;
}

size_t vs_walk_stack(struct vs_walk_owner owner, const struct vs_walk_start *start, void **pcs,
                     uint64_t *sps, size_t max, enum vs_walk_end *end, struct vs_trail **trail)
{
    (void)owner, (void)start, (void)pcs, (void)sps, (void)max, (void)end;
    *trail = NULL;
    return 0;
}

struct vs_trail *vs_walk_nothing(struct vs_walk_owner owner, const struct vs_walk_start *start)
{
    (void)owner, (void)start;
    return NULL;
}

size_t vs_walk_check(void **pcs, size_t count, enum vs_walk_end *end)
{
    (void)pcs;
    *end = VS_WALK_BOTTOM; /* as far as can be determined */
    return count;
}

void vs_walk_cache(struct vs_trail *trail, uint64_t id)
{
    (void)trail, (void)id;
}

#endif

void vs_walk_discard_all(void)
{
    discard_rules();
    vs_walk_discard_trails();
}
