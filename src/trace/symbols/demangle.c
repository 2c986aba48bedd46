/* SPDX-License-Identifier: Apache-2.0
 *
 * Demangles C++ and Rust names with libiberty, the demangler of GCC and binutils. A short name
 * can expand to gigabytes of text, by repeated parts that contain repeated parts: after
 * VS_DEMANGLED_MAX bytes libiberty is left by longjmp; it holds no allocated memory at that
 * point. */
#include "trace/symbols/demangle.h"

#include <demangle.h>
#include <setjmp.h>
#include <string.h>

#include "base/reading/vs_xalloc.h"

struct text {
    size_t used;
    jmp_buf full;
    char bytes[VS_DEMANGLED_MAX];
};

static void append(const char *part, size_t bytes, void *arg)
{
    if (!bytes)
        return; /* *part* may be NULL then */
    struct text *text = arg;
    size_t room = sizeof text->bytes - 1 - text->used;
    memcpy(text->bytes + text->used, part, bytes < room ? bytes : room);
    text->used += bytes < room ? bytes : room;
    if (bytes > room)
        longjmp(text->full, 1);
}

char *vs_demangle(const char *name)
{
    struct text text;
    text.used = 0;
    if (setjmp(text.full) == 0 && !rust_demangle_callback(name, 0, append, &text)) {
        text.used = 0;
        if (strncmp(name, "_Z", 2) != 0 ||
            !cplus_demangle_v3_callback(name, DMGL_PARAMS | DMGL_TYPES, append, &text))
            return NULL;
    }
    return vs_xstrndup(text.bytes, text.used);
}
