/* SPDX-License-Identifier: Apache-2.0
 *
 * Ranked mutexes. The ranks held are a per-thread bit-stack, kept in debug
 * builds only. */
#include "base/vs_lock.h"

#ifndef NDEBUG
#include <stdlib.h>

#include "base/vs_log.h"

#define HELD_MAX 32
static _Thread_local struct held {
    const void *lock;
    const char *name;
    enum vs_lock_rank rank;
} held[HELD_MAX];
static _Thread_local int held_count;

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
    if (held_count == HELD_MAX)
        abort();
    held[held_count++] = (struct held){lock, name, rank};
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

void vs_rank_forget(void)
{
    held_count = 0;
}
#endif

_Thread_local volatile unsigned vs_lock_depth
    __attribute__((tls_model("initial-exec"), visibility("hidden")));

bool vs_lock_held(void)
{
    return vs_lock_depth > 0;
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
    vs_lock_depth = vs_lock_depth + 1;
    vs_rank_push(lock, lock->rank, lock->name, false);
    pthread_mutex_lock(&lock->mu);
}

void vs_lock_release(struct vs_lock *lock)
{
    vs_rank_pop(lock, lock->name); /* first: unlocking what this thread does not hold is undefined */
    pthread_mutex_unlock(&lock->mu);
    vs_lock_depth = vs_lock_depth - 1;
}

void vs_lock_reset_after_fork(struct vs_lock *lock)
{
    pthread_mutex_init(&lock->mu, NULL);
    vs_rank_forget();
    vs_lock_depth = 0;
}
