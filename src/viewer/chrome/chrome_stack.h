/* SPDX-License-Identifier: Apache-2.0
 *
 * Call stacks in a Chrome trace: each frame is written once, in "stackFrames", as a tree of
 * callers; an event refers to its innermost frame by "sf". For viewers that do not show these
 * (ui.perfetto.dev) an event also has the innermost frames as text. Internal to the Chrome
 * renderer. Memory and output are bounded; stacks beyond the limits are left out. */
#ifndef VS_CHROME_STACK_H
#define VS_CHROME_STACK_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/reading/vs_intern.h"
#include "base/vs_arena.h"
#include "base/vs_map.h"
#include "trace/read/reader.h"
#include "trace/symbols/symbols.h"

struct vs_chrome_stack {
    uint32_t frame; /* the innermost, by number from 1; 0: no stack */
    const char *text; /* "forward (net.py:12) < train (net.py:40)"; "" without a stack */
};

/* Zero-initialise, then set reader, which must outlive it. Not thread-safe. */
struct vs_chrome_stacks {
    const struct vs_reader *reader;
    struct vs_symbols *symbols; /* opened by the first stack */
    struct vs_map by_stack;
    struct vs_intern names;  /* of frames */
    struct vs_intern frames; /* {number of its caller's frame, from 1, or 0; number of its name} */
    const char **modules;    /* of frames */
    size_t module_capacity;
    struct vs_chrome_stack *stacks;
    size_t stack_count, stack_capacity;
    struct vs_arena memory;
};

/* vs_chrome_stack: symbolizes stack number *stack* of the trace. Strings live until
 * vs_chrome_stacks_free. */
struct vs_chrome_stack vs_chrome_stack(struct vs_chrome_stacks *stacks, uint64_t stack);

/* vs_chrome_stacks_write: writes all frames that were referred to, as the member "stackFrames". */
void vs_chrome_stacks_write(const struct vs_chrome_stacks *stacks, FILE *out);

void vs_chrome_stacks_free(struct vs_chrome_stacks *stacks);

#endif
