/* SPDX-License-Identifier: Apache-2.0
 *
 * Queries of memory, including freed and unknown memory: ranges, attributes, numbers, free memory,
 * and the errors of calls that do not apply. Each query is made for memory from cuMemAlloc; mapped
 * memory that implements it (policy compact) must give the same results. */
#include "victim_memory.h"

VICTIM("answers")

static CUcontext context;

static void start_here(void)
{
    start();
    OK(cuCtxGetCurrent(&context));
}

/* --- ranges --- */

static const size_t sizes[] = {1, 1000, 5000, MIB - 24, 3 * MIB + 8, 12 * MIB + 100, 25 * MIB};
enum { SIZES = sizeof sizes / sizeof *sizes };

static void print_range(CUdeviceptr start_of, CUdeviceptr p)
{
    CUdeviceptr base = 7, only = 7;
    size_t bytes = 7, alone = 7;
    CUresult r = cuMemGetAddressRange(&base, &bytes, p);
    printf(" %d", (int)r);
    if (!r)
        printf(" starts %d bytes %zu", base == start_of, bytes);
    else
        printf(" untouched %d", base == 7 && bytes == 7);
    CHECK(cuMemGetAddressRange(&only, NULL, p) == r && cuMemGetAddressRange(NULL, &alone, p) == r);
    CHECK(only == base && alone == bytes);
}

CASE(ranges, "cuMemGetAddressRange: start, interior, past the end, freed memory", VF_COMPACT)
{
    CUdeviceptr p[SIZES];
    start_here();
    for (int i = 0; i < SIZES; i++)
        p[i] = allocate(sizes[i]);
    for (int i = 0; i < SIZES; i++) {
        printf("%zu:", sizes[i]);
        print_range(p[i], p[i]);
        print_range(p[i], p[i] + sizes[i] / 2);
        print_range(p[i], p[i] + sizes[i] - 1);
        if (sizes[i] % 512) /* behind the end: unknown, however the size was rounded */
            print_range(p[i], p[i] + sizes[i]);
        puts("");
    }
    for (int i = 0; i < SIZES; i++)
        release(p[i]);
    printf("freed:");
    print_range(p[2], p[2]);
    print_range(p[5], p[5] + 4096);
    print_range(0, 0x1000);
    puts("");
}

/* --- attributes --- */

static void print_attributes(const char *what, CUdeviceptr p, CUdeviceptr base)
{
    const struct {
        const char *name;
        CUpointer_attribute attribute;
        uint64_t is; /* printed instead of a value that differs from run to run */
    } rows[] = {{"context", CU_POINTER_ATTRIBUTE_CONTEXT, (uintptr_t)context},
                {"type", CU_POINTER_ATTRIBUTE_MEMORY_TYPE, 0},
                {"device", CU_POINTER_ATTRIBUTE_DEVICE_POINTER, p},
                {"host", CU_POINTER_ATTRIBUTE_HOST_POINTER, 0},
                {"sync", CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, 0},
                {"managed", CU_POINTER_ATTRIBUTE_IS_MANAGED, 0},
                {"ordinal", CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, 0},
                {"start", CU_POINTER_ATTRIBUTE_RANGE_START_ADDR, base},
                {"size", CU_POINTER_ATTRIBUTE_RANGE_SIZE, 0},
                {"mapped", CU_POINTER_ATTRIBUTE_MAPPED, 0},
                {"types", CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES, 0},
                {"access", CU_POINTER_ATTRIBUTE_ACCESS_FLAGS, 0},
                {"pool", CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE, 0}};
    printf("%s:", what);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        uint64_t value = 9;
        printf(" %s %d", rows[i].name, (int)cuPointerGetAttribute(&value, rows[i].attribute, p));
        if (value && value == rows[i].is)
            printf(" as it should be");
        else
            printf(" %llu", (unsigned long long)value);
    }
    puts("");
}

/* All in one query: unknown memory gives default values, and no error. */
static void print_at_once(const char *what, CUdeviceptr p)
{
    CUpointer_attribute names[] = {CU_POINTER_ATTRIBUTE_CONTEXT, CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
                                   CU_POINTER_ATTRIBUTE_RANGE_SIZE, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL,
                                   CU_POINTER_ATTRIBUTE_SYNC_MEMOPS};
    CUcontext owner = NULL;
    unsigned type = 9, sync = 9;
    size_t bytes = 9;
    int ordinal = 9;
    void *values[] = {&owner, &type, &bytes, &ordinal, &sync};
    CUresult r = cuPointerGetAttributes(5, names, values, p);
    printf("%s at once: %d context %d type %u bytes %zu ordinal %d sync %u\n", what, (int)r,
           owner == context ? 1 : owner ? 2 : 0, type, bytes, ordinal, sync);
    struct cudaPointerAttributes attributes;
    cudaError_t e = cudaPointerGetAttributes(&attributes, (void *)(uintptr_t)p);
    printf("%s of the runtime: %d type %d device %d is it %d\n", what, (int)e, (int)attributes.type,
           attributes.device, attributes.devicePointer == (void *)(uintptr_t)p);
}

