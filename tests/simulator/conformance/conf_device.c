/* SPDX-License-Identifier: Apache-2.0
 *
 * Devices: number, names and attributes, and that the driver and the runtime return the same. No
 * context is needed. */
#include "conf.h"

#include <stdio.h>

#define SPECIFICATIONS "guide, technical specifications per compute capability"

TEST(ordinals_are_below_the_count)
{
    CUdevice device;
    int count = conf_device_count();
    FACT(count >= 1, "cuDeviceGetCount: number of devices available for execution");
    FACT_EQ(cuDeviceGet(&device, count), CUDA_ERROR_INVALID_DEVICE,
            "ordinal in [0, cuDeviceGetCount()-1]");
    FACT_EQ(cuDeviceGet(&device, -1), CUDA_ERROR_INVALID_DEVICE,
            "ordinal in [0, cuDeviceGetCount()-1]");
    RETURNS(cuDeviceGet(NULL, 0), CUDA_ERROR_INVALID_VALUE);
    RETURNS(cuDeviceGetCount(NULL), CUDA_ERROR_INVALID_VALUE);
    for (int i = 0; i < count; i++)
        WORKS(cuDeviceGet(&device, i), "a handle for each ordinal below the count");
}

TEST(runtime_and_driver_count_alike)
{
    int runtime = 0, driver = conf_device_count();
    DO(cudaGetDeviceCount(&runtime));
    FACT_EQ(runtime, driver, "cudaGetDeviceCount: see also cuDeviceGetCount");
    FACT_EQ(cudaSetDevice(runtime), cudaErrorInvalidDevice,
            "valid ids are 0 to cudaGetDeviceCount() - 1");
    FACT_EQ(cudaSetDevice(-1), cudaErrorInvalidDevice,
            "valid ids are 0 to cudaGetDeviceCount() - 1");
    (void)cudaGetLastError();
}

TEST(a_device_that_is_not_there_has_no_properties)
{
    int value = 0;
    size_t bytes;
    char text[64];
    CUuuid uuid;
    int count = conf_device_count();
    RETURNS(cuDeviceTotalMem(&bytes, count), CUDA_ERROR_INVALID_DEVICE);
    RETURNS(cuDeviceGetName(text, sizeof text, count), CUDA_ERROR_INVALID_DEVICE);
    RETURNS(cuDeviceGetUuid(&uuid, count), CUDA_ERROR_INVALID_DEVICE);
    RETURNS(cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_WARP_SIZE, count),
            CUDA_ERROR_INVALID_DEVICE);
    RETURNS(cuDeviceGetPCIBusId(text, sizeof text, count), CUDA_ERROR_INVALID_DEVICE);
    RETURNS(cudaDeviceGetAttribute(&value, cudaDevAttrWarpSize, count), cudaErrorInvalidDevice);
    struct cudaDeviceProp prop;
    RETURNS(cudaGetDeviceProperties(&prop, count), cudaErrorInvalidDevice);
    (void)cudaGetLastError();
}

TEST(attributes_are_those_of_the_guide)
{
    FACT_EQ(DEVICE_ATTRIBUTE(WARP_SIZE), 32, SPECIFICATIONS);
    FACT_EQ(DEVICE_ATTRIBUTE(MAX_THREADS_PER_BLOCK), 1024, SPECIFICATIONS);
    FACT_EQ(DEVICE_ATTRIBUTE(MAX_BLOCK_DIM_X), 1024, SPECIFICATIONS);
    FACT_EQ(DEVICE_ATTRIBUTE(MAX_BLOCK_DIM_Y), 1024, SPECIFICATIONS);
    FACT_EQ(DEVICE_ATTRIBUTE(MAX_BLOCK_DIM_Z), 64, SPECIFICATIONS);
    FACT_EQ(DEVICE_ATTRIBUTE(MAX_GRID_DIM_X), 2147483647, SPECIFICATIONS);
    FACT_EQ(DEVICE_ATTRIBUTE(MAX_GRID_DIM_Y), 65535, SPECIFICATIONS);
    FACT_EQ(DEVICE_ATTRIBUTE(MAX_GRID_DIM_Z), 65535, SPECIFICATIONS);
    FACT_EQ(DEVICE_ATTRIBUTE(MAX_REGISTERS_PER_BLOCK), 65536, SPECIFICATIONS);
    FACT_EQ(DEVICE_ATTRIBUTE(MAX_REGISTERS_PER_MULTIPROCESSOR), 65536, SPECIFICATIONS);
    FACT_EQ(DEVICE_ATTRIBUTE(MAX_SHARED_MEMORY_PER_BLOCK), 49152,
            "guide, shared memory: 48 KB without opting in");
    FACT_EQ(DEVICE_ATTRIBUTE(TOTAL_CONSTANT_MEMORY), 65536, SPECIFICATIONS);
    int threads = DEVICE_ATTRIBUTE(MAX_THREADS_PER_MULTIPROCESSOR);
    FACT(threads == 1024 || threads == 1536 || threads == 2048, SPECIFICATIONS);
    int blocks = DEVICE_ATTRIBUTE(MAX_BLOCKS_PER_MULTIPROCESSOR);
    FACT(blocks == 16 || blocks == 24 || blocks == 32, SPECIFICATIONS);
}

