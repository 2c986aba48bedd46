/* SPDX-License-Identifier: Apache-2.0
 *
 * Four threads on one allocator, for ThreadSanitizer and for what it cannot see:
 * an owner map of every 512 bytes of the fake device's address space proves that
 * no two live blocks overlap. Workers count what is wrong; the main thread
 * asserts. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "allocator_test.h"

#define THREADS 4
#define ROUNDS 12000
#define HELD 24
#define SPACE (512 * MIB)

static atomic_uchar owners[SPACE / 512];
static struct fake_device device;
static struct vs_allocator *allocator;

struct worker {
    unsigned char id;
    uint64_t random;
    struct vs_allocation held[HELD];
    int overlaps, unexpected, ooms;
};

static uint64_t draw(struct worker *w, uint64_t below)
{
    w->random = w->random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (w->random >> 33) % below;
}

static void own(struct worker *w, const struct vs_allocation *a, unsigned char from, unsigned char to)
{
    for (uint64_t at = (a->addr - FAKE_BASE) / 512; at < (a->addr - FAKE_BASE + a->size) / 512; at++) {
        unsigned char expected = from;
        if (!atomic_compare_exchange_strong_explicit(&owners[at], &expected, to, memory_order_relaxed,
                                                     memory_order_relaxed))
            w->overlaps++;
    }
}

static void allocate(struct worker *w, struct vs_allocation *slot)
{
    uint64_t bytes = draw(w, 20) ? 1 + draw(w, 64 * KIB) : 1 + draw(w, 3 * MIB);
    enum vs_err err = vs_allocator_malloc(allocator, bytes, 1 + draw(w, 3), slot);
    if (err == VS_ERR_DEVICE_OOM)
        w->ooms++;
    else if (err || slot->requested != bytes || slot->size < bytes)
        w->unexpected++;
    else
        own(w, slot, 0, w->id);
    if (err)
        slot->addr = 0;
}

static void release(struct worker *w, struct vs_allocation *slot)
{
    struct vs_allocation found;
    bool live;
    if (draw(w, 4) == 0)
        w->unexpected += vs_allocator_record_stream(allocator, slot->addr, draw(w, 5)) != VS_OK;
    w->unexpected += vs_allocator_find(allocator, slot->addr + slot->size - 1, &found, &live) != VS_OK ||
                     !live || found.addr != slot->addr;
    own(w, slot, w->id, 0);
    w->unexpected += vs_allocator_free(allocator, slot->addr) != VS_OK;
    slot->addr = 0;
}

static void *work(void *arg)
{
    struct worker *w = arg;
    for (int i = 0; i < ROUNDS; i++) {
        struct vs_allocation *slot = &w->held[draw(w, HELD)];
        if (slot->addr)
            release(w, slot);
        else
            allocate(w, slot);
        uint64_t chance = draw(w, 1000);
        if (chance < 20)
            fake_device_complete(&device, draw(w, 5), draw(w, 2000));
        else if (chance < 22)
            w->unexpected += vs_allocator_empty_cache(allocator, NULL) != VS_OK;
        else if (chance < 25)
            w->unexpected += vs_allocator_check(allocator) != VS_OK;
        else if (chance < 60)
            vs_allocator_sync_end(allocator, vs_allocator_sync_begin(allocator));
    }
    for (int i = 0; i < HELD; i++) {
        if (w->held[i].addr)
            release(w, &w->held[i]);
    }
    return NULL;
}

static void four_threads_never_share_a_byte(enum vs_reuse mode)
{
    static struct worker workers[THREADS];
    struct vs_allocator_config config = {.reuse = mode};
    pthread_t threads[THREADS];
    memset(workers, 0, sizeof workers);
    fake_device_init(&device, 160 * MIB); /* small enough that addresses stay in SPACE */
    assert_int_equal(vs_allocator_create(&config, &fake_device_ops, &device, NULL, NULL, &allocator),
                     VS_OK);
    for (int i = 0; i < THREADS; i++) {
        workers[i].id = (unsigned char)(i + 1);
        workers[i].random = (uint64_t)(i + 77) * 1234567;
        assert_int_equal(pthread_create(&threads[i], NULL, work, &workers[i]), 0);
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < THREADS; i++) {
        assert_int_equal(workers[i].overlaps, 0);
        assert_int_equal(workers[i].unexpected, 0);
    }
    assert_int_equal(vs_allocator_check(allocator), VS_OK);
    assert_int_equal(vs_allocator_empty_cache(allocator, NULL), VS_OK);
    struct vs_allocator_stats s;
    vs_allocator_stats(allocator, &s);
    assert_int_equal(s.reserved_bytes[VS_STAT_ALL].current, 0); /* nothing leaked */
    assert_true(s.allocation[VS_STAT_ALL].allocated > THREADS * ROUNDS / 4);
    assert_int_equal(s.num_reuse_syncs > 0, mode == VS_REUSE_AFTER_SYNC);
    assert_int_equal(device.segment_count, 0);
    vs_allocator_destroy(allocator);
}

static void threads_with_streams_never_share_a_byte(void **state)
{
    (void)state;
    four_threads_never_share_a_byte(VS_REUSE_STREAM_ORDERED);
}

static void threads_with_synchronisation_never_share_a_byte(void **state)
{
    (void)state;
    four_threads_never_share_a_byte(VS_REUSE_AFTER_SYNC);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(threads_with_streams_never_share_a_byte),
        cmocka_unit_test(threads_with_synchronisation_never_share_a_byte),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
