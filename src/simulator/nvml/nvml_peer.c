/* SPDX-License-Identifier: Apache-2.0
 *
 * How simulated devices are connected: by PCIe alone, each behind a bridge of its own, all under one
 * switch, with peer access between any two. That is what copies between devices take (drv_exec.c)
 * and what cuDeviceGetP2PAttribute answers. There is no NVLink and no fabric. */
#include "simulator/nvml/vs_sim_nvml_device.h"

#include <string.h>

/* A device without NVLink has no link to ask about. */
static nvmlReturn_t no_link(nvmlDevice_t device, unsigned link, const void *out)
{
    unsigned physical;
    nvmlReturn_t r = vs_sim_nvml_enter_device(device, out, &physical);
    if (r)
        return r;
    return link < NVML_NVLINK_MAX_LINKS ? NVML_ERROR_NOT_SUPPORTED : NVML_ERROR_INVALID_ARGUMENT;
}

#define NO_LINK(name, type) \
    NVML_AS(name, (nvmlDevice_t device, unsigned link, type *out), no_link(device, link, out))
NO_LINK(nvmlDeviceGetNvLinkState, unsigned)
NO_LINK(nvmlDeviceGetNvLinkVersion, unsigned)
NO_LINK(nvmlDeviceGetNvLinkRemoteDeviceType, unsigned)
NO_LINK(nvmlDeviceGetNvLinkRemotePciInfo, nvmlPciInfo_v2_t)
NO_LINK(nvmlDeviceGetNvLinkRemotePciInfo_v2, nvmlPciInfo_t)
NVML_AS(nvmlDeviceGetNvLinkCapability,
        (nvmlDevice_t device, unsigned link, unsigned capability, unsigned *value),
        no_link(device, link, value))

NVML(nvmlDeviceGetP2PStatus,
     (nvmlDevice_t first, nvmlDevice_t second, unsigned which, unsigned *status))
{
    unsigned one, other;
    nvmlReturn_t r = vs_sim_nvml_enter_device(first, status, &one);
    if (!r)
        r = vs_sim_nvml_enter_device(second, status, &other);
    if (!r && which >= NVML_P2P_CAPS_INDEX_UNKNOWN)
        r = NVML_ERROR_INVALID_ARGUMENT;
    if (r)
        return r;
    bool offered = which == NVML_P2P_CAPS_INDEX_READ || which == NVML_P2P_CAPS_INDEX_WRITE ||
                   which == NVML_P2P_CAPS_INDEX_PCI;
    *status = offered && one != other ? NVML_P2P_STATUS_OK : NVML_P2P_STATUS_NOT_SUPPORTED;
    return NVML_SUCCESS;
}

NVML(nvmlDeviceGetTopologyCommonAncestor,
     (nvmlDevice_t first, nvmlDevice_t second, unsigned *level))
{
    unsigned one, other;
    nvmlReturn_t r = vs_sim_nvml_enter_device(first, level, &one);
    if (!r)
        r = vs_sim_nvml_enter_device(second, level, &other);
    if (!r)
        *level = one == other ? NVML_TOPOLOGY_INTERNAL : NVML_TOPOLOGY_SINGLE;
    return r;
}

NVML_ANSWER(nvmlDeviceGetGpuFabricInfo, (nvmlDevice_t device, nvmlGpuFabricInfo_t *info), info,
            *info = (nvmlGpuFabricInfo_t){.state = NVML_GPU_FABRIC_STATE_NOT_SUPPORTED})

/* Two versions, of which the second only has one member more. */
NVML(nvmlDeviceGetGpuFabricInfoV, (nvmlDevice_t device, nvmlGpuFabricInfo_v3_t *info))
{
    unsigned physical;
    nvmlReturn_t r = vs_sim_nvml_enter_device(device, info, &physical);
    if (r)
        return r;
    unsigned version = info->version;
    if (version != NVML_GPU_FABRIC_V2 && version != NVML_GPU_FABRIC_V3)
        return NVML_ERROR_ARGUMENT_VERSION_MISMATCH;
    memset(info, 0, version & 0xffffff);
    info->version = version;
    info->state = NVML_GPU_FABRIC_STATE_NOT_SUPPORTED;
    return NVML_SUCCESS;
}
