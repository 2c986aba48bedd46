/* SPDX-License-Identifier: Apache-2.0
 *
 * Which free block of a range holds an address? Every free block leaves its mark at
 * the first page border it contains, or, when it lies inside one page and ends with
 * it, at that page: one store when it enters the free index and one when it leaves.
 * A bitmap of the marked borders makes the look-up a scan over a few words. Blocks
 * that touch no border are not found; nobody looks for them, for what is lent
 * (views.h) always begins or ends at a border. The lock of the range's pool guards
 * them. */
#ifndef VS_LANDMARKS_H
#define VS_LANDMARKS_H

#include <stddef.h>
#include <stdint.h>

#include "allocator/allocator.h"

struct vs_block;

struct vs_landmark {
    struct vs_block *across; /* the free block whose first border is this page's start */
    struct vs_block *before; /* the free block inside this page that ends with it */
};

/* Of one range; one mapping of host memory. */
struct vs_landmarks {
    uint64_t base, pages; /* address of the range; its pages */
    uint64_t *marked;     /* a bit per page with *across* */
    struct vs_landmark *at;
};

/* vs_landmarks_new: for the range of *bytes* at *base*; NULL without host memory. Only
 * what is used of it is ever touched. NULL may be freed. */
struct vs_landmarks *vs_landmarks_new(uint64_t base, uint64_t bytes);
void vs_landmarks_free(struct vs_landmarks *landmarks);

/* vs_landmarks_set: *block* (its place as it is now) leaves *mark*: itself when it enters
 * the free index, NULL when it leaves it. */
void vs_landmarks_set(struct vs_landmarks *landmarks, const struct vs_block *block,
                      struct vs_block *mark);

/* vs_landmarks_find: the free block that holds *addr*, a page's start or followed by
 * free memory up to the end of its page; NULL when there is none. */
struct vs_block *vs_landmarks_find(const struct vs_landmarks *landmarks, uint64_t addr);

#endif
