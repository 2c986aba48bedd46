/* SPDX-License-Identifier: Apache-2.0
 *
 * The slow paths of ranked mutexes (the fast ones are inline in the header) and conditions, by
 * futex. The ranks held are a per-thread stack, kept in debug builds only. */
#define _GNU_SOURCE
#include "base/vs_lock.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/vs_clock.h"
#include "base/vs_cancel.h"
#include "base/vs_log.h"
/* Polls of a taken lock before sleeping: about as long as our longest ordinary critical section,
 * well below the cost of a sleep and a wake-up. */
#define LOOKS 60
_Thread_local volatile unsigned vs_lock_depth
    __attribute__((tls_model("initial-exec"), visibility("hidden")));
#ifndef NDEBUG
#include <stdlib.h>

#define HELD_MAX 32
static _Thread_local struct held {
    const void *lock;
    const char *name;
    enum vs_lock_rank rank;
} held[HELD_MAX];
static _Thread_local int held_count;

static void rank_note(const void *lock, enum vs_lock_rank rank, const char *name)
{
    if (held_count == HELD_MAX)
        abort();
    held[held_count++] = (struct held){lock, name, rank};
}

void vs_rank_push(const void *lock, enum vs_lock_rank rank, const char *name, bool sibling)
{
    if (held_count) {
        const struct held *top = &held[held_count - 1];
        bool next = sibling && top->rank == rank && (const char *)top->lock < (const char *)lock;
        if (top->rank >= rank && !next) {
            vs_log(VS_LOG_ERROR, "lock order: '%s' (rank %d) taken while holding '%s' (rank %d)",
                   name, (int)rank, top->name, (int)top->rank);
            abort();
        }
    }
    rank_note(lock, rank, name);
}

void vs_rank_pop(const void *lock, const char *name)
{
    for (int i = held_count - 1; i >= 0; i--) {
        if (held[i].lock != lock)
            continue;
        for (int j = i; j + 1 < held_count; j++)
            held[j] = held[j + 1];
        held_count--;
        return;
    }
    vs_log(VS_LOG_ERROR, "lock '%s' released by a thread that does not hold it", name);
    abort();
}

void vs_rank_reset(void)
{
    held_count = 0;
}
#else
static void rank_note(const void *lock, enum vs_lock_rank rank, const char *name)
{
    (void)lock, (void)rank, (void)name;
}
#endif

/* Sleeps while *word* is *value*, until *until_ns*. Returns false at that time. errno is preserved:
 * this runs inside the program's calls. */
static bool sleep_while(_Atomic uint32_t *word, uint32_t value, uint64_t until_ns)
{
    VS_KEEP_ERRNO();
    struct timespec ts = {(time_t)(until_ns / 1000000000u), (long)(until_ns % 1000000000u)};
    long rc = syscall(SYS_futex, word, FUTEX_WAIT_BITSET | FUTEX_PRIVATE_FLAG, value,
                      until_ns == UINT64_MAX ? NULL : &ts, NULL, FUTEX_BITSET_MATCH_ANY);
    bool late = rc < 0 && errno == ETIMEDOUT;
    return !late;
}

static void wake(_Atomic uint32_t *word, int count)
{
    VS_KEEP_ERRNO();
    syscall(SYS_futex, word, FUTEX_WAKE | FUTEX_PRIVATE_FLAG, count, NULL, NULL, 0);
}

static bool take_in_time(struct vs_lock *lock, uint64_t until_ns)
{
    for (int i = 0; i < LOOKS; i++) {
        uint32_t word = atomic_load_explicit(&lock->word, memory_order_relaxed);
        if (word == VS_LOCK_FREE &&
            atomic_compare_exchange_weak_explicit(&lock->word, &word, VS_LOCK_TAKEN,
                                                  memory_order_acquire, memory_order_relaxed))
            return true;
        if (word == VS_LOCK_SLEEPERS)
            break;
        vs_lock_pause();
    }
    /* a thread that slept takes the lock as one with sleepers, as others may still sleep */
    while (atomic_exchange_explicit(&lock->word, VS_LOCK_SLEEPERS, memory_order_acquire) !=
           VS_LOCK_FREE) {
        if (!sleep_while(&lock->word, VS_LOCK_SLEEPERS, until_ns))
            return false;
    }
    return true;
}

void vs_lock_contend(struct vs_lock *lock)
{
    (void)take_in_time(lock, UINT64_MAX);
}

void vs_lock_wake(struct vs_lock *lock)
{
    wake(&lock->word, 1);
}

bool vs_lock_acquire_within(struct vs_lock *lock, uint64_t ns)
{
    vs_lock_depth = vs_lock_depth + 1;
    if (!take_in_time(lock, vs_clock_ns() + ns)) {
        vs_lock_depth = vs_lock_depth - 1;
        return false;
    }
    rank_note(lock, lock->rank, lock->name);
    return true;
}

void vs_lock_init(struct vs_lock *lock, enum vs_lock_rank rank, const char *name)
{
    atomic_init(&lock->word, VS_LOCK_FREE);
    lock->rank = rank;
    lock->name = name;
}

void vs_lock_reset_after_fork(struct vs_lock *lock)
{
    atomic_store_explicit(&lock->word, VS_LOCK_FREE, memory_order_relaxed);
    vs_rank_reset();
    vs_lock_depth = 0;
}

bool vs_cond_wait(struct vs_cond *cond, struct vs_lock *lock, uint64_t until_ns)
{
    /* read under the lock: a signal after its release changes the word */
    uint32_t seen = atomic_load_explicit(&cond->wakes, memory_order_relaxed);
    cond->waiters++;
    if (atomic_exchange_explicit(&lock->word, VS_LOCK_FREE, memory_order_release) ==
        VS_LOCK_SLEEPERS)
        vs_lock_wake(lock);
    bool in_time = sleep_while(&cond->wakes, seen, until_ns);
    vs_lock_contend(lock);
    cond->waiters--;
    return in_time;
}

static void notify(struct vs_cond *cond, int count)
{
    if (!cond->waiters)
        return;
    atomic_fetch_add_explicit(&cond->wakes, 1, memory_order_relaxed);
    wake(&cond->wakes, count);
}

void vs_cond_signal(struct vs_cond *cond)
{
    notify(cond, 1);
}

void vs_cond_broadcast(struct vs_cond *cond)
{
    notify(cond, INT_MAX);
}
