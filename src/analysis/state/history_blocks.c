/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/state/history_blocks.h"

#include <stdlib.h>

#include "base/reading/vs_vec.h"
#include "base/reading/vs_xalloc.h"

#define NO_ADDRESS (UINT64_C(1) << 52)

void vs_history_blocks_learn(struct vs_history_blocks *b, const struct vs_replay *replay)
{
    b->site_count = replay->sites.count;
    b->backing = vs_xcalloc(b->site_count + 1, sizeof *b->backing);
    for (size_t i = 0; i < b->site_count; i++)
        b->backing[i] = replay->sites.items[i].backing;
    for (unsigned i = 0; i < replay->account_count; i++)
        b->framework[i] = replay->accounts[i]->user.reports;
}

bool vs_history_holds(const struct vs_history_blocks *b, const struct vs_live *live)
{
    return b->framework[live->device] && live->level != VS_LEVEL_FRAMEWORK &&
           live->site < b->site_count && b->backing[live->site];
}

uint64_t vs_history_born(struct vs_history_blocks *b, const struct vs_published *change)
{
    const struct vs_event *event = change->event;
    uint64_t stream = event->kind == VS_EVENT_framework_alloc ? event->framework_alloc.framework_stream
                      : event->kind == VS_EVENT_alloc         ? event->alloc.stream
                                                              : 0;
    vs_vec_room(&b->streams, &b->stream_capacity, change->slot + 1, sizeof *b->streams);
    b->streams[change->slot] = (struct vs_block_stream){change->live->event, stream};
    return stream;
}

uint64_t vs_history_stream(const struct vs_history_blocks *b, const struct vs_replay *replay,
                           const struct vs_live *live)
{
    uint32_t slot = vs_replay_slot(replay, live);
    bool known = slot < b->stream_capacity && b->streams[slot].event == live->event;
    return known ? b->streams[slot].stream : 0;
}

uint64_t vs_history_address(uint64_t addr)
{
    uint64_t kind = addr >= VS_ADDR_MEMORY;
    return addr < VS_ADDR_ARRAY ? addr : NO_ADDRESS | kind << 51 | (addr & UINT32_MAX);
}

void vs_history_blocks_free(struct vs_history_blocks *b)
{
    free(b->backing);
    free(b->streams);
}
