/* SPDX-License-Identifier: Apache-2.0
 *
 * The modules of PyTorch (nn.Module) that blocks belong to, from the events torch_module and torch_tensor of
 * `vramscope run --modules`. A parameter, its gradient and its optimizer's state belong to the module that the
 * program names them by; every other block to the module that its thread ran when it was allocated. A block with
 * tensors of several modules belongs to the innermost module that has all of them. Not thread-safe. */
#ifndef VS_MODULES_H
#define VS_MODULES_H

#include <stddef.h>
#include <stdint.h>

#include "analysis/naming/kind.h"
#include "base/vs_arena.h"
#include "base/vs_map.h"
#include "trace/format/event.h"
#include "trace/read/reader.h"

/* A module in one pass. */
struct vs_module_scope {
    const char *text; /* of the reader: the first *length* bytes are "GPT:layers.0.attn" */
    uint32_t length;
    enum vs_torch_pass pass;
};

/* Zero-initialise, then vs_modules_init. */
struct vs_modules {
    struct vs_module_scope *items; /* [0]: in no module */
    size_t count, capacity;
    struct vs_map by_key;  /* hash of text and pass -> index */
    struct vs_map threads; /* tid + 1 -> index of what it runs */
};

void vs_modules_init(struct vs_modules *modules);
void vs_modules_free(struct vs_modules *modules);

/* vs_modules_run: applies a `torch_module`. _now: the number of what thread *tid* runs. */
void vs_modules_run(struct vs_modules *modules, const struct vs_reader *reader, const struct vs_event *event);
uint32_t vs_modules_now(const struct vs_modules *modules, uint32_t tid);

/* vs_modules_own: the number of the scope of a block of the scope *before*, in the same pass, that has a tensor named *name*
 * ("GPT:layers.0.attn.weight"). *first*: its earlier tensors have no names, or other ones now. */
uint32_t vs_modules_own(struct vs_modules *modules, uint32_t before, const char *name, bool first);

/* What one module itself, without the modules in it, holds of one kind. */
struct vs_module_row {
    const char *model; /* class of the outermost module, "GPT"; "": in no module */
    const char *path;  /* "layers.0.attn"; "": the outermost one itself */
    enum vs_kind kind;
    enum vs_torch_pass pass; /* in which the blocks were allocated */
    uint64_t bytes, blocks;
};

struct vs_module_rows {
    const struct vs_module_row *items; /* by model, path, kind, pass */
    size_t count;
    bool known;                        /* the trace has modules */
    uint64_t bytes;                    /* sum of the rows */
};

/* vs_torch_pass_name: "forward", "backward", "recomputed"; NULL for none. */
const char *vs_torch_pass_name(enum vs_torch_pass pass);

struct vs_kinds_table;

/* vs_module_rows: the blocks of *table*, which was asked for with blocks, by module, kind and pass; in *memory*. */
void vs_module_rows(struct vs_arena *memory, const struct vs_kinds_table *table, struct vs_module_rows *out);

#endif
