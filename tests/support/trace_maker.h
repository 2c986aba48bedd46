/* SPDX-License-Identifier: Apache-2.0
 *
 * What the makers of large traces for measurements have in common: the process and its device, events
 * in the order of their times, blocks. A maker writes through the recorder or the composer. */
#ifndef VS_TRACE_MAKER_H
#define VS_TRACE_MAKER_H

#include "trace/format/event.h"

struct vs_trace_maker {
    void *to; /* of both functions */
    uint64_t (*text)(void *to, const char *text);
    void (*write)(void *to, struct vs_event *event); /* may fill it in */
    uint64_t now_ns;
};

/* vs_maker_put: writes *event*, *after_ns* after the one before. */
void vs_maker_put(struct vs_trace_maker *maker, uint64_t after_ns, struct vs_event event);

/* vs_maker_begin: the process that runs *exe* and its device, *after_ns* after the start each. */
void vs_maker_begin(struct vs_trace_maker *maker, uint64_t after_ns, const char *exe, const char *policy);

/* vs_maker_alloc, vs_maker_free: events of a block, in the only context. */
struct vs_event vs_maker_alloc(uint64_t addr, uint64_t requested, uint64_t size, uint64_t stream);
struct vs_event vs_maker_free(uint64_t addr);

#endif
