/* SPDX-License-Identifier: Apache-2.0
 *
 * Virtual memory management: reservations, physical memory, mappings, access,
 * sharing by file descriptor within one process. */
#include "conf.h"

#include <sys/syscall.h>
#include <unistd.h>

static size_t granule;

SETUP(begin)
{
    CUmemAllocationProp prop = {.type = CU_MEM_ALLOCATION_TYPE_PINNED,
                                .location = {CU_MEM_LOCATION_TYPE_DEVICE, 0}};
    return cuMemGetAllocationGranularity(&granule, &prop, CU_MEM_ALLOC_GRANULARITY_MINIMUM);
}

static void need_descriptors(void)
{
    NEED(DEVICE_ATTRIBUTE(HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED),
         "no export as a file descriptor");
}

static CUmemAllocationProp on_device(unsigned types)
{
    CUmemAllocationProp prop = {.type = CU_MEM_ALLOCATION_TYPE_PINNED,
                                .requestedHandleTypes = (CUmemAllocationHandleType)types,
                                .location = {CU_MEM_LOCATION_TYPE_DEVICE, 0}};
    return prop;
}

static CUmemGenericAllocationHandle create(size_t bytes, unsigned types)
{
    CUmemAllocationProp prop = on_device(types);
    return GOT(CUmemGenericAllocationHandle, cuMemCreate(&got, bytes, &prop, 0));
}

static const CUmemAccessDesc both = {{CU_MEM_LOCATION_TYPE_DEVICE, 0},
                                     CU_MEM_ACCESS_FLAGS_PROT_READWRITE};

static CUdeviceptr reserve(size_t bytes)
{
    return GOT(CUdeviceptr, cuMemAddressReserve(&got, bytes, 0, 0, 0));
}

static CUdeviceptr mapped(CUmemGenericAllocationHandle handle, size_t bytes)
{
    CUdeviceptr at = reserve(bytes);
    DO(cuMemMap(at, bytes, 0, handle, 0));
    DO(cuMemSetAccess(at, bytes, &both, 1));
    return at;
}

static void unmapped(CUdeviceptr at, size_t bytes)
{
    DO(cuCtxSynchronize());
    DO(cuMemUnmap(at, bytes));
    DO(cuMemAddressFree(at, bytes));
}

/* Is every byte from *at* on equal to *value*? */
static bool all_are(CUdeviceptr at, size_t bytes, unsigned char value)
{
    unsigned char *copy = malloc(bytes);
    bool same = copy != NULL;
    DO(cuMemcpyDtoH(copy, at, bytes));
    for (size_t i = 0; same && i < bytes; i++)
        same = copy[i] == value;
    free(copy);
    return same;
}

/* ---- reservations ---- */

TEST(reservations_are_aligned_and_freed_as_they_were_made)
{
    CUdeviceptr at, other;
    DO(cuMemAddressReserve(&at, 4 * granule, granule, 0, 0));
    FACT_EQ(at % granule, 0, "cuMemAddressReserve: alignment of the range requested");
    other = reserve(4 * granule);
    FACT(other >= at + 4 * granule || other + 4 * granule <= at,
         "cuMemAddressReserve: reserves a virtual address range");
    REFUSED(cuMemAddressFree(at, 2 * granule),
            "size must match what was given to memAddressReserve");
    REFUSED(cuMemAddressFree(at + granule, 3 * granule),
            "ptr must match what was returned from memAddressReserve");
    DO(cuMemAddressFree(at, 4 * granule));
    REFUSED(cuMemAddressFree(at, 4 * granule), "frees a range reserved by cuMemAddressReserve");
}

TEST(reservations_refuse_what_the_header_excludes)
{
    CUdeviceptr at;
    RETURNS(cuMemAddressReserve(NULL, granule, 0, 0, 0), CUDA_ERROR_INVALID_VALUE);
    RETURNS(cuMemAddressReserve(&at, 0, 0, 0, 0), CUDA_ERROR_INVALID_VALUE);
    INVALID(cuMemAddressReserve(&at, granule, 3 * granule, 0, 0),
            "alignment must be a power of two or zero");
    INVALID(cuMemAddressReserve(&at, granule, 0, 0, 1), "flags must be zero");
    INVALID(cuMemAddressReserve(&at, granule + 1, 0, 0, 0),
            "size must be a multiple of the host page size");
}

