/* SPDX-License-Identifier: Apache-2.0
 *
 * Writes names into a trace, so that it can be read on machines without the programs' files. Uses
 * the options of vs_symbols_configure. Not thread-safe. */
#ifndef VS_SYMBOLIZE_H
#define VS_SYMBOLIZE_H

#include <stddef.h>
#include <stdint.h>

#include "base/vs_err.h"
#include "trace/read/reader.h"
#include "trace/symbols/symbols.h"

struct vs_symbolize_module {
    const char *name;      /* base name */
    size_t places, named;  /* `named` counts functions; places with a line only do not */
};

struct vs_symbolize_result {
    size_t places, named, with_lines, modules;
    size_t frame_bytes; /* of payload, before compression */
    uint64_t recovered; /* events that came from FILE.live */
    char note[VS_SYMBOLS_NOTE_MAX];
    /* modules with unnamed places, most of them first; owned, as are the names */
    struct vs_symbolize_module *unnamed;
    size_t unnamed_count;
};

/* vs_symbolize: names every place of the trace's stacks and writes the names into it, or into a
 * copy at *to* (may be NULL). Existing names stay where no better ones are found. On failure *why*
 * (VS_READER_WHY_MAX bytes) receives one line: as vs_rewrite_open. The caller frees *out* in any
 * case. */
enum vs_err vs_symbolize(const char *path, const char *to, struct vs_symbolize_result *out,
                         char *why) VS_MUST_CHECK;

void vs_symbolize_free(struct vs_symbolize_result *result);

#endif
