/* SPDX-License-Identifier: Apache-2.0
 *
 * C++'s and Rust's names by libiberty, whose demangler GCC and binutils use. A short name
 * can stand for a text of gigabytes, by parts that repeat parts that repeat parts: after
 * VS_DEMANGLED_MAX bytes libiberty is left by longjmp, which it holds no memory during. */
#include "trace/symbols/demangle.h"

#include <demangle.h>
#include <setjmp.h>
#include <string.h>

struct text {
    size_t used;
    jmp_buf full;
    char bytes[VS_DEMANGLED_MAX];
};

static void append(const char *part, size_t bytes, void *arg)
{
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
    return strndup(text.bytes, text.used);
}
