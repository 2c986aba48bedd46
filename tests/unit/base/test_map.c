/* SPDX-License-Identifier: Apache-2.0
 *
 * The hash map against a simple equivalent: an array indexed by key number. Keys look like device
 * addresses, which collide most. */
#include "support/cmocka_test.h"

#include "base/vs_map.h"

#define KEYS 3000

struct model {
    bool present[KEYS];
    uint64_t value[KEYS];
    size_t count;
};

/* key_of: spread over low bits, high bits and neighbours, never 0. */
static uint64_t key_of(uint32_t number, int shape)
{
    switch (shape) {
    case 0:
        return UINT64_C(0x7f0000000000) + (uint64_t)number * 512;
    case 1:
        return (uint64_t)number + 1;
    case 2:
        return ((uint64_t)number + 1) << 40;
    default:
        return UINT64_C(0x7f0000000000) + (uint64_t)number * (2u << 20);
    }
}

static void step(struct vs_map *map, struct model *model, int shape, uint64_t *seed, unsigned put_percent)
{
    uint32_t i = (uint32_t)(vs_random(seed) % KEYS);
    uint64_t key = key_of(i, shape), value = vs_random(seed);
    if (vs_random(seed) % 100 < put_percent) {
        assert_int_equal(vs_map_put(map, key, value), VS_OK);
        model->count += !model->present[i];
        model->present[i] = true;
        model->value[i] = value;
        return;
    }
    uint64_t old = 99;
    assert_int_equal(vs_map_remove(map, key, &old), model->present[i]);
    assert_int_equal(old, model->present[i] ? model->value[i] : 99);
    model->count -= model->present[i];
    model->present[i] = false;
}

TEST(random_puts_and_removals_agree_with_an_array)
{
    for (int shape = 0; shape < 4; shape++) {
        struct vs_map map = {0};
        struct model *model = calloc(1, sizeof *model);
        uint64_t seed = 1 + (uint64_t)shape;
        for (int round = 0; round < 40; round++) {
            /* phases of growth and of draining, so that deletions happen in long runs */
            for (int i = 0; i < 1000; i++)
                step(&map, model, shape, &seed, round % 8 < 4 ? 70 : 25);
            assert_int_equal(map.count, model->count);
            for (uint32_t i = 0; i < KEYS; i++) {
                uint64_t *value = vs_map_get(&map, key_of(i, shape));
                assert_int_equal(value != NULL, model->present[i]);
                if (value)
                    assert_int_equal(*value, model->value[i]);
            }
            size_t cursor = 0, seen = 0;
            for (const struct vs_map_slot *s; (s = vs_map_next(&map, &cursor)); seen++)
                assert_ptr_equal(vs_map_get(&map, s->key), &s->value);
            assert_int_equal(seen, model->count);
        }
        vs_map_free(&map);
        free(model);
    }
}

TEST(a_drained_map_is_empty_and_usable)
{
    struct vs_map map = {0};
    for (int pass = 0; pass < 3; pass++) {
        for (uint32_t i = 0; i < KEYS; i++)
            assert_int_equal(vs_map_put(&map, key_of(i, 0), i), VS_OK);
        for (uint32_t i = KEYS; i-- > 0;)
            assert_true(vs_map_remove(&map, key_of(i, 0), NULL));
        assert_int_equal(map.count, 0);
        size_t cursor = 0;
        assert_null(vs_map_next(&map, &cursor));
    }
    assert_true(map.capacity <= 8192); /* insertions and deletions alone do not grow it */
    vs_map_free(&map);
    assert_null(map.slots);
}

TEST(a_second_put_replaces)
{
    struct vs_map map = {0};
    assert_int_equal(vs_map_put(&map, 7, 1), VS_OK);
    assert_int_equal(vs_map_put(&map, 7, 2), VS_OK);
    assert_int_equal(map.count, 1);
    assert_int_equal(*vs_map_get(&map, 7), 2);
    vs_map_free(&map);
}

TEST(key_zero_is_refused_and_never_found)
{
    struct vs_map map = {0};
    assert_int_equal(vs_map_put(&map, 0, 1), VS_ERR_ARG);
    assert_int_equal(vs_map_put(&map, 1, 1), VS_OK);
    assert_null(vs_map_get(&map, 0));
    assert_false(vs_map_remove(&map, 0, NULL));
    assert_int_equal(map.count, 1);
    vs_map_free(&map);
}

TEST(an_empty_map_answers)
{
    struct vs_map map = {0};
    size_t cursor = 0;
    assert_null(vs_map_get(&map, 5));
    assert_false(vs_map_remove(&map, 5, NULL));
    assert_null(vs_map_next(&map, &cursor));
    vs_map_free(&map);
}
