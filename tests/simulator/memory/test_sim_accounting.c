/* SPDX-License-Identifier: Apache-2.0
 *
 * Free memory of cuMemGetInfo agrees with a model after every one of thousands of random operations
 * on all families of memory, and has its initial value after everything is freed. File descriptors
 * and mappings do not leak either. Usage: test_sim_accounting [SEED [may-fail]]. With may-fail
 * allocations may fail, because VRAMSCOPE_SIMULATE asks for it or has little memory; then managed
 * memory may have been evicted from the device. */
#define _GNU_SOURCE
#include "sim_test.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>

#define SLOTS 96
#define PAGE (2 * MIB)
#define STREAMS 3
#define DEVICES 2

enum family {
    DEVICE, PITCHED, POOL, OWN_POOL, MANAGED, PINNED, REGISTERED, ARRAY, MIPMAP, PHYSICAL,
    MAPPED, IMPORTED, EXTERNAL, GRAPH, CONTEXT, FAMILIES
};
static const char *const names[FAMILIES] = {
    "device", "pitched", "pool", "own pool", "managed", "pinned", "registered", "array", "mipmap",
    "physical", "mapped", "imported", "external", "graph", "context"};

struct slot {
    bool used;
    enum family family;
    int device;
    CUdeviceptr at;
    size_t bytes;         /* as asked for */
    size_t charged;       /* whole pages; 0 where the bounds of small ones apply */
    size_t small;         /* bytes of a request that shares pages */
    void *host;
    CUarray array;
    CUmipmappedArray mipmap;
    CUmemGenericAllocationHandle handle;
    CUexternalMemory external;
    CUgraph graph;
    CUgraphExec exec;
    CUcontext ctx;
    bool resident;
};

static struct slot slots[SLOTS];
static CUcontext ctx[DEVICES];
static CUstream streams[DEVICES][STREAMS];
static CUmemoryPool own[DEVICES], pools[DEVICES];
static size_t begin_free[DEVICES], context_bytes;
static uint64_t random_state;
static bool may_fail;
static unsigned failed;

static unsigned pick(unsigned below)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return (unsigned)((random_state >> 20) % below);
}

static size_t pages(size_t bytes) { return (bytes + PAGE - 1) / PAGE * PAGE; }

static size_t some_bytes(void)
{
    switch (pick(4)) {
    case 0: return 1 + pick(4096);
    case 1: return 1 + pick((unsigned)MIB);
    case 2: return MIB - 1 + pick(3);
    default: return 1 + pick(12 * (unsigned)MIB);
    }
}

static void charge_as_device(struct slot *s, size_t bytes)
{
    if (bytes < MIB)
        s->small = bytes;
    else
        s->charged = pages(bytes);
}

static CUstream some_stream(int device) { return streams[device][pick(STREAMS)]; }

/* ---- one of each family ---- */

static CUresult make_array(struct slot *s)
{
    CUDA_ARRAY3D_DESCRIPTOR d = {1 + pick(700), pick(700), 0, CU_AD_FORMAT_FLOAT, 1, 0};
    if (d.Height && pick(2))
        d.Depth = 1 + pick(8);
    s->bytes = d.Width * (d.Height ? d.Height : 1) * (d.Depth ? d.Depth : 1) * 4;
    CUresult e = cuArray3DCreate(&s->array, &d);
    charge_as_device(s, s->bytes);
    return e;
}

static CUresult make_mipmap(struct slot *s)
{
    s->bytes = 0;
    CUDA_ARRAY3D_DESCRIPTOR d = {512, 512, 0, CU_AD_FORMAT_FLOAT, 1, 0};
    unsigned levels = 1 + pick(10);
    for (unsigned i = 0; i < levels; i++)
        s->bytes += (size_t)(512 >> i) * (512 >> i) * 4;
    charge_as_device(s, s->bytes);
    return cuMipmappedArrayCreate(&s->mipmap, &d, levels);
}

static CUresult make_physical(struct slot *s)
{
    CUmemAllocationProp prop = sim_prop;
    prop.location.id = s->device;
    if (s->family == IMPORTED || pick(2))
        prop.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
    s->bytes = (1 + pick(5)) * PAGE;
    CUresult e = cuMemCreate(&s->handle, s->bytes, &prop, 0);
    s->charged = s->bytes;
    return e;
}

