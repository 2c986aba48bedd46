/* SPDX-License-Identifier: Apache-2.0
 *
 * Shared by caching.c (serving) and caching_events.c (events of the allocator). */
#ifndef VS_CACHING_INTERNAL_H
#define VS_CACHING_INTERNAL_H

#include "intercept/cache/caching.h"

/* For vs_allocator_create, with the struct vs_context as its argument. */
extern const struct vs_event_sink vs_caching_sink;

/* vs_caching_segment: *e* concerns a segment, whatever its own kind. *e->requested*: the bytes
 * allocated from the device, or released to it. */
void vs_caching_segment(struct vs_context *context, const struct vs_allocator_event *e,
                        enum vs_allocator_event_kind kind);

#endif
