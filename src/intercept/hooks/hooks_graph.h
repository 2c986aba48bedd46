/* SPDX-License-Identifier: Apache-2.0 */
#ifndef VS_HOOKS_GRAPH_H
#define VS_HOOKS_GRAPH_H

/* vs_graph_memory_seen: the program created a memory node of a graph. Any thread. */
void vs_graph_memory_seen(void);

#endif
