/* SPDX-License-Identifier: Apache-2.0
 *
 * Pointer attributes: one case makes the same queries for every family of memory. */
#include "conf.h"

#define ATTRIBUTE "cuPointerGetAttribute: "
#define BYTES ((size_t)1 << 20)

struct family {
    CUdeviceptr pointer;
    CUmemorytype type; /* 0: not asked */
    enum cudaMemoryType runtime;
    bool managed, host, pooled;
};

static CUresult get(void *value, CUpointer_attribute attribute, CUdeviceptr pointer)
{
    return cuPointerGetAttribute(value, attribute, pointer);
}

static void check_family(const struct family *f)
{
    CUmemorytype type = 0;
    CUdeviceptr device = 0, base = 0;
    void *host = NULL;
    size_t bytes = 0;
    CUdeviceptr inside = f->pointer + BYTES / 2 + 3;
    if (f->type) {
        WORKS(get(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, inside),
              ATTRIBUTE "any address of an allocation");
        FACT_EQ(type, f->type, ATTRIBUTE "MEMORY_TYPE");
    }
    FACT_EQ(!!GOT(unsigned, get(&got, CU_POINTER_ATTRIBUTE_IS_MANAGED, inside)), f->managed,
            ATTRIBUTE "IS_MANAGED");
    if (!f->managed)
        FACT_EQ(GOT(int, get(&got, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, inside)), 0,
                ATTRIBUTE "DEVICE_ORDINAL, of the device it was allocated against");
    DO(get(&device, CU_POINTER_ATTRIBUTE_DEVICE_POINTER, inside));
    FACT_EQ(device, inside, ATTRIBUTE "DEVICE_POINTER, the same under unified addressing");
    if (f->host) {
        DO(get(&host, CU_POINTER_ATTRIBUTE_HOST_POINTER, inside));
        FACT_EQ((uintptr_t)host, inside,
                ATTRIBUTE "HOST_POINTER, the same under unified addressing");
    } else if (!DEVICE_ATTRIBUTE(PAGEABLE_MEMORY_ACCESS_USES_HOST_PAGE_TABLES)) {
        INVALID(get(&host, CU_POINTER_ATTRIBUTE_HOST_POINTER, inside),
                ATTRIBUTE "HOST_POINTER, an invalid value when the host has none");
    }
    if (!f->host) {
        DO(get(&base, CU_POINTER_ATTRIBUTE_RANGE_START_ADDR, inside));
        DO(get(&bytes, CU_POINTER_ATTRIBUTE_RANGE_SIZE, inside));
        FACT(base <= f->pointer, ATTRIBUTE "RANGE_START_ADDR");
        FACT(base + bytes >= f->pointer + BYTES, ATTRIBUTE "RANGE_SIZE");
    }
    if (!f->host && !f->pooled)
        FACT_EQ(base, f->pointer, ATTRIBUTE "RANGE_START_ADDR");
    struct cudaPointerAttributes attributes = {0};
    DO(cudaPointerGetAttributes(&attributes, (void *)(uintptr_t)inside));
    FACT_EQ(attributes.type, f->runtime, "cudaPointerAttributes: type");
    if (!f->managed)
        FACT_EQ(attributes.device, 0, "cudaPointerAttributes: device");
    FACT_EQ((uintptr_t)attributes.devicePointer, inside, "cudaPointerAttributes: devicePointer");
    if (f->host)
        FACT_EQ((uintptr_t)attributes.hostPointer, inside, "cudaPointerAttributes: hostPointer");
    else if (!DEVICE_ATTRIBUTE(PAGEABLE_MEMORY_ACCESS_USES_HOST_PAGE_TABLES))
        FACT(!attributes.hostPointer, "cudaPointerAttributes: hostPointer, NULL without one");
}

TEST(device_memory)
{
    CUcontext owner = NULL, mine = NULL;
    CUdeviceptr p = conf_alloc(BYTES);
    check_family(&(struct family){p, CU_MEMORYTYPE_DEVICE, cudaMemoryTypeDevice, 0, 0, 0});
    DO(get(&owner, CU_POINTER_ATTRIBUTE_CONTEXT, p));
    DO(cuCtxGetCurrent(&mine));
    FACT(owner == mine, ATTRIBUTE "CONTEXT, in which it was allocated");
}

TEST(pinned_memory)
{
    void *p = NULL;
    DO(cuMemHostAlloc(&p, BYTES, 0));
    check_family(&(struct family){(uintptr_t)p, CU_MEMORYTYPE_HOST, cudaMemoryTypeHost, 0, 1, 0});
}

TEST(registered_memory)
{
    void *p = aligned_alloc(4096, BYTES);
    int same = 0, count = conf_device_count();
    for (int i = 0; i < count; i++) {
        DO(cuDeviceGetAttribute(
            &same, CU_DEVICE_ATTRIBUTE_CAN_USE_HOST_POINTER_FOR_REGISTERED_MEM, i));
        NEED(same, "registered memory has another address on some device");
    }
    NEED(DEVICE_ATTRIBUTE(HOST_REGISTER_SUPPORTED), "no host registration");
    DO(cuMemHostRegister(p, BYTES, CU_MEMHOSTREGISTER_DEVICEMAP));
    check_family(&(struct family){(uintptr_t)p, CU_MEMORYTYPE_HOST, cudaMemoryTypeHost, 0, 1, 0});
    DO(cuMemHostUnregister(p));
    free(p);
}

