/* SPDX-License-Identifier: Apache-2.0
 *
 * Managed memory: one pointer for host and device; prefetches and advice for parts of an
 * allocation, and attributes of other parts. The host accesses it only while the device is idle. */
#include "conf.h"

#define BYTES ((size_t)2 << 20)
#define RULE(attribute) "cuMemRangeGetAttribute: CU_MEM_RANGE_ATTRIBUTE_" attribute

static const CUmemLocation device = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = 0},
                           host = {.type = CU_MEM_LOCATION_TYPE_HOST};

static CUdeviceptr managed(void)
{
    return GOT(CUdeviceptr, cuMemAllocManaged(&got, BYTES, CU_MEM_ATTACH_GLOBAL));
}

TEST(both_sides_use_one_pointer)
{
    CUdeviceptr memory = managed();
    unsigned char *bytes = (unsigned char *)(uintptr_t)memory;
    memset(bytes, 0x31, BYTES);
    FACT_EQ(conf_byte(memory + BYTES - 1), 0x31,
            "cuMemAllocManaged: valid on the CPU and on all GPUs");
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
    WORKS(cudaMallocManaged(&pointer, 0, cudaMemAttachGlobal), "unlike cuMemAllocManaged");
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
}

/* ---- ranges, in MiB of an allocation of 16 MiB ---- */

#define LAST CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION
#define PREFERRED CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION
#define MOSTLY CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY

static CUdeviceptr p;

static void fresh(void)
{
    NEED(DEVICE_ATTRIBUTE(CONCURRENT_MANAGED_ACCESS), "no concurrent access");
    DO(cuMemAllocManaged(&p, 16 * CONF_MIB, CU_MEM_ATTACH_GLOBAL));
}

static int ask(CUmem_range_attribute attribute, size_t at, size_t mib)
{
    int value = -99;
    DO(cuMemRangeGetAttribute(&value, sizeof value, attribute, p + at * CONF_MIB, mib * CONF_MIB));
    return value;
}

static void prefetch(size_t at, size_t mib, CUmemLocation where)
{
    DO(cuMemPrefetchAsync(p + at * CONF_MIB, mib * CONF_MIB, where, 0, NULL));
}

static void advise(size_t at, size_t mib, CUmem_advise advice, CUmemLocation where)
{
    DO(cuMemAdvise(p + at * CONF_MIB, mib * CONF_MIB, advice, where));
}

TEST(prefetches_are_remembered_by_range)
{
    fresh();
    FACT_EQ(ask(LAST, 0, 16), CU_DEVICE_INVALID, RULE("LAST_PREFETCH_LOCATION: never"));
    prefetch(0, 8, device);
    FACT_EQ(ask(LAST, 0, 8), 0, RULE("LAST_PREFETCH_LOCATION: a GPU id"));
    FACT_EQ(ask(LAST, 4, 1), 0, RULE("LAST_PREFETCH_LOCATION: a GPU id"));
    FACT_EQ(ask(LAST, 8, 8), CU_DEVICE_INVALID, RULE("LAST_PREFETCH_LOCATION: never"));
    FACT_EQ(ask(LAST, 0, 16), CU_DEVICE_INVALID, RULE("LAST_PREFETCH_LOCATION: a page never was"));
    prefetch(8, 8, host);
    FACT_EQ(ask(LAST, 8, 8), CU_DEVICE_CPU, RULE("LAST_PREFETCH_LOCATION: CU_DEVICE_CPU"));
    FACT_EQ(ask(LAST, 0, 16), CU_DEVICE_INVALID, RULE("LAST_PREFETCH_LOCATION: not all the same"));
    prefetch(0, 8, host);
    FACT_EQ(ask(LAST, 0, 16), CU_DEVICE_CPU, RULE("LAST_PREFETCH_LOCATION: all the same"));
}

TEST(prefetching_moves_without_changing)
{
    fresh();
    unsigned char *bytes = (unsigned char *)(uintptr_t)p;
    memset(bytes, 0x44, BYTES);
    for (int i = 0; i < 2; i++) {
        prefetch(0, 16, i ? host : device);
        DO(cuCtxSynchronize());
        FACT_EQ(bytes[BYTES - 1], 0x44, "cuMemPrefetchAsync: moves the data");
    }
}

TEST(types_and_ids_go_with_locations)
{
    fresh();
    prefetch(0, 8, device);
    FACT_EQ(ask(CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_TYPE, 0, 8),
            CU_MEM_LOCATION_TYPE_DEVICE, RULE("LAST_PREFETCH_LOCATION_TYPE"));
    FACT_EQ(ask(CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_ID, 0, 8), 0,
            RULE("LAST_PREFETCH_LOCATION_ID"));
    FACT_EQ(ask(CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_TYPE, 0, 16),
            CU_MEM_LOCATION_TYPE_INVALID, RULE("LAST_PREFETCH_LOCATION_TYPE"));
    advise(0, 8, CU_MEM_ADVISE_SET_PREFERRED_LOCATION, host);
    FACT_EQ(ask(CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_TYPE, 0, 8), CU_MEM_LOCATION_TYPE_HOST,
            RULE("PREFERRED_LOCATION_TYPE"));
}

