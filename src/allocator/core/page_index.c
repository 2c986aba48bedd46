/* SPDX-License-Identifier: Apache-2.0
 *
 * Lookups, and the host memory of the tables; see the header. The tables of ranges cover the whole
 * reserved range, but only the used parts are ever touched. */
#include "allocator/core/page_index.h"

#include <string.h>

#include "allocator/core/allocator_internal.h"
#include "allocator/core/block_ops.h"

#define GRANULES (VS_PAGE_BYTES / VS_BLOCK_MIN)
#define PAGE_WORDS (GRANULES / 64) /* of the bitmap of block starts */
#define TABLE_LEAST ((size_t)64)

/* --- host memory --- */

static unsigned table_class(size_t bytes)
{
    return bytes <= TABLE_LEAST ? 0 : vs_floor_log2((bytes - 1) / TABLE_LEAST) + 1;
}

/* Zeroed. Small tables are recycled, large ones are separate mappings. */
static void *table_take(struct vs_allocator *a, size_t bytes)
{
    unsigned class = table_class(bytes);
    if (class >= VS_TABLE_CLASSES)
        return vs_pages_map(bytes);
    void *table = vs_node_take_locked(a, &a->free_tables[class], TABLE_LEAST << class);
    return table ? memset(table, 0, bytes) : NULL;
}

static void table_give(struct vs_allocator *a, void *table, size_t bytes)
{
    unsigned class = table_class(bytes);
    if (class >= VS_TABLE_CLASSES)
        vs_pages_unmap(table, bytes);
    else if (table)
        vs_node_give_locked(&a->free_tables[class], table);
}

static uint64_t pages_of(const struct vs_segment *s)
{
    return (s->size + VS_PAGE_BYTES - 1) / VS_PAGE_BYTES;
}

static size_t index_bytes(uint64_t pages)
{
    return sizeof(struct vs_page_index) +
           (size_t)((pages + 63) / 64 + (pages + 4095) / 4096) * sizeof(uint64_t) +
           (size_t)pages * sizeof(vs_block_ref);
}

static size_t starts_bytes(uint64_t pages)
{
    return (size_t)pages * PAGE_WORDS * sizeof(uint64_t);
}

enum vs_err vs_page_tables_take_locked(struct vs_allocator *a, struct vs_segment *s, bool dense)
{
    uint64_t pages = pages_of(s);
    struct vs_page_index *index = pages > 1 ? table_take(a, index_bytes(pages)) : NULL;
    uint64_t *starts = dense ? table_take(a, starts_bytes(pages)) : NULL;
    if ((pages > 1 && !index) || (dense && !starts)) {
        table_give(a, index, index_bytes(pages));
        table_give(a, starts, starts_bytes(pages));
        return VS_ERR_NOMEM;
    }
    if (index) {
        index->marked = (uint64_t *)(index + 1);
        index->summary = index->marked + (pages + 63) / 64;
        index->first = (vs_block_ref *)(index->summary + (pages + 4095) / 4096);
        vs_page_index_mark(index, 0, vs_ref_of(s->first));
    }
    s->pages = index;
    s->starts = starts;
    return VS_OK;
}

void vs_page_tables_give_locked(struct vs_allocator *a, struct vs_segment *s)
{
    table_give(a, s->pages, index_bytes(pages_of(s)));
    table_give(a, s->starts, starts_bytes(pages_of(s)));
    s->pages = NULL;
    s->starts = NULL;
}

/* --- lookup --- */

/* The last set bit at or before *bit* down to the word *floor*; UINT64_MAX: none. */
static uint64_t last_bit(const uint64_t *words, uint64_t bit, uint64_t floor, unsigned *steps)
{
    uint64_t word = bit / 64, bits = words[word] & (~UINT64_C(0) >> (63 - bit % 64));
    for (;;) {
        ++*steps;
        if (bits)
            return word * 64 + vs_floor_log2(bits);
        if (word == floor)
            return UINT64_MAX;
        bits = words[--word];
    }
}

/* The last page at or before *page* in which a block starts; page 0 always has one. */
static uint64_t last_marked(const struct vs_page_index *index, uint64_t page, unsigned *steps)
{
    uint64_t found = last_bit(index->marked, page, page / 64, steps);
    if (found != UINT64_MAX)
        return found;
    uint64_t word = last_bit(index->summary, page / 64 - 1, 0, steps);
    return last_bit(index->marked, word * 64 + 63, word, steps);
}

