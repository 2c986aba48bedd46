/* SPDX-License-Identifier: Apache-2.0
 *
 * Blocks that others use: another process has them open, or a device accesses them by itself. They
 * do not see a free, so the memory of such a block is never reused: once freed, it is PENDING,
 * waiting for an event of no stream (a note without a queue), until all of its segment is free or
 * waits likewise. Then the segment is released to the device, which tracks its other users. Memory
 * of ranges and views stays unavailable until the allocator's end. The caller holds the full lock.
 */
#include "allocator/core/allocator_internal.h"
#include "allocator/core/block_ops.h"

/* The note of that use, among a LIVE block's uses; NULL when only the client uses it. */
static struct vs_note *note_of(const struct vs_allocator *a, const struct vs_block *block)
{
    if (block->state != VS_BLOCK_LIVE || !block->used.has_uses)
        return NULL;
    struct vs_note *note = (struct vs_note *)(uintptr_t)*vs_map_get(&a->uses, block->addr);
    while (note && note->queue)
        note = note->next;
    return note;
}

unsigned vs_kept_marks(const struct vs_allocator *a, const struct vs_block *block)
{
    const struct vs_note *note = note_of(a, block);
    return note ? (unsigned)note->event : 0;
}

enum vs_err vs_allocator_keep(struct vs_allocator *a, uint64_t addr, unsigned set, unsigned clear)
{
    VS_FULL_LOCK_SCOPE(a);
    struct vs_block *block = vs_live_get_locked(a, addr);
    if (!block)
        return vs_segment_find_locked(a, addr) ? VS_ERR_STATE : VS_ERR_FOREIGN;
    struct vs_note *note = note_of(a, block);
    if (!note) {
        const uint64_t *uses = block->used.has_uses ? vs_map_get(&a->uses, addr) : NULL;
        struct vs_note *next = uses ? (struct vs_note *)(uintptr_t)*uses : NULL;
        note = vs_node_take_locked(a, &a->free_notes, sizeof *note);
        if (!note || vs_map_put(&a->uses, addr, (uint64_t)(uintptr_t)note)) {
            if (note)
                vs_node_give_locked(&a->free_notes, note);
            return VS_ERR_NOMEM;
        }
        *note = (struct vs_note){.next = next, .block = block};
        block->used.has_uses = 1;
    }
    note->event = (note->event | set) & ~(uint64_t)clear;
    return VS_OK;
}

void vs_kept_retire_locked(struct vs_allocator *a, struct vs_note *note)
{
    note->next = a->retired;
    a->retired = note;
    note->block->used.events++;
}

/* Whether everything in *segment* is free or waits for this reason alone. */
static bool all_away(const struct vs_allocator *a, const struct vs_segment *segment)
{
    const struct vs_private_pool *home = segment->pool->owner->home;
    uint64_t retired = 0, pending = 0;
    if (segment->handle_bytes || segment->view || (home && home->users))
        return false;
    for (const struct vs_note *n = a->retired; n; n = n->next)
        retired += n->block->segment == segment && n->block->used.events == 1;
    for (const struct vs_block *b = segment->first; b; b = b->next) {
        if (b->state == VS_BLOCK_PENDING)
            pending++;
        else if (b->state != VS_BLOCK_FREE)
            return false;
    }
    return pending == retired;
}

void vs_kept_release_locked(struct vs_allocator *a, uint64_t *released)
{
    for (;;) {
        const struct vs_note *away = a->retired;
        while (away && !all_away(a, away->block->segment))
            away = away->next;
        if (!away)
            return;
        struct vs_segment *segment = away->block->segment;
        if (vs_segment_give_back(a, segment))
            return; /* tried again later */
        *released += segment->size;
        /* the device has freed the segment: its blocks become one, which is removed */
        for (struct vs_note **link = &a->retired, *note; (note = *link);) {
            struct vs_block *block = note->block;
            if (block->segment != segment) {
                link = &note->next;
                continue;
            }
            *link = note->next;
            vs_node_give_locked(&a->free_notes, note);
            vs_block_complete_free_locked(a, block);
        }
        vs_segment_taken_back_locked(a, segment->first);
    }
}
