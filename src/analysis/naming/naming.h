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

#include "analysis/naming/python_file.h"
#include "base/vs_arena.h"
#include "base/vs_err.h"
#include "base/vs_map.h"
#include "trace/format/event.h"
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
    unsigned depth; /* of its frame on the recorded stack: inlined ones share it */
    char library[VS_PACKAGE_MAX]; /* whose code it is: "torch", "cuBLAS"; "": the user's */
};

/* vs_naming_chain: the user's frames of *stack*, innermost first, at most VS_CHAIN_MAX; returns how
 * many. A stack with only internal frames is returned whole. 0 when there is no stack. *own*: without
 * the native frames of installed libraries, whose names take time to look up: the frames that
 * vs_naming_fold may select; 0 without a Python function. Strings live as long as *symbols*. */
size_t vs_naming_chain(const struct vs_reader *reader, struct vs_symbols *symbols, uint64_t stack,
                       bool own, struct vs_chain_frame *frames);

/* vs_naming_text: "forward (net.py:12)" in *out* of *max* bytes, at least 1; longer names are cut.
 * Returns out. */
char *vs_naming_text(const struct vs_chain_frame *frame, char *out, size_t max);

/* vs_naming_lead: how many of *frames* come before the most informative one: the innermost Python
 * function, if there is one; the frames before it are the extension and the libraries that it
 * called. Otherwise 0. */
size_t vs_naming_lead(const struct vs_chain_frame *frames, size_t count);

/* vs_naming_fold: selects the frames that name a call site. If *frames* has Python functions of the
 * user's, those; without any, the Python functions of the package that the program is started from
 * ("python -m PACKAGE"). Native functions of the user's that these called are selected as well, where
 * their source is known. For native code without Python the functions of the program and of objects that are not
 * installed with the system. The frames that are not selected keep their *library*; that of the
 * selected ones is "". Returns false when none is selected: then all from vs_naming_lead on name the
 * call site. */
bool vs_naming_fold(struct vs_chain_frame *frames, size_t count);

/* vs_naming_part: of the libraries that the innermost selected frame called, the function by which its
 * allocations are listed: the innermost forward, backward or step of an installed package, or else its
 * innermost public function. PyTorch and Python's own library, which all packages call in the end, are
 * left out. NULL without one. */
const struct vs_chain_frame *vs_naming_part(const struct vs_chain_frame *frames, size_t count);

/* vs_naming_through: that function, or else the function of a library that the innermost selected frame called, as
 * "torch: Linear.forward" or "torch.empty", or "" without one. *out* has VS_THROUGH_MAX bytes. Returns out. */
#define VS_THROUGH_MAX 128
char *vs_naming_through(const struct vs_chain_frame *frames, size_t count, char *out);

/* vs_naming_torch: names a stack of PyTorch's without a function of the user's by its operation:
 * "PyTorch's backward pass: ReluBackward0" (the grad_fn), "PyTorch: torch.mm"; "" for other stacks.
 * *out* has VS_THROUGH_MAX bytes. Returns out. */
char *vs_naming_torch(const struct vs_chain_frame *frames, size_t count, char *out);

/* vs_naming_key: a number that is the same for stacks whose selected Python frames are the same, with
 * the same frames of objects of the user's below them, or that have none and the same *mark* (string
 * id, 0: none). For other stacks, the stack itself and 1 << 63. *owners*: zero-initialised, kept
 * between calls, freed with vs_map_free; Looks up no symbols. */
void vs_naming_key(const struct vs_reader *reader, struct vs_map *owners, uint64_t stack,
                   uint64_t mark, uint64_t *key);

/* vs_naming_is_plumbing: true when a frame of *function* in *module* (base name), *file* (may be
 * NULL), is part of the allocation path instead of the code that asked for memory. */
bool vs_naming_is_plumbing(const char *function, const char *module, const char *file);

/* vs_naming_is_startup: true for frames outside main or a thread's function. */
bool vs_naming_is_startup(const char *function, const char *module);

/* --- The public name of an operation of PyTorch, from the C++ function that implements it: an
 * operation is at::_ops::NAME_OVERLOAD, with the overload's name of PyTorch's
 * native_functions.yaml. --- */

/* vs_torch_operation: "torch.empty" for "at::_ops::empty_memory_format::call(…)", "Tensor.to" for
 * "at::_ops::_to_copy::redispatch(…)", in *out* (*size* bytes); false, and *out* unchanged, for a
 * function that is not an operation. */
bool vs_torch_operation(const char *function, char *out, size_t size);

/* vs_torch_record: the operation or the node of a backward pass that a frame of *function* runs, as
 * torch.profiler names it: "aten::addmm" for "at::_ops::addmm::redispatch(…)", "AddmmBackward0" for
 * "torch::autograd::generated::AddmmBackward0::apply(…)". *python*: the outermost of the Python functions
 * named forward or backward below that frame ("": none): its class names the call and the node of a
 * torch.autograd.Function. False, and *out* unchanged, for other functions. */
bool vs_torch_record(const char *function, const char *python, char *out, size_t size);

/* --- The user's own line that a memory event belongs to: the innermost Python frame outside of
 * installed packages and Python's library. Events of threads without Python frames (PyTorch's
 * backward) belong to the line that the Python part of vramscope marked last, "at FILE:LINE", as
 * long as the range is open in which it was marked, and until a mark "at end". --- */

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
 * "logits.float() (train.py:71)" where the source can be read, "train.py:71" without it, "" when
 * nothing is known. */
const char *vs_user_line(const struct vs_reader *reader, struct vs_symbols *symbols,
                         struct vs_arena *memory, uint64_t stack, uint64_t mark);

/* vs_line_text: line *line* of the Python file *path* in the same form, in *memory*. */
const char *vs_line_text(struct vs_arena *memory, const char *path, unsigned line);

#endif
