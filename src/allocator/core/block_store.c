/* SPDX-License-Identifier: Apache-2.0
 *
 * Reserves the range and allocates slabs; see the header. The first slab's worth of addresses stays
 * unused, so that no node has number 0. */
#include "allocator/core/block_store.h"

#include <sys/mman.h>

#include "base/vs_quick_lock.h"

#define RESERVE_MOST ((size_t)32 << 30) /* the maximum for 32-bit references */
#define RESERVE_LEAST ((size_t)64 << 20)
#define COMMIT_LEAST ((size_t)256 << 10) /* memory is made accessible in steps of this size */
#define COMMIT_MOST ((size_t)4 << 20)

char *vs_block_store_base __attribute__((visibility("hidden")));

static struct vs_quick_lock lock = VS_QUICK_LOCK_INIT(VS_RANK_BLOCKS, "block store");
/* guarded by lock; offsets from the base */
static size_t reserved, committed, next;
static char *recycled; /* linked through their last 8 bytes */

static char **link_of(char *slab)
{
    return (char **)(void *)(slab + VS_SLAB_BYTES - sizeof(char *));
}

/* Where the address space is limited, a smaller size is reserved. */
static bool reserve(void)
{
    for (size_t bytes = RESERVE_MOST; bytes >= RESERVE_LEAST; bytes /= 2) {
        void *range = mmap(NULL, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
                           -1, 0);
        if (range == MAP_FAILED)
            continue;
        vs_block_store_base = range;
        reserved = bytes;
        next = VS_SLAB_BYTES;
        return true;
    }
    return false;
}

static bool commit(void)
{
    size_t step = committed < COMMIT_LEAST ? COMMIT_LEAST : committed;
    if (step > COMMIT_MOST)
        step = COMMIT_MOST;
    if (step > reserved - committed)
        step = reserved - committed;
    if (!step || mprotect(vs_block_store_base + committed, step, PROT_READ | PROT_WRITE))
        return false;
    committed += step;
    return true;
}

void *vs_slab_take(struct vs_slabs *slabs)
{
    vs_quick_acquire(&lock);
    char *slab = recycled;
    if (slab) {
        recycled = *link_of(slab);
    } else if ((reserved || reserve()) && (next + VS_SLAB_BYTES <= committed || commit())) {
        slab = vs_block_store_base + next;
        next += VS_SLAB_BYTES;
    }
    vs_quick_release(&lock);
    if (!slab)
        return NULL;
    *link_of(slab) = slabs->last;
    slabs->last = slab;
    slabs->count++;
    return slab;
}

void vs_slabs_give(struct vs_slabs *slabs)
{
    vs_quick_acquire(&lock);
    for (char *slab = slabs->last, *before; slab; slab = before) {
        before = *link_of(slab);
        *link_of(slab) = recycled;
        recycled = slab;
    }
    vs_quick_release(&lock);
    *slabs = (struct vs_slabs){0};
}

