/* SPDX-License-Identifier: Apache-2.0
 *
 * Device memory: allocation, free, the amount of free memory, and that the runtime and the driver
 * use the same memory. */
#include "conf.h"

#define INTEROPERABILITY "guide, interoperability between runtime and driver: "

TEST(addresses_are_aligned_and_apart)
{
    static const size_t bytes[] = {1, 255, 256, 257, 4096, 65536, CONF_MIB, 3 * CONF_MIB + 1};
    enum { COUNT = sizeof bytes / sizeof bytes[0] };
    CUdeviceptr at[COUNT];
    for (int i = 0; i < COUNT; i++) {
        DO(cuMemAlloc(&at[i], bytes[i]));
        FACT(at[i], "cuMemAlloc: a pointer to the allocated memory");
        FACT_EQ(at[i] % 256, 0, "guide, device memory accesses: aligned to at least 256 bytes");
    }
    for (int i = 0; i < COUNT; i++)
        for (int j = 0; j < COUNT; j++)
            if (i != j)
                FACT(at[i] + bytes[i] <= at[j] || at[j] + bytes[j] <= at[i],
                     "cuMemAlloc: allocations do not overlap");
    for (int i = 0; i < COUNT; i++)
        DO(cuMemFree(at[i]));
}

TEST(all_bytes_asked_for_can_be_used)
{
    CUdeviceptr memory = conf_alloc(1000001);
    DO(cuMemsetD8(memory, 0xa5, 1000001));
    FACT_EQ(conf_byte(memory + 1000000), 0xa5, "cuMemAlloc: bytesize bytes of linear memory");
}

TEST(requests_that_make_no_sense_are_refused)
{
    CUdeviceptr memory = 0;
    INVALID(cuMemAlloc(&memory, 0), "a bytesize of 0 is an invalid value");
    RETURNS(cuMemAlloc(NULL, 4096), CUDA_ERROR_INVALID_VALUE);
    RETURNS(cudaMalloc(NULL, 4096), cudaErrorInvalidValue);
}

TEST(more_than_the_device_has_is_out_of_memory)
{
    CUdeviceptr memory = 0;
    void *pointer = NULL;
    size_t total = 0;
    DO(cuDeviceTotalMem(&total, 0));
    RETURNS(cuMemAlloc(&memory, total + CONF_MIB), CUDA_ERROR_OUT_OF_MEMORY);
    REFUSED(cuMemAlloc(&memory, (size_t)1 << 60), "returns");
    FACT_EQ(cudaMalloc(&pointer, total + CONF_MIB), cudaErrorMemoryAllocation,
            "cudaErrorMemoryAllocation in case of failure");
    FACT_EQ(cudaGetLastError(), cudaErrorMemoryAllocation, "the last error of a runtime call");
    WORKS(cuMemAlloc(&memory, CONF_MIB),
          "CUDA_ERROR_OUT_OF_MEMORY: says nothing of the context, which goes on");
}

TEST(what_was_not_allocated_cannot_be_freed)
{
    int local;
    CUdeviceptr memory = conf_alloc(CONF_MIB);
    CUdeviceptr other = conf_alloc(CONF_MIB);
    INVALID(cuMemFree((CUdeviceptr)(uintptr_t)&local),
            "dptr must be what an allocating call returned");
    DO(cuMemFree(memory));
    INVALID(cuMemFree(memory), "dptr must be what an allocating call returned");
    WORKS(cuMemsetD8(other, 1, CONF_MIB), "cuMemFree: a refused free changes nothing");
}

TEST(freeing_through_the_runtime)
{
    void *memory = NULL;
    WORKS(cudaFree(NULL), "no operation is performed for 0");
    DO(cudaMalloc(&memory, CONF_MIB));
    DO(cudaFree(memory));
    INVALID(cudaFree(memory), "an error when it was called before");
    RETURNS(cudaGetLastError(), cudaErrorInvalidValue);
}

TEST(both_interfaces_share_their_memory)
{
    void *runtime = NULL;
    unsigned value = 0;
    CUdeviceptr driver = conf_alloc(CONF_MIB);
    WORKS(cudaMemset((void *)(uintptr_t)driver, 7, CONF_MIB),
          INTEROPERABILITY "a CUdeviceptr is a pointer");
    DO(cudaMemcpy(&value, (void *)(uintptr_t)driver, sizeof value, cudaMemcpyDeviceToHost));
    FACT_EQ(value, 0x07070707, INTEROPERABILITY "a CUdeviceptr is a pointer");
    WORKS(cudaFree((void *)(uintptr_t)driver), INTEROPERABILITY "a CUdeviceptr is a pointer");
    DO(cudaMalloc(&runtime, CONF_MIB));
    WORKS(cuMemsetD32((CUdeviceptr)(uintptr_t)runtime, 9, CONF_MIB / 4),
          INTEROPERABILITY "a pointer is a CUdeviceptr");
    WORKS(cuMemFree((CUdeviceptr)(uintptr_t)runtime),
          INTEROPERABILITY "a pointer is a CUdeviceptr");
}

