/* SPDX-License-Identifier: Apache-2.0
 *
 * Names from any bytes: as the payload of a symbols frame, and as a file of the symbol cache.
 * Input: a byte of flags, then the bytes. Flag 1: a file of the cache, and flag 2 first corrects
 * its checksum; otherwise a payload. Decoded names are used, encoded and decoded again: the same
 * names must result. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "fuzz/check.h"
#include "trace/format/format.h"
#include "trace/symbols/symbol_cache.h"
#include "trace/symbols/symbol_set.h"

#define IS_FILE 1u
#define MAKE_RIGHT 2u
#define HEAD_BYTES 56u /* of a cache file; its last eight are the checksum */
#define BUILD_ID "00112233445566778899aabbccddeeff00112233"
#define BUDGET ((uint64_t)24 << 20)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void make_right(uint8_t *file, size_t size)
{
    XXH64_state_t state;
    if (size < HEAD_BYTES)
        return;
    XXH64_reset(&state, 0);
    XXH64_update(&state, file, HEAD_BYTES - 8);
    XXH64_update(&state, file + HEAD_BYTES, size - HEAD_BYTES);
    uint64_t sum = XXH64_digest(&state);
    memcpy(file + HEAD_BYTES - 8, &sum, sizeof sum);
}

static void compare(const struct vs_symbol_entry *a, const struct vs_symbol_entry *b)
{
    check(b && a->count == b->count && a->level == b->level);
    for (uint32_t i = 0; i < a->count; i++) {
        check(strcmp(a->symbols[i].function, b->symbols[i].function) == 0);
        check(!a->symbols[i].file == !b->symbols[i].file);
        check(!a->symbols[i].file || strcmp(a->symbols[i].file, b->symbols[i].file) == 0);
        check(a->symbols[i].line == b->symbols[i].line);
    }
}

static void use(struct vs_symbol_set *set)
{
    static unsigned char payload[256 << 10];
    struct vs_symbol_set again = {.budget = 4 * BUDGET};
    size_t next = 0, bytes;
    for (size_t i = 0; i < set->count; i++) {
        const struct vs_symbol_entry *entry = set->entries[i];
        check(entry->at == i && entry->count <= VS_SYMBOL_INLINES_MAX);
        check(vs_symbol_set_find(set, entry->module, entry->offset) == entry);
    }
    while (next < set->count) {
        if (vs_symbol_set_encode(set, &next, payload, sizeof payload, &bytes))
            break; /* one place with names that are all too long */
        check(bytes <= sizeof payload);
        check(!vs_symbol_set_decode(&again, payload, bytes));
    }
    for (size_t i = 0; i < set->count && next == set->count; i++)
        compare(set->entries[i], vs_symbol_set_find(&again, set->entries[i]->module,
                                                    set->entries[i]->offset));
    vs_symbol_set_free(&again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct vs_symbol_set set = {.budget = BUDGET};
    struct vs_symbol_source source;
    if (!size)
        return 0;
    uint8_t *bytes = malloc(size);
    check(bytes != NULL);
    memcpy(bytes, data + 1, --size);
    if ((data[0] & IS_FILE) && (data[0] & MAKE_RIGHT))
        make_right(bytes, size);
    if (!(data[0] & IS_FILE))
        (void)!vs_symbol_set_decode(&set, bytes, size);
    else if (!vs_symbol_cache_decode(bytes, size, BUILD_ID, &set, &source))
        check(strlen(source.link) < sizeof source.link);
    use(&set);
    check(set.arena.bytes_mapped <= 2 * BUDGET);
    vs_symbol_set_free(&set);
    free(bytes);
    return 0;
}
