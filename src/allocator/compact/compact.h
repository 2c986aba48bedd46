/* SPDX-License-Identifier: Apache-2.0
 *
 * VS_POLICY_COMPACT: the decisions. One pool a stream, its large one, for requests of
 * every size; ranges of single pages (expandable.c); best fit to the byte. When no
 * free block is large enough, free pages from several places are mapped side by
 * side (views.h), and the device is asked only for those that are missing. The
 * caller holds the full lock. */
#ifndef VS_COMPACT_H
#define VS_COMPACT_H

#include <stdint.h>

#include "base/vs_err.h"

struct vs_allocator;
struct vs_block;
struct vs_request;

/* vs_compact_search_locked: a free block that is large enough, or a dormant view whose
 * memory is free: TAKEN; NULL when there is neither. No device call. */
struct vs_block *vs_compact_search_locked(struct vs_allocator *allocator,
                                          const struct vs_request *request);

/* vs_compact_obtain_locked: a TAKEN block for *request*, made of free pages and of new
 * ones where those do not suffice; the cache is given back when the device refuses.
 * At most VS_EXTENTS_MAX calls to map, plus one and a page each for new memory.
 * VS_ERR_STATE when the allocator was abandoned meanwhile. */
enum vs_err vs_compact_obtain_locked(struct vs_allocator *allocator,
                                     struct vs_request *request, struct vs_block **out);

#endif
