/* SPDX-License-Identifier: Apache-2.0
 *
 * Memory of CUDA graphs. An allocation node has an address from the moment it is made
 * but memory only from a launch until something frees it: a free node, a free outside
 * the graph, or the next launch of a graph that frees by itself. So an executable graph
 * is looked through once, when it is made, and each launch enters and ends what its
 * nodes allocate and free, in the program's order. What the device really holds for
 * graphs is the driver's to say (cuDeviceGetGraphMemAttribute): it shares pages between
 * allocations and keeps them until they are trimmed. */
#ifndef VS_GRAPH_MEMORY_H
#define VS_GRAPH_MEMORY_H

#include <cuda.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "intercept/track/context.h"

/* vs_graph_memory: has the program made any memory node? Until then graphs cost one
 * load. Never taken back. */
extern _Atomic bool vs_graph_memory;

/* vs_graph_memory_seen: it has now. Any thread. */
void vs_graph_memory_seen(void);

/* vs_graph_made: *exec* was made from *graph*, or is as *graph* now. Call with
 * vs_thread.inside > 0. Any thread; takes rank GRAPH. *Cost*: some driver calls for
 * each node of the graph. */
void vs_graph_made(CUgraphExec exec, CUgraph graph, const struct vs_context *context);

/* vs_graph_requested: bytes of all allocations of *exec*; 0 when it has no memory. */
uint64_t vs_graph_requested(CUgraphExec exec);

/* vs_graph_take: count what a launch or upload of *exec* may make the driver take of
 * the device beyond what it holds for graphs, until vs_graph_give. False when that passes
 * the device's limit (limit.h). *taken* is the caller's. Of a graph that allocates on
 * several devices, the first counts. */
struct vs_graph_taken {
    uint32_t device;
    uint64_t bytes; /* 0: nothing */
};
bool vs_graph_take(CUgraphExec exec, struct vs_graph_taken *taken);

/* vs_graph_give: the call is over; what the driver now holds is counted instead. */
void vs_graph_give(const struct vs_graph_taken *taken);

/* vs_graph_launched: *exec* was launched into *stream* (the trace's number), not into
 * a capture. Takes rank GRAPH and what vs_track_alloc takes. */
void vs_graph_launched(CUgraphExec exec, const struct vs_context *context, uint64_t stream,
                       const char *api);

/* vs_graph_exec_gone: *exec* is destroyed; what it allocated stays until it is freed. */
void vs_graph_exec_gone(CUgraphExec exec);

/* vs_graph_sample: record what the driver holds for graphs on the devices where they
 * have had memory, where it changed; *always*: where it did not, too, since the
 * program is about to reset the marks of *device*. */
void vs_graph_sample(void);
void vs_graph_sample_marks(uint32_t device);

#endif
