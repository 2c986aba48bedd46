/* SPDX-License-Identifier: Apache-2.0
 *
 * Streams and events for an allocator that is stream-ordered. The allocator knows a
 * stream by a key that stands for one stream ever: handles come again after a stream's
 * end, and all threads' own default streams share one. */
#ifndef VS_EVENT_OPS_H
#define VS_EVENT_OPS_H

#include <cuda.h>
#include <stdint.h>

#include "allocator/core/allocator.h"
#include "intercept/track/context.h"

/* vs_event_ops_add: enter the event and stream operations where the driver has them. */
void vs_event_ops_add(struct vs_device_ops *ops);

/* vs_stream_key: the allocator's key for *stream* as the calling thread means it, in
 * *context*, which is current. Never 0. Any thread. *Cost*: one driver call unless it
 * is the default stream. */
uint64_t vs_stream_key(const struct vs_context *context, CUstream stream);

/* vs_stream_is_default: the legacy default stream, whose key needs no current context. */
bool vs_stream_is_default(CUstream stream);

/* vs_stream_key_id: the trace's number of the stream behind *key*. */
uint64_t vs_stream_key_id(uint64_t key);

/* vs_stream_key_handle: its handle; 0 for a default stream. */
uint64_t vs_stream_key_handle(uint64_t key);

/* vs_stream_ends: the program is about to destroy *stream*: its handle is not to be used
 * any more. */
void vs_stream_ends(CUstream stream);

/* vs_stream_capturing: is work on *stream* being captured, or could that not be told? */
bool vs_stream_capturing(CUstream stream);

/* vs_capture_relax, _restore: let this thread make calls that a capture in another
 * thread would forbid, because they concern nothing that is captured. */
CUstreamCaptureMode vs_capture_relax(void);
void vs_capture_restore(CUstreamCaptureMode mode);

/* vs_event_ops_context_gone: the events of *context* no longer exist. */
void vs_event_ops_context_gone(const struct vs_context *context);

#endif