static void map(struct slot *s, CUmemGenericAllocationHandle handle)
{
    CUmemAccessDesc access = {{CU_MEM_LOCATION_TYPE_DEVICE, s->device},
                              CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    OK(cuMemAddressReserve(&s->at, s->bytes, 0, 0, 0));
    OK(cuMemMap(s->at, s->bytes, 0, handle, 0));
    OK(cuMemSetAccess(s->at, s->bytes, &access, 1));
    OK(cuMemsetD8(s->at, 7, s->bytes));
}

static CUresult make_mapped(struct slot *s)
{
    CUresult e = make_physical(s);
    if (e)
        return e;
    map(s, s->handle);
    if (pick(2)) { /* only the mapping keeps it alive */
        OK(cuMemRelease(s->handle));
        s->handle = 0;
    }
    return e;
}

static CUresult make_imported(struct slot *s)
{
    CUmemGenericAllocationHandle again;
    int fd;
    CUresult e = make_physical(s);
    if (e)
        return e;
    OK(cuMemExportToShareableHandle(&fd, s->handle, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
    OK(cuMemImportFromShareableHandle(&again, (void *)(uintptr_t)fd,
                                      CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR));
    close(fd);
    map(s, again);
    OK(cuMemRelease(again));
    return e;
}

static CUresult make_external(struct slot *s)
{
    CUDA_EXTERNAL_MEMORY_HANDLE_DESC d = {.type = CU_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD};
    CUDA_EXTERNAL_MEMORY_BUFFER_DESC b = {0};
    s->bytes = (1 + pick(3)) * PAGE;
    d.handle.fd = memfd_create("theirs", MFD_CLOEXEC);
    assert_int_equal(ftruncate(d.handle.fd, (off_t)s->bytes), 0);
    d.size = b.size = s->bytes;
    OK(cuImportExternalMemory(&s->external, &d)); /* the driver owns the descriptor now */
    OK(cuExternalMemoryGetMappedBuffer(&s->at, s->external, &b));
    OK(cuMemsetD8(s->at, 3, s->bytes));
    return CUDA_SUCCESS;
}

static CUresult make_graph(struct slot *s)
{
    CUDA_MEM_ALLOC_NODE_PARAMS p = {
        .poolProps = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
                      .location = {CU_MEM_LOCATION_TYPE_DEVICE, s->device}},
        .bytesize = some_bytes()};
    CUgraphNode alloc, set, release;
    s->graph = sim_graph();
    OK(cuGraphAddMemAllocNode(&alloc, s->graph, NULL, 0, &p));
    CUDA_MEMSET_NODE_PARAMS m = {.dst = p.dptr, .elementSize = 1, .width = p.bytesize, .height = 1};
    OK(cuGraphAddMemsetNode(&set, s->graph, &alloc, 1, &m, ctx[s->device]));
    if (pick(2))
        OK(cuGraphAddMemFreeNode(&release, s->graph, &set, 1, p.dptr));
    else
        s->at = p.dptr;
    s->exec = sim_exec(s->graph);
    CUresult e = cuGraphLaunch(s->exec, some_stream(s->device));
    if (e) {
        OK(cuGraphExecDestroy(s->exec));
        OK(cuGraphDestroy(s->graph));
    }
    return e;
}

static CUresult make_context(struct slot *s)
{
    CUdeviceptr inside;
    CUmodule module;
    CUarray array;
    CUDA_ARRAY_DESCRIPTOR d = {64, 64, CU_AD_FORMAT_FLOAT, 1};
    CUresult e = cuCtxCreate(&s->ctx, NULL, 0, s->device);
    if (e)
        return e;
    s->charged = context_bytes + 4 * MIB;
    s->small = 64 * 64 * 4;
    e = cuMemAlloc(&inside, 3 * MIB); /* ends with the context, and so do these */
    if (!e)
        e = cuArrayCreate(&array, &d);
    OK(cuModuleLoadData(&module, "image"));
    OK(cuCtxPopCurrent(NULL));
    if (e)
        OK(cuCtxDestroy(s->ctx)); /* with its memory */
    return e;
}

static CUresult make(struct slot *s)
{
    size_t pitch;
    CUresult e;
    s->bytes = some_bytes();
    switch (s->family) {
    case DEVICE:
        charge_as_device(s, s->bytes);
        return cuMemAlloc(&s->at, s->bytes);
    case PITCHED:
        e = cuMemAllocPitch(&s->at, &pitch, 1 + s->bytes % 3000, 1 + s->bytes / 3000, 4);
        charge_as_device(s, e ? 0 : pitch * (1 + s->bytes / 3000));
        return e;
    case POOL: return cuMemAllocAsync(&s->at, s->bytes, some_stream(s->device));
    case OWN_POOL:
        return cuMemAllocFromPoolAsync(&s->at, s->bytes, own[s->device], some_stream(s->device));
    case MANAGED: return cuMemAllocManaged(&s->at, s->bytes, CU_MEM_ATTACH_GLOBAL);
    case PINNED: return cuMemHostAlloc(&s->host, s->bytes, 0);
    case REGISTERED:
        s->host = mmap(NULL, s->bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        return cuMemHostRegister(s->host, s->bytes, 0);
    case ARRAY: return make_array(s);
    case MIPMAP: return make_mipmap(s);
    case PHYSICAL: return make_physical(s);
    case MAPPED: return make_mapped(s);
    case IMPORTED: return make_imported(s);
    case EXTERNAL: return make_external(s);
    case GRAPH: return make_graph(s);
    case CONTEXT: return make_context(s);
    default: return CUDA_ERROR_UNKNOWN;
    }
}

static void unmake(struct slot *s)
{
    switch (s->family) {
    case DEVICE:
    case PITCHED:
    case MANAGED: OK(cuMemFree(s->at)); break;
    case POOL:
    case OWN_POOL:
        if (pick(4))
            OK(cuMemFreeAsync(s->at, some_stream(s->device)));
        else
            OK(cuMemFree(s->at));
        break;
    case PINNED: OK(cuMemFreeHost(s->host)); break;
    case REGISTERED:
        OK(cuMemHostUnregister(s->host));
        munmap(s->host, s->bytes);
        break;
    case ARRAY: OK(cuArrayDestroy(s->array)); break;
    case MIPMAP: OK(cuMipmappedArrayDestroy(s->mipmap)); break;
    case PHYSICAL: OK(cuMemRelease(s->handle)); break;
    case MAPPED:
    case IMPORTED:
        OK(cuCtxSynchronize());
        sim_unmap(s->at, s->bytes);
        if (s->handle)
            OK(cuMemRelease(s->handle));
        break;
    case EXTERNAL:
        OK(cuMemFree(s->at));
        OK(cuDestroyExternalMemory(s->external));
        break;
    case GRAPH:
        if (s->at)
            OK(pick(2) ? cuMemFree(s->at) : cuMemFreeAsync(s->at, some_stream(s->device)));
        OK(cuGraphExecDestroy(s->exec));
        OK(cuGraphDestroy(s->graph));
        break;
    case CONTEXT: OK(cuCtxDestroy(s->ctx)); break;
    default: break;
    }
    *s = (struct slot){0};
}

/* ---- the model ---- */

static size_t reserved(CUmemoryPool pool)
{
    return GOT(cuuint64_t, cuMemPoolGetAttribute(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT, &got));
}

static size_t of_graphs(int device)
{
    return GOT(cuuint64_t,
               cuDeviceGetGraphMemAttribute(device, CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT, &got));
}

static void compare(int device, unsigned step)
{
    size_t least = reserved(pools[device]) + reserved(own[device]) + of_graphs(device), most;
    size_t small_bytes = 0, small_count = 0, managed = 0;
    for (unsigned i = 0; i < SLOTS; i++) {
        const struct slot *s = &slots[i];
        if (!s->used || s->device != device)
            continue;
        least += s->charged;
        managed += s->resident ? pages(s->bytes) : 0;
        small_bytes += s->small;
        small_count += s->small != 0;
    }
    most = least + small_count * PAGE + managed;
    least += pages(small_bytes) + (may_fail ? 0 : managed);
    OK(cuCtxSetCurrent(ctx[device]));
    size_t taken = begin_free[device] - sim_free_bytes();
    if (taken < least || taken > most) {
        print_message("step %u, device %d: %zu taken, model %zu to %zu\n", step, device, taken,
                      least, most);
        fail();
    }
}

static void fill(struct slot *s, int device, unsigned n)
{
    *s = (struct slot){.family = (enum family)pick(FAMILIES), .device = device};
    CUresult e = make(s);
    s->used = e == CUDA_SUCCESS;
    failed += e == CUDA_ERROR_OUT_OF_MEMORY;
    if (e && s->family == REGISTERED)
        munmap(s->host, s->bytes);
    if (e && !(may_fail && e == CUDA_ERROR_OUT_OF_MEMORY)) {
        print_message("step %u: %s memory: %d\n", n, names[s->family], (int)e);
        fail();
    }
}

static void step(unsigned n)
{
    struct slot *s = &slots[pick(SLOTS)];
    int device = s->used ? s->device : (int)pick(DEVICES);
    OK(cuCtxSetCurrent(ctx[device]));
    if (s->used && s->family == MANAGED && pick(3)) {
        bool there = pick(2);
        CUstream stream = some_stream(s->device);
        OK(cuMemPrefetchAsync(s->at, s->bytes,
                              (CUmemLocation){.type = there ? CU_MEM_LOCATION_TYPE_DEVICE
                                                            : CU_MEM_LOCATION_TYPE_HOST,
                                              .id = there ? s->device : 0},
                              0, stream));
        OK(cuStreamSynchronize(stream));
        s->resident = there;
    } else if (s->used && s->family == GRAPH && !s->at && pick(2)) {
        CUresult e = cuGraphLaunch(s->exec, some_stream(device));
        assert_true(!e || (may_fail && e == CUDA_ERROR_OUT_OF_MEMORY));
    } else if (s->used) {
        unmake(s);
    } else {
        fill(s, device, n);
    }
    if (pick(8) == 0)
        OK(cuDeviceGraphMemTrim(device));
    if (pick(8) == 0)
        OK(cuMemPoolTrimTo(own[device], pick(40) * MIB));
    OK(cuCtxSynchronize());
    compare(device, n);
}

/* ---- memory held by the process ---- */

static unsigned descriptors(void)
{
    unsigned n = 0;
    DIR *dir = opendir("/proc/self/fd");
    while (readdir(dir))
        n++;
    closedir(dir);
    return n;
}

static unsigned mappings(void)
{
    unsigned n = 0;
    FILE *maps = fopen("/proc/self/maps", "r");
    for (int c; (c = getc(maps)) != EOF;)
        n += c == '\n';
    fclose(maps);
    return n;
}

TEST(free_memory_follows_the_model_and_comes_back)
{
    unsigned fds = 0, maps = 0;
    for (unsigned round = 0; round < 6; round++) {
        for (unsigned n = 0; n < 400; n++)
            step(n);
        for (unsigned i = 0; i < SLOTS; i++)
            if (slots[i].used) {
                OK(cuCtxSetCurrent(ctx[slots[i].device]));
                unmake(&slots[i]);
            }
        for (int d = 0; d < DEVICES; d++) {
            OK(cuCtxSetCurrent(ctx[d]));
            OK(cuCtxSynchronize());
            OK(cuMemPoolTrimTo(own[d], 0));
            OK(cuMemPoolTrimTo(pools[d], 0));
            OK(cuDeviceGraphMemTrim(d));
            assert_int_equal(sim_free_bytes(), begin_free[d]);
        }
        if (!round) {
            fds = descriptors();
            maps = mappings();
        }
    }
    assert_true(may_fail == (failed > 0));
    assert_int_equal(descriptors(), fds);
    assert_in_range(mappings(), 1, maps + 40);
}

FIXTURE(start)
{
    OK(cuInit(0));
    for (int d = 0; d < DEVICES; d++) {
        CUmemPoolProps props = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
                                .location = {CU_MEM_LOCATION_TYPE_DEVICE, d}};
        size_t total;
        ctx[d] = sim_retain(d);
        OK(cuCtxSetCurrent(ctx[d]));
        for (unsigned i = 0; i < STREAMS; i++)
            streams[d][i] = sim_stream(i ? CU_STREAM_NON_BLOCKING : 0);
        OK(cuMemPoolCreate(&own[d], &props));
        OK(cuDeviceGetDefaultMemPool(&pools[d], d));
        OK(cuMemGetInfo(&begin_free[d], &total));
        context_bytes = total - begin_free[d];
    }
    return 0;
}

int main(int argc, char **argv)
{
    setenv("VRAMSCOPE_SIMULATE", "h100-80g,devices=2,time=off", 0);
    random_state = 88172645463325252u + (argc > 1 ? strtoull(argv[1], NULL, 10) * 2654435761u : 0);
    may_fail = argc > 2;
    return vs_run_tests(start, NULL);
}