TEST(more_can_be_reserved_than_the_device_has)
{
    size_t bytes;
    DO(cuDeviceTotalMem(&bytes, 0));
    bytes = (bytes / granule + 1) * granule * 2;
    CUdeviceptr at = reserve(bytes);
    FACT(at != 0, "guide, Virtual Memory Management: reserving takes addresses only");
    DO(cuMemAddressFree(at, bytes));
}

/* ---- physical memory ---- */

TEST(granularity_is_a_power_of_two)
{
    size_t least = 0, recommended = 0;
    CUmemAllocationProp prop = on_device(0);
    DO(cuMemGetAllocationGranularity(&least, &prop, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
    DO(cuMemGetAllocationGranularity(&recommended, &prop, CU_MEM_ALLOC_GRANULARITY_RECOMMENDED));
    FACT(least && !(least & (least - 1)), "cuMemGetAllocationGranularity: can be used as "
                                          "a multiple for alignment, size, or address mapping");
    FACT_EQ(recommended % least, 0, "cuMemGetAllocationGranularity: recommended");
    RETURNS(cuMemGetAllocationGranularity(NULL, &prop, CU_MEM_ALLOC_GRANULARITY_MINIMUM),
            CUDA_ERROR_INVALID_VALUE);
    RETURNS(cuMemGetAllocationGranularity(&least, NULL, CU_MEM_ALLOC_GRANULARITY_MINIMUM),
            CUDA_ERROR_INVALID_VALUE);
}

TEST(creating_refuses_what_the_header_excludes)
{
    CUmemGenericAllocationHandle handle;
    CUmemAllocationProp prop = on_device(0);
    INVALID(cuMemCreate(&handle, granule + 1, &prop, 0),
            "size must be a multiple of the granularity");
    RETURNS(cuMemCreate(&handle, 0, &prop, 0), CUDA_ERROR_INVALID_VALUE);
    INVALID(cuMemCreate(&handle, granule, &prop, 1), "flags must be zero now");
    RETURNS(cuMemCreate(&handle, granule, NULL, 0), CUDA_ERROR_INVALID_VALUE);
    prop.type = CU_MEM_ALLOCATION_TYPE_INVALID;
    INVALID(cuMemCreate(&handle, granule, &prop, 0), "properties of the allocation");
    prop = on_device(0);
    prop.location.type = CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT;
    INVALID(cuMemCreate(&handle, granule, &prop, 0),
            "HOST_NUMA_CURRENT will result in CUDA_ERROR_INVALID_VALUE");
    prop = on_device(0);
    prop.location.id = 1000;
    REFUSED(cuMemCreate(&handle, granule, &prop, 0), "creates on the target device specified");
}

TEST(properties_are_those_of_the_creation)
{
    CUmemAllocationProp prop;
    CUmemGenericAllocationHandle handle = create(granule, 0);
    memset(&prop, 0xff, sizeof prop);
    DO(cuMemGetAllocationPropertiesFromHandle(&prop, handle));
    const char *rule = "cuMemGetAllocationPropertiesFromHandle: properties of this handle";
    FACT_EQ(prop.type, CU_MEM_ALLOCATION_TYPE_PINNED, rule);
    FACT_EQ(prop.location.type, CU_MEM_LOCATION_TYPE_DEVICE, rule);
    FACT_EQ(prop.location.id, 0, rule);
    FACT_EQ(prop.requestedHandleTypes, CU_MEM_HANDLE_TYPE_NONE, rule);
}

/* ---- mapping ---- */

TEST(mapping_refuses_what_the_header_excludes)
{
    CUmemGenericAllocationHandle handle = create(2 * granule, 0);
    CUdeviceptr at = reserve(4 * granule);
    FACT_EQ(cuMemMap(at, 4 * granule, 0, handle, 0), CUDA_ERROR_NOT_SUPPORTED,
            "offset + size within the size of the memory allocation");
    INVALID(cuMemMap(at, 2 * granule, 0, handle, 1), "flags must be zero now");
    INVALID(cuMemMap(at, granule / 2, 0, handle, 0), "size must be a multiple of the granularity");
    INVALID(cuMemMap(at + granule / 2, granule, 0, handle, 0),
            "ptr must be a multiple of the granularity");
    REFUSED(cuMemMap(at + 3 * granule, 2 * granule, 0, handle, 0),
            "this range must be an address reservation");
    DO(cuMemMap(at, 2 * granule, 0, handle, 0));
    REFUSED(cuMemMap(at, 2 * granule, 0, handle, 0),
            "only on ranges that are not currently mapped");
    REFUSED(cuMemMap(at + granule, 2 * granule, 0, handle, 0),
            "only on ranges that are not currently mapped");
}

TEST(unmapping_takes_whole_mappings)
{
    CUmemGenericAllocationHandle handle = create(2 * granule, 0);
    CUdeviceptr at = mapped(handle, 2 * granule);
    INVALID(cuMemUnmap(at, granule), "cannot unmap a sub-range of an address range mapped");
    INVALID(cuMemUnmap(at + granule, granule),
            "cannot unmap a sub-range of an address range mapped");
    DO(cuMemUnmap(at, 2 * granule));
    WORKS(cuMemMap(at, 2 * granule, 0, handle, 0),
          "cuMemUnmap: the range can be used for future calls to cuMemMap");
    FACT_EQ(GOT(unsigned long long, cuMemGetAccess(&got, &both.location, at)),
            CU_MEM_ACCESS_FLAGS_PROT_NONE,
            "cuMemUnmap: all mappings start with no accessibility setup");
}

TEST(mappings_of_one_handle_are_the_same_memory)
{
    CUmemGenericAllocationHandle handle = create(granule, 0);
    CUdeviceptr a = mapped(handle, granule), b = mapped(handle, granule);
    DO(cuMemsetD8(a, 0x5a, granule));
    DO(cuCtxSynchronize());
    FACT(all_are(b, granule, 0x5a),
         "guide, Virtual Memory Management: a handle may be mapped several times");
    unmapped(a, granule);
    FACT(all_are(b, granule, 0x5a),
         "cuMemUnmap: memory is freed if there are no existing mappings and no unreleased handles");
}

TEST(a_mapping_keeps_released_memory)
{
    CUmemGenericAllocationHandle same = 0, handle = create(2 * granule, 0);
    CUdeviceptr at = mapped(handle, 2 * granule);
    DO(cuMemsetD8(at, 7, 2 * granule));
    WORKS(cuMemRelease(handle), "can be freed when there are still outstanding mappings");
    FACT(all_are(at, 2 * granule, 7),
         "cuMemRelease: freed when all outstanding mappings are unmapped");
    DO(cuMemRetainAllocationHandle(&same, (void *)(at + granule + 5)));
    FACT_EQ(same, handle, "cuMemRetainAllocationHandle: the same handle value used to map, "
                          "from any address in the range");
    DO(cuMemUnmap(at, 2 * granule));
    REFUSED(cuMemRetainAllocationHandle(&same, (void *)at), "if the address is not mapped, fails");
    DO(cuMemMap(at, 2 * granule, 0, handle, 0));
    DO(cuMemSetAccess(at, 2 * granule, &both, 1));
    FACT(all_are(at, 2 * granule, 7),
         "cuMemRelease: freed when all references to the handle are released");
    DO(cuMemRelease(handle));
}

TEST(copies_and_sets_run_across_mappings)
{
    unsigned char pattern[64], back[64];
    CUmemGenericAllocationHandle a = create(granule, 0), b = create(granule, 0);
    CUdeviceptr at = reserve(2 * granule);
    DO(cuMemMap(at, granule, 0, a, 0));
    DO(cuMemMap(at + granule, granule, 0, b, 0));
    DO(cuMemSetAccess(at, 2 * granule, &both, 1));
    const char *rule = "guide, Virtual Memory Management: one contiguous range";
    DO(cuMemsetD8(at, 3, 2 * granule));
    FACT(all_are(at, 2 * granule, 3), rule);
    for (size_t i = 0; i < sizeof pattern; i++)
        pattern[i] = (unsigned char)i;
    DO(cuMemcpyHtoD(at + granule - 32, pattern, sizeof pattern));
    DO(cuMemcpyDtoH(back, at + granule - 32, sizeof back));
    FACT(!memcmp(back, pattern, sizeof back), rule);
    DO(cuMemcpyDtoD(at + 5, at + granule - 32, sizeof pattern));
    DO(cuMemcpyDtoH(back, at + 5, sizeof back));
    FACT(!memcmp(back, pattern, sizeof back), rule);
}

/* ---- access and attributes ---- */

TEST(access_is_what_was_set)
{
    CUmemAccessDesc none = {{CU_MEM_LOCATION_TYPE_DEVICE, 0}, CU_MEM_ACCESS_FLAGS_PROT_NONE};
    CUmemGenericAllocationHandle handle = create(granule, 0);
    CUdeviceptr at = reserve(2 * granule);
    REFUSED(cuMemSetAccess(at, granule, &both, 1),
            "the range must be a fully mapped address range");
    DO(cuMemMap(at, granule, 0, handle, 0));
    FACT_EQ(GOT(unsigned long long, cuMemGetAccess(&got, &both.location, at)),
            CU_MEM_ACCESS_FLAGS_PROT_NONE, "cuMemMap: does not make the address accessible");
    REFUSED(cuMemSetAccess(at, 2 * granule, &both, 1),
            "the range must be a fully mapped address range");
    DO(cuMemSetAccess(at, granule, &both, 1));
    FACT_EQ(GOT(unsigned long long, cuMemGetAccess(&got, &both.location, at)),
            CU_MEM_ACCESS_FLAGS_PROT_READWRITE, "cuMemGetAccess");
    DO(cuMemSetAccess(at, granule, &none, 1));
    FACT_EQ(GOT(unsigned long long, cuMemGetAccess(&got, &both.location, at)),
            CU_MEM_ACCESS_FLAGS_PROT_NONE, "cuMemGetAccess");
}

TEST(attributes_distinguish_mapping_and_reservation)
{
    CUdeviceptr base = 0, start = 0;
    size_t bytes = 0;
    CUmemGenericAllocationHandle handle = create(granule, 0);
    CUdeviceptr at = reserve(3 * granule);
    DO(cuMemMap(at + granule, granule, 0, handle, 0));
    DO(cuMemSetAccess(at + granule, granule, &both, 1));
    CUdeviceptr inside = at + granule + 12345;
    DO(cuMemGetAddressRange(&base, &bytes, inside));
    FACT_EQ(base, at + granule, "CU_POINTER_ATTRIBUTE_RANGE_SIZE: the mapped region is "
                                "what cuMemGetAddressRange returns");
    FACT_EQ(bytes, granule, "cuMemGetAddressRange");
    DO(cuPointerGetAttribute(&start, CU_POINTER_ATTRIBUTE_RANGE_START_ADDR, inside));
    FACT_EQ(start, at, "CU_POINTER_ATTRIBUTE_RANGE_START_ADDR: of the reservation");
    DO(cuPointerGetAttribute(&bytes, CU_POINTER_ATTRIBUTE_RANGE_SIZE, inside));
    FACT_EQ(bytes, 3 * granule, "CU_POINTER_ATTRIBUTE_RANGE_SIZE: of the reservation");
    FACT_EQ(GOT(unsigned, cuPointerGetAttribute(&got, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, inside)),
            CU_MEMORYTYPE_DEVICE, "CU_POINTER_ATTRIBUTE_MEMORY_TYPE");
    FACT_EQ(GOT(int, cuPointerGetAttribute(&got, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, inside)), 0,
            "CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL");
}

TEST(host_memory_is_seen_by_host_and_device)
{
    const int node = DEVICE_ATTRIBUTE(HOST_NUMA_ID);
    CUmemAllocationProp prop = {.type = CU_MEM_ALLOCATION_TYPE_PINNED,
                                .location = {CU_MEM_LOCATION_TYPE_HOST_NUMA, node}};
    CUmemAccessDesc desc[2] = {
        both, {{CU_MEM_LOCATION_TYPE_HOST_NUMA, node}, CU_MEM_ACCESS_FLAGS_PROT_READWRITE}};
    CUmemGenericAllocationHandle handle;
    size_t host_granule = 0;
    NEED(DEVICE_ATTRIBUTE(HOST_NUMA_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED),
         "no virtual memory management of host memory");
    NEED(node >= 0, "the host has no memory nodes");
    NEED(!syscall(SYS_get_mempolicy, NULL, NULL, 0ul, NULL, 0ul),
         "processes may not choose memory nodes here, as in many containers");
    DO(cuMemGetAllocationGranularity(&host_granule, &prop, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
    DO(cuMemCreate(&handle, host_granule, &prop, 0));
    CUdeviceptr at;
    DO(cuMemAddressReserve(&at, host_granule, host_granule, 0, 0));
    DO(cuMemMap(at, host_granule, 0, handle, 0));
    DO(cuMemSetAccess(at, host_granule, desc, 2));
    DO(cuMemsetD8(at, 0x21, host_granule));
    DO(cuCtxSynchronize());
    FACT_EQ(((unsigned char *)at)[host_granule - 1], 0x21,
            "cuMemSetAccess: access flags for a HOST_NUMA location");
}

/* ---- file descriptors ---- */

#define POSIX_FD CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR

TEST(a_descriptor_carries_the_memory)
{
    CUmemGenericAllocationHandle imported = 0;
    CUmemAllocationProp prop;
    int fd = -1;
    need_descriptors();
    CUmemGenericAllocationHandle handle = create(granule, POSIX_FD);
    CUdeviceptr at = mapped(handle, granule);
    DO(cuMemsetD8(at, 0x44, granule));
    DO(cuCtxSynchronize());
    DO(cuMemExportToShareableHandle(&fd, handle, POSIX_FD, 0));
    FACT(fd >= 0, "CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR: a file descriptor (int)");
    DO(cuMemImportFromShareableHandle(&imported, (void *)(intptr_t)fd, POSIX_FD));
    FACT_EQ(close(fd), 0, "the descriptor is the program's to close");
    DO(cuMemGetAllocationPropertiesFromHandle(&prop, imported));
    FACT_EQ(prop.location.type, CU_MEM_LOCATION_TYPE_DEVICE,
            "cuMemGetAllocationPropertiesFromHandle");
    CUdeviceptr again = mapped(imported, granule);
    FACT(all_are(again, granule, 0x44),
         "cuMemImportFromShareableHandle: the memory allocation represented by the handle");
    unmapped(at, granule);
    DO(cuMemRelease(handle));
    FACT(all_are(again, granule, 0x44), "cuMemRelease: freed when all outstanding "
                                        "references, shareable counterparts too, are released");
    unmapped(again, granule);
    WORKS(cuMemRelease(imported), "each import is paired with a release");
}

TEST(only_memory_made_for_it_is_exported)
{
    int fd = -1;
    need_descriptors();
    CUmemGenericAllocationHandle handle = create(granule, 0);
    REFUSED(cuMemExportToShareableHandle(&fd, handle, POSIX_FD, 0),
            "CUmemAllocationProp: requestedHandleTypes");
    DO(cuMemRelease(handle));
    handle = create(granule, POSIX_FD);
    RETURNS(cuMemExportToShareableHandle(NULL, handle, POSIX_FD, 0), CUDA_ERROR_INVALID_VALUE);
    INVALID(cuMemExportToShareableHandle(&fd, handle, POSIX_FD, 1), "flags must be zero");
}

/* ---- external memory: facts that need no graphics library to import from ---- */

TEST(importing_external_memory_refuses_what_the_header_excludes)
{
    CUDA_EXTERNAL_MEMORY_HANDLE_DESC desc = {.type = CU_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD,
                                             .handle.fd = -1, .size = CONF_MIB};
    CUexternalMemory memory;
    REFUSED(cuImportExternalMemory(&memory, &desc), "fd must be a valid file descriptor");
    REFUSED(cuImportExternalMemory(NULL, &desc), "returns");
    REFUSED(cuImportExternalMemory(&memory, NULL), "returns");
}
