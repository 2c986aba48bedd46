/* SPDX-License-Identifier: Apache-2.0
 *
 * data=: the bytes that copies and memsets move, and the host memory that they take. Host memory is
 * measured as blocks of the driver's memory files, and as resident bytes of the program's mappings,
 * never by the clock. The argument is the value of data=. */
#define _GNU_SOURCE
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "sim_test.h"

#define LARGE (8 * MIB)
#define SLACK (LARGE / 4) /* for small allocations, edges, and huge pages where they are on */

static bool moves_large, moves_small;

/* Host memory behind all devices: blocks of the memory files that this process has open. */
static size_t device_bytes(void)
{
    size_t bytes = 0;
    for (int fd = 0; fd < 1024; fd++) {
        char path[32], link[64];
        struct stat st;
        snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
        ssize_t n = readlink(path, link, sizeof link - 1);
        if (n <= 0 || fstat(fd, &st))
            continue;
        link[n] = 0;
        if (strstr(link, "vramscope-sim-memory-"))
            bytes += (size_t)st.st_blocks * 512;
    }
    return bytes;
}

/* Resident bytes of the mappings in [at, at + bytes). */
static size_t host_bytes(const void *at, size_t bytes)
{
    FILE *maps = fopen("/proc/self/smaps", "r");
    char line[512];
    size_t begin, end, kib, found = 0;
    bool inside = false;
    assert_non_null(maps);
    while (fgets(line, sizeof line, maps)) {
        if (sscanf(line, "%zx-%zx ", &begin, &end) == 2)
            inside = begin < (uintptr_t)at + bytes && end > (uintptr_t)at;
        else if (inside && sscanf(line, "Rss: %zu kB", &kib) == 1)
            found += kib << 10;
    }
    fclose(maps);
    return found;
}

