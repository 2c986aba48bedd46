/* SPDX-License-Identifier: Apache-2.0
 *
 * Managed memory: the location of its pages and the advice for its parts. */
#ifndef VS_SIM_MANAGED_H
#define VS_SIM_MANAGED_H

#include "simulator/driver/vs_sim_driver.h"

/* Locations as one number: a device's ordinal, CU_DEVICE_CPU, CU_DEVICE_INVALID for none, or a host
 * NUMA node. */
#define VS_SIM_NUMA(node) (-16 - (node))
#define VS_SIM_IS_NUMA(place) ((place) <= -16)
#define VS_SIM_ADVICE_PAGE 4096

struct vs_sim_advice { /* for the bytes up to *end*, from the end of the interval before */
    size_t end;
    int preferred, prefetched; /* places */
    uint32_t accessed_by;      /* bit per device; VS_SIM_BY_HOST */
    bool read_mostly;
};
#define VS_SIM_BY_HOST (UINT32_C(1) << 31)

/* vs_sim_managed_add: allocates storage for *range*, whose bytes, owner and device are set;
 * registers it. CUDA_ERROR_OUT_OF_MEMORY without address space. */
CUresult vs_sim_managed_add(struct vs_sim_range *range);
/* vs_sim_managed_release: frees the storage of a range after its removal. */
void vs_sim_managed_release(const struct vs_sim_range *range);

/* vs_sim_managed_move: moves the pages of *span* to its place; CU_DEVICE_INVALID discards them.
 * Other managed pages are evicted from a device; pages that still do not fit stay on the host.
 * Returns the bytes moved. */
uint64_t vs_sim_managed_move(const struct vs_sim_managed_span *span);
/* vs_sim_managed_touch: a kernel on *device* received *address*. If that is managed memory, its
 * pages move to the device, unless their preferred location is another. Cheap while there is no
 * managed memory. */
void vs_sim_managed_touch(uintptr_t address, int device);
/* vs_sim_managed_make_room: evicts managed pages of *device* to the host until *bytes* are free.
 * Returns false, and moves nothing, if that is impossible. */
bool vs_sim_managed_make_room(int device, uint64_t bytes);

#define VS_SIM_PREFETCHED ((CUmem_advise)0) /* no advice, but stored likewise */
/* vs_sim_managed_advise: changes the advice of [address, address + bytes), rounded to pages of 4
 * KiB. CUDA_ERROR_INVALID_VALUE unless all of it is managed memory of one allocation. */
CUresult vs_sim_managed_advise(uintptr_t address, size_t bytes, CUmem_advise advice, int place);
/* vs_sim_managed_common: what its parts have in common, CU_DEVICE_INVALID for places that differ.
 */
CUresult vs_sim_managed_common(uintptr_t address, size_t bytes, struct vs_sim_advice *common);

#endif
