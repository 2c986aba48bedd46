/* SPDX-License-Identifier: Apache-2.0
 *
 * Device queries of the runtime, from driver attributes. */
#include "simulator/runtime/vs_sim_runtime.h"

#include <string.h>

cudaError_t cudaDriverGetVersion(int *driverVersion)
{
    if (!driverVersion)
        return vs_rt_result(cudaErrorInvalidValue);
    *driverVersion = 0; /* documented result without a driver */
    if (vs_rt_enter() == cudaErrorInsufficientDriver && !vs_rt.DriverGetVersion)
        return cudaSuccess;
    return vs_rt_result(vs_rt_error(vs_rt.DriverGetVersion(driverVersion)));
}

cudaError_t cudaRuntimeGetVersion(int *runtimeVersion)
{
    if (!runtimeVersion)
        return vs_rt_result(cudaErrorInvalidValue);
    *runtimeVersion = VS_SIM_RT_VERSION;
    return cudaSuccess;
}

cudaError_t cudaGetDeviceCount(int *count)
{
    cudaError_t e = count ? vs_rt_enter() : cudaErrorInvalidValue;
    if (count && e)
        *count = 0;
    return vs_rt_result(e ? e : vs_rt_error(vs_rt.DeviceGetCount(count)));
}

/* Attributes that are copied to a field of cudaDeviceProp. */
static const struct {
    size_t offset, bytes; /* of an int or a size_t */
    CUdevice_attribute attribute;
} fields[] = {
#define FIELD(field, attribute)                                                            \
    {                                                                                      \
        offsetof(struct cudaDeviceProp, field), sizeof((struct cudaDeviceProp *)0)->field, \
            CU_DEVICE_ATTRIBUTE_##attribute                                                \
    }
#define SIDES2(field, of, a, b) FIELD(field[0], of##a), FIELD(field[1], of##b)
#define SIDES3(field, of, a, b, c) SIDES2(field, of, a, b), FIELD(field[2], of##c)
    FIELD(sharedMemPerBlock, MAX_SHARED_MEMORY_PER_BLOCK),
    FIELD(regsPerBlock, MAX_REGISTERS_PER_BLOCK),
    FIELD(warpSize, WARP_SIZE),
    FIELD(memPitch, MAX_PITCH),
    FIELD(maxThreadsPerBlock, MAX_THREADS_PER_BLOCK),
    SIDES3(maxThreadsDim, MAX_BLOCK_DIM_, X, Y, Z),
    SIDES3(maxGridSize, MAX_GRID_DIM_, X, Y, Z),
    FIELD(totalConstMem, TOTAL_CONSTANT_MEMORY),
    FIELD(major, COMPUTE_CAPABILITY_MAJOR),
    FIELD(minor, COMPUTE_CAPABILITY_MINOR),
    FIELD(textureAlignment, TEXTURE_ALIGNMENT),
    FIELD(texturePitchAlignment, TEXTURE_PITCH_ALIGNMENT),
    FIELD(multiProcessorCount, MULTIPROCESSOR_COUNT),
    FIELD(integrated, INTEGRATED),
    FIELD(canMapHostMemory, CAN_MAP_HOST_MEMORY),
    FIELD(surfaceAlignment, SURFACE_ALIGNMENT),
    FIELD(concurrentKernels, CONCURRENT_KERNELS),
    FIELD(ECCEnabled, ECC_ENABLED),
    FIELD(pciBusID, PCI_BUS_ID),
    FIELD(pciDeviceID, PCI_DEVICE_ID),
    FIELD(pciDomainID, PCI_DOMAIN_ID),
    FIELD(tccDriver, TCC_DRIVER),
    FIELD(asyncEngineCount, ASYNC_ENGINE_COUNT),
    FIELD(unifiedAddressing, UNIFIED_ADDRESSING),
    FIELD(memoryBusWidth, GLOBAL_MEMORY_BUS_WIDTH),
    FIELD(l2CacheSize, L2_CACHE_SIZE),
    FIELD(persistingL2CacheMaxSize, MAX_PERSISTING_L2_CACHE_SIZE),
    FIELD(maxThreadsPerMultiProcessor, MAX_THREADS_PER_MULTIPROCESSOR),
    FIELD(streamPrioritiesSupported, STREAM_PRIORITIES_SUPPORTED),
    FIELD(globalL1CacheSupported, GLOBAL_L1_CACHE_SUPPORTED),
    FIELD(localL1CacheSupported, LOCAL_L1_CACHE_SUPPORTED),
    FIELD(sharedMemPerMultiprocessor, MAX_SHARED_MEMORY_PER_MULTIPROCESSOR),
    FIELD(regsPerMultiprocessor, MAX_REGISTERS_PER_MULTIPROCESSOR),
    FIELD(managedMemory, MANAGED_MEMORY),
    FIELD(isMultiGpuBoard, MULTI_GPU_BOARD),
    FIELD(multiGpuBoardGroupID, MULTI_GPU_BOARD_GROUP_ID),
    FIELD(hostNativeAtomicSupported, HOST_NATIVE_ATOMIC_SUPPORTED),
    FIELD(pageableMemoryAccess, PAGEABLE_MEMORY_ACCESS),
    FIELD(concurrentManagedAccess, CONCURRENT_MANAGED_ACCESS),
    FIELD(computePreemptionSupported, COMPUTE_PREEMPTION_SUPPORTED),
    FIELD(canUseHostPointerForRegisteredMem, CAN_USE_HOST_POINTER_FOR_REGISTERED_MEM),
    FIELD(cooperativeLaunch, COOPERATIVE_LAUNCH),
    FIELD(sharedMemPerBlockOptin, MAX_SHARED_MEMORY_PER_BLOCK_OPTIN),
    FIELD(pageableMemoryAccessUsesHostPageTables, PAGEABLE_MEMORY_ACCESS_USES_HOST_PAGE_TABLES),
    FIELD(directManagedMemAccessFromHost, DIRECT_MANAGED_MEM_ACCESS_FROM_HOST),
    FIELD(maxBlocksPerMultiProcessor, MAX_BLOCKS_PER_MULTIPROCESSOR),
    FIELD(accessPolicyMaxWindowSize, MAX_ACCESS_POLICY_WINDOW_SIZE),
    FIELD(reservedSharedMemPerBlock, RESERVED_SHARED_MEMORY_PER_BLOCK),
    FIELD(hostRegisterSupported, HOST_REGISTER_SUPPORTED),
    FIELD(sparseCudaArraySupported, SPARSE_CUDA_ARRAY_SUPPORTED),
    FIELD(hostRegisterReadOnlySupported, READ_ONLY_HOST_REGISTER_SUPPORTED),
    FIELD(timelineSemaphoreInteropSupported, TIMELINE_SEMAPHORE_INTEROP_SUPPORTED),
    FIELD(memoryPoolsSupported, MEMORY_POOLS_SUPPORTED),
    FIELD(gpuDirectRDMASupported, GPU_DIRECT_RDMA_SUPPORTED),
    FIELD(deferredMappingCudaArraySupported, DEFERRED_MAPPING_CUDA_ARRAY_SUPPORTED),
    FIELD(ipcEventSupported, IPC_EVENT_SUPPORTED),
    FIELD(clusterLaunch, CLUSTER_LAUNCH),
    FIELD(unifiedFunctionPointers, UNIFIED_FUNCTION_POINTERS),
    FIELD(deviceNumaConfig, NUMA_CONFIG),
    FIELD(deviceNumaId, NUMA_ID),
    FIELD(mpsEnabled, MPS_ENABLED),
    FIELD(hostNumaId, HOST_NUMA_ID),
    FIELD(maxTexture1D, MAXIMUM_TEXTURE1D_WIDTH),
    FIELD(maxTexture1DMipmap, MAXIMUM_TEXTURE1D_MIPMAPPED_WIDTH),
    SIDES2(maxTexture2D, MAXIMUM_TEXTURE2D_, WIDTH, HEIGHT),
    SIDES2(maxTexture2DMipmap, MAXIMUM_TEXTURE2D_MIPMAPPED_, WIDTH, HEIGHT),
    SIDES2(maxTexture2DGather, MAXIMUM_TEXTURE2D_GATHER_, WIDTH, HEIGHT),
    SIDES3(maxTexture3D, MAXIMUM_TEXTURE3D_, WIDTH, HEIGHT, DEPTH),
    SIDES3(maxTexture3DAlt, MAXIMUM_TEXTURE3D_, WIDTH_ALTERNATE, HEIGHT_ALTERNATE, DEPTH_ALTERNATE),
    FIELD(maxTextureCubemap, MAXIMUM_TEXTURECUBEMAP_WIDTH),
    SIDES2(maxTexture1DLayered, MAXIMUM_TEXTURE1D_LAYERED_, WIDTH, LAYERS),
    SIDES3(maxTexture2DLayered, MAXIMUM_TEXTURE2D_LAYERED_, WIDTH, HEIGHT, LAYERS),
    SIDES2(maxTextureCubemapLayered, MAXIMUM_TEXTURECUBEMAP_LAYERED_, WIDTH, LAYERS),
    FIELD(maxSurface1D, MAXIMUM_SURFACE1D_WIDTH),
    SIDES2(maxSurface2D, MAXIMUM_SURFACE2D_, WIDTH, HEIGHT),
    SIDES3(maxSurface3D, MAXIMUM_SURFACE3D_, WIDTH, HEIGHT, DEPTH),
    SIDES2(maxSurface1DLayered, MAXIMUM_SURFACE1D_LAYERED_, WIDTH, LAYERS),
    SIDES3(maxSurface2DLayered, MAXIMUM_SURFACE2D_LAYERED_, WIDTH, HEIGHT, LAYERS),
    FIELD(maxSurfaceCubemap, MAXIMUM_SURFACECUBEMAP_WIDTH),
    SIDES2(maxSurfaceCubemapLayered, MAXIMUM_SURFACECUBEMAP_LAYERED_, WIDTH, LAYERS),
#undef FIELD
};

