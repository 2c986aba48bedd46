/* SPDX-License-Identifier: Apache-2.0
 *
 * Virtual memory management, facts of the simulator alone: the memory charged to the device,
 * accesses without permission, two processes. */
#include "sim_test.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>

#define GRANULE (2 * MIB)

static void allow(CUdeviceptr at, size_t bytes, CUmemAccess_flags flags)
{
    CUmemAccessDesc desc = {sim_prop.location, flags};
    OK(cuMemSetAccess(at, bytes, &desc, 1));
}

TEST(capacity_is_taken_from_create_to_the_last_reference)
{
    size_t before = sim_free_bytes();
    CUdeviceptr at;
    OK(cuMemAddressReserve(&at, (size_t)1 << 40, 0, 0, 0));
    assert_int_equal(sim_free_bytes(), before); /* addresses use no memory */
    CUmemGenericAllocationHandle handle = sim_create(4 * GRANULE), same;
    assert_int_equal(sim_free_bytes(), before - 4 * GRANULE);
    OK(cuMemMap(at, 4 * GRANULE, 0, handle, 0));
    OK(cuMemRelease(handle));
    assert_int_equal(sim_free_bytes(), before - 4 * GRANULE); /* the mapping keeps it */
    OK(cuMemRetainAllocationHandle(&same, (void *)(at + GRANULE)));
    assert_int_equal(same, handle);
    OK(cuMemUnmap(at, 4 * GRANULE));
    assert_int_equal(sim_free_bytes(), before - 4 * GRANULE); /* the handle keeps it */
    OK(cuMemRelease(handle));
    assert_int_equal(sim_free_bytes(), before);
    INVALID(cuMemRelease(handle));
}

TEST(host_memory_is_not_charged_to_a_device)
{
    CUmemAllocationProp prop = {.type = CU_MEM_ALLOCATION_TYPE_PINNED,
                                .location = {CU_MEM_LOCATION_TYPE_HOST, 0}};
    CUmemAccessDesc host = {{CU_MEM_LOCATION_TYPE_HOST, 0}, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    CUmemGenericAllocationHandle handle;
    CUdeviceptr at;
    size_t before = sim_free_bytes();
    unsigned type;
    OK(cuMemCreate(&handle, GRANULE, &prop, 0));
    assert_int_equal(sim_free_bytes(), before);
    OK(cuMemAddressReserve(&at, GRANULE, 0, 0, 0));
    OK(cuMemMap(at, GRANULE, 0, handle, 0));
    OK(cuMemSetAccess(at, GRANULE, &host, 1));
    memset((void *)at, 7, GRANULE);
    OK(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, at));
    assert_int_equal(type, CU_MEMORYTYPE_HOST);
}

