/* SPDX-License-Identifier: Apache-2.0
 *
 * A lock for sections of some tens of nanoseconds that are entered very often. Taking it is one
 * atomic exchange, releasing it a plain store: no second atomic operation, unlike a mutex. A thread
 * that finds it taken spins for about the length of such a section, then sleeps on a futex; a
 * release wakes one sleeper, and no further one until that one has run, so that many waiters cost
 * few system calls.
 *
 * A release checks for sleepers after its store without a barrier between, so it may miss one that
 * falls asleep at that time. Sleeps are therefore bounded, by half a millisecond and as much
 * again for each eight sleepers: progress never depends on a wake-up. Ranks as in vs_lock.h. */
#ifndef VS_QUICK_LOCK_H
#define VS_QUICK_LOCK_H

#include <stdbool.h>
#include <stdint.h>

#include "base/vs_lock.h"

struct vs_quick_lock {
    uint32_t taken;    /* atomic; 0 or 1; its release store pairs with the acquire exchange */
    uint32_t sleepers; /* atomic; threads that sleep or are about to */
    uint32_t wakes;    /* atomic; the futex: counts wake-ups */
    uint32_t waking;   /* atomic; a woken thread has not checked the lock yet */
    const char *name;       /* immutable after init; static storage */
    enum vs_lock_rank rank; /* immutable after init */
};

#define VS_QUICK_LOCK_INIT(rank_, name_) {.name = (name_), .rank = (rank_)}

void vs_quick_init(struct vs_quick_lock *lock, enum vs_lock_rank rank, const char *name);

/* The slow paths: the lock is taken; a thread sleeps. */
void vs_quick_wait(struct vs_quick_lock *lock);
void vs_quick_wake(struct vs_quick_lock *lock);

static inline void vs_quick_enter(struct vs_quick_lock *lock, bool sibling)
{
    vs_lock_depth = vs_lock_depth + 1;
    vs_rank_push(lock, lock->rank, lock->name, sibling);
    if (__atomic_exchange_n(&lock->taken, 1, __ATOMIC_ACQUIRE))
        vs_quick_wait(lock);
}

/* Not from signal handlers. Not recursive. */
static inline void vs_quick_acquire(struct vs_quick_lock *lock)
{
    vs_quick_enter(lock, false);
}

/* Takes another lock of the rank held: of a family of locks taken in ascending order of address. */
static inline void vs_quick_acquire_sibling(struct vs_quick_lock *lock)
{
    vs_quick_enter(lock, true);
}

/* Takes the lock if it is free; false if it is not. Not a sibling of one that is held. */
static inline bool vs_quick_try(struct vs_quick_lock *lock)
{
    vs_lock_depth = vs_lock_depth + 1; /* first: a signal handler must see that a lock may be held */
    if (__atomic_exchange_n(&lock->taken, 1, __ATOMIC_ACQUIRE)) {
        vs_lock_depth = vs_lock_depth - 1;
        return false;
    }
    vs_rank_push(lock, lock->rank, lock->name, false);
    return true;
}

static inline void vs_quick_release(struct vs_quick_lock *lock)
{
    vs_rank_pop(lock, lock->name);
    __atomic_store_n(&lock->taken, 0, __ATOMIC_RELEASE);
    if (__builtin_expect(__atomic_load_n(&lock->sleepers, __ATOMIC_RELAXED) != 0, 0))
        vs_quick_wake(lock);
    vs_lock_depth = vs_lock_depth - 1;
}

#endif