TEST(limits_of_a_device_fit_together)
{
    int optin = DEVICE_ATTRIBUTE(MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);
    FACT(optin >= DEVICE_ATTRIBUTE(MAX_SHARED_MEMORY_PER_BLOCK),
         "CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN: what may be opted in to");
    FACT(DEVICE_ATTRIBUTE(MAX_SHARED_MEMORY_PER_MULTIPROCESSOR) >= optin,
         "CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR");
    FACT(DEVICE_ATTRIBUTE(MULTIPROCESSOR_COUNT) > 0, SPECIFICATIONS);
    FACT(DEVICE_ATTRIBUTE(L2_CACHE_SIZE) > 0, SPECIFICATIONS);
    FACT(DEVICE_ATTRIBUTE(MAX_PITCH) > 0, SPECIFICATIONS);
    int alignment = DEVICE_ATTRIBUTE(TEXTURE_ALIGNMENT);
    FACT(alignment > 0 && !(alignment & (alignment - 1)),
         "CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT: an alignment requirement");
    alignment = DEVICE_ATTRIBUTE(TEXTURE_PITCH_ALIGNMENT);
    FACT(alignment > 0 && !(alignment & (alignment - 1)),
         "CU_DEVICE_ATTRIBUTE_TEXTURE_PITCH_ALIGNMENT: an alignment requirement");
}

TEST(features_of_all_such_devices_are_there)
{
    FACT_EQ(DEVICE_ATTRIBUTE(UNIFIED_ADDRESSING), 1,
            "unified addressing: always enabled in 64-bit Linux processes");
    FACT_EQ(DEVICE_ATTRIBUTE(CAN_MAP_HOST_MEMORY), 1,
            "CU_DEVICE_ATTRIBUTE_CAN_MAP_HOST_MEMORY: implied by unified addressing");
    FACT_EQ(DEVICE_ATTRIBUTE(CONCURRENT_KERNELS), 1,
            "guide, concurrent kernel execution: compute capability 2.x and up");
    FACT(DEVICE_ATTRIBUTE(ASYNC_ENGINE_COUNT) >= 1,
         "guide, overlap of data transfer and kernel execution");
    FACT_EQ(DEVICE_ATTRIBUTE(STREAM_PRIORITIES_SUPPORTED), 1,
            "CU_DEVICE_ATTRIBUTE_STREAM_PRIORITIES_SUPPORTED");
    FACT(DEVICE_ATTRIBUTE(COMPUTE_CAPABILITY_MAJOR) >= 7,
         "what this suite and the CUDA 13 driver support");
}

TEST(an_attribute_that_does_not_exist_is_refused)
{
    int value;
    RETURNS(cuDeviceGetAttribute(NULL, CU_DEVICE_ATTRIBUTE_WARP_SIZE, 0), CUDA_ERROR_INVALID_VALUE);
    RETURNS(cuDeviceGetAttribute(&value, (CUdevice_attribute)100000, 0), CUDA_ERROR_INVALID_VALUE);
}

TEST(properties_repeat_the_attributes)
{
    struct cudaDeviceProp prop;
    char name[256] = "";
    size_t total = 0;
    DO(cudaGetDeviceProperties(&prop, 0));
    DO(cuDeviceGetName(name, sizeof name, 0));
    DO(cuDeviceTotalMem(&total, 0));
    FACT(*name, "cuDeviceGetName: an ASCII string identifying the device");
    FACT(!strcmp(prop.name, name), "cudaGetDeviceProperties: name");
    FACT(total >= (size_t)1 << 30, "cuDeviceTotalMem: bytes of memory on the device");
    FACT_EQ(prop.totalGlobalMem, total, "cudaDeviceProp: totalGlobalMem");
    FACT_EQ(prop.multiProcessorCount, DEVICE_ATTRIBUTE(MULTIPROCESSOR_COUNT),
            "cudaDeviceProp: multiProcessorCount");
    FACT_EQ(prop.major, DEVICE_ATTRIBUTE(COMPUTE_CAPABILITY_MAJOR), "cudaDeviceProp: major");
    FACT_EQ(prop.minor, DEVICE_ATTRIBUTE(COMPUTE_CAPABILITY_MINOR), "cudaDeviceProp: minor");
    FACT_EQ(prop.warpSize, 32, SPECIFICATIONS);
    FACT_EQ(prop.maxThreadsPerBlock, 1024, SPECIFICATIONS);
    FACT_EQ(prop.maxGridSize[0], 2147483647, SPECIFICATIONS);
    FACT_EQ(prop.maxThreadsDim[2], 64, SPECIFICATIONS);
    FACT_EQ(prop.sharedMemPerBlock, 49152, SPECIFICATIONS);
    FACT_EQ(prop.l2CacheSize, DEVICE_ATTRIBUTE(L2_CACHE_SIZE), "cudaDeviceProp: l2CacheSize");
    FACT_EQ(prop.unifiedAddressing, 1, "cudaDeviceProp: unifiedAddressing");
    FACT_EQ(prop.pciBusID, DEVICE_ATTRIBUTE(PCI_BUS_ID), "cudaDeviceProp: pciBusID");
    FACT_EQ(prop.asyncEngineCount, DEVICE_ATTRIBUTE(ASYNC_ENGINE_COUNT),
            "cudaDeviceProp: asyncEngineCount");
    FACT_EQ(prop.memoryBusWidth, DEVICE_ATTRIBUTE(GLOBAL_MEMORY_BUS_WIDTH),
            "cudaDeviceProp: memoryBusWidth");
}

