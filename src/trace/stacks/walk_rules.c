/* SPDX-License-Identifier: Apache-2.0
 *
 * Frame rules that were looked up once, cached for the whole process in a table that is read
 * without locks: a return address and the number of its rule fit one word. A rule that finds no
 * empty slot replaces another, which is looked up again when needed. */
#include "trace/stacks/walk_rules.h"

#include <stdatomic.h>
#include <string.h>

#include "base/vs_quick_lock.h"
#include "trace/stacks/walk.h"

#if defined(__x86_64__)

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

const struct vs_frame_rule *vs_walk_rule(uint64_t pc)
{
    const struct vs_frame_rule *rule = look_up(pc);
    return rule ? rule : find_rule(pc);
}

void vs_walk_rules_discard(void)
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

#else /* other machines: libunwind only */

bool vs_walk_saw_unknown(void)
{
    return false;
}

void vs_walk_rules_discard(void) {}

#endif
