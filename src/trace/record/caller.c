/* SPDX-License-Identifier: Apache-2.0
 *
 * Stacks that are not captured here: of one frame, for recordings without stacks, the address that
 * called CUDA, so that memory can be attributed to a library, looked up in a table of recently seen
 * ones; and those of another part of the process. */
#include <errno.h>
#include <stdatomic.h>

#include "base/vs_cancel.h"
#include "trace/record/recorder_internal.h"
#include "trace/stacks/walk.h"

/* Recently seen callers, shared by all threads: thread-local memory is scarce where this library is
 * loaded late. A slot is read without a lock: the value is valid when the version was even before
 * and is unchanged after. */
#define CALLERS 64u
static struct caller {
    _Atomic uint32_t version;
    /* epoch of the unwind rules: changes when objects are loaded or unloaded */
    _Atomic uint32_t recorder, epoch;
    _Atomic(const void *) pc;
    _Atomic uint64_t id;
} callers[CALLERS];

static uint64_t known_caller(struct caller *c, uint32_t recorder, uint32_t epoch, const void *pc)
{
    uint32_t version = atomic_load_explicit(&c->version, memory_order_acquire);
    /* acquire: the version is read again after all of them */
    bool same = atomic_load_explicit(&c->pc, memory_order_acquire) == pc &&
                atomic_load_explicit(&c->recorder, memory_order_acquire) == recorder &&
                atomic_load_explicit(&c->epoch, memory_order_acquire) == epoch;
    uint64_t id = atomic_load_explicit(&c->id, memory_order_acquire);
    return same && !(version & 1) &&
                   atomic_load_explicit(&c->version, memory_order_relaxed) == version
               ? id
               : 0;
}

/* The id of *pcs*, innermost first. */
static __attribute__((noinline)) uint64_t id_of(struct vs_recorder *r, void **pcs, size_t count)
{
    VS_KEEP_ERRNO();
    uint64_t hash = vs_intern_stack_hash(pcs, count);
    if (atomic_load_explicit(&r->modules_unloaded, memory_order_relaxed))
        vs_module_list_refresh(r);
    vs_lock_acquire(&r->lock);
    uint64_t id = vs_intern_stack_find_locked(r, hash);
    vs_lock_release(&r->lock);
    if (id == VS_STACK_MISS) {
        vs_module_list_refresh(r);
        VS_LOCK_SCOPE(&r->lock);
        id = vs_intern_stack_add_locked(r, hash, pcs, count);
    }
    return id;
}

/* A separate function: a known caller needs no stack space. */
static __attribute__((noinline)) uint64_t new_caller(struct vs_recorder *r, struct caller *c,
                                                     uint32_t epoch, const void *pc)
{
    void *pcs[1] = {(void *)(uintptr_t)pc};
    uint64_t at = (uint64_t)(uintptr_t)pc;
    uint64_t id = pc && (at < r->own_start || at >= r->own_end) ? id_of(r, pcs, 1) : 0;
    uint32_t version = atomic_load_explicit(&c->version, memory_order_relaxed);
    if (!id || version & 1 || !atomic_compare_exchange_strong(&c->version, &version, version + 1))
        return id; /* or another thread is writing this slot */
    atomic_store(&c->pc, pc);
    atomic_store(&c->recorder, r->number);
    atomic_store(&c->epoch, epoch);
    atomic_store(&c->id, id);
    atomic_store_explicit(&c->version, version + 2, memory_order_release);
    return id;
}

uint64_t vs_recorder_caller(struct vs_recorder *r, const void *pc)
{
    uint64_t at = (uint64_t)(uintptr_t)pc;
    struct caller *slot = &callers[(at >> 2 ^ at >> 8) % CALLERS];
    if (!r || atomic_load_explicit(&r->stopped, memory_order_relaxed))
        return 0;
    uint32_t epoch = vs_walk_epoch();
    uint64_t id = known_caller(slot, r->number, epoch, pc);
    return __builtin_expect(id != 0, 1) ? id : new_caller(r, slot, epoch, pc);
}

uint64_t vs_recorder_stack_of(struct vs_recorder *r, void *const *frames, size_t count)
{
    void *pcs[VS_STACK_FRAMES_MAX];
    size_t kept = 0;
    if (!r || atomic_load_explicit(&r->stopped, memory_order_relaxed) ||
        vs_selection_stacks_stopped(&r->selection))
        return 0;
    for (size_t i = 0; i < count && kept < r->depth_max && kept < VS_STACK_FRAMES_MAX; i++) {
        uint64_t pc = (uint64_t)(uintptr_t)frames[i];
        if (pc < r->own_start || pc >= r->own_end)
            pcs[kept++] = frames[i];
    }
    return kept ? id_of(r, pcs, kept) : 0;
}
