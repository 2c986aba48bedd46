/* SPDX-License-Identifier: Apache-2.0
 *
 * Mutexes with a rank. A thread may only take a lock of a higher rank than every lock it holds;
 * debug builds check this and abort with both names (tests only: release builds compile the check
 * away). A lock is one word: free, taken, or taken with sleepers; taking and releasing a free one
 * is one atomic operation each, inline. A taken lock is polled for about the length of our critical
 * sections before the thread sleeps in the kernel (futex). vs_quick_lock.h has a second kind for
 * very short sections, under the same ranks. */
#ifndef VS_LOCK_H
#define VS_LOCK_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/vs_err.h"

enum vs_lock_rank {
    VS_RANK_PROCESS = 10,   /* intercept: start and stop of recording */
    VS_RANK_ATTACH = 12,    /* intercept: what a framework held before the recording */
    VS_RANK_GRAPH = 15,     /* intercept: memory of graphs */
    VS_RANK_PHYSICAL = 16,  /* intercept: the program's physical memory and mappings */
    VS_RANK_OPENED = 18,    /* intercept: open counts of other processes' memory */
    VS_RANK_TRACKER = 20,   /* intercept: live pointer table */
    VS_RANK_ALLOCATOR = 30, /* allocator: one per shard of an allocator */
    VS_RANK_BLOCKS = 32,    /* allocator: nodes of blocks, of all allocators */
    VS_RANK_DEVICE = 35,    /* intercept: device operations under the allocator */
    VS_RANK_COLLECTOR = 40, /* intercept: CUPTI buffers and names */
    VS_RANK_RECORDER = 50,  /* trace: event order, windows, interning */
    VS_RANK_WRITER = 60,    /* trace: hand-over to the background thread */
};

enum vs_lock_word { VS_LOCK_FREE, VS_LOCK_TAKEN, VS_LOCK_SLEEPERS };

struct vs_lock {
    _Atomic uint32_t word;  /* enum vs_lock_word */
    enum vs_lock_rank rank; /* immutable after init */
    const char *name;       /* immutable after init; static storage */
};

#define VS_LOCK_INIT(rank_, name_) {VS_LOCK_FREE, (rank_), (name_)}

void vs_lock_init(struct vs_lock *lock, enum vs_lock_rank rank, const char *name);

/* --- for kinds of locks --- */

/* Number of locks that this thread holds or is taking. volatile: read by signal handlers on the
 * same thread; initial-exec: no call into the loader on the hot path. */
extern _Thread_local volatile unsigned vs_lock_depth
    __attribute__((tls_model("initial-exec"), visibility("hidden")));

/* Between two polls of a taken lock. */
static inline void vs_lock_pause(void)
{
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("isb" ::: "memory");
#endif
}

/* push: *lock* is being taken; checks its rank. *sibling*: it may have the rank of the lock taken
 * last if its address is higher. pop: it was released. forget: this thread holds nothing. In debug
 * builds; otherwise no-ops. */
#ifndef NDEBUG
void vs_rank_push(const void *lock, enum vs_lock_rank rank, const char *name, bool sibling);
void vs_rank_pop(const void *lock, const char *name);
void vs_rank_reset(void);
#else
static inline void vs_rank_push(const void *lock, enum vs_lock_rank rank, const char *name,
                                bool sibling)
{
    (void)lock, (void)rank, (void)name, (void)sibling;
}
static inline void vs_rank_pop(const void *lock, const char *name)
{
    (void)lock, (void)name;
}
static inline void vs_rank_reset(void) {}
#endif

/* The slow paths of the inline functions below: the lock is taken, or a thread sleeps for it. */
void vs_lock_contend(struct vs_lock *lock);
void vs_lock_wake(struct vs_lock *lock);

/* --- allocation and free --- */

/* Not from signal handlers. Not recursive. */
static inline void vs_lock_acquire(struct vs_lock *lock)
{
    uint32_t word = VS_LOCK_FREE;
    vs_lock_depth = vs_lock_depth + 1;
    vs_rank_push(lock, lock->rank, lock->name, false);
    /* acquire pairs with the release of the previous holder */
    if (__builtin_expect(!atomic_compare_exchange_strong_explicit(&lock->word, &word, VS_LOCK_TAKEN,
                                                                  memory_order_acquire,
                                                                  memory_order_relaxed), 0))
        vs_lock_contend(lock);
}

static inline void vs_lock_release(struct vs_lock *lock)
{
    /* first: releasing a lock that this thread does not hold is a bug */
    vs_rank_pop(lock, lock->name);
    if (__builtin_expect(atomic_exchange_explicit(&lock->word, VS_LOCK_FREE,
                                                  memory_order_release) == VS_LOCK_SLEEPERS, 0))
        vs_lock_wake(lock);
    vs_lock_depth = vs_lock_depth - 1;
}

/* VS_LOCK_SCOPE: holds *lock* from here to the end of the block, however the block is left; a value
 * that is returned is computed before. */
static inline struct vs_lock *vs_lock_scope_begin(struct vs_lock *lock)
{
    vs_lock_acquire(lock);
    return lock;
}
static inline void vs_lock_scope_end(struct vs_lock *const *lock)
{
    vs_lock_release(*lock);
}
#define VS_LOCK_SCOPE(lock) VS_LOCK_SCOPE_AT(lock, __LINE__)
#define VS_LOCK_SCOPE_AT(lock, line) VS_LOCK_SCOPE_NAMED(lock, vs_scope_##line)
#define VS_LOCK_SCOPE_NAMED(lock, name) \
    struct vs_lock *const name __attribute__((cleanup(vs_lock_scope_end), unused)) = \
        vs_lock_scope_begin(lock)

/* vs_lock_acquire_within: as vs_lock_acquire, but returns false after *ns*, and ignores the ranks
 * of held locks: for the end of the process, where hanging matters and ranks do not. */
bool vs_lock_acquire_within(struct vs_lock *lock, uint64_t ns) VS_MUST_CHECK;

/* vs_lock_held: does the calling thread hold any of these locks, or is it taking or releasing one?
 * If true in a signal handler, which interrupted such code, the handler must take none.
 * Signal-safe. */
static inline bool vs_lock_held(void)
{
    return vs_lock_depth > 0;
}

/* vs_lock_reset_after_fork: frees the lock in the child of a fork, whichever thread held it in the
 * parent; the guarded data may be half changed, so the caller rebuilds it. Also clears the ranks
 * that the forking thread held. */
void vs_lock_reset_after_fork(struct vs_lock *lock);

/* A condition variable of a lock. Zero-initialised; all functions are called with that lock held,
 * which avoids needless wake-ups. */
struct vs_cond {
    _Atomic uint32_t wakes;
    uint32_t waiters; /* guarded by the lock */
};

/* vs_cond_wait: releases *lock*, sleeps until a signal or broadcast, takes it again. May also
 * return spuriously. Returns false after *until_ns* (vs_clock_ns; UINT64_MAX = no limit). */
bool vs_cond_wait(struct vs_cond *cond, struct vs_lock *lock, uint64_t until_ns);
void vs_cond_signal(struct vs_cond *cond);
void vs_cond_broadcast(struct vs_cond *cond);

#endif
