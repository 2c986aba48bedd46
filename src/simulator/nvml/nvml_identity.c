/* SPDX-License-Identifier: Apache-2.0
 *
 * What a simulated device is: name, bus, architecture, limits. The answers come from the device's
 * preset (vs_sim_spec.c) and agree with those of the driver. */
#include "simulator/nvml/vs_sim_nvml_device.h"

#include <stdio.h>
#include <string.h>

#define VENDOR 0x10de /* NVIDIA's PCI number */

static const struct vs_sim_preset *preset(void) { return vs_sim_nvml_spec.preset; }

NVML_ANSWER(nvmlDeviceGetName, (nvmlDevice_t device, char *name, unsigned length), name,
            r = vs_sim_nvml_text(preset()->product, name, length))

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

NVML_AS(nvmlDeviceGetPciInfo, (nvmlDevice_t device, nvmlPciInfo_v2_t *pci),
        nvmlDeviceGetPciInfo_v2(device, pci))

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

NVML_NUMBER(nvmlDeviceGetCurrPcieLinkGeneration, preset()->pcie_generation)
NVML_NUMBER(nvmlDeviceGetMaxPcieLinkGeneration, preset()->pcie_generation)
NVML_NUMBER(nvmlDeviceGetCurrPcieLinkWidth, 16)
NVML_NUMBER(nvmlDeviceGetMaxPcieLinkWidth, 16)
NVML_NUMBER(nvmlDeviceGetMinorNumber, physical) /* in /dev/nvidiaN */
NVML_NUMBER(nvmlDeviceGetMultiGpuBoard, 0)
NVML_NUMBER(nvmlDeviceGetBoardId, (physical + 1) << 8) /* one board for each bus number */

/* ---- the architecture ---- */

NVML_ANSWER(nvmlDeviceGetCudaComputeCapability, (nvmlDevice_t device, int *major, int *minor),
            minor ? major : NULL, *major = preset()->major, *minor = preset()->minor)

static unsigned architecture(const struct vs_sim_preset *p)
{
    if (p->major == 7)
        return NVML_DEVICE_ARCH_TURING;
    if (p->major == 8)
        return p->minor == 9 ? NVML_DEVICE_ARCH_ADA : NVML_DEVICE_ARCH_AMPERE;
    return p->major == 9 ? NVML_DEVICE_ARCH_HOPPER : NVML_DEVICE_ARCH_BLACKWELL;
}

NVML_NUMBER(nvmlDeviceGetArchitecture, architecture(preset()))

/* Modules for servers report "NVIDIA" since Ampere, "Tesla" before. */
static unsigned brand(const struct vs_sim_preset *p)
{
    if (p->bus_bits <= 1000 && p->major != 7)
        return NVML_BRAND_GEFORCE;
    return p->major == 7 ? NVML_BRAND_TESLA : NVML_BRAND_NVIDIA;
}

NVML_NUMBER(nvmlDeviceGetBrand, brand(preset()))

/* FP32 cores for each SM: CUDA programming guide, "Compute Capabilities". */
static int cores_of_sm(const struct vs_sim_preset *p)
{
    return p->major == 7 || (p->major == 8 && p->minor == 0) ? 64 : 128;
}

NVML_NUMBER(nvmlDeviceGetNumGpuCores, preset()->sm_count * cores_of_sm(preset()))
NVML_NUMBER(nvmlDeviceGetMemoryBusWidth, preset()->bus_bits)
NVML_NUMBER(nvmlDeviceGetComputeMode, NVML_COMPUTEMODE_DEFAULT)
NVML_NUMBER(nvmlDeviceGetPersistenceMode, 1)
NVML_NUMBER(nvmlDeviceGetDisplayMode, 0)
NVML_NUMBER(nvmlDeviceGetDisplayActive, 0)
NVML_NUMBER(nvmlDeviceGetVirtualizationMode, 0)
NVML_NUMBER(nvmlDeviceIsMigDeviceHandle, 0)
NVML_NUMBER(nvmlDeviceGetMaxMigDeviceCount, 0)

/* MIG exists on the server modules since Ampere; it is off. */
NVML_ANSWER(nvmlDeviceGetMigMode, (nvmlDevice_t device, unsigned *now, unsigned *pending),
            pending ? now : NULL,
            if (preset()->major == 7 || preset()->bus_bits < 1000) r = NVML_ERROR_NOT_SUPPORTED;
            else *now = *pending = 0)

/* As cuDeviceGetAttribute answers. */
NVML_ANSWER(nvmlDeviceGetEccMode, (nvmlDevice_t device, unsigned *now, unsigned *pending),
            pending ? now : NULL, *now = *pending = preset()->bus_bits > 1000)
