/* SPDX-License-Identifier: Apache-2.0
 *
 * The allocator's view of a real device: its operations over the driver, in the context that an
 * allocator serves. The calls are ours, not the program's: they go to the driver directly and are
 * not recorded. */
#ifndef VS_DEVICE_OPS_H
#define VS_DEVICE_OPS_H

#include <cuda.h>
#include <stdbool.h>
#include <stdint.h>

#include "allocator/core/allocator.h"
#include "intercept/track/context.h"

/* vs_device_ops_fill: the operations for an allocator that serves *context*, which is their ctx
 * argument. Includes virtual memory if the device has it; events and streams for
 * VS_REUSE_STREAM_ORDERED. */
void vs_device_ops_fill(const struct vs_context *context, enum vs_reuse reuse,
                        struct vs_device_ops *out);

/* --- event_ops.c: streams and events. The allocator identifies a stream by a key that is never
 * reused: handles are reused after a stream's destruction, and the per-thread default streams of all
 * threads share one handle. --- */

/* vs_event_ops_add: adds the event and stream operations if the driver has them. */
void vs_event_ops_add(struct vs_device_ops *ops);

/* vs_stream_key: the allocator's key for *stream* in the calling thread and in *context*, which is
 * current. Never 0. Any thread. *Cost*: one driver call unless it is the default stream. */
uint64_t vs_stream_key(const struct vs_context *context, CUstream stream);

/* vs_stream_is_default: is it the legacy default stream, whose key needs no current context? */
bool vs_stream_is_default(CUstream stream);

/* vs_stream_key_id: the trace's number of the stream of *key*. */
uint64_t vs_stream_key_id(uint64_t key);

/* vs_stream_key_handle: its handle; 0 for a default stream. */
uint64_t vs_stream_key_handle(uint64_t key);

/* vs_stream_ends: the program is about to destroy *stream*: its handle must not be used any
 * more. */
void vs_stream_ends(CUstream stream);

/* vs_stream_capturing: is work on *stream* being captured, or is that unknown? */
bool vs_stream_capturing(CUstream stream);

/* vs_capture_relax, _restore: permit this thread calls that a capture in another thread would
 * forbid, because they do not affect captured work. */
CUstreamCaptureMode vs_capture_relax(void);
void vs_capture_restore(CUstreamCaptureMode mode);

/* vs_event_ops_context_gone: the events of *context* no longer exist. */
void vs_event_ops_context_gone(const struct vs_context *context);

/* --- vmm_ops.c: address ranges, physical memory and mappings, through cuMemAddressReserve,
 * cuMemCreate, cuMemMap and cuMemSetAccess. --- */

/* vs_vmm_ops_add: adds the six operations if the driver has the entry points and the device of
 * *context* has virtual memory with pages of VS_PAGE_BYTES; otherwise leaves them out. */
void vs_vmm_ops_add(const struct vs_context *context, struct vs_device_ops *ops);

/* vs_vmm_peer_enabled: work on device *accessor* may now use memory of device *owner*, as after
 * cuCtxEnablePeerAccess, which does not apply to mapped memory: gives it access to existing and
 * future mappings. */
void vs_vmm_peer_enabled(uint32_t owner, uint32_t accessor);

/* vs_vmm_context_gone: removes the mappings of *context*; its address ranges and physical memory
 * belong to the process and are released to the driver. */
void vs_vmm_context_gone(const struct vs_context *context);

#endif