static void *allocate(void)
{
    CUdeviceptr memory = conf_alloc(256 * CONF_MIB);
    return (void *)(uintptr_t)memory;
}

static void release(void *memory) { DO(cuMemFree((CUdeviceptr)(uintptr_t)memory)); }

TEST(free_memory_shrinks_by_what_is_allocated)
{
    size_t free = 0, total = 0, again = 0, again_total = 0;
    DO(cuMemGetInfo(&free, &total));
    DO(cudaMemGetInfo(&again, &again_total));
    FACT(free > 0, "cuMemGetInfo: free memory in bytes");
    FACT(free <= total, "cuMemGetInfo: free is part of the total");
    FACT_EQ(again_total, total, "cudaMemGetInfo: total memory of the device");
    FACT(conf_takes_memory(256 * CONF_MIB, allocate, release),
         "cuMemGetInfo: what is allocated is not free, what was freed is");
}

TEST(an_address_range_is_known_from_inside)
{
    CUdeviceptr base = 0;
    size_t bytes = 0;
    int local;
    CUdeviceptr memory = conf_alloc(5 * CONF_MIB);
    WORKS(cuMemGetAddressRange(&base, &bytes, memory + 4 * CONF_MIB + 17),
          "of the allocation that contains dptr");
    FACT_EQ(base, memory, "cuMemGetAddressRange: base address");
    FACT(bytes >= 5 * CONF_MIB, "cuMemGetAddressRange: size");
    base = 0;
    WORKS(cuMemGetAddressRange(&base, NULL, memory), "both outputs are optional");
    FACT_EQ(base, memory, "cuMemGetAddressRange: base address");
    WORKS(cuMemGetAddressRange(NULL, &bytes, memory), "both outputs are optional");
    DO(cuMemFree(memory));
    REFUSED(cuMemGetAddressRange(&base, &bytes, memory), "CUDA_ERROR_NOT_FOUND or INVALID_VALUE");
    if (!DEVICE_ATTRIBUTE(PAGEABLE_MEMORY_ACCESS))
        REFUSED(cuMemGetAddressRange(&base, &bytes, (CUdeviceptr)(uintptr_t)&local),
                "CUDA_ERROR_NOT_FOUND or INVALID_VALUE");
}

TEST(pitched_memory_has_aligned_rows)
{
    static const size_t widths[] = {1, 100, 512, 1000, 4097};
    int alignment = DEVICE_ATTRIBUTE(TEXTURE_PITCH_ALIGNMENT);
    for (size_t i = 0; i < sizeof widths / sizeof widths[0]; i++) {
        CUdeviceptr memory = 0;
        size_t pitch = 0;
        DO(cuMemAllocPitch(&memory, &pitch, widths[i], 33, 4));
        FACT(pitch >= widths[i], "cuMemAllocPitch: pitch is the width plus padding");
        FACT_EQ(pitch % (size_t)alignment, 0, "cuMemAllocPitch: fits 2-D texture rows");
        WORKS(cuMemsetD2D8(memory, pitch, 3, widths[i], 33),
              "cuMemAllocPitch: Height rows of WidthInBytes");
        DO(cuMemFree(memory));
    }
}

TEST(pitched_memory_of_the_runtime)
{
    struct cudaPitchedPtr box = {0};
    void *memory = NULL;
    FACT(GOT(size_t, cudaMallocPitch(&memory, &got, 100, 10)) >= 100,
         "cudaMallocPitch: at least the width");
    DO(cudaFree(memory));
    DO(cudaMalloc3D(&box, (struct cudaExtent){100, 10, 5}));
    FACT(box.pitch >= 100, "cudaMalloc3D: at least the width");
    FACT_EQ(box.xsize, 100, "cudaMalloc3D: xsize, the width asked for");
    FACT_EQ(box.ysize, 10, "cudaMalloc3D: ysize, the height asked for");
    WORKS(cudaMemset3D(box, 1, (struct cudaExtent){100, 10, 5}),
          "cudaMalloc3D: width * height * depth bytes at least");
}
