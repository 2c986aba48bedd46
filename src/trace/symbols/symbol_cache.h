/* SPDX-License-Identifier: Apache-2.0
 *
 * Names that are known already: in the cache on disk, and in the trace itself. */
#ifndef VS_SYMBOL_CACHE_H
#define VS_SYMBOL_CACHE_H

#include "trace/read/reader.h"
#include "trace/symbols/elf_object.h"
#include "trace/symbols/symbol_set.h"

#define VS_SYMBOL_CACHE_BYTES_MAX (UINT64_C(256) << 20) /* of all files together */

/* The source of a file's names. */
struct vs_symbol_source {
    struct vs_debug_signature signature;
    char link[VS_DEBUG_LINK_MAX];
};

/* vs_symbol_cache_load: loads the names of *build_id* into *set*, as module 0. VS_ERR_NOT_FOUND
 * when there are no usable ones. */
enum vs_err vs_symbol_cache_load(const char *dir, const char *build_id, struct vs_symbol_set *set,
                                 struct vs_symbol_source *source) VS_MUST_CHECK;

/* vs_symbol_cache_store: replaces them. *dir* is created if needed. On failure the old file stays.
 * VS_ERR_IO, VS_ERR_ARG for an invalid build id. */
enum vs_err vs_symbol_cache_store(const char *dir, const char *build_id, struct vs_symbol_set *set,
                                  const struct vs_symbol_source *source);

/* vs_symbol_cache_trim: removes the least recently used files until the total is at most
 * *bytes*. */
void vs_symbol_cache_trim(const char *dir, uint64_t bytes);

/* vs_symbol_cache_decode: like vs_symbol_cache_load, from the bytes of a file. */
enum vs_err vs_symbol_cache_decode(const unsigned char *bytes, size_t count, const char *build_id,
                                   struct vs_symbol_set *set, struct vs_symbol_source *source)
    VS_MUST_CHECK;

/* vs_trace_symbols_load: loads all of them into the zeroed *set*; later ones replace earlier ones.
 * Damaged frames are skipped. Cost: reads those frames only. */
void vs_trace_symbols_load(const struct vs_reader *reader, struct vs_symbol_set *set);

/* vs_symbols_place: the names of *offset* in module *module* of the trace, with their quality; NULL
 * when there are none. Valid until the next call on *symbols*. */
const struct vs_symbol_entry *vs_symbols_place(struct vs_symbols *symbols, uint32_t module,
                                               uint64_t offset);

#endif
