/* SPDX-License-Identifier: Apache-2.0
 *
 * The memory that this process holds on a device, and how long the device has worked for it, for the
 * stand-in NVML. */
#include "simulator/driver/vs_sim_driver.h"
#include "simulator/driver/vs_sim_nvml.h"
#include "simulator/memory/vs_sim_memory.h"

VS_SIM_EXPORT vramscope_sim_held_fn vramscopeSimHeld;
VS_SIM_EXPORT vramscope_sim_worked_fn vramscopeSimWorked;

uint64_t vramscopeSimHeld(int physical, unsigned *contexts)
{
    *contexts = 0;
    if (vs_sim_enter() != CUDA_SUCCESS)
        return 0;
    int device = vs_sim_device_seen(physical);
    if (device < 0)
        return 0;
    *contexts = vs_sim_contexts_on(device);
    return vs_sim_space_used_bytes(device);
}

void vramscopeSimWorked(int physical, uint64_t *kernel_ns, uint64_t *transfer_ns)
{
    *kernel_ns = *transfer_ns = 0;
    int device = vs_sim_enter() == CUDA_SUCCESS ? vs_sim_device_seen(physical) : -1;
    if (device < 0)
        return;
    *kernel_ns = atomic_load(&vs_sim_devices[device].kernel_ns);
    *transfer_ns = atomic_load(&vs_sim_devices[device].transfer_ns);
}
