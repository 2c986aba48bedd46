/* SPDX-License-Identifier: Apache-2.0
 *
 * Sets of names: encoding and decoding restores them, and they respect their memory budget. */
#include "unit/trace/trace_test.h"

#include "trace/symbols/symbol_set.h"

TEST(a_set_comes_back_from_its_bytes)
{
    struct vs_symbol_set set = {.budget = 64 << 20}, back = {.budget = 64 << 20};
    uint64_t seed = 3;
    unsigned char *payload = malloc(VS_FRAME_RAW_MAX);
    assert_non_null(payload);
    char function[64], file[64];
    for (int i = 0; i < 5000; i++) {
        struct vs_symbol symbols[3];
        size_t count = vs_random(&seed) % 4;
        for (size_t k = 0; k < count; k++) {
            snprintf(function, sizeof function, "f%d", (int)(vs_random(&seed) % 300));
            snprintf(file, sizeof file, "dir/%d.c", (int)(vs_random(&seed) % 50));
            symbols[k] = (struct vs_symbol){.function = strdup(function), .file = strdup(file),
                                            .line = (unsigned)vs_random(&seed), .known = 1};
        }
        assert_int_equal(vs_symbol_set_put(&set, (uint32_t)(vs_random(&seed) % 5),
                                           vs_random(&seed) >> vs_random(&seed) % 64,
                                           VS_LEVEL_LINES, symbols, count), VS_OK);
        for (size_t k = 0; k < count; k++) {
            free((char *)symbols[k].function);
            free((char *)symbols[k].file);
        }
    }
    size_t next = 0, bytes, payloads = 0;
    while (next < set.count) { /* little room: many payloads */
        assert_int_equal(vs_symbol_set_encode(&set, &next, payload, 6000, &bytes), VS_OK);
        assert_true(bytes <= 6000);
        assert_int_equal(vs_symbol_set_decode(&back, payload, bytes), VS_OK);
        payloads++;
    }
    assert_true(payloads > 3);
    assert_int_equal(back.count, set.count);
    for (size_t i = 0; i < set.count; i++) {
        const struct vs_symbol_entry *a = set.entries[i];
        const struct vs_symbol_entry *b = vs_symbol_set_find(&back, a->module, a->offset);
        assert_true(b && a->count == b->count && a->level == b->level);
        for (size_t k = 0; k < a->count; k++) {
            assert_string_equal(a->symbols[k].function, b->symbols[k].function);
            assert_string_equal(a->symbols[k].file, b->symbols[k].file);
            assert_int_equal(a->symbols[k].line, b->symbols[k].line);
            assert_int_equal(b->symbols[k].inlined, k + 1 < a->count);
        }
    }
    vs_symbol_set_free(&set);
    vs_symbol_set_free(&back);
    free(payload);
}

TEST(a_set_stops_at_its_budget)
{
    struct vs_symbol_set set = {.budget = 64 << 10};
    struct vs_symbol symbol = {.function = "f", .known = 1};
    enum vs_err err = VS_OK;
    uint64_t i = 0;
    for (; i < 100000 && !err; i++)
        err = vs_symbol_set_put(&set, 0, i, VS_LEVEL_TABLE, &symbol, 1);
    assert_int_equal(err, VS_ERR_LIMIT);
    assert_non_null(vs_symbol_set_find(&set, 0, 0));
    assert_true(set.arena.bytes_mapped < 1 << 20);
    vs_symbol_set_free(&set);
}