/* The signal that ends a child which writes to *at*. */
static int death_of_writing(CUdeviceptr at, bool write)
{
    int status;
    pid_t child = fork();
    if (!child) {
        struct rlimit none = {0, 0};
        setrlimit(RLIMIT_CORE, &none);
        signal(SIGSEGV, SIG_DFL);
        if (write)
            *(volatile char *)at = 1;
        _exit(*(volatile char *)at & 0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

TEST(pages_are_what_access_says)
{
    CUdeviceptr at;
    CUmemGenericAllocationHandle handle = sim_create(GRANULE);
    OK(cuMemAddressReserve(&at, GRANULE, 0, 0, 0));
    assert_int_equal(death_of_writing(at, false), SIGSEGV);
    OK(cuMemMap(at, GRANULE, 0, handle, 0));
    assert_int_equal(death_of_writing(at, false), SIGSEGV);
    INVALID(cuMemsetD8(at, 1, GRANULE));
    allow(at, GRANULE, CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
    assert_int_equal(death_of_writing(at, true), 0);
    allow(at, GRANULE, CU_MEM_ACCESS_FLAGS_PROT_READ);
    assert_int_equal(death_of_writing(at, false), 0);
    assert_int_equal(death_of_writing(at, true), SIGSEGV);
    OK(cuMemUnmap(at, GRANULE));
    assert_int_equal(death_of_writing(at, false), SIGSEGV);
}

TEST(work_queued_on_memory_unmapped_meanwhile_fails_the_context)
{
    atomic_int open = 0;
    CUmemGenericAllocationHandle handle = sim_create(GRANULE);
    CUdeviceptr at = sim_map(handle, GRANULE);
    CUcontext ctx = sim_context_on(0);
    CUstream s = sim_stream(CU_STREAM_NON_BLOCKING);
    sim_launch_gate(s, &open);
    OK(cuMemsetD8Async(at, 1, GRANULE, s));
    sim_unmap(at, GRANULE);
    atomic_store(&open, 1);
    FAILS(cuStreamSynchronize(s), CUDA_ERROR_ILLEGAL_ADDRESS);
    OK(cuCtxDestroy(ctx));
}

TEST(memory_outlives_the_context_it_was_made_in)
{
    CUcontext ctx = sim_context_on(0);
    CUmemGenericAllocationHandle handle = sim_create(GRANULE);
    CUdeviceptr at = sim_map(handle, GRANULE);
    OK(cuMemsetD8(at, 9, GRANULE));
    OK(cuCtxDestroy(ctx));
    assert_int_equal(GOT(unsigned char, cuMemcpyDtoH(&got, at, 1)), 9);
}

TEST(memory_created_again_is_zero)
{
    for (int i = 0; i < 3; i++) {
        CUmemGenericAllocationHandle handle = sim_create(GRANULE);
        CUdeviceptr at = sim_map(handle, GRANULE);
        for (size_t k = 0; k < GRANULE; k += 512)
            assert_int_equal(((char *)at)[k], 0);
        memset((void *)at, 1, GRANULE);
        sim_unmap(at, GRANULE);
        OK(cuMemRelease(handle));
    }
}

TEST(zeroing_much_gives_zero_through_every_mapping)
{
    size_t bytes = 64 * MIB;
    CUmemGenericAllocationHandle handle = sim_create(bytes);
    CUdeviceptr at = sim_map(handle, bytes), also = sim_map(handle, bytes);
    OK(cuMemsetD8(at, 5, bytes));
    OK(cuCtxSynchronize());
    OK(cuMemsetD8(at + 100, 0, bytes - 200));
    OK(cuCtxSynchronize());
    assert_int_equal(((char *)also)[99], 5);
    for (size_t i = 100; i < bytes - 100; i += 333)
        assert_int_equal(((char *)also)[i], 0);
    assert_int_equal(((char *)also)[bytes - 100], 5);
}

TEST(a_foreign_file_is_no_memory)
{
    CUmemGenericAllocationHandle handle;
    int fd = open("/dev/zero", O_RDWR);
    FAILS(cuMemImportFromShareableHandle(&handle, (void *)(intptr_t)fd,
                                         CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR),
          CUDA_ERROR_INVALID_VALUE);
    OK(close(fd));
    FAILS(cuMemImportFromShareableHandle(&handle, (void *)(intptr_t)-1,
                                         CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR),
          CUDA_ERROR_INVALID_VALUE);
}

static CUexternalMemory import_file(int fd, size_t bytes)
{
    CUDA_EXTERNAL_MEMORY_HANDLE_DESC desc = {.type = CU_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD,
                                             .handle.fd = fd, .size = bytes};
    return GOT(CUexternalMemory, cuImportExternalMemory(&got, &desc));
}

TEST(a_file_is_external_memory)
{
    CUDA_EXTERNAL_MEMORY_BUFFER_DESC all = {.size = 10000},
                                     part = {.offset = 5000, .size = 100},
                                     beyond = {.offset = 9990, .size = 100};
    size_t before = sim_free_bytes(), bytes;
    CUdeviceptr a, b;
    unsigned char byte = 0;
    char name[] = "/tmp/vramscope-external-XXXXXX";
    int fd = mkstemp(name);
    OK(unlink(name));
    OK(ftruncate(fd, 10000));
    int kept = dup(fd);
    CUexternalMemory memory = import_file(fd, 10000);
    INVALID(cuExternalMemoryGetMappedBuffer(&a, memory, &beyond));
    OK(cuExternalMemoryGetMappedBuffer(&a, memory, &all));
    OK(cuExternalMemoryGetMappedBuffer(&b, memory, &part));
    OK(cuMemsetD8(b, 0x12, 100));
    OK(cuCtxSynchronize());
    assert_int_equal(GOT(unsigned char, cuMemcpyDtoH(&got, a + 5099, 1)), 0x12);
    OK(cuMemcpyDtoH(&byte, a + 5100, 1));
    assert_int_equal(byte, 0);
    assert_int_equal(pread(kept, &byte, 1, 5000), 1);
    assert_int_equal(byte, 0x12);
    assert_int_equal(GOT(CUdeviceptr, cuMemGetAddressRange(&got, &bytes, b + 50)), b);
    assert_int_equal(bytes, 100);
    assert_int_equal(sim_free_bytes(), before);
    OK(cuDestroyExternalMemory(memory));
    FAILS(cuDestroyExternalMemory(memory), CUDA_ERROR_INVALID_HANDLE);
    OK(cuMemcpyDtoH(&byte, a + 5000, 1)); /* buffers are freed separately */
    assert_int_equal(byte, 0x12);
    OK(cuMemFree(a));
    OK(cuMemFree(b));
    INVALID(cuMemFree(b));
}

TEST(an_exported_allocation_is_external_memory)
{
    CUDA_EXTERNAL_MEMORY_BUFFER_DESC all = {.size = GRANULE};
    CUmemAllocationProp prop = sim_prop;
    CUmemGenericAllocationHandle handle;
    int fd;
    prop.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
    OK(cuMemCreate(&handle, GRANULE, &prop, 0));
    CUdeviceptr at = sim_map(handle, GRANULE), also;
    OK(cuMemExportToShareableHandle(&fd, handle, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
    CUexternalMemory memory = import_file(fd, GRANULE);
    OK(cuExternalMemoryGetMappedBuffer(&also, memory, &all));
    OK(cuMemsetD8(at, 0x65, GRANULE));
    assert_int_equal(GOT(unsigned char, cuMemcpyDtoH(&got, also + GRANULE - 1, 1)), 0x65);
    OK(cuMemFree(also));
    OK(cuDestroyExternalMemory(memory));
}

TEST(other_kinds_of_external_memory_are_not_simulated)
{
    CUDA_EXTERNAL_MEMORY_HANDLE_DESC desc = {.type = CU_EXTERNAL_MEMORY_HANDLE_TYPE_DMABUF_FD,
                                             .size = MIB};
    CUexternalMemory memory;
    FAILS(cuImportExternalMemory(&memory, &desc), CUDA_ERROR_NOT_SUPPORTED);
    desc.type = CU_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD;
    desc.handle.fd = -1;
    FAILS(cuImportExternalMemory(&memory, &desc), CUDA_ERROR_INVALID_HANDLE);
}

TEST(thousands_of_handles_need_no_descriptors)
{
    enum { COUNT = 3000 };
    static CUmemGenericAllocationHandle handles[COUNT];
    CUdeviceptr at;
    OK(cuMemAddressReserve(&at, COUNT * GRANULE, 0, 0, 0));
    for (size_t i = 0; i < COUNT; i++) {
        handles[i] = sim_create(GRANULE);
        OK(cuMemMap(at + i * GRANULE, GRANULE, 0, handles[i], 0));
        OK(cuMemRelease(handles[i]));
    }
    allow(at, COUNT * GRANULE, CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
    OK(cuMemsetD8(at + GRANULE - 5, 3, 10));
    OK(cuCtxSynchronize());
}

SIM_TESTS_ON("h100-80g,devices=2,capacity=8GiB")
