/* SPDX-License-Identifier: Apache-2.0
 *
 * The reference model's snapshot of its segments. Each mapped run of an expandable one is a
 * segment. */
#include "reference_internal.h"

static enum vs_block_state state_of(const struct block *b)
{
    if (b->busy)
        return VS_BLOCK_LIVE;
    return b->waiting ? VS_BLOCK_PENDING : VS_BLOCK_FREE;
}

/* One past the last block of the run that starts at *i*. */
static int end_of_stretch(const struct model *m, int i)
{
    int end = i + 1;
    while (end < m->count && m->blocks[end].segment == m->blocks[i].segment &&
           !m->blocks[end].unmapped)
        end++;
    return end;
}

void model_snapshot(const struct model *m,
                    void (*visit)(void *ctx, const struct vs_segment_info *segment,
                                  const struct vs_block_info *block),
                    void *ctx)
{
    for (int i = 0, end; i < m->count; i = end) {
        const struct block *first = &m->blocks[i];
        end = end_of_stretch(m, i);
        if (first->unmapped) {
            end = i + 1;
            continue;
        }
        const struct block *last = &m->blocks[end - 1];
        struct vs_segment_info segment = {
            .addr = first->addr, .size = last->addr + last->size - first->addr,
            .stream = first->stream, .pool = first->large ? VS_POOL_LARGE : VS_POOL_SMALL,
            .expandable = first->expandable, .pool_id = model_pool_id(m, first->pool)};
        visit(ctx, &segment, NULL);
        for (int k = i; k < end; k++) {
            const struct block *b = &m->blocks[k];
            struct vs_block_info block = {.addr = b->addr, .size = b->size,
                                          .requested = b->requested, .state = state_of(b)};
            visit(ctx, &segment, &block);
        }
    }
}
