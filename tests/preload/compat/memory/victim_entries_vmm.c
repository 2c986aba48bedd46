/* SPDX-License-Identifier: Apache-2.0
 *
 * Virtual memory management by the program: physical memory counts once, from its first reference
 * to its last, in whatever order handles and mappings are released. */
#include "../../../simulator/conformance/conf_peer.h"
#include "victim_memory.h"

VICTIM("virtual memory", INJECTED)

#define PAGE ((size_t)2 << 20)

/* *prop*: NULL: on device 0. */
static CUmemGenericAllocationHandle make(size_t bytes, const CUmemAllocationProp *prop)
{
    CUmemAllocationProp here = on_device(0);
    CUmemGenericAllocationHandle handle;
    prop = prop ? prop : &here;
    OK(cuMemCreate(&handle, bytes, prop, 0));
    tally_alloc(prop->location.type == CU_MEM_LOCATION_TYPE_DEVICE ? VT_VMM : VT_PINNED,
                (int64_t)bytes);
    return handle;
}

static CUdeviceptr reserve(size_t bytes)
{
    CUdeviceptr at;
    OK(cuMemAddressReserve(&at, bytes, 0, 0, 0));
    return at;
}

/* At the start of *range* reserved bytes. */
static CUdeviceptr mapped(CUmemGenericAllocationHandle handle, size_t bytes, size_t range)
{
    CUdeviceptr at = reserve(range);
    OK(cuMemMap(at, bytes, 0, handle, 0));
    return at;
}