TEST(runtime_attributes_are_the_drivers)
{
    static const struct {
        enum cudaDeviceAttr runtime;
        CUdevice_attribute driver;
    } pairs[] = {
        {cudaDevAttrMaxThreadsPerBlock, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK},
        {cudaDevAttrMultiProcessorCount, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT},
        {cudaDevAttrMemoryPoolsSupported, CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED},
        {cudaDevAttrMaxSharedMemoryPerBlockOptin,
         CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN},
        {cudaDevAttrPciBusId, CU_DEVICE_ATTRIBUTE_PCI_BUS_ID},
        {cudaDevAttrConcurrentManagedAccess, CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS},
        {cudaDevAttrComputeMode, CU_DEVICE_ATTRIBUTE_COMPUTE_MODE},
        {cudaDevAttrHostRegisterSupported, CU_DEVICE_ATTRIBUTE_HOST_REGISTER_SUPPORTED},
    };
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++)
        FACT_EQ(GOT(int, cudaDeviceGetAttribute(&got, pairs[i].runtime, 0)),
                conf_attribute(pairs[i].driver),
                "cudaDeviceGetAttribute: the same attribute of the same device");
}

TEST(bus_ids_name_the_device)
{
    char id[32] = "", again[32] = "";
    unsigned domain = 0, bus = 0, slot = 0, function = 0;
    CUdevice device = -1;
    DO(cuDeviceGetPCIBusId(id, sizeof id, 0));
    FACT_EQ(sscanf(id, "%x:%x:%x.%x", &domain, &bus, &slot, &function), 4,
            "cuDeviceGetPCIBusId: [domain]:[bus]:[device].[function], all hexadecimal");
    FACT_EQ(bus, DEVICE_ATTRIBUTE(PCI_BUS_ID), "cuDeviceGetPCIBusId");
    FACT_EQ(slot, DEVICE_ATTRIBUTE(PCI_DEVICE_ID), "cuDeviceGetPCIBusId");
    FACT_EQ(domain, DEVICE_ATTRIBUTE(PCI_DOMAIN_ID), "cuDeviceGetPCIBusId");
    DO(cuDeviceGetByPCIBusId(&device, id));
    FACT_EQ(device, 0, "cuDeviceGetByPCIBusId: the device of this bus id");
    DO(cudaDeviceGetPCIBusId(again, sizeof again, 0));
    FACT(!strcmp(id, again), "cudaDeviceGetPCIBusId");
    FACT_EQ(GOT(int, cudaDeviceGetByPCIBusId(&got, id)), 0, "cudaDeviceGetByPCIBusId");
    RETURNS(cuDeviceGetByPCIBusId(NULL, id), CUDA_ERROR_INVALID_VALUE);
    RETURNS(cuDeviceGetByPCIBusId(&device, NULL), CUDA_ERROR_INVALID_VALUE);
    RETURNS(cuDeviceGetPCIBusId(NULL, 32, 0), CUDA_ERROR_INVALID_VALUE);
}

TEST(uuids_differ_between_devices)
{
    CUuuid first, other;
    int count = conf_device_count();
    DO(cuDeviceGetUuid(&first, 0));
    for (int i = 1; i < count; i++) {
        DO(cuDeviceGetUuid(&other, i));
        FACT(memcmp(&first, &other, sizeof first), "cuDeviceGetUuid: 16-octet identifier");
    }
    DO(cuDeviceGetUuid(&other, 0));
    FACT(!memcmp(&first, &other, sizeof first), "cuDeviceGetUuid: identifies the device");
    RETURNS(cuDeviceGetUuid(NULL, 0), CUDA_ERROR_INVALID_VALUE);
}

TEST(versions_are_those_of_cuda_13)
{
    int driver = 0, seen = 0;
    DO(cuDriverGetVersion(&driver));
    FACT(driver >= 13000, "cuDriverGetVersion: 1000 * major + 10 * minor");
    FACT_EQ(GOT(int, cudaRuntimeGetVersion(&got)) / 1000, CUDART_VERSION / 1000,
            "cudaRuntimeGetVersion: 1000 * major + 10 * minor");
    DO(cudaDriverGetVersion(&seen));
    FACT_EQ(seen, driver, "cudaDriverGetVersion: latest the driver supports");
    INVALID(cuDriverGetVersion(NULL), "INVALID_VALUE if driverVersion is NULL");
    INVALID(cudaRuntimeGetVersion(NULL), "invalid value if the argument is NULL");
    INVALID(cudaDriverGetVersion(NULL), "invalid value if the argument is NULL");
    (void)cudaGetLastError();
}
