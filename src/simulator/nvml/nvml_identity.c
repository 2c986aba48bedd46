/* SPDX-License-Identifier: Apache-2.0
 *
 * What a simulated device is: name, bus, architecture, limits. The answers come from the device's
 * preset (vs_sim_spec.c) and agree with those of the driver. */
#include "simulator/nvml/vs_sim_nvml_device.h"

#include <stdio.h>
#include <string.h>

#define VENDOR 0x10de /* NVIDIA's PCI number */

static const struct vs_sim_preset *preset(void) { return vs_sim_nvml_spec.preset; }

NVML(nvmlDeviceGetName, (nvmlDevice_t device, char *name, unsigned length))
{
    unsigned physical;
    nvmlReturn_t r = vs_sim_nvml_enter_device(device, name, &physical);
    return r ? r : vs_sim_nvml_text(preset()->product, name, length);
}

/* ---- the bus ---- */

void vs_sim_nvml_bus_id(unsigned physical, int digits, char text[32])
{
    snprintf(text, 32, "%0*x:%02X:00.0", digits, 0, physical + 1);
}

NVML(nvmlDeviceGetPciInfo_v3, (nvmlDevice_t device, nvmlPciInfo_t *pci))
{
    unsigned physical;
    char text[32];
    nvmlReturn_t r = vs_sim_nvml_enter_device(device, pci, &physical);
    if (r)
        return r;
    *pci = (nvmlPciInfo_t){.bus = physical + 1, .pciDeviceId = preset()->pci_device << 16 | VENDOR};
    vs_sim_nvml_bus_id(physical, 4, text);
    memcpy(pci->busIdLegacy, text, strlen(text) + 1);
    vs_sim_nvml_bus_id(physical, 8, pci->busId);
    return NVML_SUCCESS;
}

NVML(nvmlDeviceGetPciInfo_v2, (nvmlDevice_t device, nvmlPciInfo_v2_t *pci))
{
    nvmlPciInfo_t now;
    nvmlReturn_t r = nvmlDeviceGetPciInfo_v3(device, pci ? &now : NULL);
    if (r)
        return r;
    *pci = (nvmlPciInfo_v2_t){.bus = now.bus, .pciDeviceId = now.pciDeviceId};
    memcpy(pci->busId, now.busIdLegacy, sizeof pci->busId);
    return NVML_SUCCESS;
}

NVML(nvmlDeviceGetPciInfo, (nvmlDevice_t device, nvmlPciInfo_v2_t *pci))
{
    return nvmlDeviceGetPciInfo_v2(device, pci);
}

NVML(nvmlDeviceGetPciInfoExt, (nvmlDevice_t device, nvmlPciInfoExt_v1_t *pci))
{
    nvmlPciInfo_t now;
    if (pci && pci->version != NVML_PCI_INFO_EXT_V1)
        return NVML_ERROR_ARGUMENT_VERSION_MISMATCH;
    nvmlReturn_t r = nvmlDeviceGetPciInfo_v3(device, pci ? &now : NULL);
    if (r)
        return r;
    *pci = (nvmlPciInfoExt_v1_t){.version = NVML_PCI_INFO_EXT_V1,
                                 .bus = now.bus,
                                 .pciDeviceId = now.pciDeviceId,
                                 .baseClass = 3, /* a display controller, */
                                 .subClass = 2}; /* without a display */
    memcpy(pci->busId, now.busId, sizeof pci->busId);
    return NVML_SUCCESS;
}

NVML(nvmlDeviceGetCurrPcieLinkGeneration, (nvmlDevice_t device, unsigned *generation))
{
    return vs_sim_nvml_number(device, generation, preset() ? preset()->pcie_generation : 0);
}

NVML(nvmlDeviceGetMaxPcieLinkGeneration, (nvmlDevice_t device, unsigned *generation))
{
    return nvmlDeviceGetCurrPcieLinkGeneration(device, generation);
}

NVML(nvmlDeviceGetCurrPcieLinkWidth, (nvmlDevice_t device, unsigned *width))
{
    return vs_sim_nvml_number(device, width, 16);
}

NVML(nvmlDeviceGetMaxPcieLinkWidth, (nvmlDevice_t device, unsigned *width))
{
    return vs_sim_nvml_number(device, width, 16);
}

/* The number in /dev/nvidiaN. */
NVML(nvmlDeviceGetMinorNumber, (nvmlDevice_t device, unsigned *minor))
{
    unsigned physical;
    nvmlReturn_t r = vs_sim_nvml_enter_device(device, minor, &physical);
    if (!r)
        *minor = physical;
    return r;
}

NVML(nvmlDeviceGetMultiGpuBoard, (nvmlDevice_t device, unsigned *several))
{
    return vs_sim_nvml_number(device, several, 0);
}

NVML(nvmlDeviceGetBoardId, (nvmlDevice_t device, unsigned *id))
{
    unsigned physical;
    nvmlReturn_t r = vs_sim_nvml_enter_device(device, id, &physical);
    if (!r)
        *id = (physical + 1) << 8; /* one board for each bus number */
    return r;
}

