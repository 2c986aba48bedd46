/* SPDX-License-Identifier: Apache-2.0
 *
 * Mutexes with a rank. A thread may take a lock only of a higher rank than every
 * lock it holds; debug builds check it and abort with both names (tests only:
 * release builds compile the check away). vs_quick_lock.h has a second kind for
 * very short sections, under the same ranks. */
#ifndef VS_LOCK_H
#define VS_LOCK_H

#include <pthread.h>
#include <stdbool.h>

#include "base/vs_err.h"

enum vs_lock_rank {
    VS_RANK_PROCESS = 10,   /* intercept: start and stop of recording */
    VS_RANK_TRACKER = 20,   /* intercept: live pointer table */
    VS_RANK_ALLOCATOR = 30, /* allocator: one per shard of an allocator */
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

/* --- for kinds of locks --- */

/* How many locks this thread holds or is taking. volatile: read by signal handlers
 * on the same thread; initial-exec: no call into the loader on the hot path. */
extern _Thread_local volatile unsigned vs_lock_depth
    __attribute__((tls_model("initial-exec"), visibility("hidden")));

/* Note that *lock* is being taken, and check its rank; *sibling*: it may share its
 * rank with the lock taken last when it lies at a higher address. pop: it was
 * released. forget: this thread holds nothing. In debug builds; otherwise nothing. */
#ifndef NDEBUG
void vs_rank_push(const void *lock, enum vs_lock_rank rank, const char *name, bool sibling);
void vs_rank_pop(const void *lock, const char *name);
void vs_rank_forget(void);
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
static inline void vs_rank_forget(void) {}
#endif

#endif