cudaError_t cudaGetDeviceProperties_driver(struct cudaDeviceProp prop[static 1], int device)
{
    cudaError_t e;
    memset(prop, 0, sizeof *prop);
    if ((e = vs_rt_error(vs_rt.DeviceGetName(prop->name, sizeof prop->name, device))) ||
        (e = vs_rt_error(vs_rt.DeviceGetUuid((CUuuid *)&prop->uuid, device))) ||
        (e = vs_rt_error(vs_rt.DeviceTotalMem(&prop->totalGlobalMem, device))))
        return e;
    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++) {
        int value;
        if ((e = vs_rt_error(vs_rt.DeviceGetAttribute(&value, fields[i].attribute, device))))
            return e;
        memcpy((char *)prop + fields[i].offset, &(size_t){(size_t)value}, fields[i].bytes);
    }
    return cudaSuccess;
}

cudaError_t cudaChooseDevice(int *device, const struct cudaDeviceProp *prop)
{
    int count;
    cudaError_t e = device && prop ? cudaGetDeviceCount(&count) : cudaErrorInvalidValue;
    if (!e)
        *device = 0; /* all devices are equal */
    return vs_rt_result(e);
}

/* ---- peers ---- */

cudaError_t cudaDeviceEnablePeerAccess_context(int peerDevice, unsigned int flags)
{
    CUcontext peer;
    cudaError_t e = vs_rt_context_of(peerDevice, &peer);
    return e ? e : vs_rt_error(vs_rt.CtxEnablePeerAccess(peer, flags));
}

