/* SPDX-License-Identifier: Apache-2.0
 *
 * Random programs under the compact policy, with an owner for every 512 bytes of physical memory:
 * no byte belongs to two blocks, whatever their addresses. Streams, uses on other streams, a device
 * that is too small, one that fails at random, caches emptied at random. Every invariant is checked
 * every few steps.
 *
 *   test_compact_soak [STEPS [SEED]] */
#include <stdio.h>

#include "physical_owners.h"

#define BLOCKS 400

static const struct soak_case {
    const char *name;
    enum vs_reuse reuse;
    uint64_t streams, capacity, largest;
    bool faults;
} soaks[] = {
    {"no_byte_has_two_owners_on_one_stream", VS_REUSE_STREAM_ORDERED, 1, 8 * GIB, 24 * MIB, false},
    {"no_byte_has_two_owners_on_several_streams",
     VS_REUSE_STREAM_ORDERED, 4, 8 * GIB, 16 * MIB, false},
    {"no_byte_has_two_owners_when_the_device_is_small",
     VS_REUSE_STREAM_ORDERED, 3, 192 * MIB, 32 * MIB, false},
    {"memory_is_reused_after_a_synchronisation_only",
     VS_REUSE_AFTER_SYNC, 1, 8 * GIB, 24 * MIB, false},
    {"memory_is_reused_after_a_synchronisation_on_a_small_device",
     VS_REUSE_AFTER_SYNC, 1, 192 * MIB, 32 * MIB,
     false},
    {"nothing_is_lost_when_the_device_fails",
     VS_REUSE_STREAM_ORDERED, 3, 256 * MIB, 24 * MIB, true},
    {"nothing_is_lost_when_the_device_fails_to_synchronise",
     VS_REUSE_AFTER_SYNC, 1, 256 * MIB, 24 * MIB, true},
};

struct soak {
    struct fake_device device;
    struct vs_allocator *allocator;
    struct physical_owners owners;
    struct { uint64_t addr, size; } blocks[BLOCKS];
    const struct soak_case *of;
    uint64_t random, live, live_peak, reserved_peak, refused;
    size_t count;
};

static uint64_t steps = 6000, seed = 1;

static uint64_t below(struct soak *s, uint64_t n)
{
    return vs_random(&s->random) % n;
}

static void request(struct soak *s)
{
    struct vs_allocation got;
    uint64_t size, stream;
    switch (below(s, 6)) {
    case 0: size = 1 + below(s, 4096); break;
    case 1: size = 1 + below(s, MIB); break;
    case 2: size = VS_PAGE_BYTES * (1 + below(s, 4)); break;
    case 3: size = 1 + below(s, 4 * MIB); break;
    case 4: size = s->of->largest / 4 + 512 * below(s, 8); break; /* a few repeated sizes */
    default: size = 1 + below(s, s->of->largest);
    }
    stream = below(s, s->of->streams);
    enum vs_err err = vs_allocator_malloc(s->allocator, size, stream, &got);
    if (err) {
        assert_true(err == VS_ERR_DEVICE_OOM || (s->of->faults && err == VS_ERR_DEVICE));
        s->refused++;
        return;
    }
    s->blocks[s->count].addr = got.addr;
    s->blocks[s->count++].size = size;
    s->live += size;
    if (s->live > s->live_peak)
        s->live_peak = s->live;
    if (s->of->streams > 1 && below(s, 4) == 0)
        assert_int_equal(
            vs_allocator_record_stream(s->allocator, got.addr, below(s, s->of->streams)), VS_OK);
}

static void give_back(struct soak *s)
{
    size_t i = (size_t)below(s, s->count);
    assert_int_equal(vs_allocator_free(s->allocator, s->blocks[i].addr), VS_OK);
    s->live -= s->blocks[i].size;
    s->blocks[i] = s->blocks[--s->count];
}

static void step(struct soak *s)
{
    uint64_t what = below(s, 100), stream = below(s, s->of->streams);
    /* one operation of the device fails until the next step */
    struct fake_device *d = &s->device;
    d->fail_create = d->fail_map = d->fail_unmap = d->fail_sync = VS_OK;
    switch (!s->of->faults || below(s, 8) ? 4 : below(s, 4)) {
    case 0: d->fail_create = below(s, 2) ? VS_ERR_DEVICE : VS_ERR_DEVICE_OOM; break;
    case 1: d->fail_map = VS_ERR_DEVICE; break;
    case 2: d->fail_unmap = VS_ERR_DEVICE; break;
    case 3: d->fail_sync = VS_ERR_DEVICE; break;
    default: break;
    }
    if (what == 0 && below(s, 4) == 0) {
        uint64_t released;
        enum vs_err err = vs_allocator_empty_cache(s->allocator, &released);
        assert_true(err == VS_OK || s->of->faults);
    } else if (what < 4) {
        fake_device_complete(&s->device, stream, s->device.recorded[stream]);
    } else if (s->count == BLOCKS || (s->count && below(s, 100) < 49)) {
        give_back(s);
    } else {
        request(s);
    }
    assert_int_equal(s->owners.reserved, s->device.used);
    if (s->device.used > s->reserved_peak)
        s->reserved_peak = s->device.used;
}

ROWS(soaks, no_byte_has_two_owners)
{
    const struct soak_case *of = *state;
    const struct vs_allocator_config config = {.policy = VS_POLICY_COMPACT, .reuse = of->reuse};
    struct soak *s = calloc(1, sizeof *s);
    assert_non_null(s);
    s->of = of;
    s->random = seed;
    s->owners = (struct physical_owners){.device = &s->device,
                                         .after_sync = of->reuse == VS_REUSE_AFTER_SYNC};
    fake_device_init(&s->device, of->capacity);
    assert_int_equal(vs_allocator_create(&config, &fake_device_ops, &s->device, &physical_sink,
                                         &s->owners, &s->allocator),
                     VS_OK);
    for (uint64_t i = 0; i < steps; i++) {
        step(s);
        if (i % 16 == 0 || i > steps - 100)
            assert_int_equal(vs_allocator_check(s->allocator), VS_OK);
    }
    s->device.fail_create = s->device.fail_map = s->device.fail_unmap = VS_OK;
    s->device.fail_sync = VS_OK;
    while (s->count)
        give_back(s);
    uint64_t released;
    assert_int_equal(vs_allocator_empty_cache(s->allocator, &released), VS_OK);
    assert_int_equal(vs_allocator_check(s->allocator), VS_OK);
    assert_int_equal(s->device.used, 0);
    assert_int_equal(s->owners.live, 0);
    assert_int_equal(s->device.memory.mapping_count, 0);
    /* a range made for a request that then failed stays for the next one */
    assert_true(s->device.memory.range_count <= of->streams);
    vs_allocator_destroy(s->allocator);
    printf("%10.4f reserved over live at the peak, %5.1f MiB; %llu refused, %llu maps\n",
           (double)s->reserved_peak / (double)s->live_peak, (double)s->live_peak / MIB,
           (unsigned long long)s->refused, (unsigned long long)s->device.maps);
    physical_free(&s->owners);
    fake_device_free(&s->device);
    free(s);
}

int main(int argc, char **argv)
{
    if (argc > 1)
        steps = strtoull(argv[1], NULL, 10);
    if (argc > 2)
        seed = strtoull(argv[2], NULL, 10);
    return vs_run_tests(NULL, NULL);
}