/* A mapping of its own: unmapped pages before and after it keep it apart from its neighbours. */
static unsigned char *host_new(size_t bytes, int value)
{
    const size_t page = 4096;
    unsigned char *all =
        mmap(NULL, bytes + 2 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(all, MAP_FAILED);
    unsigned char *p = all + page;
    OK(mprotect(p, bytes, PROT_READ | PROT_WRITE));
    if (value)
        memset(p, value, bytes);
    return p;
}

static void all_are(const void *at, size_t bytes, unsigned char value)
{
    const unsigned char *p = at;
    if (p[0] != value || memcmp(p, p + 1, bytes - 1))
        fail_msg("a byte is not %#x", value);
}

static void reads(CUdeviceptr at, size_t bytes, bool moved, unsigned char value)
{
    all_are((const void *)at, bytes, moved ? value : 0); /* device memory is host memory */
}

static void took(size_t before, bool moved)
{
    size_t now = device_bytes();
    if (moved)
        assert_true(now + SLACK >= before + LARGE);
    else
        assert_true(now <= before + SLACK);
}

TEST(a_copy_from_the_host)
{
    unsigned char *host = host_new(LARGE, 0x5a);
    CUdeviceptr at = sim_alloc(LARGE);
    size_t before = device_bytes();
    OK(cuMemcpyHtoD(at, host, LARGE));
    took(before, moves_large);
    reads(at, LARGE, moves_large, 0x5a);
    OK(cuMemcpyHtoD(at, host, MIB)); /* exactly 1 MiB is small */
    reads(at, MIB, moves_small, 0x5a);
    OK(cuMemFree(at));
    munmap(host, LARGE);
}

TEST(a_copy_replaces_older_bytes)
{
    CUdeviceptr from = sim_alloc(LARGE), to = sim_alloc(LARGE);
    memset((void *)from, 1, LARGE);
    memset((void *)to, 2, LARGE);
    size_t before = device_bytes();
    OK(cuMemcpyDtoD(to + 100, from, LARGE - 200)); /* no page begins or ends there */
    OK(cuCtxSynchronize());
    if (!moves_large)
        assert_true(device_bytes() < before - LARGE / 2); /* its pages went back */
    reads(to + 100, LARGE - 200, moves_large, 1);
    all_are((void *)to, 100, 2);
    all_are((void *)(to + LARGE - 100), 100, 2);
}

TEST(memsets)
{
    CUdeviceptr at = sim_alloc(LARGE);
    size_t before = device_bytes();
    OK(cuMemsetD8(at, 7, LARGE));
    OK(cuCtxSynchronize());
    took(before, moves_large);
    reads(at, LARGE, moves_large, 7);
    memset((void *)at, 7, LARGE);
    OK(cuMemsetD32(at, 0, LARGE / 4));
    OK(cuCtxSynchronize());
    all_are((void *)at, LARGE, 0);
    OK(cuMemsetD8(at + 5, 9, 1000));
    OK(cuCtxSynchronize());
    reads(at + 5, 1000, moves_small, 9);
}

/* What is read back is what the device memory reads as; untouched host memory stays untouched. */
TEST(a_copy_to_the_host)
{
    unsigned char *fresh = host_new(LARGE, 0), *used = host_new(LARGE, 3), *pinned;
    CUdeviceptr at = sim_alloc(LARGE);
    memset((void *)at, 4, LARGE);
    OK(cuMemcpyDtoH(fresh, at, LARGE));
    if (!moves_large)
        assert_true(host_bytes(fresh, LARGE) < SLACK);
    all_are(fresh, LARGE, moves_large ? 4 : 0);
    OK(cuMemcpyDtoH(used + 1, at, LARGE - 2));
    all_are(used + 1, LARGE - 2, moves_large ? 4 : 0);
    assert_int_equal(used[0], 3);
    assert_int_equal(used[LARGE - 1], 3);
    OK(cuMemHostAlloc((void **)&pinned, LARGE, 0));
    memset(pinned, 5, LARGE);
    OK(cuMemcpyDtoHAsync(pinned, at, LARGE, NULL));
    OK(cuCtxSynchronize());
    all_are(pinned, LARGE, moves_large ? 4 : 0);
    int one = 1;
    OK(cuMemcpyDtoH(&one, at, sizeof one));
    all_are(&one, sizeof one, moves_small ? 4 : 0);
    OK(cuMemFreeHost(pinned));
    OK(cuMemFree(at));
    munmap(fresh, LARGE);
    munmap(used, LARGE);
}

/* Rows of 64 KiB in a pitch of 128 KiB: the other half stays as it is. */
TEST(copies_with_a_pitch)
{
    size_t pitch = 128 << 10, width = 64 << 10, rows = LARGE / pitch;
    unsigned char *host = host_new(rows * width, 6);
    CUdeviceptr at = sim_alloc(LARGE);
    memset((void *)at, 8, LARGE);
    CUDA_MEMCPY2D copy = {
        .srcMemoryType = CU_MEMORYTYPE_HOST, .srcHost = host, .srcPitch = width,
        .dstMemoryType = CU_MEMORYTYPE_DEVICE, .dstDevice = at, .dstPitch = pitch,
        .WidthInBytes = width, .Height = rows};
    OK(cuMemcpy2D(&copy));
    for (size_t y = 0; y < rows; y++) {
        reads(at + y * pitch, width, moves_large, 6);
        all_are((void *)(at + y * pitch + width), pitch - width, 8);
    }
    memset((void *)at, 8, LARGE);
    OK(cuMemsetD2D8(at, pitch, 1, width, rows));
    OK(cuCtxSynchronize());
    for (size_t y = 0; y < rows; y++) {
        reads(at + y * pitch, width, moves_large, 1);
        all_are((void *)(at + y * pitch + width), pitch - width, 8);
    }
    OK(cuMemFree(at));
    munmap(host, rows * width);
}

TEST(copies_between_devices_and_in_batches)
{
    CUcontext here = sim_context();
    CUdeviceptr from = sim_alloc(LARGE);
    memset((void *)from, 1, LARGE);
    CUcontext there = sim_retain(1);
    OK(cuCtxSetCurrent(there));
    CUdeviceptr to = sim_alloc(LARGE);
    OK(cuCtxSetCurrent(here));
    size_t before = device_bytes();
    OK(cuMemcpyPeer(to, there, from, here, LARGE));
    OK(cuCtxSynchronize());
    took(before, moves_large);
    reads(to, LARGE, moves_large, 1);
    memset((void *)to, 2, LARGE);
    CUstream stream = sim_stream(CU_STREAM_NON_BLOCKING);
    size_t sizes[] = {LARGE / 2, 4096}, index = 0;
    CUdeviceptr sources[] = {from, from}, targets[] = {to, to + LARGE / 2};
    CUmemcpyAttributes attributes = {.srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_STREAM};
    OK(cuMemcpyBatchAsync(targets, sources, sizes, 2, &attributes, &index, 1, stream));
    OK(cuStreamSynchronize(stream));
    reads(to, LARGE / 2, moves_large, 1);
    reads(to + LARGE / 2, 4096, moves_small, 1);
    OK(cuStreamDestroy(stream));
    OK(cuMemFree(from));
    OK(cuMemFree(to));
    OK(cuDevicePrimaryCtxRelease(1));
}

TEST(nodes_of_a_graph)
{
    CUgraphNode copy, set;
    CUcontext ctx = sim_context();
    CUdeviceptr from = sim_alloc(LARGE), to = sim_alloc(LARGE);
    memset((void *)from, 1, LARGE);
    CUDA_MEMCPY3D copying = {
        .srcMemoryType = CU_MEMORYTYPE_DEVICE, .srcDevice = from,
        .dstMemoryType = CU_MEMORYTYPE_DEVICE, .dstDevice = to,
        .WidthInBytes = LARGE / 2, .Height = 1, .Depth = 1};
    CUDA_MEMSET_NODE_PARAMS setting = {
        .dst = to + LARGE / 2, .value = 3, .elementSize = 1, .width = LARGE / 2, .height = 1};
    CUgraph graph = sim_graph();
    OK(cuGraphAddMemcpyNode(&copy, graph, NULL, 0, &copying, ctx));
    OK(cuGraphAddMemsetNode(&set, graph, &copy, 1, &setting, ctx));
    CUgraphExec exec = sim_exec(graph);
    size_t before = device_bytes();
    OK(cuGraphLaunch(exec, NULL));
    OK(cuCtxSynchronize());
    took(before, moves_large);
    reads(to, LARGE / 2, moves_large, 1);
    reads(to + LARGE / 2, LARGE / 2, moves_large, 3);
    OK(cuGraphExecDestroy(exec));
    OK(cuGraphDestroy(graph));
}

/* Stream-ordered, managed and mapped memory, whose pages are in other files or shared with the
 * host. */
TEST(other_kinds_of_memory)
{
    unsigned char *host = host_new(LARGE, 0x5a);
    CUdeviceptr pool, managed;
    OK(cuMemAllocAsync(&pool, LARGE, NULL));
    OK(cuMemAllocManaged(&managed, LARGE, CU_MEM_ATTACH_GLOBAL));
    OK(cuCtxSynchronize());
    size_t before = device_bytes();
    OK(cuMemcpyHtoD(pool, host, LARGE));
    took(before, moves_large);
    reads(pool, LARGE, moves_large, 0x5a);
    memset((void *)managed, 1, LARGE);
    OK(cuMemcpyHtoD(managed, host, LARGE));
    reads(managed, LARGE, moves_large, 0x5a);
    OK(cuMemFreeAsync(pool, NULL));
    OK(cuMemFree(managed));
    CUmemGenericAllocationHandle handle = sim_create(LARGE);
    CUdeviceptr mapped = sim_map(handle, LARGE);
    before = device_bytes();
    OK(cuMemcpyHtoD(mapped, host, LARGE));
    took(before, moves_large);
    reads(mapped, LARGE, moves_large, 0x5a);
    sim_unmap(mapped, LARGE);
    OK(cuMemRelease(handle));
    munmap(host, LARGE);
}

TEST(freed_memory_takes_no_host_memory_and_comes_back_zero)
{
    size_t before = device_bytes();
    for (int i = 0; i < 20; i++) { /* more than the address window of four times the device */
        CUdeviceptr at = sim_alloc(256 * MIB);
        all_are((void *)at, 64 << 10, 0);
        memset((void *)at, 1, 64 << 10);
        memset((void *)(at + LARGE), 1, LARGE);
        OK(cuMemFree(at));
        assert_true(device_bytes() <= before + SLACK);
    }
}

int main(int argc, char **argv)
{
    const char *data = argc > 1 ? argv[1] : "on";
    char spec[96];
    snprintf(spec, sizeof spec, "t4-16g,capacity=512MiB,context=8MiB,devices=2,time=off,data=%s",
             data);
    setenv("VRAMSCOPE_SIMULATE", spec, 1);
    unsetenv("CUDA_VISIBLE_DEVICES");
    moves_large = !strcmp(data, "on");
    moves_small = strcmp(data, "off") != 0;
    sim_start();
    return vs_run_tests(NULL, NULL);
}
