/* SPDX-License-Identifier: Apache-2.0
 *
 * Orders the slices of one device track. Activity records arrive nearly sorted (a collector's
 * buffers may overtake each other); a bounded heap holds them back, and slices that still come too
 * late are clipped, so that start times increase on every track and slices never overlap. Not
 * thread-safe. */
#ifndef VS_SLICES_H
#define VS_SLICES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/vs_err.h"
#include "trace/format/event.h"

#define VS_SLICES_HELD_MAX 4096 /* records held back per track */

struct vs_slice {
    uint64_t start_ns, end_ns;
    struct vs_event event; /* kernel, memcpy or memset */
};

/* Zero-initialise. */
struct vs_slices {
    struct vs_slice *heap; /* earliest start at [0] */
    size_t count, capacity;
    uint64_t end_ns;  /* end of the last returned slice */
    uint64_t clipped; /* number of clipped slices */
};

/* vs_slices_add: adds *slice*. If the heap was full, the earliest goes to *out*: true. */
bool vs_slices_add(struct vs_slices *slices, const struct vs_slice *slice, struct vs_slice *out);

/* vs_slices_take: removes the earliest slice, clipped; false if there is none. */
bool vs_slices_take(struct vs_slices *slices, struct vs_slice *out);

void vs_slices_free(struct vs_slices *slices);

#endif
