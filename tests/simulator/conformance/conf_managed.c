/* SPDX-License-Identifier: Apache-2.0
 *
 * Managed memory: one pointer for host and device, and advice and attributes of a range. The host
 * accesses it only while the device is idle. */
#include "conf.h"

#define BYTES ((size_t)2 << 20)
#define RANGE "cuMemRangeGetAttribute: "

static const CUmemLocation here = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = 0};
static const CUmemLocation host = {.type = CU_MEM_LOCATION_TYPE_HOST, .id = 0};

static CUdeviceptr managed(void)
{
    CUdeviceptr memory = 0;
    DO(cuMemAllocManaged(&memory, BYTES, CU_MEM_ATTACH_GLOBAL));
    return memory;
}

static int range(CUmem_range_attribute attribute, CUdeviceptr memory)
{
    int value = -99;
    DO(cuMemRangeGetAttribute(&value, sizeof value, attribute, memory, BYTES));
    return value;
}

TEST(both_sides_use_one_pointer)
{
    CUdeviceptr memory = managed();
    unsigned char *bytes = (unsigned char *)(uintptr_t)memory;
    memset(bytes, 0x31, BYTES);
    FACT_EQ(conf_byte(memory + BYTES - 1), 0x31, "cuMemAllocManaged: valid on the CPU and on all GPUs");
    DO(cuMemsetD8(memory, 0x32, BYTES));
    DO(cuCtxSynchronize());
    FACT_EQ(bytes[0], 0x32, "cuMemAllocManaged: valid on the CPU and on all GPUs");
    FACT_EQ(bytes[BYTES - 1], 0x32, "cuMemAllocManaged: valid on the CPU and on all GPUs");
    WORKS(cuMemFree(memory), "cuMemAllocManaged: released with cuMemFree");
    RETURNS(cuMemFree(memory), CUDA_ERROR_INVALID_VALUE);
}

TEST(requests_that_make_no_sense_are_refused)
{
    CUdeviceptr memory = 0;
    void *pointer = NULL;
    INVALID(cuMemAllocManaged(&memory, 0, CU_MEM_ATTACH_GLOBAL),
            "a bytesize of 0 is an invalid value");
    INVALID(cuMemAllocManaged(&memory, BYTES, CU_MEM_ATTACH_SINGLE),
            "flags must be GLOBAL or HOST");
    INVALID(cuMemAllocManaged(&memory, BYTES, 0), "flags must be GLOBAL or HOST");
    INVALID(cudaMallocManaged(&pointer, 0, cudaMemAttachGlobal), "a size of 0 is an invalid value");
    (void)cudaGetLastError();
}

TEST(the_runtime_has_the_same_managed_memory)
{
    unsigned char *p = NULL;
    DO(cudaMallocManaged((void **)&p, BYTES, cudaMemAttachHost));
    memset(p, 1, BYTES);
    FACT_EQ(p[BYTES - 1], 1, "cudaMallocManaged: valid on the CPU");
    WORKS(cudaFree(p), "cudaMallocManaged: freed by cudaFree");
}

TEST(memory_is_attached_to_streams)
{
    CUstream stream = NULL;
    CUdeviceptr memory = managed();
    DO(cuStreamCreate(&stream, CU_STREAM_DEFAULT));
    WORKS(cuStreamAttachMemAsync(stream, memory, 0, CU_MEM_ATTACH_SINGLE),
          "a length of 0 is the whole allocation");
    WORKS(cuStreamAttachMemAsync(stream, memory, BYTES, CU_MEM_ATTACH_GLOBAL),
          "length may be the allocation's size");
    REFUSED(cuStreamAttachMemAsync(NULL, memory, 0, CU_MEM_ATTACH_SINGLE),
            "attaching singly to the NULL stream is an error");
    DO(cuStreamSynchronize(stream));
}

