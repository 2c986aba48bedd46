/* SPDX-License-Identifier: Apache-2.0
 *
 * Names for program counters, at report time: function, file and line, inlined calls included.
 * They come from the first source that has them: the trace itself (`vramscope symbolize`), the
 * cache on disk, or libdw, from the module's own file when its build id matches and from separate
 * debug files. Without any: module+0xoffset. Files are read by a separate process, which may
 * crash or run out of time without harm. Not thread-safe. */
#ifndef VS_SYMBOLS_H
#define VS_SYMBOLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/vs_err.h"
#include "trace/read/reader.h"

struct vs_symbols;

#define VS_SYMBOL_INLINES_MAX 64u /* symbols of one frame */

struct vs_symbol {
    const char *function; /* demangled; never NULL; "libfoo.so+0x1234" when unknown */
    const char *file;     /* NULL when unknown */
    unsigned line;        /* 0 when unknown */
    const char *module;   /* base name of the object */
    int inlined;          /* 1 when inlined into the next outer symbol */
    int known;            /* 0 when *function* is only an offset */
};

struct vs_symbols_progress {
    size_t resolved;      /* places so far */
    const char *module;   /* base name of the object being read */
    unsigned spent_ms;    /* time spent reading files so far, in this process */
};

/* Sources of names. Zero-initialised: the trace, the module's own file and /usr/lib/debug, without
 * a time limit. The caller owns the strings. */
struct vs_symbols_options {
    const char *debug_dirs; /* colon-separated; searched before /usr/lib/debug */
    const char *sysroot;    /* modules and debug files below it first; NULL: none */
    const char *cache_dir;  /* the disk cache; NULL: none */
    unsigned budget_ms;     /* for reading files, in the whole process; 0: no limit */
    bool debuginfod;        /* also ask the servers of DEBUGINFOD_URLS */
    bool prefer_files;            /* the trace's own names only where no other source has any */
    /* called about ten times a second while files are read; may be NULL */
    void (*progress)(void *arg, const struct vs_symbols_progress *progress);
    void *progress_arg;
};

/* vs_symbols_configure: sets the options of all later vs_symbols_open; copied. */
void vs_symbols_configure(const struct vs_symbols_options *options);

struct vs_symbols *vs_symbols_open(const struct vs_reader *reader);

/* vs_symbols_frame: the symbols of one frame, innermost inline first, at most *max* entries;
 * returns how many (at least 1 when max > 0). Strings live until vs_symbols_close. */
size_t vs_symbols_frame(struct vs_symbols *symbols, const struct vs_frame *frame,
                        struct vs_symbol *out, size_t max);

/* vs_symbols_missing: how many modules have frames without names because their file is missing or
 * its build id differs. */
size_t vs_symbols_missing(const struct vs_symbols *symbols);

#define VS_SYMBOLS_NOTE_MAX 1024
/* vs_symbols_note: writes which places have no name and why, in one line of at most
 * VS_SYMBOLS_NOTE_MAX bytes; "" when all have names. */
void vs_symbols_note(const struct vs_symbols *symbols, char *text);

/* vs_symbols_close: writes new names to the disk cache. NULL does nothing. */
void vs_symbols_close(struct vs_symbols *symbols);

/* --- symbolize.c --- */

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
