/* SPDX-License-Identifier: Apache-2.0
 *
 * The segments that a caching allocator holds from the device at one time of the replay, or the places
 * where physical memory is mapped, ordered by address, so that the segment of a block is found by binary
 * search. Mappings are not joined: each is unmapped as a whole. Not thread-safe. */
#ifndef VS_SEGMENTS_H
#define VS_SEGMENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct vs_replay_segment {
    uint64_t addr, size;
    uint64_t context, stream, pool;
    unsigned device; /* index in the replay, not the trace's number */
    bool mapped;     /* address space with memory mapped into it: grows and shrinks */
    bool view;       /* maps memory that is reserved elsewhere */
    /* of a mapping of physical memory (cuMemCreate): */
    uint64_t memory; /* address of its `alloc` event; 0: of another process */
    uint64_t event;  /* 1-based index; 0: before the state that a checkpoint had */
};

#define VS_SEGMENTS_NEAR 4096u

/* Zero-initialise. */
struct vs_segments {
    struct vs_replay_segment *items; /* ascending by addr */
    size_t count, capacity;
    uint32_t near[VS_SEGMENTS_NEAR]; /* by 2 MiB of address: where a search there ended last; checked by use */
};

/* vs_segments_add: insert. A segment that starts at the same address is replaced and returned in
 * *replaced* (size 0 when there was none). */
void vs_segments_add(struct vs_segments *set, const struct vs_replay_segment *segment,
                     struct vs_replay_segment *replaced);

/* vs_segments_remove: remove the segment that starts at *addr*; false when there is none. */
bool vs_segments_remove(struct vs_segments *set, uint64_t addr, struct vs_replay_segment *removed);

/* vs_segments_map: insert *segment*, which is mapped, and merge it with mapped neighbours of the
 * same kind; *joined*: the count of those. False if it overlaps a segment. */
bool vs_segments_map(struct vs_segments *set, const struct vs_replay_segment *segment,
                     unsigned *joined);

/* vs_segments_unmap: remove the first mapped part of [addr, addr + size); *taken* is that part, cut
 * to those bounds (size 0: there is none), *change* the change in the number of segments. */
void vs_segments_unmap(struct vs_segments *set, uint64_t addr, uint64_t size,
                       struct vs_replay_segment *taken, int *change);

/* vs_segments_find: the segment that contains *addr*, or NULL. Valid until the
 * next add or remove. */
const struct vs_replay_segment *vs_segments_find(const struct vs_segments *set, uint64_t addr);

/* vs_segments_find_near: likewise, without a search where one near *addr* found the segment before. */
static inline const struct vs_replay_segment *vs_segments_find_near(struct vs_segments *set, uint64_t addr)
{
    uint32_t *at = &set->near[(addr >> 21) % VS_SEGMENTS_NEAR];
    const struct vs_replay_segment *segment = set->items + *at;
    if (*at >= set->count || addr - segment->addr >= segment->size ||
        (*at + 1 < set->count && segment[1].addr <= addr)) {
        segment = vs_segments_find(set, addr);
        *at = segment ? (uint32_t)(segment - set->items) : 0;
    }
    return segment;
}

void vs_segments_free(struct vs_segments *set);

#endif
