/* SPDX-License-Identifier: Apache-2.0
 *
 * Attributes of ranges of managed memory: prefetches and advice for parts of an allocation, and
 * queries of other parts. */
#include "conf.h"

#define LAST CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION
#define PREFERRED CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION
#define RULE(attribute) "cuMemRangeGetAttribute: CU_MEM_RANGE_ATTRIBUTE_" attribute

static const CUmemLocation device = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = 0},
                           host = {.type = CU_MEM_LOCATION_TYPE_HOST};
static CUdeviceptr p;

static void fresh(void)
{
    NEED(conf_attribute(CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS),
         "the device and the host do not share managed memory concurrently");
    DO(cuMemAllocManaged(&p, 16 * CONF_MIB, CU_MEM_ATTACH_GLOBAL));
}

static int ask(CUmem_range_attribute attribute, size_t offset, size_t bytes)
{
    int value = -99;
    DO(cuMemRangeGetAttribute(&value, sizeof value, attribute, p + offset, bytes));
    return value;
}

TEST(prefetches_are_remembered_by_range)
{
    fresh();
    FACT_EQ(ask(LAST, 0, 16 * CONF_MIB), CU_DEVICE_INVALID, RULE("LAST_PREFETCH_LOCATION: never"));
    DO(cuMemPrefetchAsync(p, 8 * CONF_MIB, device, 0, NULL));
    FACT_EQ(ask(LAST, 0, 8 * CONF_MIB), 0, RULE("LAST_PREFETCH_LOCATION: a GPU id"));
    FACT_EQ(ask(LAST, 4 * CONF_MIB, CONF_MIB), 0, RULE("LAST_PREFETCH_LOCATION: a GPU id"));
    FACT_EQ(ask(LAST, 8 * CONF_MIB, 8 * CONF_MIB), CU_DEVICE_INVALID,
            RULE("LAST_PREFETCH_LOCATION: never"));
    FACT_EQ(ask(LAST, 0, 16 * CONF_MIB), CU_DEVICE_INVALID,
            RULE("LAST_PREFETCH_LOCATION: any page never prefetched"));
    DO(cuMemPrefetchAsync(p + 8 * CONF_MIB, 8 * CONF_MIB, host, 0, NULL));
    FACT_EQ(ask(LAST, 8 * CONF_MIB, 8 * CONF_MIB), CU_DEVICE_CPU,
            RULE("LAST_PREFETCH_LOCATION: CU_DEVICE_CPU"));
    FACT_EQ(ask(LAST, 0, 16 * CONF_MIB), CU_DEVICE_INVALID,
            RULE("LAST_PREFETCH_LOCATION: not all to the same location"));
    DO(cuMemPrefetchAsync(p, 8 * CONF_MIB, host, 0, NULL));
    FACT_EQ(ask(LAST, 0, 16 * CONF_MIB), CU_DEVICE_CPU,
            RULE("LAST_PREFETCH_LOCATION: all to the same location"));
    DO(cuCtxSynchronize());
}

TEST(types_and_ids_go_with_locations)
{
    fresh();
    DO(cuMemPrefetchAsync(p, 8 * CONF_MIB, device, 0, NULL));
    FACT_EQ(ask(CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_TYPE, 0, 8 * CONF_MIB),
            CU_MEM_LOCATION_TYPE_DEVICE, RULE("LAST_PREFETCH_LOCATION_TYPE"));
    FACT_EQ(ask(CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_ID, 0, 8 * CONF_MIB), 0,
            RULE("LAST_PREFETCH_LOCATION_ID"));
    FACT_EQ(ask(CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_TYPE, 0, 16 * CONF_MIB),
            CU_MEM_LOCATION_TYPE_INVALID, RULE("LAST_PREFETCH_LOCATION_TYPE"));
    DO(cuMemAdvise(p, 8 * CONF_MIB, CU_MEM_ADVISE_SET_PREFERRED_LOCATION, host));
    FACT_EQ(ask(CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_TYPE, 0, 8 * CONF_MIB),
            CU_MEM_LOCATION_TYPE_HOST, RULE("PREFERRED_LOCATION_TYPE"));
    DO(cuCtxSynchronize());
}

