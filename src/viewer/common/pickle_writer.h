/* SPDX-License-Identifier: Apache-2.0
 *
 * A Python pickle of dicts, lists, pairs, texts and whole numbers, written while it is made, with the
 * opcodes of protocol 2 that PyTorch's own viewer reads (torch/utils/viz/MemoryViz.js). The caller
 * handles nesting and checks *out*. Not thread-safe. */
#ifndef VS_PICKLE_WRITER_H
#define VS_PICKLE_WRITER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/reading/vs_intern.h"

/* Zero-initialise, then set out. */
struct vs_pickle_out {
    FILE *out;
    struct vs_intern known; /* values that were written, by their number in the pickle's memo */
};

/* An open list. */
struct vs_pickle_items {
    unsigned count;
};

void vs_pickle_begin(struct vs_pickle_out *p);
/* vs_pickle_end: ends the pickle and frees the memo; one value has been written. */
void vs_pickle_end(struct vs_pickle_out *p);

/* vs_pickle_uint: *value* is less than 2^63. vs_pickle_text: with U+FFFD for bytes that are not
 * UTF-8; a text that came before is a reference. */
void vs_pickle_uint(struct vs_pickle_out *p, uint64_t value);
void vs_pickle_bool(struct vs_pickle_out *p, bool value);
void vs_pickle_text(struct vs_pickle_out *p, const char *text);
void vs_pickle_pair(struct vs_pickle_out *p, uint64_t first, uint64_t second); /* a tuple */

/* vs_pickle_dict: between begin and end, keys and values in turn. */
void vs_pickle_begin_dict(struct vs_pickle_out *p);
void vs_pickle_end_dict(struct vs_pickle_out *p);
void vs_pickle_uint_member(struct vs_pickle_out *p, const char *key, uint64_t value);
void vs_pickle_text_member(struct vs_pickle_out *p, const char *key, const char *value);

/* vs_pickle_item: a value of the list follows. */
struct vs_pickle_items vs_pickle_begin_list(struct vs_pickle_out *p);
void vs_pickle_item(struct vs_pickle_out *p, struct vs_pickle_items *list);
void vs_pickle_end_list(struct vs_pickle_out *p);

/* vs_pickle_again: the value that stands for the *length* bytes of *key* was written before, and is
 * referred to now. Otherwise false: the caller writes it, then calls vs_pickle_keep with *number*. */
bool vs_pickle_again(struct vs_pickle_out *p, const void *key, size_t length, uint32_t *number);
void vs_pickle_keep(struct vs_pickle_out *p, uint32_t number);

#endif
