/* SPDX-License-Identifier: Apache-2.0
 *
 * Pools and their pointers shared with a second process. */
#include "conf_peer.h"

#include "conf.h"

#define POSIX_FD CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR
#define COUNT 3

static CUcontext context;

static void need_shared_pools(void)
{
    NEED(conf_attribute(CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED), "no memory pools");
    NEED(conf_attribute(CU_DEVICE_ATTRIBUTE_MEMPOOL_SUPPORTED_HANDLE_TYPES) & POSIX_FD,
         "no pools shared by descriptor");
    conf_need_processes();
}

static CUmemoryPool create(unsigned types)
{
    CUmemPoolProps props = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
                            .handleTypes = (CUmemAllocationHandleType)types,
                            .location = {CU_MEM_LOCATION_TYPE_DEVICE, 0}};
    CUmemoryPool pool = NULL;
    DO(cuMemPoolCreate(&pool, &props));
    return pool;
}

static size_t size_of(int i) { return 1000 + (size_t)i * CONF_MIB; }

/* ---- in the second process ---- */

static void consume(int socket)
{
    CUmemPoolPtrExportData data[COUNT];
    CUdeviceptr at[COUNT], own;
    CUmemoryPool pool;
    CUstream stream;
    int fd = -1;
    char done = 1;
    PEER(!cuInit(0) && !cuDevicePrimaryCtxRetain(&context, 0) && !cuCtxSetCurrent(context));
    PEER(!cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    PEER(!peer_receive(socket, data, sizeof data, &fd) && fd >= 0);
    PEER(!cuMemPoolImportFromShareableHandle(&pool, (void *)(intptr_t)fd, POSIX_FD, 0));
    PEER(!close(fd));
    PEER(cuMemAllocFromPoolAsync(&own, 1000, pool, stream) != CUDA_SUCCESS);
    PEER(cuDeviceSetMemPool(0, pool) != CUDA_SUCCESS);
    for (int i = 0; i < COUNT; i++) {
        unsigned char byte = 0;
        PEER(!cuMemPoolImportPointer(&at[i], pool, &data[i]));
        PEER(!cuMemcpyDtoH(&byte, at[i], 1) && byte == 0x40 + i);
        PEER(!cuMemcpyDtoH(&byte, at[i] + size_of(i) - 1, 1) && byte == 0x40 + i);
        PEER(!cuMemsetD8Async(at[i], (unsigned char)(0x60 + i), size_of(i), stream));
    }
    PEER(!cuMemFreeAsync(at[0], stream) && !cuMemFreeAsync(at[1], stream));
    PEER(!cuStreamSynchronize(stream));
    PEER(!cuMemFree(at[2]));
    PEER(!cuMemPoolDestroy(pool));
    PEER(!peer_send(socket, &done, 1, -1));
}

__attribute__((constructor)) static void be_a_peer(int argc, char **argv)
{
    if (!peer_role() || argc != 2 || strcmp(peer_role(), "pool"))
        return;
    consume(atoi(argv[1]));
    exit(0);
}

/* ---- here ---- */

TEST(pointers_of_an_imported_pool_are_the_same_memory)
{
    CUmemPoolPtrExportData data[COUNT];
    CUdeviceptr at[COUNT];
    int fd = -1;
    char done = 0;
    need_shared_pools();
    struct peer peer = peer_start("pool");
    FACT(peer.pid > 0, "a second process can be started");
    CUmemoryPool pool = create(POSIX_FD);
    CUstream stream = conf_stream();
    for (int i = 0; i < COUNT; i++) {
        DO(cuMemAllocFromPoolAsync(&at[i], size_of(i), pool, stream));
        DO(cuMemsetD8Async(at[i], (unsigned char)(0x40 + i), size_of(i), stream));
    }
    DO(cuStreamSynchronize(stream));
    WORKS(cuMemPoolExportToShareableHandle(&fd, pool, POSIX_FD, 0),
          "an OS handle to share the pool");
    for (int i = 0; i < COUNT; i++)
        WORKS(cuMemPoolExportPointer(&data[i], at[i]), "a specific allocation");
    FACT(!peer_send(peer.socket, data, sizeof data, fd), "the second process listens");
    close(fd);
    FACT(!peer_receive(peer.socket, &done, 1, NULL),
         "cuMemPoolImportFromShareableHandle: imported pools do not support new "
         "allocations; cuMemPoolImportPointer: freed with cuMemFree or cuMemFreeAsync");
    FACT_EQ(peer_end(&peer), 0, "the second process is satisfied");
    for (int i = 0; i < COUNT; i++) {
        unsigned char byte = 0;
        DO(cuMemcpyDtoH(&byte, at[i] + size_of(i) - 1, 1));
        FACT_EQ(byte, 0x60 + i, "cuMemPoolImportPointer: pointer to imported memory");
        WORKS(cuMemFreeAsync(at[i], stream),
              "cuMemPoolImportPointer: freed in the importing process first");
    }
    DO(cuStreamSynchronize(stream));
}

TEST(only_pools_made_for_it_are_exported)
{
    CUmemPoolPtrExportData data;
    int fd = -1;
    need_shared_pools();
    CUmemoryPool plain = create(0), shared = create(POSIX_FD), standard;
    REFUSED(cuMemPoolExportToShareableHandle(&fd, plain, POSIX_FD, 0),
            "cuMemPoolCreate: CU_MEM_HANDLE_TYPE_NONE will not support IPC");
    DO(cuDeviceGetDefaultMemPool(&standard, 0));
    REFUSED(cuMemPoolExportToShareableHandle(&fd, standard, POSIX_FD, 0),
            "guide, Stream Ordered Memory Allocator: default pools are not shareable");
    REFUSED(cuMemPoolExportToShareableHandle(NULL, shared, POSIX_FD, 0), "returns");
    REFUSED(cuMemPoolExportToShareableHandle(&fd, shared, POSIX_FD, 1), "flags must be 0");
    CUdeviceptr at = conf_alloc(1000);
    REFUSED(cuMemPoolExportPointer(&data, at), "from an already shared memory pool");
}