TEST(advice_is_remembered)
{
    NEED(conf_attribute(CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS), "no concurrent access");
    CUdeviceptr memory = managed();
    FACT_EQ(range(CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, memory), 0, RANGE "READ_MOSTLY, not advised");
    DO(cuMemAdvise(memory, BYTES, CU_MEM_ADVISE_SET_READ_MOSTLY, here));
    FACT_EQ(range(CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, memory), 1, RANGE "READ_MOSTLY, advised");
    DO(cuMemAdvise(memory, BYTES, CU_MEM_ADVISE_UNSET_READ_MOSTLY, here));
    FACT_EQ(range(CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, memory), 0, RANGE "READ_MOSTLY, undone");
    FACT_EQ(range(CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION, memory), CU_DEVICE_INVALID,
            RANGE "PREFERRED_LOCATION, CU_DEVICE_INVALID without one");
    DO(cuMemAdvise(memory, BYTES, CU_MEM_ADVISE_SET_PREFERRED_LOCATION, here));
    FACT_EQ(range(CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION, memory), 0,
            RANGE "PREFERRED_LOCATION, a device");
    DO(cuMemAdvise(memory, BYTES, CU_MEM_ADVISE_SET_PREFERRED_LOCATION, host));
    FACT_EQ(range(CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION, memory), CU_DEVICE_CPU,
            RANGE "PREFERRED_LOCATION, CU_DEVICE_CPU");
    DO(cuMemAdvise(memory, BYTES, CU_MEM_ADVISE_UNSET_PREFERRED_LOCATION, host));
    FACT_EQ(range(CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION, memory), CU_DEVICE_INVALID,
            RANGE "PREFERRED_LOCATION, undone");
}

TEST(prefetching_moves_without_changing)
{
    NEED(conf_attribute(CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS), "no concurrent access");
    CUdeviceptr memory = managed();
    unsigned char *bytes = (unsigned char *)(uintptr_t)memory;
    FACT_EQ(range(CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION, memory), CU_DEVICE_INVALID,
            RANGE "LAST_PREFETCH_LOCATION, CU_DEVICE_INVALID if never prefetched");
    memset(bytes, 0x44, BYTES);
    DO(cuMemPrefetchAsync(memory, BYTES, here, 0, NULL));
    DO(cuCtxSynchronize());
    FACT_EQ(range(CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION, memory), 0,
            RANGE "LAST_PREFETCH_LOCATION, a device");
    FACT_EQ(bytes[BYTES - 1], 0x44, "cuMemPrefetchAsync: moves the data");
    DO(cuMemPrefetchAsync(memory, BYTES, host, 0, NULL));
    DO(cuCtxSynchronize());
    FACT_EQ(range(CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION, memory), CU_DEVICE_CPU,
            RANGE "LAST_PREFETCH_LOCATION, CU_DEVICE_CPU");
    FACT_EQ(bytes[0], 0x44, "cuMemPrefetchAsync: moves the data");
    INVALID(cuMemPrefetchAsync(memory, BYTES, here, 7, NULL), "flags must be zero");
}

TEST(ranges_must_be_managed)
{
    int value;
    long long wide;
    NEED(conf_attribute(CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS), "no concurrent access");
    CUdeviceptr device = conf_alloc(BYTES);
    INVALID(cuMemAdvise(device, BYTES, CU_MEM_ADVISE_SET_READ_MOSTLY, here),
            "the range must be managed");
    INVALID(cuMemPrefetchAsync(device, BYTES, here, 0, NULL), "the range must be managed");
    FACT_EQ(cuMemRangeGetAttribute(&value, sizeof value, CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, device,
                                   BYTES),
            CUDA_ERROR_INVALID_VALUE, RANGE "the range must be managed");
    DO(cuMemFree(device));
    CUdeviceptr memory = managed();
    FACT_EQ(cuMemRangeGetAttribute(&wide, sizeof wide, CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, memory,
                                   BYTES),
            CUDA_ERROR_INVALID_VALUE, RANGE "dataSize must be 4 for READ_MOSTLY");
}
