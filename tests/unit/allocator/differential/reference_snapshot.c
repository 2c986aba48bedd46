/* SPDX-License-Identifier: Apache-2.0
 *
 * The reference model's snapshot of its segments. Each mapped run of an expandable one is a
 * segment. */
#include "reference_internal.h"

void model_snapshot(const struct model *m,
                    void (*visit)(void *ctx, const struct vs_segment_info *segment,
                                  const struct vs_block_info *block),
                    void *ctx)
{
    for (int i = 0, end; i < m->count; i = end) {
        const struct block *first = &m->blocks[i];
        end = i + 1;
        if (first->unmapped)
            continue;
        while (end < m->count && m->blocks[end].segment == first->segment &&
               !m->blocks[end].unmapped)
            end++;
        const struct block *last = &m->blocks[end - 1];
        struct vs_segment_info segment = {
            .addr = first->addr, .size = last->addr + last->size - first->addr,
            .stream = first->stream, .pool = first->large ? VS_POOL_LARGE : VS_POOL_SMALL,
            .expandable = first->expandable, .pool_id = model_pool_id(m, first->pool)};
        visit(ctx, &segment, NULL);
        for (int k = i; k < end; k++) {
            const struct block *b = &m->blocks[k];
            struct vs_block_info block = {
                .addr = b->addr, .size = b->size, .requested = b->requested,
                .state = b->busy ? VS_BLOCK_LIVE : b->waiting ? VS_BLOCK_PENDING : VS_BLOCK_FREE};
            visit(ctx, &segment, &block);
        }
    }
}