TEST(preferred_locations_are_by_range)
{
    fresh();
    FACT_EQ(ask(PREFERRED, 0, 16), CU_DEVICE_INVALID, RULE("PREFERRED_LOCATION: none at all"));
    advise(0, 4, CU_MEM_ADVISE_SET_PREFERRED_LOCATION, device);
    FACT_EQ(ask(PREFERRED, 0, 4), 0, RULE("PREFERRED_LOCATION: a GPU device id"));
    FACT_EQ(ask(PREFERRED, 0, 8), CU_DEVICE_INVALID, RULE("PREFERRED_LOCATION: some have none"));
    advise(4, 4, CU_MEM_ADVISE_SET_PREFERRED_LOCATION, host);
    FACT_EQ(ask(PREFERRED, 4, 4), CU_DEVICE_CPU, RULE("PREFERRED_LOCATION: CU_DEVICE_CPU"));
    advise(0, 16, CU_MEM_ADVISE_UNSET_PREFERRED_LOCATION, host);
    FACT_EQ(ask(PREFERRED, 0, 4), CU_DEVICE_INVALID, "cuMemAdvise: UNSET_... changes it to none");
}

TEST(read_mostly_is_for_all_pages_or_not)
{
    fresh();
    FACT_EQ(ask(MOSTLY, 0, 16), 0, RULE("READ_MOSTLY: not advised"));
    advise(4, 4, CU_MEM_ADVISE_SET_READ_MOSTLY, host);
    FACT_EQ(ask(MOSTLY, 4, 4), 1, RULE("READ_MOSTLY: all pages"));
    FACT_EQ(ask(MOSTLY, 0, 8), 0, RULE("READ_MOSTLY: all pages"));
    advise(0, 16, CU_MEM_ADVISE_UNSET_READ_MOSTLY, host);
    FACT_EQ(ask(MOSTLY, 4, 4), 0, "cuMemAdvise: UNSET_READ_MOSTLY undoes it");
}

TEST(accessed_by_is_a_list)
{
    static const struct {
        size_t mib;
        CUmem_advise advice; /* for 8 MiB, before the query */
        int first;
        const char *rule;
    } rows[] = {
        {8, CU_MEM_ADVISE_SET_ACCESSED_BY, 0, RULE("ACCESSED_BY: device ids")},
        {16, CU_MEM_ADVISE_SET_ACCESSED_BY, CU_DEVICE_INVALID,
         RULE("ACCESSED_BY: for the entire memory range")},
        {8, CU_MEM_ADVISE_UNSET_ACCESSED_BY, CU_DEVICE_INVALID,
         "cuMemAdvise: UNSET_ACCESSED_BY undoes it"},
    };
    fresh();
    for (int i = 0; i < 3; i++) {
        int list[3] = {9, 9, 9};
        advise(0, 8, rows[i].advice, device);
        DO(cuMemRangeGetAttribute(list, sizeof list, CU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY, p,
                                  rows[i].mib * CONF_MIB));
        FACT_EQ(list[0], rows[i].first, rows[i].rule);
        FACT_EQ(list[1], CU_DEVICE_INVALID, RULE("ACCESSED_BY: extra space"));
        FACT_EQ(list[2], CU_DEVICE_INVALID, RULE("ACCESSED_BY: extra space"));
    }
}

TEST(several_are_asked_at_once)
{
    int last = 9, mostly = 9, by[2] = {9, 9};
    void *data[] = {&last, &mostly, by};
    size_t sizes[] = {sizeof last, sizeof mostly, sizeof by};
    CUmem_range_attribute attributes[] = {LAST, MOSTLY, CU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY};
    fresh();
    advise(0, 16, CU_MEM_ADVISE_SET_READ_MOSTLY, host);
    DO(cuMemRangeGetAttributes(data, sizes, attributes, 3, p, 16 * CONF_MIB));
    FACT(last == CU_DEVICE_INVALID && mostly == 1 && by[0] == CU_DEVICE_INVALID,
         "cuMemRangeGetAttributes: descriptions as for cuMemRangeGetAttribute");
}

TEST(ranges_must_be_managed)
{
    int value;
    long long wide;
    fresh();
    CUdeviceptr plain = conf_alloc(CONF_MIB);
    INVALID(cuMemRangeGetAttribute(&value, sizeof value, LAST, plain, CONF_MIB),
            "the range must refer to managed memory");
    INVALID(cuMemPrefetchAsync(plain, CONF_MIB, device, 0, NULL),
            "the range must refer to managed memory");
    INVALID(cuMemAdvise(plain, CONF_MIB, CU_MEM_ADVISE_SET_READ_MOSTLY, device),
            "the range must refer to managed memory");
    INVALID(cuMemPrefetchAsync(p, CONF_MIB, device, 1, NULL), "flags must be zero");
    INVALID(cuMemRangeGetAttribute(&value, 3, LAST, p, CONF_MIB), "dataSize must be 4");
    INVALID(cuMemRangeGetAttribute(&wide, sizeof wide, MOSTLY, p, CONF_MIB), "dataSize must be 4");
}

TEST(more_than_the_device_holds_can_be_used)
{
    size_t total;
    NEED(DEVICE_ATTRIBUTE(CONCURRENT_MANAGED_ACCESS), "no concurrent access");
    DO(cuDeviceTotalMem(&total, 0));
    WORKS(cuMemAllocManaged(&p, total + 64 * CONF_MIB, CU_MEM_ATTACH_GLOBAL),
          "guide, GPU memory oversubscription");
    DO(cuMemFree(p));
}