TEST(managed_memory)
{
    CUdeviceptr p = 0;
    NEED(DEVICE_ATTRIBUTE(MANAGED_MEMORY), "no managed memory");
    DO(cuMemAllocManaged(&p, BYTES, CU_MEM_ATTACH_GLOBAL));
    check_family(&(struct family){p, 0, cudaMemoryTypeManaged, 1, 1, 0});
}

TEST(pool_memory)
{
    CUdeviceptr p = 0;
    CUmemoryPool pool = NULL, owner = NULL;
    NEED(DEVICE_ATTRIBUTE(MEMORY_POOLS_SUPPORTED), "no memory pools");
    DO(cuMemAllocAsync(&p, BYTES, NULL));
    DO(cuStreamSynchronize(NULL));
    check_family(&(struct family){p, CU_MEMORYTYPE_DEVICE, cudaMemoryTypeDevice, 0, 0, 1});
    DO(cuDeviceGetDefaultMemPool(&pool, 0));
    DO(get(&owner, CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE, p));
    FACT(owner == pool, ATTRIBUTE "MEMPOOL_HANDLE, the pool it was allocated from");
}

TEST(memory_cuda_does_not_know)
{
    int local = 0;
    CUmemorytype type = 99;
    struct cudaPointerAttributes a = {0};
    INVALID(get(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, (uintptr_t)&local),
            ATTRIBUTE "an invalid value for memory CUDA does not know");
    WORKS(cudaPointerGetAttributes(&a, &local), "success for host memory");
    FACT_EQ(a.type, cudaMemoryTypeUnregistered,
            "cudaPointerGetAttributes: cudaMemoryTypeUnregistered");
    CUdeviceptr freed = conf_alloc(64 * BYTES);
    DO(cuMemFree(freed));
    INVALID(get(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, freed),
            ATTRIBUTE "an invalid value for memory CUDA does not know any more");
}

TEST(several_attributes_at_once)
{
    CUdeviceptr base = 0;
    CUmemorytype type = 0;
    unsigned managed = 99;
    int local;
    CUpointer_attribute wanted[] = {CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
                                    CU_POINTER_ATTRIBUTE_RANGE_START_ADDR,
                                    CU_POINTER_ATTRIBUTE_IS_MANAGED};
    void *into[] = {&type, &base, &managed};
    CUdeviceptr p = conf_alloc(BYTES);
    DO(cuPointerGetAttributes(3, wanted, into, p + 5));
    FACT_EQ(type, CU_MEMORYTYPE_DEVICE, "cuPointerGetAttributes: MEMORY_TYPE");
    FACT_EQ(base, p, "cuPointerGetAttributes: RANGE_START_ADDR");
    FACT_EQ(managed, 0, "cuPointerGetAttributes: IS_MANAGED");
    WORKS(cuPointerGetAttributes(2, wanted, into, (uintptr_t)&local),
          "no error for memory CUDA does not know");
    FACT_EQ(type, 0, "cuPointerGetAttributes: null values for memory CUDA does not know");
    FACT_EQ(base, p, "cuPointerGetAttributes: RANGE_START_ADDR of such memory is not stored");
}

TEST(buffer_ids_are_not_used_twice)
{
    unsigned long long first = 0, second = 0, inside = 0, again = 0;
    CUdeviceptr p = conf_alloc(BYTES);
    CUdeviceptr q = conf_alloc(BYTES);
    DO(get(&first, CU_POINTER_ATTRIBUTE_BUFFER_ID, p));
    DO(get(&second, CU_POINTER_ATTRIBUTE_BUFFER_ID, q));
    DO(get(&inside, CU_POINTER_ATTRIBUTE_BUFFER_ID, p + BYTES - 1));
    FACT(first != second, ATTRIBUTE "BUFFER_ID, unique within the process");
    FACT_EQ(inside, first, ATTRIBUTE "BUFFER_ID, one for the whole allocation");
    DO(cuMemFree(p));
    DO(cuMemAlloc(&p, BYTES));
    DO(get(&again, CU_POINTER_ATTRIBUTE_BUFFER_ID, p));
    FACT(again != first && again != second, ATTRIBUTE "BUFFER_ID, unique within the process");
}

TEST(synchronous_memory_operations_can_be_asked_for)
{
    unsigned on = 1, seen = 99;
    CUdeviceptr p = conf_alloc(BYTES);
    WORKS(cuPointerSetAttribute(&on, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, p), "SYNC_MEMOPS");
    DO(get(&seen, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, p));
    FACT_EQ(!!seen, 1, "cuPointerSetAttribute: seen by cuPointerGetAttribute");
    REFUSED(cuPointerSetAttribute(&on, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, p),
            "SYNC_MEMOPS alone can be set");
}
