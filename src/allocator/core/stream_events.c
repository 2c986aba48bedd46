/* SPDX-License-Identifier: Apache-2.0
 *
 * Blocks used on other streams than their own (PyTorch: record_stream, insert_events,
 * process_events, synchronize_and_free_events). While a block is live its uses are notes in a table
 * by its address; when it is freed every note gets an event on its stream and queues there, first
 * in first out; the free completes with the last event. Where the device cannot record an event yet
 * (stream capture), the note waits on the deferred list, independent of other streams, and its
 * block stays pending: memory is never reused without an event. Frees during a known capture
 * (captures is not 0) are delayed until there is none, as in PyTorch. Notes are made when a use is
 * recorded, so that a free needs no memory. The caller holds the allocator's lock. */
#include "allocator/core/allocator_internal.h"

static struct vs_event_queue *queue_of(struct vs_allocator *a, uint64_t stream)
{
    struct vs_event_queue **link = &a->queues;
    while (*link && (*link)->stream < stream)
        link = &(*link)->next;
    if (*link && (*link)->stream == stream)
        return *link;
    struct vs_event_queue *queue = vs_node_take_locked(a, &a->free_queues, sizeof *queue);
    if (!queue)
        return NULL;
    *queue = (struct vs_event_queue){.stream = stream, .next = *link};
    queue->tail = &queue->head;
    *link = queue;
    return queue;
}

static void queue_recycle_if_unused(struct vs_allocator *a, struct vs_event_queue *queue)
{
    if (queue->refs)
        return;
    struct vs_event_queue **link = &a->queues;
    while (*link != queue)
        link = &(*link)->next;
    *link = queue->next;
    vs_node_give_locked(&a->free_queues, queue);
}

static struct vs_note *uses_of(const struct vs_allocator *a, const struct vs_block *block)
{
    return block->used.has_uses
        ? (struct vs_note *)(uintptr_t)*vs_map_get(&a->uses, block->addr)
        : NULL;
}

enum vs_err vs_uses_add_locked(struct vs_allocator *a, struct vs_block *block, uint64_t stream,
                               bool captured)
{
    struct vs_note *uses = uses_of(a, block);
    for (struct vs_note *n = uses; n; n = n->next) {
        if (!n->queue || n->queue->stream != stream)
            continue;
        /* a separate use after one that was part of a graph needs its event */
        n->captured = n->captured && captured;
        return VS_OK;
    }
    struct vs_event_queue *queue = queue_of(a, stream);
    if (!queue)
        return VS_ERR_NOMEM;
    struct vs_note *note = vs_node_take_locked(a, &a->free_notes, sizeof *note);
    if (!note || vs_map_put(&a->uses, block->addr, (uint64_t)(uintptr_t)note)) {
        if (note)
            vs_node_give_locked(&a->free_notes, note);
        queue_recycle_if_unused(a, queue);
        return VS_ERR_NOMEM;
    }
    *note =
        (struct vs_note){.next = uses, .queue = queue, .block = block, .captured = captured};
    queue->refs++;
    block->used.has_uses = 1;
    return VS_OK;
}

/* Records the events that are still to be recorded, those of each stream in order until one is
 * rejected: a stream whose events are rejected, perhaps permanently, does not delay other
 * streams. */
static void record_deferred(struct vs_allocator *a)
{
    uint64_t turn = ++a->record_turns;
    struct vs_note **link = &a->deferred, *note;
    while ((note = *link)) {
        struct vs_event_queue *queue = note->queue;
        if (queue->refused_turn == turn ||
            a->ops.event_record(a->ops_ctx, queue->stream, &note->event)) {
            queue->refused_turn = turn;
            link = &note->next;
            continue;
        }
        *link = note->next;
        if (!*link)
            a->deferred_tail = link;
        note->next = NULL;
        *queue->tail = note;
        queue->tail = &note->next;
    }
}

void vs_uses_to_events_locked(struct vs_allocator *a, struct vs_block *block)
{
    struct vs_note ***tail = a->captures ? &a->held_tail : &a->deferred_tail;
    vs_block_set_state(block, VS_BLOCK_PENDING);
    block->used.events = 0;
    for (struct vs_note *note = uses_of(a, block), *next; note; note = next) {
        next = note->next;
        if (!note->queue) {
            vs_kept_retire_locked(a, note);
            continue;
        }
        note->next = NULL;
        **tail = note;
        *tail = &note->next;
        a->pending_notes++;
        block->used.events++;
    }
    vs_map_remove(&a->uses, block->addr, NULL);
    block->used.has_uses = 0;
    if (!a->captures)
        record_deferred(a);
}

/* A note, in no list any more, needs no further wait. Its queue stays, even unused. */
static void complete(struct vs_allocator *a, struct vs_note *note)
{
    struct vs_block *block = note->block;
    note->queue->refs--;
    vs_node_give_locked(&a->free_notes, note);
    a->pending_notes--;
    if (--block->used.events == 0)
        vs_block_complete_free_locked(a, block);
}

/* The first event of *queue* has completed. */
static void complete_first(struct vs_allocator *a, struct vs_event_queue *queue)
{
    struct vs_note *note = queue->head;
    queue->head = note->next;
    if (queue->tail == &note->next)
        queue->tail = &queue->head;
    a->ops.event_release(a->ops_ctx, note->event);
    complete(a, note);
}

/* No capture is in progress any more: records the delayed events. A use that was first recorded
 * during the capture needs no event, because the stream that the capture joined orders it. */
static void release_held(struct vs_allocator *a)
{
    struct vs_note *note = a->held;
    a->held = NULL;
    a->held_tail = &a->held;
    for (struct vs_note *next; note; note = next) {
        next = note->next;
        note->next = NULL;
        if (note->captured) {
            complete(a, note);
        } else {
            *a->deferred_tail = note;
            a->deferred_tail = &note->next;
        }
    }
    record_deferred(a);
}

void vs_events_poll_locked(struct vs_allocator *a)
{
    release_held(a);
    for (struct vs_event_queue *queue = a->queues, *next; queue; queue = next) {
        next = queue->next;
        bool ready = true;
        while (queue->head &&
               !a->ops.event_query(a->ops_ctx, queue->head->event, &ready) && ready)
            complete_first(a, queue);
        queue_recycle_if_unused(a, queue);
    }
}

enum vs_err vs_events_wait_locked(struct vs_allocator *a)
{
    enum vs_err first_error = VS_OK;
    a->counters.num_sync_all_streams++;
    release_held(a);
    for (struct vs_event_queue *queue = a->queues, *next; queue; queue = next) {
        next = queue->next;
        while (queue->head) {
            enum vs_err err = a->ops.event_synchronize(a->ops_ctx, queue->head->event);
            if (err) {
                first_error = first_error ? first_error : err;
                break;
            }
            complete_first(a, queue);
        }
        queue_recycle_if_unused(a, queue);
    }
    return first_error;
}

void vs_events_drop_locked(struct vs_allocator *a)
{
    for (struct vs_event_queue *queue = a->queues; queue; queue = queue->next) {
        for (struct vs_note *note = queue->head; note; note = note->next)
            a->ops.event_release(a->ops_ctx, note->event);
    }
}
