/* SPDX-License-Identifier: Apache-2.0
 *
 * Who made a block: the part of PyTorch or of the user's program that its stack belongs to. Python
 * frames decide, the innermost one that a rule names (maker_table.h); native frames tell the
 * autograd engine, the scratch memory of libraries and the operation that the user's code called.
 * Every stack is looked at once. Memory: a row for each stack and function. Not thread-safe. */
#ifndef VS_MAKER_H
#define VS_MAKER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/naming/kind.h"
#include "base/vs_map.h"
#include "trace/read/reader.h"
#include "trace/symbols/symbols.h"

enum vs_maker {
    VS_MAKER_NONE = 0,        /* in the table: the next frame decides */
    VS_MAKER_MODULE,          /* construction, conversion or loading of modules */
    VS_MAKER_CONSTRUCTOR,     /* an __init__ of a class that may be a module */
    VS_MAKER_STATE,           /* the optimizer's state */
    VS_MAKER_OPTIMIZER,       /* other memory of an optimizer's step */
    VS_MAKER_FORWARD,
    VS_MAKER_BACKWARD,
    VS_MAKER_RECOMPUTE,       /* forward code that runs during backward */
    VS_MAKER_BUCKET,          /* gradient buckets of DistributedDataParallel */
    VS_MAKER_PASSING,         /* only used at once: gathered parameters, norms, measurements */
    VS_MAKER_WORKSPACE,
    VS_MAKER_KV_CACHE,        /* of an inference engine */
    VS_MAKER_INPUT,
    VS_MAKER_USER,            /* computed by the user's own code */
    VS_MAKER_LIBRARY,         /* Python code of a library that no rule names */
    VS_MAKER_UNKNOWN,         /* the frames do not tell */
};

/* A stack. */
struct vs_maker_site {
    uint64_t stack;
    enum vs_maker maker;
    bool engine;      /* a frame of the autograd engine */
    bool python;      /* has Python frames */
    bool older;       /* than the record: no stack was recorded */
    bool named;       /* a native frame of PyTorch has a name */
    uint32_t class_row; /* of a constructor */
    uint64_t ended[VS_KIND_COUNT]; /* bytes of its blocks by the kind they turned out to be */
};

struct vs_makers;

/* vs_makers_open: *symbols* (may be NULL: no names of native frames) and *reader* must outlive it. */
struct vs_makers *vs_makers_open(const struct vs_reader *reader, struct vs_symbols *symbols);

/* vs_makers_site: the index of the row of *stack*, added when new. */
uint32_t vs_makers_site(struct vs_makers *makers, uint64_t stack);

/* vs_makers_row: valid until the next vs_makers_site. */
struct vs_maker_site *vs_makers_row(struct vs_makers *makers, uint32_t index);

/* vs_makers_is_module: whether the class of a constructor's site is a module, as far as is known:
 * it has a forward function, or its constructor made modules. */
bool vs_makers_is_module(const struct vs_makers *makers, const struct vs_maker_site *site);

/* vs_makers_python: whether any stack so far has Python frames. */
bool vs_makers_python(const struct vs_makers *makers);

void vs_makers_close(struct vs_makers *makers); /* NULL does nothing */

#endif
