/* SPDX-License-Identifier: Apache-2.0
 *
 * The NVML query of PyTorch's expandable segments before the first mapping: whether the device is
 * part of a multi-node fabric. This library answers no for every device. Without any
 * libnvidia-ml.so.1 torch 2.15 calls a null pointer there. */
enum { SUCCESS = 0, NOT_SUPPORTED = 3 };

int nvmlInit_v2(void) { return SUCCESS; }

int nvmlDeviceGetHandleByPciBusId_v2(const char *id, void **device)
{
    static char only;
    (void)id;
    *device = &only;
    return SUCCESS;
}

int nvmlDeviceGetGpuFabricInfoV(void *device, void *info)
{
    (void)device, (void)info;
    return NOT_SUPPORTED;
}

int nvmlDeviceGetNvLinkRemoteDeviceType(void *device, unsigned link, void *type)
{
    (void)device, (void)link, (void)type;
    return NOT_SUPPORTED;
}

int nvmlDeviceGetNvLinkRemotePciInfo_v2(void *device, unsigned link, void *pci)
{
    (void)device, (void)link, (void)pci;
    return NOT_SUPPORTED;
}

int nvmlDeviceGetComputeRunningProcesses(void *device, unsigned *count, void *infos)
{
    (void)device, (void)count, (void)infos;
    return NOT_SUPPORTED;
}

int nvmlSystemGetCudaDriverVersion_v2(int *version)
{
    *version = 13000;
    return SUCCESS;
}
