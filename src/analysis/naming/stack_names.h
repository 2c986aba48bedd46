/* SPDX-License-Identifier: Apache-2.0
 *
 * The stacks of call sites as lists of named frames, for formats that show whole stacks: the names
 * are those of the report (src/analysis/naming), every frame with whose code it is. Frames and
 * stacks are named once and kept. Memory: the frames and stacks asked for. Not thread-safe. */
#ifndef VS_STACK_NAMES_H
#define VS_STACK_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace/read/reader.h"

/* Whose code a frame is. */
enum vs_frame_owner {
    VS_OWNER_USER = 0,
    VS_OWNER_LIBRARY,
    VS_OWNER_NONE, /* not a function: a device, memory without a stack */
};

struct vs_named_frame {
    const char *name;     /* "forward (net.py:12)", without control characters */
    const char *function; /* "forward" */
    const char *file;     /* as recorded; NULL when unknown */
    const char *library;  /* "torch"; "" for the user's; "unknown": in no object */
    unsigned line;        /* 0 when unknown */
    enum vs_frame_owner owner;
    bool python;
    uint64_t pc;          /* of native code; 0: none */
    uint32_t object;      /* its module's index, or VS_NO_MODULE */
    bool inlined;         /* into the next outer frame of the stack */
    uint32_t same;        /* the first frame with this text: calls at several addresses are one */
};

#define VS_NAMED_FRAMES_MAX 192 /* of one named stack */

/* A stack: numbers of frames, the outermost first. Valid until vs_stack_names_close. */
struct vs_named_stack {
    const uint32_t *frames;
    size_t count; /* at least 1 */
    size_t lead;  /* as many up to the most informative one: the innermost Python function, or what PyTorch computes */
    size_t own;   /* as many up to the innermost of these that names the call site; 0: none does */
};

/* Identifies a stack to name. */
struct vs_stack_of {
    uint64_t stack; /* id in the trace; 0: none recorded */
    uint64_t mark;  /* string id of the user's line (user_line.c), 0: none: for stacks without Python
                     * code of the user's it is the outermost frame */
    uint64_t api;   /* string id; names memory without a stack */
    bool tensor;    /* likewise: a framework's block */
};

struct vs_stack_names;

/* vs_stack_names_open: *reader* must outlive it. */
struct vs_stack_names *vs_stack_names_open(const struct vs_reader *reader);

/* vs_stack_names_of: the named stack of *of*. Cost: looks up symbols of stacks that it was not
 * asked for before. */
struct vs_named_stack vs_stack_names_of(struct vs_stack_names *names, const struct vs_stack_of *of);

/* vs_stack_names_label: the number of a frame that is no function, named *text*. */
uint32_t vs_stack_names_label(struct vs_stack_names *names, const char *text);

/* vs_stack_names_frame: frame number *frame*. Valid until the next call of the functions above; its
 * strings until close. */
const struct vs_named_frame *vs_stack_names_frame(const struct vs_stack_names *names,
                                                  uint32_t frame);

/* vs_stack_names_count: how many frames there are so far: numbers are below it. */
size_t vs_stack_names_count(const struct vs_stack_names *names);

/* vs_stack_names_symbols: for functions that look up names of the same trace. */
struct vs_symbols *vs_stack_names_symbols(struct vs_stack_names *names);

void vs_stack_names_close(struct vs_stack_names *names); /* NULL does nothing */

#endif
