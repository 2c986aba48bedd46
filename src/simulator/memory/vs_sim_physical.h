/* SPDX-License-Identifier: Apache-2.0
 *
 * Physical memory of cuMemCreate inside: what drv_vmm.c (addresses, mappings) asks
 * of drv_physical.c (allocations and their handles). */
#ifndef VS_SIM_PHYSICAL_H
#define VS_SIM_PHYSICAL_H

#include "simulator/driver/vs_sim_driver.h"

#define VS_SIM_GRANULARITY VS_SIM_PAGE_BYTES

/* Where an allocation's bytes are. */
struct vs_sim_physical_place {
    int fd;
    uint64_t offset;
    size_t bytes;
    int device; /* ordinal; -1: host */
    uint64_t id; /* of the allocation, from 1; never reused */
};

/* vs_sim_physical_map: count a mapping of what *handle* names, which keeps it alive.
 * False: no such handle. */
bool vs_sim_physical_map(CUmemGenericAllocationHandle handle, struct vs_sim_physical_place *place);
/* vs_sim_physical_unmap: one mapping less; memory without mappings and handles goes
 * back to its device. */
void vs_sim_physical_unmap(CUmemGenericAllocationHandle handle);
/* vs_sim_physical_retain: one more reference to a handle that is mapped. */
void vs_sim_physical_retain(CUmemGenericAllocationHandle handle);
/* vs_sim_physical_handle_types: what a mapped handle may be exported as. */
unsigned vs_sim_physical_handle_types(CUmemGenericAllocationHandle handle);

#endif