static void open_for_use(CUdeviceptr at, size_t bytes)
{
    CUmemAccessDesc access = {on_device(0).location, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    OK(cuMemSetAccess(at, bytes, &access, 1));
    OK(cuMemsetD8(at, 0x5a, bytes));
    OK(cuCtxSynchronize()); /* before it is unmapped */
}

static size_t used(void)
{
    size_t free_bytes, total_bytes;
    OK(cuMemGetInfo(&free_bytes, &total_bytes));
    return total_bytes - free_bytes;
}

CASE(map_unmap_release, "physical memory mapped, unmapped and released", 0)
{
    start();
    size_t before = used();
    CUmemGenericAllocationHandle handle = make(3 * PAGE, NULL);
    CUdeviceptr at = mapped(handle, 3 * PAGE, 4 * PAGE);
    open_for_use(at, 3 * PAGE);
    OK(cuMemUnmap(at, 3 * PAGE));
    printf("%zu held\n", used() - before);
    FREES(VT_VMM, cuMemRelease(handle));
    printf("%zu held\n", used() - before);
    OK(cuMemAddressFree(at, 4 * PAGE));
}

CASE(release_before_unmap, "the handle is released first; the mapping keeps the memory", 0)
{
    start();
    size_t before = used();
    CUmemGenericAllocationHandle handle = make(PAGE, NULL);
    CUdeviceptr at = mapped(handle, PAGE, PAGE);
    OK(cuMemRelease(handle));
    open_for_use(at, PAGE);
    printf("%zu held by its mapping\n", used() - before);
    FREES(VT_VMM, cuMemUnmap(at, PAGE));
    printf("%zu held\n", used() - before);
    OK(cuMemAddressFree(at, PAGE));
}

CASE(mapped_twice, "memory mapped at two addresses, and two mappings unmapped at once", 0)
{
    start();
    CUmemGenericAllocationHandle a = make(PAGE, NULL), b = make(2 * PAGE, NULL);
    CUdeviceptr at = mapped(a, PAGE, 8 * PAGE);
    OK(cuMemMap(at + PAGE, 2 * PAGE, 0, b, 0));
    OK(cuMemMap(at + 4 * PAGE, PAGE, 0, a, 0));
    OK(cuMemRelease(a));
    OK(cuMemRelease(b));
    OK(cuMemUnmap(at + 4 * PAGE, PAGE));
    printf("half of a mapping: %d\n", cuMemUnmap(at + PAGE, PAGE)); /* refused */
    FREES(VT_VMM, cuMemUnmap(at, 3 * PAGE)); /* both, at once */
    tally_free(VT_VMM);
    OK(cuMemAddressFree(at, 8 * PAGE));
}

CASE(retained, "a handle retained through an address inside a mapping", 0)
{
    CUmemGenericAllocationHandle again;
    start();
    CUmemGenericAllocationHandle handle = make(PAGE, NULL);
    CUdeviceptr at = mapped(handle, PAGE, PAGE);
    OK(cuMemRelease(handle));
    OK(cuMemRetainAllocationHandle(&again, (void *)(uintptr_t)(at + 4096)));
    OK(cuMemUnmap(at, PAGE));
    OK(cuMemMap(at, PAGE, 0, again, 0)); /* its new handle kept it alive */
    OK(cuMemUnmap(at, PAGE));
    FREES(VT_VMM, cuMemRelease(again));
    printf("once more: %d\n", cuMemRelease(again));
    OK(cuMemAddressFree(at, PAGE));
}

CASE(imported_here, "exported and imported in one process: one allocation with two handles", 0)
{
    CUmemAllocationProp prop = on_device(0);
    CUmemGenericAllocationHandle same;
    int fd;
    prop.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
    start();
    CUmemGenericAllocationHandle handle = make(PAGE, &prop);
    OK(cuMemExportToShareableHandle(&fd, handle, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
    OK(cuMemImportFromShareableHandle(&same, (void *)(intptr_t)fd,
                                      CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR));
    close(fd);
    CUdeviceptr at = mapped(handle, PAGE, 2 * PAGE);
    OK(cuMemMap(at + PAGE, PAGE, 0, same, 0));
    OK(cuMemUnmap(at, PAGE));
    OK(cuMemRelease(handle));
    OK(cuMemUnmap(at + PAGE, PAGE));
    FREES(VT_VMM, cuMemRelease(same)); /* the last of both names */
    OK(cuMemAddressFree(at, 2 * PAGE));
}

/* The other process: forked before either has used CUDA. */
static void importer(int socket)
{
    CUmemGenericAllocationHandle theirs;
    unsigned char byte = 0;
    int fd = -1;
    start();
    CHECK(peer_receive(socket, &byte, 1, &fd) == 0);
    OK(cuMemImportFromShareableHandle(&theirs, (void *)(intptr_t)fd,
                                      CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR));
    close(fd);
    CUdeviceptr at = mapped(theirs, PAGE, PAGE);
    tally_alloc(VT_IPC, (int64_t)PAGE); /* memory of another process, mapped here */
    OK(cuMemRelease(theirs));
    open_for_use(at, PAGE);
    FREES(VT_IPC, cuMemUnmap(at, PAGE));
    OK(cuMemAddressFree(at, PAGE));
    CHECK(peer_send(socket, &byte, 1, -1) == 0);
}

CASE(imported_elsewhere, "another process imports: listed there, counted in the exporter",
     VF_CHILDREN)
{
    CUmemAllocationProp prop = on_device(0);
    pid_t child;
    int fd, peer = in_a_peer(importer, &child);
    unsigned char byte = 0;
    prop.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
    start();
    CUmemGenericAllocationHandle handle = make(PAGE, &prop);
    OK(cuMemExportToShareableHandle(&fd, handle, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
    CHECK(peer_send(peer, &byte, 1, fd) == 0);
    close(fd);
    CHECK(peer_receive(peer, &byte, 1, NULL) == 0);
    CHECK(status_of(child) == 0);
    CUdeviceptr at = mapped(handle, PAGE, PAGE);
    open_for_use(at, PAGE);
    OK(cuMemcpyDtoH(&byte, at + 17, 1));
    printf("the other wrote, we wrote: %x\n", byte);
    OK(cuMemUnmap(at, PAGE));
    FREES(VT_VMM, cuMemRelease(handle));
}

CASE(on_the_host, "physical memory on the host does not count for the device", 0)
{
    CUmemAllocationProp prop = on_device(0);
    prop.location.type = CU_MEM_LOCATION_TYPE_HOST_NUMA;
    start();
    size_t before = used();
    CUmemGenericAllocationHandle handle = make(4 * PAGE, &prop);
    printf("%zu held\n", used() - before);
    FREES(VT_PINNED, cuMemRelease(handle));
}

CASE(another_device, "physical memory of a device other than the current one", 0,
     SIMULATE("t4-16g,capacity=1GiB,context=400MiB,devices=2"))
{
    CUmemAllocationProp prop = on_device(1);
    start(); /* on device 0 */
    CUmemGenericAllocationHandle handle = make(PAGE, &prop);
    FREES(VT_VMM, cuMemRelease(handle));
}

CASE(refused, "physical memory allocation fails; invalid handles and ranges", 0)
{
    CUmemAllocationProp prop = on_device(0);
    CUmemGenericAllocationHandle handle;
    start();
    printf("too much: %d\n", cuMemCreate(&handle, (size_t)1 << 40, &prop, 0));
    tally_failed(VT_VMM);
    printf("no page: %d\n", cuMemCreate(&handle, 12345, &prop, 0));
    tally_failed(VT_VMM);
    printf("nobody's: %d %d\n", cuMemRelease(0x1234567890), cuMemUnmap(1 << 21, PAGE));
    printf("nothing at all: %d\n", cuMemRelease(0));
}

/* Grows and shrinks one range page by page, as PyTorch's expandable segments do. */
CASE(expandable, "one range that grows and shrinks page by page", 0)
{
    enum { PAGES = 64 };
    start();
    CUdeviceptr at = reserve(PAGES * PAGE);
    for (int round = 0; round < 4; round++) {
        int pages = PAGES >> round;
        for (int i = 0; i < pages; i++) {
            CUmemGenericAllocationHandle handle = make(PAGE, NULL);
            OK(cuMemMap(at + (size_t)i * PAGE, PAGE, 0, handle, 0));
            OK(cuMemRelease(handle)); /* the mapping holds it */
        }
        open_for_use(at, (size_t)pages * PAGE);
        for (int i = 0; i < pages; i++)
            FREES(VT_VMM, cuMemUnmap(at + (size_t)i * PAGE, PAGE));
    }
    OK(cuMemAddressFree(at, PAGES * PAGE));
}

CASE(outlives_its_context, "physical memory outlives a context", 0)
{
    start();
    CUmemGenericAllocationHandle handle = make(PAGE, NULL);
    OK(cuDevicePrimaryCtxReset(0));
    start();
    FREES(VT_VMM, cuMemRelease(handle));
}
