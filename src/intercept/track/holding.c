/* SPDX-License-Identifier: Apache-2.0
 *
 * See the header. An answer about a caller is kept for the process by its address: libc10 is not
 * unloaded. Learned call stacks are in a table that only grows; when it is full, memory of further
 * ones counts as the program's. */
#include "intercept/track/holding.h"

#include "base/vs_lock.h"
#include "base/vs_map.h"
#include "intercept/route/loaded.h"
#include "intercept/track/track_change.h"
#include "intercept/track/tracker.h"

#define FRAMEWORK "libc10"
#define CALLERS 256u
#define STACKS 1024u /* a power of two */

_Thread_local struct vs_holding_latest vs_holding_latest;
_Thread_local unsigned vs_holding_within;
_Atomic(bool) vs_holding_possible;
_Atomic(uint64_t) vs_holding_blocks;

static _Atomic(uint64_t) callers[CALLERS]; /* 2 * address + 1 if it is in libc10; atomic */
static _Atomic(uint64_t) stacks[STACKS];   /* keys; written once; atomic */
static _Atomic(bool) learned;              /* there are any; atomic */
static struct vs_lock lock = VS_LOCK_INIT(VS_RANK_COLLECTOR, "blocks that hold a framework's");
static struct vs_map blocks; /* address -> 1; guarded by lock */

/* Multiplies by 2^64 / the golden ratio: neighbours go to different places. */
static unsigned place_of(uint64_t key, unsigned places)
{
    return (unsigned)((key * UINT64_C(0x9e3779b97f4a7c15)) >> 32) % places;
}

void vs_holding_judge_caller(void)
{
    const void *caller = vs_thread.caller;
    uint64_t key = (uint64_t)(uintptr_t)caller * 2;
    _Atomic(uint64_t) *slot = &callers[place_of(key, CALLERS)];
    uint64_t known = atomic_load_explicit(slot, memory_order_relaxed);
    struct vs_loaded object;
    if ((known & ~UINT64_C(1)) != key || !known) {
        bool within = caller && vs_loaded_at_in_visit(caller, &object) &&
                      vs_loaded_is(&object, FRAMEWORK);
        if (!atomic_load_explicit(&vs_holding_possible, memory_order_relaxed) &&
            (within || vs_loaded_find(FRAMEWORK, NULL)))
            atomic_store_explicit(&vs_holding_possible, true, memory_order_relaxed);
        known = key | within;
        atomic_store_explicit(slot, known, memory_order_relaxed);
    }
    vs_thread.judged = caller;
    vs_thread.by_framework = known & 1;
}

/* --- call stacks --- */

/* The slot of *key*, or an empty one, or NULL. */
static _Atomic(uint64_t) *slot_of(uint64_t key)
{
    unsigned at = place_of(key, STACKS);
    for (unsigned i = 0; i < STACKS; i++, at = (at + 1) % STACKS) {
        uint64_t found = atomic_load_explicit(&stacks[at], memory_order_relaxed);
        if (!found || found == key)
            return &stacks[at];
    }
    return NULL;
}

enum vs_holding vs_holding_of(uint64_t stack)
{
    uint64_t key = atomic_load_explicit(&learned, memory_order_relaxed) ? vs_holding_key(stack) : 0;
    const _Atomic(uint64_t) *slot = key ? slot_of(key) : NULL;
    return vs_thread.by_framework || vs_holding_within ||
                   (slot && atomic_load_explicit(slot, memory_order_relaxed) == key)
               ? VS_HOLDING_YES
               : VS_HOLDING_NOT;
}

static void learn(uint64_t key)
{
    _Atomic(uint64_t) *slot;
    uint64_t expected = 0;
    while (key && (slot = slot_of(key)) &&
           !atomic_compare_exchange_strong(slot, &expected, key) && expected != key)
        expected = 0;
    atomic_store_explicit(&learned, true, memory_order_relaxed);
}

void vs_holding_found(void)
{
    struct vs_holding_latest *latest = &vs_holding_latest;
    uint64_t addr = latest->addr;
    latest->addr = 0;
    if (latest->block ? !vs_holding_block_add(addr) : !vs_track_holds(addr))
        return;
    learn(latest->key);
    if (latest->device >= VS_BOOK_DEVICES)
        return;
    struct vs_recorder *recorder = vs_process_recorder();
    VS_RECORDER_SCOPE(recorder);
    vs_book_holds(&vs_process_book, latest->device, latest->size);
}

/* --- blocks of the cache --- */

bool vs_holding_block_add(uint64_t addr)
{
    VS_LOCK_SCOPE(&lock);
    bool added = !vs_map_get(&blocks, addr) && !vs_map_put(&blocks, addr, 1);
    atomic_store_explicit(&vs_holding_blocks, blocks.count, memory_order_relaxed);
    return added;
}

bool vs_holding_block_remove(uint64_t addr)
{
    VS_LOCK_SCOPE(&lock);
    bool was = vs_map_remove(&blocks, addr, NULL);
    atomic_store_explicit(&vs_holding_blocks, blocks.count, memory_order_relaxed);
    return was;
}
