/* SPDX-License-Identifier: Apache-2.0
 *
 * Converts a stack id to the chain of functions for a user: symbols looked up, the allocator's
 * internal frames (the runtime, the driver, our own library, operator new, thin cudaMalloc
 * templates) removed at the inner end, and the C library's start-up code at the outer end. Not
 * thread-safe. */
#ifndef VS_NAMING_H
#define VS_NAMING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/vs_err.h"
#include "trace/read/reader.h"
#include "trace/symbols/symbols.h"

#define VS_CHAIN_MAX 160 /* frames of one stack, inlined ones included */

struct vs_chain_frame {
    const char *function; /* never NULL */
    const char *file;     /* as in the debug information; NULL when unknown */
    const char *module;   /* base name of the object */
    unsigned line;
    bool inlined, known;
    bool python; /* a Python function */
};

/* vs_naming_chain: the user's frames of *stack*, innermost first, at most *max*; returns how many.
 * A stack with only internal frames is returned whole. 0 when there is no stack. Strings live as
 * long as *symbols*. */
size_t vs_naming_chain(const struct vs_reader *reader, struct vs_symbols *symbols, uint64_t stack,
                       struct vs_chain_frame *frames, size_t max);

/* vs_naming_lead: how many of *frames* come before the most informative one: the innermost Python
 * function, if there is one; the frames before it are the extension and the libraries that it
 * called. Otherwise 0. */
size_t vs_naming_lead(const struct vs_chain_frame *frames, size_t count);

/* vs_naming_is_plumbing: true when a frame of *function* in *module* (base name), *file* (may be
 * NULL), is part of the allocation path instead of the code that asked for memory. */
bool vs_naming_is_plumbing(const char *function, const char *module, const char *file);

/* vs_naming_is_startup: true for frames outside main or a thread's function. */
bool vs_naming_is_startup(const char *function, const char *module);

#endif
