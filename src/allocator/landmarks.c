/* SPDX-License-Identifier: Apache-2.0
 *
 * See the header. Why the scan is right: if a free block holds the start of page p,
 * then its mark is at p or before, and every border between belongs to the same
 * block; so the last mark up to p is either its mark, or of a block that ends too
 * early, and then nothing free holds p. */
#include "allocator/landmarks.h"

#include "allocator/allocator_internal.h"

static size_t bytes_for(uint64_t pages)
{
    return sizeof(struct vs_landmarks) + (size_t)pages * sizeof(struct vs_landmark) +
           (size_t)((pages + 63) / 64) * sizeof(uint64_t);
}

struct vs_landmarks *vs_landmarks_new(uint64_t base, uint64_t bytes)
{
    uint64_t pages = bytes / VS_PAGE_BYTES;
    struct vs_landmarks *l = vs_pages_map(bytes_for(pages));
    if (!l)
        return NULL;
    l->base = base;
    l->pages = pages;
    l->at = (struct vs_landmark *)(l + 1);
    l->marked = (uint64_t *)(l->at + pages);
    return l;
}

void vs_landmarks_free(struct vs_landmarks *l)
{
    if (l)
        vs_pages_unmap(l, bytes_for(l->pages));
}

void vs_landmarks_set(struct vs_landmarks *l, const struct vs_block *block, struct vs_block *mark)
{
    uint64_t begin = block->addr - l->base, end = begin + block->size;
    uint64_t page = (begin + VS_PAGE_BYTES - 1) / VS_PAGE_BYTES;
    if (page * VS_PAGE_BYTES < end) {
        uint64_t bit = UINT64_C(1) << (page % 64);
        l->at[page].across = mark;
        if (mark)
            l->marked[page / 64] |= bit;
        else
            l->marked[page / 64] &= ~bit;
    } else if (end % VS_PAGE_BYTES == 0) {
        l->at[page - 1].before = mark;
    }
}

/* The last mark at or before *page*. */
static struct vs_block *last_mark(const struct vs_landmarks *l, uint64_t page)
{
    uint64_t word = page / 64;
    uint64_t bits = l->marked[word] & (~UINT64_C(0) >> (63 - page % 64));
    while (!bits) {
        if (word == 0)
            return NULL;
        bits = l->marked[--word];
    }
    return l->at[word * 64 + vs_floor_log2(bits)].across;
}

struct vs_block *vs_landmarks_find(const struct vs_landmarks *l, uint64_t addr)
{
    uint64_t offset = addr - l->base, page = offset / VS_PAGE_BYTES;
    struct vs_block *block;
    if (offset % VS_PAGE_BYTES) {
        block = l->at[page].before;
        if (block && block->addr <= addr)
            return block;
        block = page + 1 < l->pages ? l->at[page + 1].across : NULL;
        if (block && block->addr <= addr)
            return block;
    }
    block = last_mark(l, page);
    return block && block->addr + block->size > addr ? block : NULL;
}
