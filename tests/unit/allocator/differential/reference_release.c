/* SPDX-License-Identifier: Apache-2.0
 *
 * Releasing memory in the reference model: the whole cache, garbage collection, oversize blocks
 * (PyTorch: release_cached_blocks, garbage_collect_cached_blocks, release_available_cached_blocks).
 */
#include "reference_internal.h"

#include <stdlib.h>

/* Frees one wholly free device allocation; on failure it stays. */
static enum vs_err release(struct model *m, int i)
{
    struct block b = m->blocks[i];
    enum vs_err err = fake_device_ops.segment_free(m->device, b.addr, b.size);
    if (err) {
        RAN(m, release_failed);
        return err;
    }
    RAN(m, release);
    model_emit(m, VS_ALLOCATOR_SEGMENT_FREE, &b, b.addr, b.size, b.size);
    m->counts[MODEL_pool_release] += b.pool != 0;
    m->stats.num_device_free++;
    model_erase(m, i);
    model_recount(m);
    return VS_OK;
}

/* The next after *last* (NULL: the first) among the free blocks of a pool that
 * are whole device allocations, or parts of expandable ones; -1 at the end. */
static int next_free(const struct model *m, uint64_t pool, bool large, bool expandable,
                     const struct block *last)
{
    int best = -1;
    for (int i = 0; i < m->count; i++) {
        const struct block *b = &m->blocks[i];
        if (!model_is_free(b) || b->large != large || b->pool != pool ||
            b->expandable != expandable || (!expandable && !model_alone(b)))
            continue;
        if (last && !model_after(b, last))
            continue;
        if (best < 0 || model_after(&m->blocks[best], b))
            best = i;
    }
    return best;
}

static void note(enum vs_err *first, enum vs_err err)
{
    if (!*first)
        *first = err;
}

/* Whole allocations first; then expandable blocks, as they were at the start. */
static enum vs_err release_pool(struct model *m, uint64_t pool, bool large, uint64_t *released)
{
    struct block last, *after = NULL;
    enum vs_err first = VS_OK;
    for (int i; (i = next_free(m, pool, large, false, after)) >= 0; after = &last) {
        last = m->blocks[i];
        enum vs_err err = release(m, i);
        note(&first, err);
        *released += err ? 0 : last.size;
    }
    int count = 0;
    uint64_t *addrs = malloc(((size_t)m->count + 1) * sizeof *addrs);
    if (!addrs)
        abort();
    after = NULL;
    for (int i; (i = next_free(m, pool, large, true, after)) >= 0; after = &last) {
        last = m->blocks[i];
        addrs[count++] = last.addr;
    }
    for (int i = 0; i < count; i++) {
        enum vs_err err = VS_OK;
        *released += model_unmap(m, model_index_of(m, addrs[i]), &err);
        note(&first, err);
    }
    free(addrs);
    return first;
}

/* The shared pools only outside captures; private pools without users always. */
enum vs_err model_release_all(struct model *m, uint64_t *released)
{
    enum vs_err first = VS_OK;
    if (!m->scope_count) {
        m->stats.num_sync_all_streams++;
        model_look_at_events(m, true);
        note(&first, model_settle(m));
        note(&first, release_pool(m, 0, true, released));
        note(&first, release_pool(m, 0, false, released));
    }
    uint64_t last = 0;
    for (int p = 0; p < m->pool_count;) { /* in ascending order; some are removed */
        uint64_t number = m->pools[p].number;
        if (number <= last || m->pools[p].users) {
            p++;
            continue;
        }
        last = number;
        note(&first, release_pool(m, number, false, released));
        note(&first, release_pool(m, number, true, released));
        if (!m->as_pytorch)
            model_drop_unmapped(m, number);
        model_pool_forget(m, number); /* with the last of its memory */
        p = 0;
    }
    return first;
}

enum vs_err model_empty_cache(struct model *m, uint64_t *released)
{
    *released = 0;
    return model_release_all(m, released);
}

void model_collect_garbage(struct model *m)
{
    double threshold = m->config.garbage_collection_threshold;
    if (model_allowed(m) == UINT64_MAX || threshold <= 0)
        return;
    uint64_t limit = (uint64_t)(threshold * (double)model_allowed(m));
    for (int round = 0; m->stats.reserved_bytes[0].current > limit; round++) {
        int freed = 0, count = 0;
        struct block last, *after = NULL;
        double ages = 0; /* searches of the shared large pool since each became free */
        for (int i; (i = next_free(m, 0, true, false, after)) >= 0; after = &last, count++) {
            last = m->blocks[i];
            ages += (double)(m->searches - last.born_free);
        }
        if (!count)
            return;
        after = NULL;
        RAN(m, gc_round);
        m->counts[MODEL_gc_second_round] += round > 0;
        for (int i; (i = next_free(m, 0, true, false, after)) >= 0; after = &last) {
            last = m->blocks[i];
            if ((double)(m->searches - last.born_free) >= ages / count && !release(m, i))
                freed++;
        }
        m->counts[MODEL_gc_free] += (uint64_t)freed;
        if (!freed)
            return;
    }
}

static bool oversize_for(const struct model *m, const struct block *b, const struct request *q)
{
    return model_is_free(b) && !b->expandable && model_alone(b) && b->large == q->large &&
           b->pool == q->pool && b->stream == q->stream && b->size >= model_max_split(m);
}

/* With a split limit: one free block of this stream that is large enough, or the
 * largest above the limit, the highest address among equals, until together they are. */
bool model_release_oversize(struct model *m, const struct request *q)
{
    if (!m->config.max_split_size)
        return false;
    uint64_t size = q->size < model_max_split(m) ? model_max_split(m) : q->size;
    int one = -1;
    for (int i = 0; i < m->count; i++) {
        const struct block *b = &m->blocks[i];
        if (oversize_for(m, b, q) && b->size >= size &&
            (one < 0 || model_after(&m->blocks[one], b)))
            one = i;
    }
    if (one >= 0) {
        bool done = !release(m, one);
        m->counts[MODEL_oversize_one] += done;
        return done;
    }
    uint64_t released = 0;
    struct block last, *before = NULL; /* skips those that the device does not free */
    while (released < size) {
        int largest = -1;
        for (int i = 0; i < m->count; i++) {
            const struct block *b = &m->blocks[i];
            if (oversize_for(m, b, q) && (!before || model_after(before, b)) &&
                (largest < 0 || model_after(b, &m->blocks[largest])))
                largest = i;
        }
        if (largest < 0) {
            m->counts[MODEL_oversize_short] += released > 0;
            return false;
        }
        last = m->blocks[largest];
        before = &last;
        released += release(m, largest) ? 0 : last.size;
    }
    RAN(m, oversize_several);
    return true;
}
