/* SPDX-License-Identifier: Apache-2.0
 *
 * What caching.c (serving) and caching_events.c (what the allocator reports) share. */
#ifndef VS_CACHING_INTERNAL_H
#define VS_CACHING_INTERNAL_H

#include "intercept/cache/caching.h"

/* For vs_allocator_create, with the struct vs_context as its argument. */
extern const struct vs_event_sink vs_caching_sink;

/* vs_caching_block: *e* says that a block was served or freed. */
void vs_caching_block(const struct vs_context *context, const struct vs_allocator_event *e);

/* vs_caching_segment: *e* is of a segment, whatever its own kind. *e->requested*: the bytes
 * that were taken from the device, or given back to it. */
void vs_caching_segment(struct vs_context *context, const struct vs_allocator_event *e,
                        enum vs_allocator_event_kind kind);

#endif
