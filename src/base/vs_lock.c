/* SPDX-License-Identifier: Apache-2.0
 *
 * Ranked mutexes. The ranks held are a per-thread bit-stack, kept in debug
 * builds only. */
#include "base/vs_lock.h"

#ifndef NDEBUG
#include <stdlib.h>

#include "base/vs_log.h"

#define HELD_MAX 8
static _Thread_local const struct vs_lock *held[HELD_MAX];
static _Thread_local int held_count;

static void rank_push(const struct vs_lock *lock)
{
    if (held_count && held[held_count - 1]->rank >= lock->rank) {
        vs_log(VS_LOG_ERROR, "lock order: '%s' (rank %d) taken while holding '%s' (rank %d)",
               lock->name, (int)lock->rank, held[held_count - 1]->name,
               (int)held[held_count - 1]->rank);
        abort();
    }
    if (held_count == HELD_MAX)
        abort();
    held[held_count++] = lock;
}

static void rank_pop(const struct vs_lock *lock)
{
    for (int i = held_count - 1; i >= 0; i--) {
        if (held[i] != lock)
            continue;
        for (int j = i; j + 1 < held_count; j++)
            held[j] = held[j + 1];
        held_count--;
        return;
    }
    vs_log(VS_LOG_ERROR, "lock '%s' released by a thread that does not hold it", lock->name);
    abort();
}

static void rank_forget(void)
{
    held_count = 0;
}
#else
static void rank_push(const struct vs_lock *lock) { (void)lock; }
static void rank_pop(const struct vs_lock *lock) { (void)lock; }
static void rank_forget(void) {}
#endif

/* volatile: read by signal handlers on the same thread; initial-exec: no call into
 * the loader on the hot path */
static _Thread_local volatile unsigned depth __attribute__((tls_model("initial-exec")));

bool vs_lock_held(void)
{
    return depth > 0;
}

void vs_lock_init(struct vs_lock *lock, enum vs_lock_rank rank, const char *name)
{
    pthread_mutex_init(&lock->mu, NULL);
    lock->rank = rank;
    lock->name = name;
}

void vs_lock_destroy(struct vs_lock *lock)
{
    pthread_mutex_destroy(&lock->mu);
}

void vs_lock_acquire(struct vs_lock *lock)
{
    depth = depth + 1;
    rank_push(lock);
    pthread_mutex_lock(&lock->mu);
}

void vs_lock_release(struct vs_lock *lock)
{
    rank_pop(lock); /* first: unlocking what this thread does not hold is undefined */
    pthread_mutex_unlock(&lock->mu);
    depth = depth - 1;
}

void vs_lock_reset_after_fork(struct vs_lock *lock)
{
    pthread_mutex_init(&lock->mu, NULL);
    rank_forget();
    depth = 0;
}
