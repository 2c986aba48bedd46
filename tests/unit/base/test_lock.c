/* SPDX-License-Identifier: Apache-2.0
 *
 * Ranked locks. Cases that must abort run in a forked child, whose standard error is read back.
 * Release builds compile the check away, and those tests with it. */
#define _GNU_SOURCE
#include "support/cmocka_test.h"

#include <pthread.h>
#include <stdio.h>

#include "base/vs_clock.h"
#include "base/vs_lock.h"
#include "support/child.h"

static struct vs_lock low = VS_LOCK_INIT(VS_RANK_TRACKER, "tracker");
static struct vs_lock high = VS_LOCK_INIT(VS_RANK_RECORDER, "recorder");

static void take_in_order(void)
{
    vs_lock_acquire(&low);
    vs_lock_acquire(&high);
    vs_lock_release(&high);
    vs_lock_release(&low);
    vs_lock_acquire(&high);
    vs_lock_release(&high);
    vs_lock_acquire(&low);
    vs_lock_release(&low);
}

TEST(rising_ranks_are_allowed)
{
    assert_int_equal(child_ending_of(take_in_order), 0);
    assert_string_equal(child_said, "");
}

#ifndef NDEBUG
static void take_against_order(void)
{
    vs_lock_acquire(&high);
    vs_lock_acquire(&low);
}

static void take_twice(void)
{
    vs_lock_acquire(&low);
    vs_lock_acquire(&low);
}

static void take_equal_ranks(void)
{
    struct vs_lock other = VS_LOCK_INIT(VS_RANK_TRACKER, "another tracker");
    vs_lock_acquire(&low);
    vs_lock_acquire(&other);
}

static void release_what_is_not_held(void)
{
    vs_lock_acquire(&low);
    vs_lock_release(&low);
    vs_lock_release(&low);
}

/* the lower one is released first; the higher one must still count as held */
static void release_out_of_order_then_violate(void)
{
    vs_lock_acquire(&low);
    vs_lock_acquire(&high);
    vs_lock_release(&low);
    vs_lock_acquire(&low);
}

static void aborts(void (*body)(void), const char *one, const char *other)
{
    assert_int_equal(child_ending_of(body), 128 + SIGABRT);
    if (!strstr(child_said, one) || !strstr(child_said, other))
        fail_msg("the message names not both: %s", child_said);
}

TEST(what_could_deadlock_aborts_naming_both)
{
    aborts(take_against_order, "'tracker' (rank 20)", "'recorder' (rank 50)");
    aborts(take_twice, "'tracker' (rank 20)", "while holding 'tracker'");
    aborts(take_equal_ranks, "'another tracker'", "'tracker'");
    aborts(release_what_is_not_held, "'tracker'", "does not hold");
    aborts(release_out_of_order_then_violate, "'tracker' (rank 20)", "'recorder' (rank 50)");
}
#endif

static void reset_in_child(void)
{
    vs_lock_reset_after_fork(&high);
    vs_lock_reset_after_fork(&low);
    take_in_order(); /* would otherwise hang or abort */
}

TEST(a_lock_held_across_fork_is_free_in_the_child_after_reset)
{
    vs_lock_acquire(&low);
    vs_lock_acquire(&high);
    assert_int_equal(child_ending_of(reset_in_child), 0);
    assert_string_equal(child_said, "");
    vs_lock_release(&high);
    vs_lock_release(&low);
}

static long counter; /* guarded by low */

static void *count_up(void *arg)
{
    for (int i = 0; i < 20000; i++) {
        vs_lock_acquire(&low);
        counter++;
        vs_lock_release(&low);
    }
    return arg;
}

TEST(the_lock_excludes_other_threads)
{
    pthread_t threads[4];
    counter = 0;
    for (int i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, count_up, NULL), 0);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(counter, 80000);
}

TEST(a_lock_made_at_run_time_behaves_like_a_static_one)
{
    struct vs_lock lock;
    vs_lock_init(&lock, VS_RANK_ALLOCATOR, "allocator");
    assert_int_equal(lock.rank, VS_RANK_ALLOCATOR);
    assert_string_equal(lock.name, "allocator");
    vs_lock_acquire(&lock);
    assert_false(vs_lock_acquire_within(&lock, 1000000));
    vs_lock_release(&lock);
    assert_true(vs_lock_acquire_within(&lock, 1000000));
    vs_lock_release(&lock);
    assert_false(vs_lock_held());
}

static struct vs_cond turn;      /* under low */
static unsigned turn_of, rounds; /* guarded by low */

static void *take_turns(void *arg)
{
    unsigned mine = *(const unsigned *)arg;
    vs_lock_acquire(&low);
    for (unsigned i = 0; i < 2000; i++) {
        while (turn_of != mine)
            vs_cond_wait(&turn, &low, UINT64_MAX);
        rounds++;
        turn_of = !mine;
        vs_cond_signal(&turn);
    }
    vs_lock_release(&low);
    return NULL;
}

TEST(a_signal_wakes_the_thread_that_waits)
{
    pthread_t threads[2];
    static const unsigned names[2] = {0, 1};
    rounds = turn_of = 0;
    for (int i = 0; i < 2; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, take_turns, (void *)&names[i]), 0);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(rounds, 4000);
}

static void *wait_for_all(void *arg)
{
    bool *go = arg;
    vs_lock_acquire(&low);
    rounds++;
    while (!*go)
        vs_cond_wait(&turn, &low, UINT64_MAX);
    rounds--;
    vs_lock_release(&low);
    return NULL;
}

TEST(a_broadcast_wakes_everybody)
{
    pthread_t threads[3];
    bool go = false;
    rounds = 0;
    for (int i = 0; i < 3; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, wait_for_all, &go), 0);
    for (bool all = false; !all;) {
        vs_lock_acquire(&low);
        all = rounds == 3;
        go = all;
        if (all)
            vs_cond_broadcast(&turn);
        vs_lock_release(&low);
    }
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(rounds, 0);
}

TEST(a_wait_ends_at_its_time_with_the_lock_held)
{
    struct vs_cond nobody = {0};
    uint64_t start = vs_clock_ns();
    vs_lock_acquire(&low);
    while (vs_cond_wait(&nobody, &low, start + 20000000))
        ;
    assert_true(vs_clock_ns() - start >= 20000000);
    assert_true(vs_lock_held());
    vs_lock_release(&low);
    assert_false(vs_lock_held());
}
