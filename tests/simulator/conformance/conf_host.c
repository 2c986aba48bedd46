/* SPDX-License-Identifier: Apache-2.0
 *
 * Page-locked host memory: allocated, registered, and its device address. */
#include "conf.h"

#define UNIFIED "unified addressing, automatic mapping of host allocated memory: "
#define BYTES ((size_t)65536)

TEST(pinned_memory_is_host_memory)
{
    unsigned char *p = NULL, back[16] = {0};
    CUdeviceptr seen = 0;
    DO(cuMemHostAlloc((void **)&p, BYTES, 0));
    memset(p, 0x11, BYTES);
    FACT_EQ(p[BYTES - 1], 0x11, "cuMemHostAlloc: accessible to the host");
    CUdeviceptr device = conf_alloc(BYTES);
    DO(cuMemcpyHtoD(device, p, BYTES));
    DO(cuMemcpyDtoH(back, device + BYTES - sizeof back, sizeof back));
    FACT_EQ(back[15], 0x11, "cuMemcpyHtoD");
    WORKS(cuMemHostGetDevicePointer(&seen, p, 0),
          UNIFIED "mapped, as if with CU_MEMHOSTALLOC_DEVICEMAP");
    FACT_EQ(seen, (uintptr_t)p, UNIFIED "the device pointer is the host pointer");
    INVALID(cuMemHostGetDevicePointer(&seen, p, 1), "Flags must be 0");
}

TEST(flags_are_passed_back)
{
    static const unsigned tried[] = {CU_MEMHOSTALLOC_PORTABLE, CU_MEMHOSTALLOC_DEVICEMAP,
                                     CU_MEMHOSTALLOC_WRITECOMBINED | CU_MEMHOSTALLOC_PORTABLE};
    void *p = NULL;
    unsigned flags = 0;
    int local;
    for (size_t i = 0; i < sizeof tried / sizeof tried[0]; i++) {
        DO(cuMemHostAlloc(&p, BYTES, tried[i]));
        DO(cuMemHostGetFlags(&flags, p));
        FACT_EQ(flags & (tried[i] | CU_MEMHOSTALLOC_PORTABLE),
                tried[i] & ~(unsigned)CU_MEMHOSTALLOC_PORTABLE,
                "cuMemHostGetFlags: as allocated with, without PORTABLE, which all memory is");
        DO(cuMemFreeHost(p));
    }
    REFUSED(cuMemHostGetFlags(&flags, &local), "fails for memory it did not allocate");
    RETURNS(cuMemHostAlloc(&p, BYTES, 0x80000000u), CUDA_ERROR_INVALID_VALUE);
    RETURNS(cuMemHostAlloc(NULL, BYTES, 0), CUDA_ERROR_INVALID_VALUE);
}

TEST(what_was_not_allocated_cannot_be_freed)
{
    unsigned char *p = NULL;
    int local;
    DO(cuMemAllocHost((void **)&p, BYTES));
    DO(cuMemFreeHost(p));
    INVALID(cuMemFreeHost(p), "must be what an allocating call returned");
    INVALID(cuMemFreeHost(&local), "must be what an allocating call returned");
    RETURNS(cudaFreeHost(&local), cudaErrorInvalidValue);
}

static bool all_use_host_pointers(void)
{
    int can = 1, count = conf_device_count();
    for (int i = 0; i < count && can; i++)
        DO(cuDeviceGetAttribute(
            &can, CU_DEVICE_ATTRIBUTE_CAN_USE_HOST_POINTER_FOR_REGISTERED_MEM, i));
    return can;
}

TEST(registered_memory_is_pinned_until_unregistered)
{
    unsigned char *p = aligned_alloc(4096, BYTES);
    CUdeviceptr device = 0;
    CUmemorytype type = 0;
    NEED(DEVICE_ATTRIBUTE(HOST_REGISTER_SUPPORTED), "no host registration");
    INVALID(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, (uintptr_t)p),
            "memory CUDA does not know");
    DO(cuMemHostRegister(p, BYTES, CU_MEMHOSTREGISTER_DEVICEMAP));
    DO(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, (uintptr_t)p));
    FACT_EQ(type, CU_MEMORYTYPE_HOST, "cuMemHostRegister: page-locked and known to CUDA");
    RETURNS(cuMemHostRegister(p, BYTES, 0), CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED);
    WORKS(cuMemHostGetDevicePointer(&device, p, 0),
          "cuMemHostRegister: CU_MEMHOSTREGISTER_DEVICEMAP maps it");
    if (all_use_host_pointers())
        FACT_EQ(device, (uintptr_t)p,
                "cuMemHostGetDevicePointer: matches the original pointer if all devices "
                "have CAN_USE_HOST_POINTER_FOR_REGISTERED_MEM");
    DO(cuMemHostUnregister(p));
    RETURNS(cuMemHostUnregister(p), CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED);
    INVALID(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, (uintptr_t)p),
            "cuMemHostUnregister: unmaps it; pageable again");
    WORKS(cuMemHostRegister(p, BYTES, CU_MEMHOSTREGISTER_PORTABLE), "again after unregistering");
    DO(cuMemHostUnregister(p));
    free(p);
}

TEST(registering_through_the_runtime)
{
    void *p = aligned_alloc(4096, BYTES);
    NEED(DEVICE_ATTRIBUTE(HOST_REGISTER_SUPPORTED), "no host registration");
    DO(cudaHostRegister(p, BYTES, cudaHostRegisterDefault));
    RETURNS(cudaHostRegister(p, BYTES, cudaHostRegisterDefault),
            cudaErrorHostMemoryAlreadyRegistered);
    DO(cudaHostUnregister(p));
    RETURNS(cudaHostUnregister(p), cudaErrorHostMemoryNotRegistered);
    free(p);
}

TEST(the_runtime_has_the_same_pinned_memory)
{
    void *p = NULL, *device = NULL;
    unsigned flags = 0;
    DO(cudaHostAlloc(&p, BYTES, cudaHostAllocPortable | cudaHostAllocMapped));
    DO(cudaHostGetFlags(&flags, p));
    FACT_EQ(flags & cudaHostAllocPortable, 0, "cudaHostGetFlags: without Portable");
    DO(cudaHostGetDevicePointer(&device, p, 0));
    FACT(device == p, UNIFIED "the device pointer is the host pointer");
    WORKS(cuMemFreeHost(p), "guide, interoperability between runtime and driver");
    DO(cuMemAllocHost(&p, BYTES));
    WORKS(cudaFreeHost(p), "guide, interoperability between runtime and driver");
    DO(cudaMallocHost(&p, BYTES));
    DO(cudaFreeHost(p));
    INVALID(cudaHostGetFlags(&flags, &flags), "fails outside what cudaHostAlloc allocated");
}

TEST(the_device_writes_pinned_memory)
{
    unsigned char *p = NULL;
    DO(cuMemAllocHost((void **)&p, BYTES));
    CUstream stream = conf_stream();
    DO(cuMemsetD8Async((CUdeviceptr)(uintptr_t)p, 0x42, BYTES, stream));
    DO(cuStreamSynchronize(stream));
    FACT_EQ(p[0], 0x42, UNIFIED "accessible from the device by the host pointer");
    FACT_EQ(p[BYTES - 1], 0x42, UNIFIED "accessible from the device by the host pointer");
}
