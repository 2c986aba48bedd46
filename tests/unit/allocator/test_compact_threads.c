/* SPDX-License-Identifier: Apache-2.0
 *
 * Four threads under the compact policy, on their own and each other's streams, for
 * ThreadSanitizer; an owner for the first and the last 512 bytes of each block and every 32 KiB
 * between, by physical memory, proves that no memory is allocated twice, at any address. Workers
 * count errors; the main thread asserts. */
#include <pthread.h>
#include <stdatomic.h>

#include "allocator_test.h"

#define THREADS 4
#define HELD 24
#define PAGES 16384 /* ever made */
#define GRANULES (VS_PAGE_BYTES / 512)

static atomic_uchar owners[PAGES][GRANULES];
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

static void own(struct worker *w, const struct vs_allocation *a, unsigned char from,
                unsigned char to)
{
    for (uint64_t at = a->addr; at < a->addr + a->size;) {
        uint64_t handle, offset;
        pthread_mutex_lock(&device.mu);
        bool mapped = fake_memory_at(&device.memory, at, &handle, &offset);
        pthread_mutex_unlock(&device.mu);
        if (!mapped || handle >= PAGES) {
            w->unexpected++;
            return;
        }
        for (uint64_t g = offset / 512; g < GRANULES && at < a->addr + a->size; g++, at += 512) {
            unsigned char expected = from;
            if (g % 64 && at != a->addr && at + 512 != a->addr + a->size)
                continue; /* the soak test checks every one */
            if (!atomic_compare_exchange_strong_explicit(&owners[handle][g], &expected, to,
                                                         memory_order_relaxed,
                                                         memory_order_relaxed))
                w->overlaps++;
        }
    }
}

static void allocate(struct worker *w, struct vs_allocation *slot)
{
    uint64_t bytes = 1 + draw(w, draw(w, 4) ? 12 * MIB : 64 * KIB);
    uint64_t stream = draw(w, 4) ? w->id : draw(w, THREADS + 1);
    enum vs_err err = vs_allocator_malloc(allocator, bytes, stream, slot);
    if (err == VS_ERR_DEVICE_OOM)
        w->ooms++;
    else if (err)
        w->unexpected++;
    else
        own(w, slot, 0, w->id);
    if (err)
        slot->addr = 0;
}

static void release(struct worker *w, struct vs_allocation *slot)
{
    if (draw(w, 4) == 0)
        w->unexpected +=
            vs_allocator_record_stream(allocator, slot->addr, draw(w, THREADS + 1)) != VS_OK;
    own(w, slot, w->id, 0);
    w->unexpected += vs_allocator_free(allocator, slot->addr) != VS_OK;
    slot->addr = 0;
}

static void *work(void *arg)
{
    struct worker *w = arg;
    for (int i = 0; i < 3000; i++) {
        struct vs_allocation *slot = &w->held[draw(w, HELD)];
        if (slot->addr)
            release(w, slot);
        else
            allocate(w, slot);
        uint64_t chance = draw(w, 1000);
        if (chance < 40)
            fake_device_complete(&device, draw(w, THREADS + 1), UINT32_MAX);
        else if (chance < 42)
            w->unexpected += vs_allocator_empty_cache(allocator, NULL) != VS_OK;
        else if (chance < 50)
            w->unexpected += vs_allocator_check(allocator) != VS_OK;
    }
    for (int i = 0; i < HELD; i++) {
        if (w->held[i].addr)
            release(w, &w->held[i]);
    }
    return NULL;
}

static void run(enum vs_reuse reuse, uint64_t capacity)
{
    const struct vs_allocator_config config = {.policy = VS_POLICY_COMPACT, .reuse = reuse};
    static struct worker workers[THREADS];
    pthread_t threads[THREADS];
    memset(workers, 0, sizeof workers);
    memset(owners, 0, sizeof owners);
    fake_device_init(&device, capacity);
    assert_int_equal(
        vs_allocator_create(&config, &fake_device_ops, &device, NULL, NULL, &allocator), VS_OK);
    for (int i = 0; i < THREADS; i++) {
        workers[i].id = (unsigned char)(i + 1);
        workers[i].random = (uint64_t)(i + 77) * 1234567;
        assert_int_equal(pthread_create(&threads[i], NULL, work, &workers[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        assert_int_equal(workers[i].overlaps, 0);
        assert_int_equal(workers[i].unexpected, 0);
    }
    assert_int_equal(vs_allocator_check(allocator), VS_OK);
    vs_allocator_destroy(allocator);
    assert_int_equal(device.used, 0);
    fake_device_free(&device);
}

TEST(threads_never_share_memory)
{
    run(VS_REUSE_STREAM_ORDERED, 4 * GIB);
}

TEST(threads_on_a_small_device_never_share_memory)
{
    run(VS_REUSE_STREAM_ORDERED, 384 * MIB);
}

TEST(threads_waiting_for_reuse_never_share_memory)
{
    run(VS_REUSE_AFTER_SYNC, 512 * MIB);
}
