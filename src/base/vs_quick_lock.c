/* SPDX-License-Identifier: Apache-2.0
 *
 * The slow paths of the quick lock; see the header. The futex is a count of wake-ups and not the
 * lock word: a wake-up between a thread's last check of the lock and its sleep changes the count,
 * so the sleep does not begin. */
#include "base/vs_quick_lock.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/vs_cancel.h"

#define SPINS 60                /* checks of the lock before sleeping */
#define SLEEP_NS 500000L        /* longest sleep of a few threads without a wake-up */
#define SLEEPERS_FEW 8u         /* this much longer again for each so many sleepers more */
#define SLEEP_FACTOR_MAX 200u

static bool try_for_a_while(struct vs_quick_lock *lock)
{
    for (int i = 0; i < SPINS; i++) {
        if (!__atomic_load_n(&lock->taken, __ATOMIC_RELAXED) &&
            !__atomic_exchange_n(&lock->taken, 1, __ATOMIC_ACQUIRE))
            return true;
        vs_lock_pause();
    }
    return false;
}

void vs_quick_init(struct vs_quick_lock *lock, enum vs_lock_rank rank, const char *name)
{
    *lock = (struct vs_quick_lock){.rank = rank, .name = name};
}

void vs_quick_wait(struct vs_quick_lock *lock)
{
    if (try_for_a_while(lock))
        return;
    VS_KEEP_ERRNO();
    __atomic_fetch_add(&lock->sleepers, 1, __ATOMIC_SEQ_CST);
    for (;;) {
        /* many threads that wake up every half millisecond would use all the processor time */
        uint32_t factor = 1 + __atomic_load_n(&lock->sleepers, __ATOMIC_RELAXED) / SLEEPERS_FEW;
        factor = factor < SLEEP_FACTOR_MAX ? factor : SLEEP_FACTOR_MAX;
        const struct timespec longest = {0, SLEEP_NS * (long)factor};
        uint32_t wakes = __atomic_load_n(&lock->wakes, __ATOMIC_ACQUIRE);
        __atomic_store_n(&lock->waking, 0, __ATOMIC_SEQ_CST);
        if (try_for_a_while(lock))
            break;
        syscall(SYS_futex, &lock->wakes, FUTEX_WAIT_PRIVATE, wakes, &longest, NULL, 0);
    }
    __atomic_fetch_sub(&lock->sleepers, 1, __ATOMIC_RELAXED);
}

void vs_quick_wake(struct vs_quick_lock *lock)
{
    if (__atomic_load_n(&lock->waking, __ATOMIC_RELAXED) ||
        __atomic_exchange_n(&lock->waking, 1, __ATOMIC_SEQ_CST))
        return;
    VS_KEEP_ERRNO();
    __atomic_fetch_add(&lock->wakes, 1, __ATOMIC_RELEASE);
    syscall(SYS_futex, &lock->wakes, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}
