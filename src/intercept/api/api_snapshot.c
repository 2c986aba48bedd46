/* SPDX-License-Identifier: Apache-2.0
 *
 * Segments and blocks for the public C API. The allocator visits them under its lock; they are
 * copied first, so that the program's code runs with no lock of ours held and is unrestricted. */
#include "vramscope.h"

#include <stddef.h>

#include "base/vs_arena.h"
#include "intercept/api/api.h"
#include "intercept/cache/device_ops.h"
#include "intercept/process/process.h"
#include "intercept/route/hook.h"
#include "intercept/track/context.h"

/* A block, and the segment that contains it. */
struct api_snapshot_row {
    struct vramscope_segment segment;
    struct vramscope_block block; /* size 0: the segment itself */
};

struct copy {
    struct api_snapshot_row *rows;
    size_t count, capacity; /* count continues where capacity ends */
    int device;
};

static void copy_row(void *arg, const struct vs_segment_info *segment,
                     const struct vs_block_info *block)
{
    static const int states[] = {[VS_BLOCK_FREE] = VRAMSCOPE_BLOCK_FREE,
                                 [VS_BLOCK_LIVE] = VRAMSCOPE_BLOCK_LIVE,
                                 [VS_BLOCK_PENDING] = VRAMSCOPE_BLOCK_PENDING,
                                 [VS_BLOCK_TAKEN] = VRAMSCOPE_BLOCK_FREE,
                                 [VS_BLOCK_UNMAPPED] = VRAMSCOPE_BLOCK_FREE,
                                 [VS_BLOCK_LENT] = VRAMSCOPE_BLOCK_LENT,
                                 [VS_BLOCK_DORMANT] = VRAMSCOPE_BLOCK_FREE};
    struct copy *copy = arg;
    size_t i = copy->count++;
    if (i >= copy->capacity)
        return;
    copy->rows[i] = (struct api_snapshot_row){.segment = {.address = segment->addr,
                                             .size = segment->size,
                                             .stream = segment->stream, /* key; its handle below */
                                             .device = copy->device,
                                             .pool = segment->pool,
                                             .expandable = segment->expandable,
                                             .view = segment->view}};
    if (block)
        copy->rows[i].block = (struct vramscope_block){.address = block->addr,
                                                       .size = block->size,
                                                       .requested = block->requested,
                                                       .state = states[block->state]};
}

static void release(struct copy *copy)
{
    vs_pages_unmap(copy->rows, copy->capacity * sizeof *copy->rows);
}

/* All rows of *device*; other threads may add some between counting and copying. */
static bool take(int device, struct copy *copy)
{
    *copy = (struct copy){.device = device};
    for (;;) {
        struct vs_context *c = NULL;
        int i = 0;
        copy->count = 0;
        for (struct vs_allocator *a;
             !vs_process_forked() && (a = vs_allocator_next((uint32_t)device, &c, &i));)
            vs_allocator_snapshot(a, copy_row, copy);
        if (copy->count <= copy->capacity)
            break;
        size_t capacity = copy->count + copy->count / 4 + 16;
        release(copy);
        copy->rows = vs_pages_map(capacity * sizeof *copy->rows);
        copy->capacity = copy->rows ? capacity : 0;
        if (!copy->rows)
            return false;
    }
    for (size_t i = 0; i < copy->count; i++) {
        uint64_t *stream = &copy->rows[i].segment.stream;
        *stream = *stream ? vs_stream_key_handle(*stream) : 0;
    }
    return true;
}

VS_EXPORT int vramscope_snapshot(int device,
                                 int (*visit)(const struct vramscope_segment *segment,
                                              const struct vramscope_block *block, void *arg),
                                 void *arg)
{
    struct copy copy;
    if (!vs_api_device(device) || !visit || !take(device, &copy))
        return -1;
    int stop = 0;
    for (size_t i = 0; i < copy.count && !stop; i++) {
        const struct api_snapshot_row *row = &copy.rows[i];
        stop = visit(&row->segment, row->block.size ? &row->block : NULL, arg);
    }
    release(&copy);
    return 0;
}

VS_EXPORT int64_t vramscope_copy_blocks(int device, struct vramscope_block *blocks, size_t max)
{
    struct copy copy;
    int64_t count = 0;
    if (!vs_api_device(device) || (!blocks && max) || !take(device, &copy))
        return -1;
    for (size_t i = 0; i < copy.count; i++) {
        if (!copy.rows[i].block.size)
            continue;
        if ((size_t)count < max)
            blocks[count] = copy.rows[i].block;
        count++;
    }
    release(&copy);
    return count;
}
