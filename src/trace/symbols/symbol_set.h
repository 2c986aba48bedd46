/* SPDX-License-Identifier: Apache-2.0
 *
 * Names of places in modules, in memory and as bytes: the payload of a symbols frame
 * (docs/internals/trace-format.md §2.7), of a file of the symbol cache and of a worker's answer.
 * Decoding is safe for any bytes: every length is checked and the caller limits the memory. For
 * src/trace, its tests, and imports of traces with names. Not thread-safe. */
#ifndef VS_SYMBOL_SET_H
#define VS_SYMBOL_SET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/vs_arena.h"
#include "base/vs_err.h"
#include "base/vs_map.h"
#include "trace/symbols/symbols.h"

/* Quality of a module's names when they were made; higher is better. */
enum vs_symbol_level {
    VS_LEVEL_NONE = 0,
    VS_LEVEL_TABLE = 1, /* symbol tables: functions only */
    VS_LEVEL_LINES = 2, /* debug information: functions, files, lines, inlined calls */
};

/* One place. A symbol with function "" is unknown; module is "", and all but the last are inlined
 * into the next. No symbols: looked up without result. */
struct vs_symbol_entry {
    uint64_t offset;
    size_t at; /* index in the set's list */
    uint32_t module, count;
    enum vs_symbol_level level;
    struct vs_symbol symbols[];
};

/* Zero-initialise, and set *budget*. */
struct vs_symbol_set {
    struct vs_arena arena;
    struct vs_map places; /* hash -> struct vs_symbol_entry * */
    struct vs_map texts;  /* hash -> const char * */
    struct vs_symbol_entry **entries;
    size_t count, capacity;
    uint64_t budget; /* bytes of memory left to use */
    bool sorted;
};

/* vs_symbol_set_put: adds or replaces a place; texts are copied. *count* at most
 * VS_SYMBOL_INLINES_MAX. VS_ERR_LIMIT when the budget is spent. */
enum vs_err vs_symbol_set_put(struct vs_symbol_set *set, uint32_t module, uint64_t offset,
                              enum vs_symbol_level level, const struct vs_symbol *symbols,
                              size_t count) VS_MUST_CHECK;

/* vs_symbol_set_find: NULL when the place is not in the set. Valid until vs_symbol_set_free. */
const struct vs_symbol_entry *vs_symbol_set_find(const struct vs_symbol_set *set, uint32_t module,
                                                 uint64_t offset);

/* vs_symbol_set_encode: writes entries from *next* on (in the order of module and offset) to *out*,
 * as many as fit *room*, and advances *next*. VS_ERR_LIMIT when not even one fits.
 * The set must not change between the calls that write it. */
enum vs_err vs_symbol_set_encode(struct vs_symbol_set *set, size_t *next, unsigned char *out,
                                 size_t room, size_t *bytes) VS_MUST_CHECK;

/* vs_symbol_set_decode: adds the places of a payload; those before a damaged record stay.
 * VS_ERR_CORRUPT, VS_ERR_LIMIT. */
enum vs_err vs_symbol_set_decode(struct vs_symbol_set *set, const unsigned char *payload,
                                 size_t bytes) VS_MUST_CHECK;

void vs_symbol_set_free(struct vs_symbol_set *set);

#endif