CASE(attributes, "all pointer attributes: start, interior, past the end, freed, unknown",
     VF_COMPACT)
{
    start_here();
    CUdeviceptr p = allocate(5000), q = allocate(7000), large = allocate(25 * MIB);
    print_attributes("start", p, p);
    print_attributes("inside", q + 300, q);
    print_attributes("large", large + MIB, large);
    print_attributes("behind", q + 7000, q);
    print_at_once("inside", q + 300);
    print_at_once("behind", q + 7000);
    print_at_once("nobody's", 0x1000);
    release(q);
    release(large);
    print_attributes("freed", q, q);
    print_at_once("freed", q);
    print_at_once("freed large", large + MIB);
    release(p);
}

CASE(sync_memops, "SYNC_MEMOPS set, queried, cleared and ended per block", VF_COMPACT)
{
    unsigned on = 1, off = 0, is[3];
    start_here();
    CUdeviceptr p = allocate(5000), q = allocate(5000);
    printf("set %d", (int)cuPointerSetAttribute(&on, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, p + 100));
    OK(cuPointerGetAttribute(&is[0], CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, p));
    OK(cuPointerGetAttribute(&is[1], CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, q));
    printf(" it %u the other %u", is[0], is[1]);
    OK(cuPointerSetAttribute(&on, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, q));
    OK(cuPointerSetAttribute(&off, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, p));
    OK(cuPointerGetAttribute(&is[0], CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, p));
    OK(cuPointerGetAttribute(&is[1], CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, q));
    printf(" cleared %u the other %u", is[0], is[1]);
    OK(cuPointerSetAttribute(&on, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, p));
    release(p);
    release(q);
    printf(" freed %d", (int)cuPointerSetAttribute(&on, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, p));
    for (int i = 0; i < 20; i++) { /* at any addresses */
        p = allocate(5000);
        OK(cuPointerGetAttribute(&is[2], CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, p));
        CHECK(is[2] == 0);
        release(p);
    }
    puts(" new 0");
}

/* --- numbers --- */

enum { NUMBERS = 400 };
static unsigned long long numbers[NUMBERS];
static int number_count;

static void number_of(CUdeviceptr p, size_t inside)
{
    unsigned long long id = 0, again = 0;
    OK(cuPointerGetAttribute(&id, CU_POINTER_ATTRIBUTE_BUFFER_ID, p));
    OK(cuPointerGetAttribute(&again, CU_POINTER_ATTRIBUTE_BUFFER_ID, p + inside));
    CHECK(id == again && id != 0);
    for (int i = 0; i < number_count; i++)
        CHECK(numbers[i] != id);
    CHECK(number_count < NUMBERS);
    numbers[number_count++] = id;
}

CASE(no_number_comes_twice, "BUFFER_ID is unique over all kinds of memory and never reused",
     VF_COMPACT)
{
    CUdeviceptr p;
    void *host;
    start_here();
    for (int i = 0; i < 60; i++) {
        CUdeviceptr a = allocate(1000), b = allocate(2 * MIB);
        number_of(a, 999);
        number_of(b, MIB);
        release(a);
        release(b);
        ALLOCATES(VT_MANAGED, 1000, cuMemAllocManaged(&p, 1000, CU_MEM_ATTACH_GLOBAL));
        number_of(p, 10);
        FREES(VT_MANAGED, cuMemFree(p));
        ALLOCATES(VT_PINNED, 4096, cuMemAllocHost(&host, 4096));
        number_of((CUdeviceptr)(uintptr_t)host, 0);
        FREES(VT_PINNED, cuMemFreeHost(host));
        ALLOCATES(VT_ASYNC, 70000, cuMemAllocAsync(&p, 70000, NULL));
        number_of(p, 5);
        FREES(VT_ASYNC, cuMemFreeAsync(p, NULL));
    }
    printf("%d numbers\n", number_count);
}

/* --- free memory --- */

static size_t free_by_all_forms(void)
{
    size_t free_bytes, total, only = 0, alone = 0;
    OK(cuMemGetInfo(&free_bytes, &total));
    OK(cuMemGetInfo(&only, NULL));
    OK(cuMemGetInfo(NULL, &alone));
    CHECK(only == free_bytes && alone == total && free_bytes <= total);
    return free_bytes;
}

