/* SPDX-License-Identifier: Apache-2.0
 *
 * Physical memory of cuMemCreate, internal: functions of drv_physical.c (allocations and their
 * handles) for drv_vmm.c (addresses, mappings). */
#ifndef VS_SIM_PHYSICAL_H
#define VS_SIM_PHYSICAL_H

#include "simulator/driver/vs_sim_driver.h"

#define VS_SIM_GRANULARITY VS_SIM_PAGE_BYTES

/* The position of an allocation's bytes. */
struct vs_sim_physical_place {
    int fd;
    uint64_t offset;
    size_t bytes;
    int device; /* ordinal; -1: host */
    uint64_t id; /* of the allocation, from 1; never reused */
};

/* vs_sim_physical_map: counts a mapping of the memory of *handle*, which keeps it alive. Returns
 * false if there is no such handle. */
bool vs_sim_physical_map(CUmemGenericAllocationHandle handle, struct vs_sim_physical_place *place);
/* vs_sim_physical_unmap: removes one mapping; memory without mappings and handles is released to
 * its device. */
void vs_sim_physical_unmap(CUmemGenericAllocationHandle handle);
/* vs_sim_physical_retain: adds a reference to a handle whose memory is mapped. */
void vs_sim_physical_retain(CUmemGenericAllocationHandle handle);
/* vs_sim_physical_handle_types: handle types with which the memory may be exported. */
unsigned vs_sim_physical_handle_types(CUmemGenericAllocationHandle handle);

#endif
