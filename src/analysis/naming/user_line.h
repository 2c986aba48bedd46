/* SPDX-License-Identifier: Apache-2.0
 *
 * The user's own line that a memory event belongs to: the innermost Python frame outside of
 * installed packages and Python's library. Events of threads without Python frames (PyTorch's
 * backward) belong to the line that the Python part of vramscope marked last, "at FILE:LINE", as
 * long as the range is open in which it was marked, and until a mark "at end". Without any: the
 * function of the native stack. Not thread-safe. */
#ifndef VS_USER_LINE_H
#define VS_USER_LINE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/vs_arena.h"
#include "trace/format/event.h"
#include "trace/read/reader.h"
#include "trace/symbols/symbols.h"

/* The mark in force. Zero-initialise. */
struct vs_line_mark {
    uint64_t name; /* string id of "at FILE:LINE"; 0: none */
    uint32_t tid;
    unsigned depth; /* ranges opened since, and still open, on that thread */
};

/* vs_line_mark_event: follows marks and ranges. */
void vs_line_mark_event(struct vs_line_mark *mark, const struct vs_reader *reader,
                       const struct vs_event *event);

/* vs_user_line: the line of *stack* with the mark named *mark* (0: none), as text in *memory*:
 * "logits.float() (train.py:71)" where the source can be read, "train.py:71" without it or
 * without *source*, "main (a.cu:12)" for native code, "" when nothing is known. *native*: look up
 * names of native frames, which takes time for large libraries. NULL: out of memory. */
const char *vs_user_line(const struct vs_reader *reader, struct vs_symbols *symbols,
                        struct vs_arena *memory, uint64_t stack, uint64_t mark, bool source,
                        bool native);

/* vs_line_text: line *line* of the Python file *path* in the same form, in *memory*. NULL: out of
 * memory. */
const char *vs_line_text(struct vs_arena *memory, const char *path, unsigned line, bool source);

/* vs_user_line_of_event: the Python line, with its source, of the failed allocation that is event
 * number *event* (from 1) of a trace; "" if there is none. Reads the trace up to it. */
enum vs_err vs_user_line_of_event(struct vs_reader *reader, uint64_t event, struct vs_arena *memory,
                                 const char **line) VS_MUST_CHECK;

#endif
