/* SPDX-License-Identifier: Apache-2.0
 *
 * Virtual memory for the allocator: address ranges, physical memory and mappings
 * through cuMemAddressReserve, cuMemCreate, cuMemMap and cuMemSetAccess. */
#ifndef VS_VMM_OPS_H
#define VS_VMM_OPS_H

#include <stdbool.h>

#include "allocator/core/allocator.h"
#include "intercept/track/context.h"

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