/* The last block in use that starts in *page* at or before *offset*; *block*: none. */
static struct vs_block *last_used(const struct vs_segment *s, uint64_t page, uint64_t offset,
                                  struct vs_block *block, unsigned *steps)
{
    uint64_t granule = offset / VS_BLOCK_MIN, end = (page + 1) * GRANULES - 1;
    uint64_t start =
        last_bit(s->starts, granule < end ? granule : end, page * PAGE_WORDS, steps);
    if (start == UINT64_MAX)
        return block;
    return vs_live_find(&s->pool->owner->shard->live, s->addr + start * VS_BLOCK_MIN);
}

static inline struct vs_block *block_at(const struct vs_segment *s, uint64_t addr, unsigned *steps)
{
    struct vs_block *block = s->first;
    uint64_t page = (addr - s->addr) / VS_PAGE_BYTES;
    if (s->pages) {
        page = last_marked(s->pages, page, steps);
        block = vs_block_of(s->pages->first[page]);
        if (block->addr > addr) { /* the block that holds it started in an earlier page */
            page = last_marked(s->pages, page - 1, steps);
            block = vs_block_of(s->pages->first[page]);
        }
    }
    if (s->starts)
        block = last_used(s, page, addr - s->addr, block, steps);
    for (++*steps; addr - block->addr >= block->size; ++*steps)
        block = block->next;
    return block;
}

struct vs_block *vs_segment_block_at_locked(const struct vs_segment *segment, uint64_t addr)
{
    unsigned ignored = 0;
    return block_at(segment, addr, &ignored);
}

struct vs_block *vs_segment_block_at_counted(const struct vs_segment *segment, uint64_t addr,
                                             unsigned *steps)
{
    *steps = 0;
    return block_at(segment, addr, steps);
}

/* --- checking --- */

/* The state of one page according to a walk over the blocks. */
struct page_walk {
    uint64_t page, marks; /* the present page; pages with starts so far */
    uint64_t starts[PAGE_WORDS];
};

static bool starts_agree(const struct vs_segment *s, const struct page_walk *walk)
{
    return !s->starts || memcmp(&s->starts[walk->page * PAGE_WORDS], walk->starts,
                                sizeof walk->starts) == 0;
}

static const char *check_block(const struct vs_segment *s, const struct vs_block *b,
                               struct page_walk *walk)
{
    uint64_t granule = (b->addr - s->addr) / VS_BLOCK_MIN, page = granule / GRANULES;
    if (!b->prev || page != walk->page) {
        if (!starts_agree(s, walk))
            return "the start marks of a segment are wrong";
        if (s->pages && (!(s->pages->marked[page / 64] >> (page % 64) & 1) ||
                         vs_block_of(s->pages->first[page]) != b))
            return "the first block of a page is not marked";
        memset(walk->starts, 0, sizeof walk->starts);
        walk->page = page;
        walk->marks++;
    }
    if (b->state == VS_BLOCK_LIVE || b->state == VS_BLOCK_PENDING)
        walk->starts[granule % GRANULES / 64] |= UINT64_C(1) << (granule % 64);
    if (vs_segment_block_at_locked(s, b->addr) != b ||
        vs_segment_block_at_locked(s, b->addr + b->size - 1) != b)
        return "a look-up does not find a block";
    return NULL;
}

static const char *check_words(const struct vs_segment *s, uint64_t marks)
{
    for (uint64_t word = 0; word < (pages_of(s) + 63) / 64; word++) {
        bool any = s->pages->summary[word / 64] >> (word % 64) & 1;
        if (any != (s->pages->marked[word] != 0))
            return "the summary of page marks is wrong";
        marks -= (uint64_t)__builtin_popcountll(s->pages->marked[word]);
    }
    return marks ? "a page without starts is marked" : NULL;
}

const char *vs_page_index_check(const struct vs_segment *s)
{
    struct page_walk walk = {0};
    if (s->view)
        return s->pages || s->starts ? "a view has page tables" : NULL;
    if ((s->pages != NULL) != (pages_of(s) > 1))
        return "a segment has no page index";
    if (s->starts) /* also checks these */
        memcpy(walk.starts, s->starts, sizeof walk.starts);
    for (const struct vs_block *b = s->first; b; b = b->next) {
        const char *broken = check_block(s, b, &walk);
        if (broken)
            return broken;
    }
    if (!starts_agree(s, &walk))
        return "the start marks of a segment are wrong";
    return s->pages ? check_words(s, walk.marks) : NULL;
}
