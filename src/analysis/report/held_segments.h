/* SPDX-License-Identifier: Apache-2.0
 *
 * The segments that a caching allocator holds from the device, with the stacks of the requests that
 * made them, which the replay does not keep. Followed by the segments' own events. Not thread-safe. */
#ifndef VS_HELD_SEGMENTS_H
#define VS_HELD_SEGMENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/report/report_site.h"
#include "analysis/state/replay.h"
#include "base/vs_arena.h"

/* A segment, or mapped memory. */
struct vs_held_segment {
    uint64_t device; /* the driver's ordinal */
    uint64_t addr, bytes, stack;
};

struct vs_held_node;

/* Zero-initialise; release with vs_held_segments_free. No two segments overlap. */
struct vs_held_segments {
    struct vs_held_node *tree, *spare; /* by device and address; unused ones */
    size_t count;
    struct vs_arena arena;
};

/* vs_held_segments_event: applies an event. Memory that is held already, because the event of its
 * release is missing, is held once. Cost: logarithmic in the held segments, for each
 * that the event touches. */
void vs_held_segments_event(struct vs_held_segments *held, const struct vs_event *event);
void vs_held_segments_free(struct vs_held_segments *held);

/* vs_held_list: the segments of *device* by address; returns how many. The caller frees *out*. */
size_t vs_held_list(const struct vs_held_segments *held, uint64_t device,
                    struct vs_held_segment **out);

/* vs_held_unused: the memory of *account* that is cached and not in use: each segment of *held*, or of a
 * framework that allocates its segments with one call each, with *bytes* the part without live blocks.
 * *replay* is at the same event. The caller frees *out*. Cost: sorts the segments, one
 * binary search for each live block. */
void vs_held_unused(const struct vs_held_segments *held, const struct vs_replay *replay,
                    unsigned account, struct vs_held_segment **out, size_t *count);

/* vs_segment_sites: adds the segments of *device*, the driver's ordinal, to *out* by the call sites
 * that requested them, the heaviest first. Memory of the summary's arena. */
void vs_segment_sites(const struct vs_summary *summary, const struct vs_held_segment *held,
                      size_t held_count, uint64_t device, struct vs_report_sites *out);

#endif
