/* SPDX-License-Identifier: Apache-2.0
 *
 * Memory of CUDA graphs. An allocation node has an address from its creation, but memory only from
 * a launch until something frees it: a free node, a free outside the graph, or the next launch of a
 * graph that frees automatically. So an executable graph is examined once, when it is instantiated,
 * and each launch records the allocations and frees of its nodes in the program's order. The memory
 * that the device holds for graphs comes from the driver (cuDeviceGetGraphMemAttribute): it shares
 * pages between allocations and keeps them until they are trimmed. */
#ifndef VS_GRAPH_MEMORY_H
#define VS_GRAPH_MEMORY_H

#include <cuda.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "intercept/track/context.h"

/* vs_graph_memory: true once the program has created a memory node. Until then graphs cost one
 * load. Never reset. */
extern _Atomic bool vs_graph_memory;

/* vs_graph_memory_seen: the program created a memory node. Any thread. */
void vs_graph_memory_seen(void);

/* vs_graph_made: *exec* was instantiated or updated from *graph*. Call with vs_thread.inside > 0.
 * Any thread; takes rank GRAPH. *Cost*: some driver calls for each node of the graph. */
void vs_graph_made(CUgraphExec exec, CUgraph graph, const struct vs_context *context);

/* vs_graph_requested: bytes of all allocations of *exec*; 0 when it allocates none. */
uint64_t vs_graph_requested(CUgraphExec exec);

/* vs_graph_take: count the memory that a launch or upload of *exec* may make the driver take from
 * the device beyond the memory it already holds for graphs, until vs_graph_give. False when that
 * exceeds the device's limit (limit.h). *taken* is the caller's. For a graph that allocates on
 * several devices, the first counts. */
struct vs_graph_taken {
    uint32_t device;
    uint64_t bytes; /* 0: nothing */
};
bool vs_graph_take(CUgraphExec exec, struct vs_graph_taken *taken);

/* vs_graph_give: the call is over; count the driver's actual graph memory instead. */
void vs_graph_give(const struct vs_graph_taken *taken);

/* vs_graph_launched: *exec* was launched into *stream* (the trace's number), not captured. Takes
 * rank GRAPH and the locks of vs_track_alloc. */
void vs_graph_launched(CUgraphExec exec, const struct vs_context *context, uint64_t stream,
                       const char *api);

/* vs_graph_exec_gone: *exec* is destroyed; its allocations stay until they are freed. */
void vs_graph_exec_gone(CUgraphExec exec);

/* vs_graph_sample: record the driver's graph memory on each device that has had some, if it
 * changed; *always*: even if unchanged, because the program is about to reset the high-water marks
 * of *device*. */
void vs_graph_sample(void);
void vs_graph_sample_marks(uint32_t device);

#endif
