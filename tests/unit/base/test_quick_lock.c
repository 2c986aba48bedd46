/* SPDX-License-Identifier: Apache-2.0
 *
 * The lock for short sections: exclusion, also when sections are so long that waiters sleep; ranks;
 * the child of a fork. */
#define _GNU_SOURCE
#include "support/cmocka_test.h"

#include <errno.h>
#include <pthread.h>
#include <time.h>

#include "base/vs_clock.h"
#include "base/vs_quick_lock.h"
#include "support/child.h"

#define THREADS 4
#define ROUNDS 20000

static struct vs_quick_lock lock, sibling[2];
static uint64_t counted; /* guarded by lock */

static void *count_up(void *arg)
{
    uint64_t *errors = arg;
    errno = ERANGE;
    for (int i = 0; i < ROUNDS; i++) {
        vs_quick_acquire(&lock);
        uint64_t before = counted;
        if (i % 4000 == 0) {
            const struct timespec long_enough = {0, 300000};
            nanosleep(&long_enough, NULL); /* the others go to sleep */
        }
        counted = before + 1;
        vs_quick_release(&lock);
    }
    *errors = errno != ERANGE;
    return NULL;
}

TEST(one_thread_at_a_time_is_inside)
{
    pthread_t threads[THREADS];
    uint64_t errors[THREADS];
    vs_quick_init(&lock, VS_RANK_ALLOCATOR, "test");
    counted = 0;
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, count_up, &errors[i]), 0);
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        assert_int_equal(errors[i], 0); /* errno belongs to the host program */
    }
    assert_int_equal(counted, THREADS * ROUNDS);
    assert_int_equal(lock.taken, 0);
    assert_int_equal(lock.sleepers, 0);
}

static void *enter_and_leave(void *arg)
{
    vs_quick_acquire(&lock);
    *(uint64_t *)arg = vs_clock_ns();
    vs_quick_release(&lock);
    return NULL;
}

TEST(a_sleeper_is_woken)
{
    pthread_t thread;
    uint64_t entered = 0;
    vs_quick_init(&lock, VS_RANK_ALLOCATOR, "test");
    vs_quick_acquire(&lock);
    assert_true(vs_lock_held());
    assert_int_equal(pthread_create(&thread, NULL, enter_and_leave, &entered), 0);
    while (!__atomic_load_n(&lock.sleepers, __ATOMIC_ACQUIRE))
        usleep(100);
    usleep(2000);
    uint64_t released = vs_clock_ns();
    vs_quick_release(&lock);
    assert_false(vs_lock_held());
    pthread_join(thread, NULL);
    assert_true(entered >= released);
}

TEST(siblings_are_taken_by_rising_address)
{
    for (int i = 0; i < 2; i++)
        vs_quick_init(&sibling[i], VS_RANK_ALLOCATOR, "test");
    vs_quick_acquire(&sibling[0]);
    vs_quick_acquire_sibling(&sibling[1]);
    vs_quick_release(&sibling[1]);
    vs_quick_release(&sibling[0]);
    assert_false(vs_lock_held());
}

#ifndef NDEBUG
static void siblings_against_order(void)
{
    vs_quick_acquire(&sibling[1]);
    vs_quick_acquire_sibling(&sibling[0]);
}

static void equal_ranks_that_are_no_siblings(void)
{
    vs_quick_acquire(&sibling[0]);
    vs_quick_acquire(&sibling[1]);
}

static void release_of_what_is_free(void)
{
    vs_quick_release(&sibling[0]);
}

static void aborts(void (*body)(void))
{
    for (int i = 0; i < 2; i++)
        vs_quick_init(&sibling[i], VS_RANK_ALLOCATOR, "test");
    assert_int_equal(child_ending_of(body), 128 + SIGABRT);
}

TEST(orders_that_could_deadlock_abort)
{
    aborts(siblings_against_order);
    aborts(equal_ranks_that_are_no_siblings);
    aborts(release_of_what_is_free);
}
#endif

static void *enter_once(void *arg)
{
    (void)arg;
    vs_quick_acquire(&lock);
    vs_quick_release(&lock);
    return NULL;
}

static long switches(void)
{
    struct rusage used;
    getrusage(RUSAGE_SELF, &used);
    return used.ru_nvcsw;
}

/* Sleeps are bounded; many sleepers must not use the processor for polling. */
TEST(a_crowd_of_sleepers_is_quiet)
{
    enum { CROWD = 200 };
    pthread_t threads[CROWD];
    const struct timespec held = {0, 300000000};
    vs_quick_init(&lock, VS_RANK_BLOCKS, "test");
    vs_quick_acquire(&lock);
    for (int i = 0; i < CROWD; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, enter_once, NULL), 0);
    while (__atomic_load_n(&lock.sleepers, __ATOMIC_RELAXED) < CROWD)
        nanosleep(&(struct timespec){0, 1000000}, NULL);
    uint64_t start = vs_clock_ns();
    long before = switches();
    nanosleep(&held, NULL);
    long looks = switches() - before;
    uint64_t passed_ms = (vs_clock_ns() - start) / 1000000 + 1; /* 300, or far more on a busy machine */
    vs_quick_release(&lock);
    for (int i = 0; i < CROWD; i++)
        pthread_join(threads[i], NULL);
    assert_true((uint64_t)looks < CROWD * passed_ms / 5); /* each twice a millisecond: 10 times as many */
}
