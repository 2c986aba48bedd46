/* SPDX-License-Identifier: Apache-2.0
 *
 * Mutexes with a rank. A thread may take a lock only of a higher rank than every
 * lock it holds; debug builds check it and abort with both names (tests only:
 * release builds compile the check away). */
#ifndef VS_LOCK_H
#define VS_LOCK_H

#include <pthread.h>
#include <stdbool.h>

#include "base/vs_err.h"

enum vs_lock_rank {
    VS_RANK_PROCESS = 10,   /* intercept: start and stop of recording */
    VS_RANK_TRACKER = 20,   /* intercept: live pointer table */
    VS_RANK_ALLOCATOR = 30, /* allocator: one per allocator instance */
    VS_RANK_DEVICE = 35,    /* intercept: device operations under the allocator */
    VS_RANK_COLLECTOR = 40, /* intercept: CUPTI buffers and names */
    VS_RANK_RECORDER = 50,  /* trace: event order, windows, interning */
    VS_RANK_WRITER = 60,    /* trace: hand-over to the background thread */
};

struct vs_lock {
    pthread_mutex_t mu;
    enum vs_lock_rank rank; /* immutable after init */
    const char *name;       /* immutable after init; static storage */
};

#define VS_LOCK_INIT(rank_, name_) {PTHREAD_MUTEX_INITIALIZER, (rank_), (name_)}

void vs_lock_init(struct vs_lock *lock, enum vs_lock_rank rank, const char *name);
void vs_lock_destroy(struct vs_lock *lock);

/* Not from signal handlers. Not recursive. */
void vs_lock_acquire(struct vs_lock *lock);
void vs_lock_release(struct vs_lock *lock);

/* vs_lock_held: does the calling thread hold any of these locks, or is it taking or
 * releasing one? True in a signal handler that interrupted such code, which must
 * take none then. Signal-safe. */
bool vs_lock_held(void);

/* vs_lock_reset_after_fork: make the lock free again in the child of a fork,
 * whoever held it in the parent; the data it guards may be half changed, so the
 * caller rebuilds it. Also forgets the ranks the forking thread held. */
void vs_lock_reset_after_fork(struct vs_lock *lock);

#endif