TEST(preferred_locations_are_by_range)
{
    fresh();
    FACT_EQ(ask(PREFERRED, 0, 16 * CONF_MIB), CU_DEVICE_INVALID,
            RULE("PREFERRED_LOCATION: no preferred location at all"));
    DO(cuMemAdvise(p, 4 * CONF_MIB, CU_MEM_ADVISE_SET_PREFERRED_LOCATION, device));
    FACT_EQ(ask(PREFERRED, 0, 4 * CONF_MIB), 0, RULE("PREFERRED_LOCATION: a GPU device id"));
    FACT_EQ(ask(PREFERRED, 0, 8 * CONF_MIB), CU_DEVICE_INVALID,
            RULE("PREFERRED_LOCATION: some pages have none"));
    DO(cuMemAdvise(p + 4 * CONF_MIB, 4 * CONF_MIB, CU_MEM_ADVISE_SET_PREFERRED_LOCATION, host));
    FACT_EQ(ask(PREFERRED, 4 * CONF_MIB, 4 * CONF_MIB), CU_DEVICE_CPU,
            RULE("PREFERRED_LOCATION: CU_DEVICE_CPU"));
    DO(cuMemAdvise(p, 16 * CONF_MIB, CU_MEM_ADVISE_UNSET_PREFERRED_LOCATION, host));
    FACT_EQ(ask(PREFERRED, 0, 4 * CONF_MIB), CU_DEVICE_INVALID,
            "cuMemAdvise: UNSET_PREFERRED_LOCATION changes it to none");
}

TEST(read_mostly_is_for_all_pages_or_not)
{
    fresh();
    DO(cuMemAdvise(p + 4 * CONF_MIB, 4 * CONF_MIB, CU_MEM_ADVISE_SET_READ_MOSTLY, host));
    FACT_EQ(ask(CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, 4 * CONF_MIB, 4 * CONF_MIB), 1,
            RULE("READ_MOSTLY: all pages"));
    FACT_EQ(ask(CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, 0, 8 * CONF_MIB), 0,
            RULE("READ_MOSTLY: all pages"));
    DO(cuMemAdvise(p, 16 * CONF_MIB, CU_MEM_ADVISE_UNSET_READ_MOSTLY, host));
    FACT_EQ(ask(CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, 4 * CONF_MIB, 4 * CONF_MIB), 0,
            "cuMemAdvise: UNSET_READ_MOSTLY undoes it");
}

TEST(accessed_by_is_a_list)
{
    int list[3] = {9, 9, 9};
    fresh();
    DO(cuMemAdvise(p, 8 * CONF_MIB, CU_MEM_ADVISE_SET_ACCESSED_BY, device));
    DO(cuMemRangeGetAttribute(list, sizeof list, CU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY, p,
                              8 * CONF_MIB));
    FACT_EQ(list[0], 0, RULE("ACCESSED_BY: device ids"));
    FACT_EQ(list[1], CU_DEVICE_INVALID, RULE("ACCESSED_BY: extra space"));
    FACT_EQ(list[2], CU_DEVICE_INVALID, RULE("ACCESSED_BY: extra space"));
    DO(cuMemRangeGetAttribute(list, sizeof list, CU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY, p,
                              16 * CONF_MIB));
    FACT_EQ(list[0], CU_DEVICE_INVALID, RULE("ACCESSED_BY: for the entire memory range"));
    DO(cuMemAdvise(p, 8 * CONF_MIB, CU_MEM_ADVISE_UNSET_ACCESSED_BY, device));
    DO(cuMemRangeGetAttribute(list, sizeof list, CU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY, p,
                              8 * CONF_MIB));
    FACT_EQ(list[0], CU_DEVICE_INVALID, "cuMemAdvise: UNSET_ACCESSED_BY undoes it");
}

TEST(several_are_asked_at_once)
{
    int last = 9, mostly = 9, by[2] = {9, 9};
    void *data[] = {&last, &mostly, by};
    size_t sizes[] = {sizeof last, sizeof mostly, sizeof by};
    CUmem_range_attribute attributes[] = {LAST, CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY,
                                          CU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY};
    fresh();
    DO(cuMemAdvise(p, 16 * CONF_MIB, CU_MEM_ADVISE_SET_READ_MOSTLY, host));
    DO(cuMemRangeGetAttributes(data, sizes, attributes, 3, p, 16 * CONF_MIB));
    FACT(last == CU_DEVICE_INVALID && mostly == 1 && by[0] == CU_DEVICE_INVALID,
         "cuMemRangeGetAttributes: descriptions as for cuMemRangeGetAttribute");
}

TEST(ranges_must_be_managed)
{
    int value;
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
}

TEST(more_than_the_device_holds_can_be_used)
{
    size_t free_bytes, total;
    NEED(conf_attribute(CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS),
         "the device and the host do not share managed memory concurrently");
    DO(cuMemGetInfo(&free_bytes, &total));
    WORKS(cuMemAllocManaged(&p, total + 64 * CONF_MIB, CU_MEM_ATTACH_GLOBAL),
          "guide, GPU memory oversubscription");
    DO(cuMemFree(p));
}
