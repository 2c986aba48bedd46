/* SPDX-License-Identifier: Apache-2.0
 *
 * The names stored in a trace (symbols frames, `vramscope symbolize`). Private to src/trace and its
 * tests. */
#ifndef VS_TRACE_SYMBOLS_H
#define VS_TRACE_SYMBOLS_H

#include "trace/read/reader.h"
#include "trace/symbols/symbol_set.h"

/* vs_trace_symbols_load: loads all of them into the zeroed *set*; later ones replace earlier ones.
 * Damaged frames are skipped. Cost: reads those frames only. */
void vs_trace_symbols_load(const struct vs_reader *reader, struct vs_symbol_set *set);

/* vs_symbols_place: the names of *offset* in module *module* of the trace, with their quality; NULL
 * when there are none. Valid until the next call on *symbols*. */
const struct vs_symbol_entry *vs_symbols_place(struct vs_symbols *symbols, uint32_t module,
                                               uint64_t offset);

#endif
