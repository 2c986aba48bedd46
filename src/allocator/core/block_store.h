/* SPDX-License-Identifier: Apache-2.0
 *
 * Storage for the nodes of blocks: slabs in one range of addresses that is reserved once for the
 * process and gets memory as it fills. Because all nodes are near each other, a reference has 32
 * bits (struct vs_block's links in the free index and in the pointer table), which limits a live
 * block's metadata to 64 bytes.
 *
 * An allocator takes slabs and returns them all at its end. Slabs are never unmapped: the next
 * allocator reuses them. */
#ifndef VS_BLOCK_STORE_H
#define VS_BLOCK_STORE_H

#include <stddef.h>
#include <stdint.h>

struct vs_block;

/* A reference to a node: its distance from the start of the store in units of 8 bytes; 0 is no
 * node. */
typedef uint32_t vs_block_ref;

/* Immutable once set, before the first node is made. */
extern char *vs_block_store_base __attribute__((visibility("hidden")));

static inline struct vs_block *vs_block_of(vs_block_ref ref)
{
    return ref ? (struct vs_block *)(vs_block_store_base + (uint64_t)ref * 8) : NULL;
}

static inline vs_block_ref vs_ref_of(const struct vs_block *block)
{
    return block ? (vs_block_ref)((uint64_t)((const char *)block - vs_block_store_base) / 8) : 0;
}

#define VS_SLAB_BYTES ((size_t)32768)

/* The slabs of an allocator. Zero-initialise. */
struct vs_slabs {
    char *last; /* each holds the address of the previous one in its last 8 bytes */
    size_t count;
};

/* vs_slab_take: one more slab, aligned to 64 bytes; its last 8 bytes are reserved. NULL when host
 * memory is out. Any thread; takes rank VS_RANK_BLOCKS. */
void *vs_slab_take(struct vs_slabs *slabs);
/* Returns all; no reference to a node in them may be left. */
void vs_slabs_give(struct vs_slabs *slabs);
#endif
