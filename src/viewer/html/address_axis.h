/* SPDX-License-Identifier: Apache-2.0
 *
 * A virtual axis of addresses for drawing: segments of a device, which lie terabytes apart, are
 * placed one beside the other, at the lowest free place that is large enough (first fit), so that
 * those that live at once never overlap and the axis is hardly longer than the memory held at its
 * peak. Not thread-safe. */
#ifndef VS_ADDRESS_AXIS_H
#define VS_ADDRESS_AXIS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct vs_axis_gap {
    uint64_t start, size;
    uint64_t largest; /* size of the largest gap of the subtree */
    uint32_t left, right; /* indices; 0: none */
};

/* Zero-initialise. A treap of the free gaps by their start; the last one has no end. */
struct vs_axis {
    struct vs_axis_gap *gaps; /* [0] is not used */
    size_t count, capacity;
    uint32_t root, unused; /* unused: list of gaps, linked by *left* */
    uint64_t seed;         /* of the treap's priorities */
    uint64_t end;          /* highest end of a place so far */
};

/* vs_axis_take: the lowest place for *size* bytes (rounded up to 512); false if there is none: an
 * absurd size of a damaged trace. Cost: the logarithm of the number of gaps. */
bool vs_axis_take(struct vs_axis *axis, uint64_t size, uint64_t *place);

/* vs_axis_give: frees the place that vs_axis_take returned for *size*. */
void vs_axis_give(struct vs_axis *axis, uint64_t place, uint64_t size);

void vs_axis_free(struct vs_axis *axis);

#endif
