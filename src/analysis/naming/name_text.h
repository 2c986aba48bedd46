/* SPDX-License-Identifier: Apache-2.0
 *
 * Names from a trace as text: a program may put any characters into them, and a terminal must not
 * interpret those. No state. */
#ifndef VS_NAME_TEXT_H
#define VS_NAME_TEXT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/vs_arena.h"

/* vs_text_width: columns of a UTF-8 text (one per code point). */
size_t vs_text_width(const char *text);

/* vs_text_clip: writes *text*, truncated to at most *columns* columns with "…" at the end, to *out*
 * (4 * columns + 4 bytes); control characters become '?'. Returns out. */
char *vs_text_clip(char *out, const char *text, size_t columns);

/* vs_text_next: returns the character at **text* and advances **text*; a control character, which a
 * terminal would interpret, becomes '?'. */
char vs_text_next(const char **text);

/* vs_text_clean: replaces control characters by '?', in place. Returns text. */
char *vs_text_clean(char *text);

/* vs_text_copy: *text* copied into *memory*; "" for NULL. */
const char *vs_text_copy(struct vs_arena *memory, const char *text);

/* Names of functions as a debugger or demangler gives them, and as call sites show them: without
 * parameters, return type, inline namespaces of an ABI and long template arguments. No state. */

/* vs_function_text: "void thrust::THRUST_300001_SM_900_NS::sort<…long…>(first, last)" as
 * "thrust::sort<…>" in *out* of *max* bytes, at least 1; longer names are cut. Template arguments of
 * a few characters stay: alloc<int> and alloc<float> are two functions. Returns the length. */
size_t vs_function_text(const char *function, char *out, size_t max);

/* vs_function_qualified: *function* without its return type: it begins with its outermost namespace or
 * class. A part of *function*. */
const char *vs_function_qualified(const char *function);

/* vs_process_name: "train.py" for "python3 -u train.py --lr 1", "pytest" for "python -m pytest",
 * otherwise the name of the executable; in *out* (*size* bytes). Returns out. */
char *vs_process_name(const char *exe, const char *cmdline, char *out, size_t size);

/* vs_process_words: the same. Returns what follows that name in *cmdline*: its arguments. */
const char *vs_process_words(const char *exe, const char *cmdline, char *out, size_t size);

#endif