CASE(free_memory, "cuMemGetInfo in one and in two contexts, either result omitted", VF_COMPACT)
{
    CUcontext other;
    start_here();
    size_t before = free_by_all_forms();
    CUdeviceptr p = allocate(64 * MIB), q = allocate(128 * MIB);
    printf("two taken: %zu MiB\n", (before - free_by_all_forms()) / MIB);
    release(q);
    printf("one given back: %zu MiB\n", (before - free_by_all_forms()) / MIB);
    other = new_context(0);
    size_t with_context = free_by_all_forms();
    printf("the other context took memory: %d\n", with_context < before - 64 * MIB);
    q = allocate(32 * MIB);
    printf("one taken there: %zu MiB\n", (with_context - free_by_all_forms()) / MIB);
    release(q);
    printf("and given back: %zu MiB\n", (with_context - free_by_all_forms()) / MIB);
    OK(cuCtxSetCurrent(context));
    release(p);
    printf("all given back: %zu MiB\n", (with_context + 64 * MIB - free_by_all_forms()) / MIB);
    OK(cuCtxDestroy(other));
    printf("and the context: %zu MiB\n", (before - free_by_all_forms()) / MIB);
}

/* --- calls that are not for such memory --- */

/* Plain memory cannot be unmapped, mapped over or given other access, and its addresses cannot be
 * released: neither directly, nor as the mapped memory behind it. */
static void print_mapping(CUdeviceptr at)
{
    static const size_t lengths[] = {4 * MIB, 2 * MIB, 20 * MIB, 64 * MIB};
    CUmemAllocationProp prop = on_device(0);
    CUmemAccessDesc none = {.location = prop.location, .flags = CU_MEM_ACCESS_FLAGS_PROT_NONE};
    CUmemGenericAllocationHandle handle;
    ALLOCATES(VT_VMM, 2 * MIB, cuMemCreate(&handle, 2 * MIB, &prop, 0));
    for (size_t i = 0; i < 2 * sizeof lengths / sizeof *lengths; i++) {
        CUdeviceptr from = i % 2 ? at - at % (2 * MIB) : at;
        printf(" %d", (int)cuMemSetAccess(from, lengths[i / 2], &none, 1));
        printf(" %d", (int)cuMemUnmap(from, lengths[i / 2]));
        printf(" %d", (int)cuMemAddressFree(from, lengths[i / 2]));
        printf(" %d", (int)cuMemMap(from, 2 * MIB, 0, handle, 0));
    }
    puts("");
    FREES(VT_VMM, cuMemRelease(handle));
}

CASE(errors_of_others_calls,
     "functions for managed, host, pool or mapped memory fail for plain memory", VF_COMPACT)
{
    CUmemLocation here = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = 0};
    CUmemGenericAllocationHandle handle = 0;
    CUmemPoolPtrExportData data;
    CUdeviceptr device = 0;
    unsigned long long access = 0;
    unsigned flags = 0;
    int answer = 0;
    start_here();
    CUdeviceptr p = allocate(4 * MIB), q = allocate(4 * MIB);
    OK(cudaMemset((void *)(uintptr_t)p, 0x5a, 4 * MIB));
    for (int i = 0; i < 2; i++) {
        CUdeviceptr at = i ? q : p;
        void *as_host = (void *)(uintptr_t)at;
        if (i)
            release(q); /* and the same for freed memory */
        printf("advise %d", (int)cuMemAdvise(at, 4096, CU_MEM_ADVISE_SET_READ_MOSTLY, here));
        printf(" prefetch %d", (int)cuMemPrefetchAsync(at, 4096, here, 0, NULL));
        printf(" range %d", (int)cuMemRangeGetAttribute(&answer, sizeof answer,
                                                       CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, at, 4096));
        printf(" host %d", (int)cuMemHostGetDevicePointer(&device, as_host, 0));
        printf(" flags %d", (int)cuMemHostGetFlags(&flags, as_host));
        printf(" free host %d", (int)cuMemFreeHost(as_host));
        printf(" unregister %d", (int)cuMemHostUnregister(as_host));
        printf(" pool %d", (int)cuMemPoolExportPointer(&data, at));
        printf(" access %d", (int)cuMemGetAccess(&access, &here, at));
        printf(" retain %d", (int)cuMemRetainAllocationHandle(&handle, as_host));
        printf(" close %d\n", (int)cuIpcCloseMemHandle(at));
        print_mapping(at);
    }
    unsigned char byte = 0;
    OK(cudaMemcpy(&byte, (void *)(uintptr_t)(p + MIB), 1, cudaMemcpyDeviceToHost));
    printf("still %x\n", byte);
    release(p);
}

CASE(bad_frees, "double frees, frees of unknown and interior pointers", VF_COMPACT)
{
    start_here();
    CUdeviceptr p = allocate(5000), q = allocate(5000), large = allocate(4 * MIB);
    printf("inside %d", (int)cuMemFree(p + 512));
    printf(" inside large %d", (int)cuMemFree(large + MIB));
    printf(" unknown %d", (int)cuMemFree(0x123400));
    release(q);
    release(large);
    printf(" twice %d", (int)cuMemFree(q));
    printf(" twice inside %d", (int)cuMemFree(large + 512));
    printf(" asynchronously %d", (int)cuMemFreeAsync(q, NULL));
    printf(" the runtime %d", (int)cudaFree((void *)(uintptr_t)q));
    printf(" nothing %d\n", (int)cudaFree(NULL));
    (void)cudaGetLastError();
    release(p);
}
