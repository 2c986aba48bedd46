/* SPDX-License-Identifier: Apache-2.0
 *
 * The stacks of a PyTorch snapshot as stacks of the trace: Python frames as recorded ones, native
 * frames with the names that PyTorch looked up, in modules by their file or, where PyTorch gives
 * none, by the namespace of the function. Private to src/analysis/import. Not thread-safe. */
#ifndef VS_IMPORT_STACKS_H
#define VS_IMPORT_STACKS_H

#include <stdint.h>

#include "analysis/import/pickle.h"
#include "base/vs_map.h"
#include "trace/compose/composer.h"
#include "trace/symbols/symbol_set.h"

struct vs_import_frame;

struct vs_import_stacks {
    struct vs_composer *composer;
    struct vs_import_frame *frames; /* each distinct one; a frame's dict caches its place + 1 */
    size_t frame_count, frame_capacity;
    struct vs_map modules; /* by path and function -> index + 1 */
    struct vs_symbol_set names;
};

void vs_import_stacks_open(struct vs_import_stacks *stacks, struct vs_composer *composer);

/* vs_import_stack: the id of the stack with *frames* (innermost first; NULL: none). 0 for none. Each
 * list is read once. */
uint64_t vs_import_stack(struct vs_import_stacks *stacks, struct vs_pickle_list *frames);

/* vs_import_text: the string id of *text*; NULL: 0. */
uint64_t vs_import_text(struct vs_composer *composer, struct vs_pickle_text *text);

/* vs_import_stacks_close: writes the names to the trace, after its last event. */
enum vs_err vs_import_stacks_close(struct vs_import_stacks *stacks) VS_MUST_CHECK;

#endif