/* ---- the architecture ---- */

NVML(nvmlDeviceGetCudaComputeCapability, (nvmlDevice_t device, int *major, int *minor))
{
    unsigned physical;
    nvmlReturn_t r = vs_sim_nvml_enter_device(device, minor ? major : NULL, &physical);
    if (r)
        return r;
    *major = preset()->major;
    *minor = preset()->minor;
    return NVML_SUCCESS;
}

static unsigned architecture(const struct vs_sim_preset *p)
{
    if (p->major == 7)
        return NVML_DEVICE_ARCH_TURING;
    if (p->major == 8)
        return p->minor == 9 ? NVML_DEVICE_ARCH_ADA : NVML_DEVICE_ARCH_AMPERE;
    return p->major == 9 ? NVML_DEVICE_ARCH_HOPPER : NVML_DEVICE_ARCH_BLACKWELL;
}

NVML(nvmlDeviceGetArchitecture, (nvmlDevice_t device, unsigned *value))
{
    unsigned physical;
    nvmlReturn_t r = vs_sim_nvml_enter_device(device, value, &physical);
    if (!r)
        *value = architecture(preset());
    return r;
}

/* Modules for servers report "NVIDIA" since Ampere, "Tesla" before. */
NVML(nvmlDeviceGetBrand, (nvmlDevice_t device, unsigned *brand))
{
    unsigned physical;
    nvmlReturn_t r = vs_sim_nvml_enter_device(device, brand, &physical);
    if (r)
        return r;
    bool server = preset()->bus_bits > 1000 || preset()->major == 7;
    *brand = !server                 ? NVML_BRAND_GEFORCE
             : preset()->major == 7 ? NVML_BRAND_TESLA
                                    : NVML_BRAND_NVIDIA;
    return NVML_SUCCESS;
}

/* FP32 cores for each SM: CUDA programming guide, "Compute Capabilities". */
NVML(nvmlDeviceGetNumGpuCores, (nvmlDevice_t device, unsigned *cores))
{
    unsigned physical;
    nvmlReturn_t r = vs_sim_nvml_enter_device(device, cores, &physical);
    if (r)
        return r;
    bool narrow = preset()->major == 7 || (preset()->major == 8 && preset()->minor == 0);
    *cores = (unsigned)preset()->sm_count * (narrow ? 64 : 128);
    return NVML_SUCCESS;
}

NVML(nvmlDeviceGetMemoryBusWidth, (nvmlDevice_t device, unsigned *bits))
{
    unsigned physical;
    nvmlReturn_t r = vs_sim_nvml_enter_device(device, bits, &physical);
    if (!r)
        *bits = (unsigned)preset()->bus_bits;
    return r;
}

NVML(nvmlDeviceGetComputeMode, (nvmlDevice_t device, unsigned *mode))
{
    return vs_sim_nvml_number(device, mode, NVML_COMPUTEMODE_DEFAULT);
}

NVML(nvmlDeviceGetPersistenceMode, (nvmlDevice_t device, unsigned *mode))
{
    return vs_sim_nvml_number(device, mode, 1);
}

NVML(nvmlDeviceGetDisplayMode, (nvmlDevice_t device, unsigned *display))
{
    return vs_sim_nvml_number(device, display, 0);
}

NVML(nvmlDeviceGetDisplayActive, (nvmlDevice_t device, unsigned *active))
{
    return vs_sim_nvml_number(device, active, 0);
}

NVML(nvmlDeviceGetVirtualizationMode, (nvmlDevice_t device, unsigned *mode))
{
    return vs_sim_nvml_number(device, mode, 0);
}

/* MIG exists on the server modules since Ampere; it is off. */
NVML(nvmlDeviceGetMigMode, (nvmlDevice_t device, unsigned *now, unsigned *pending))
{
    unsigned physical;
    nvmlReturn_t r = vs_sim_nvml_enter_device(device, pending ? now : NULL, &physical);
    if (!r && (preset()->major == 7 || preset()->bus_bits < 1000))
        r = NVML_ERROR_NOT_SUPPORTED;
    if (!r)
        *now = *pending = 0;
    return r;
}

NVML(nvmlDeviceIsMigDeviceHandle, (nvmlDevice_t device, unsigned *is_mig))
{
    return vs_sim_nvml_number(device, is_mig, 0);
}

NVML(nvmlDeviceGetMaxMigDeviceCount, (nvmlDevice_t device, unsigned *count))
{
    return vs_sim_nvml_number(device, count, 0);
}

NVML(nvmlDeviceGetEccMode, (nvmlDevice_t device, unsigned *now, unsigned *pending))
{
    unsigned physical;
    nvmlReturn_t r = vs_sim_nvml_enter_device(device, pending ? now : NULL, &physical);
    if (!r)
        *now = *pending = preset()->bus_bits > 1000; /* as cuDeviceGetAttribute answers */
    return r;
}
