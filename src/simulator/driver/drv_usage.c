/* SPDX-License-Identifier: Apache-2.0
 *
 * The memory that this process holds on a device, for the stand-in NVML. */
#include "simulator/driver/vs_sim_driver.h"
#include "simulator/driver/vs_sim_nvml.h"

VS_SIM_EXPORT vramscope_sim_held_fn vramscopeSimHeld;

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
