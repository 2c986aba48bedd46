/* SPDX-License-Identifier: Apache-2.0
 *
 * Where the nodes of blocks live: slabs in one range of addresses that is reserved
 * once for the process and gets memory as it fills. All nodes being near each
 * other, 32 bits name one (struct vs_block's links in the free index and in the
 * pointer table), which is what keeps a live block's metadata within 64 bytes.
 *
 * An allocator takes slabs and gives them all back at its end. Slabs are never
 * unmapped: they are for the next allocator. */
#ifndef VS_BLOCK_STORE_H
#define VS_BLOCK_STORE_H

#include <stddef.h>
#include <stdint.h>

struct vs_block;

/* A node's name: its distance from the start of the store in units of 8 bytes; 0 is
 * no node. */
typedef uint32_t vs_block_ref;

/* Immutable once it is set, which happens before the first node is made. */
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
    char *last; /* each holds the one before in its last 8 bytes */
    size_t count;
};

/* vs_slab_take: one more, aligned to 64 bytes; its last 8 bytes are not the caller's.
 * NULL without host memory. Any thread; takes rank VS_RANK_BLOCKS. */
void *vs_slab_take(struct vs_slabs *slabs);
/* Give all back; nothing may name a node in them any more. */
void vs_slabs_give(struct vs_slabs *slabs);
/* In the child of a fork, before anything else here. */
void vs_block_store_reset_after_fork(void);

#endif
