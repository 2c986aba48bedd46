/* SPDX-License-Identifier: Apache-2.0
 *
 * Virtual memory for the allocator: address ranges, physical memory and mappings
 * through cuMemAddressReserve, cuMemCreate, cuMemMap and cuMemSetAccess. */
#ifndef VS_VMM_OPS_H
#define VS_VMM_OPS_H

#include <stdbool.h>

#include "allocator/core/allocator.h"
#include "intercept/track/context.h"

/* vs_vmm_ops_add: enter the six operations where the driver has the entry points and
 * the device of *context* has virtual memory with pages of VS_PAGE_BYTES; otherwise
 * leave them out. */
void vs_vmm_ops_add(const struct vs_context *context, struct vs_device_ops *ops);

/* vs_vmm_peer_enabled: work on device *accessor* may now use memory of device *owner*,
 * as after cuCtxEnablePeerAccess, which mapped memory does not follow: what is mapped
 * is opened to it, and what will be. */
void vs_vmm_peer_enabled(uint32_t owner, uint32_t accessor);

/* vs_vmm_context_gone: forget what was mapped for *context*; its address ranges and
 * physical memory belong to the process and are given back to the driver. */
void vs_vmm_context_gone(const struct vs_context *context);

#endif