cudaError_t cudaDeviceDisablePeerAccess_context(int peerDevice)
{
    CUcontext peer;
    cudaError_t e = vs_rt_context_of(peerDevice, &peer);
    return e ? e : vs_rt_error(vs_rt.CtxDisablePeerAccess(peer));
}

/* ---- driver entry points ---- */

cudaError_t cudaGetDriverEntryPointByVersion_driver(
    const char *symbol, void **funcPtr, unsigned int cudaVersion, unsigned long long flags,
    enum cudaDriverEntryPointQueryResult *driverStatus)
{
    CUdriverProcAddressQueryResult found;
    if (!symbol || !funcPtr || cudaVersion > (unsigned)VS_SIM_RT_VERSION)
        return cudaErrorInvalidValue;
    cudaError_t e =
        vs_rt_error(vs_rt.GetProcAddress(symbol, funcPtr, (int)cudaVersion, flags, &found));
    if (!e && driverStatus)
        *driverStatus = (enum cudaDriverEntryPointQueryResult)found;
    else if (!e && !*funcPtr)
        e = cudaErrorSymbolNotFound;
    return e;
}

cudaError_t
cudaGetDriverEntryPointByVersion_ptsz(const char *symbol, void **funcPtr, unsigned int cudaVersion,
                                      unsigned long long flags,
                                      enum cudaDriverEntryPointQueryResult *driverStatus)
{
    if (flags == cudaEnableDefault)
        flags = cudaEnablePerThreadDefaultStream;
    return cudaGetDriverEntryPointByVersion(symbol, funcPtr, cudaVersion, flags, driverStatus);
}

VS_RT_AS(cudaGetDriverEntryPoint,
         (const char *symbol, void **funcPtr, unsigned long long flags,
          enum cudaDriverEntryPointQueryResult *driverStatus),
         cudaGetDriverEntryPointByVersion(symbol, funcPtr, VS_SIM_RT_VERSION, flags, driverStatus))
VS_RT_AS(cudaGetDriverEntryPoint_ptsz,
         (const char *symbol, void **funcPtr, unsigned long long flags,
          enum cudaDriverEntryPointQueryResult *driverStatus),
         cudaGetDriverEntryPointByVersion_ptsz(symbol, funcPtr, VS_SIM_RT_VERSION, flags,
                                               driverStatus))
