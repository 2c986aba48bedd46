/* SPDX-License-Identifier: Apache-2.0
 *
 * Names for program counters, at report time, by libdw: function, file and line,
 * inlined calls included, from the module's own file when its build id matches,
 * or its separate debug file under /usr/lib/debug. Without any: the symbol
 * table's name; without that: module+0xoffset. Results are kept. Not
 * thread-safe. */
#ifndef VS_SYMBOLS_H
#define VS_SYMBOLS_H

#include <stddef.h>

#include "base/vs_err.h"
#include "trace/reader.h"

struct vs_symbols;

struct vs_symbol {
    const char *function; /* demangled; never NULL; "libfoo.so+0x1234" when unknown */
    const char *file;     /* NULL when unknown */
    unsigned line;        /* 0 when unknown */
    const char *module;   /* base name of the object */
    int inlined;          /* 1 when inlined into the next outer symbol */
    int known;            /* 0 when *function* is only an offset */
};

enum vs_err vs_symbols_open(const struct vs_reader *reader, struct vs_symbols **out) VS_MUST_CHECK;

/* vs_symbols_frame: the symbols of one frame, innermost inline first, into at most
 * *max* entries; returns how many (at least 1 when max > 0). Strings live until
 * vs_symbols_close. */
size_t vs_symbols_frame(struct vs_symbols *symbols, const struct vs_frame *frame,
                        struct vs_symbol *out, size_t max);

/* vs_symbols_missing: how many modules had a file that is gone or whose build id
 * differs; *first* (may be NULL) gets the path of one, or NULL. */
size_t vs_symbols_missing(const struct vs_symbols *symbols, const char **first);

void vs_symbols_close(struct vs_symbols *symbols);

#endif
