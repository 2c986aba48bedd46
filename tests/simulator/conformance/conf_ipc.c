/* SPDX-License-Identifier: Apache-2.0
 *
 * Interprocess communication: a producer here, a consumer in a second process.
 * Memory and events by cuIpc handles, cuMemCreate memory and pools by file descriptor. */
#include "conf_peer.h"

#include "conf.h"

#define BYTES (3 * CONF_MIB)
#define SMALL 1000
#define POSIX_FD CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR
#define COUNT 3 /* of a pool's blocks */

static CUcontext context;
static const CUmemAccessDesc both = {{CU_MEM_LOCATION_TYPE_DEVICE, 0},
                                     CU_MEM_ACCESS_FLAGS_PROT_READWRITE};

static struct peer start(const char *role)
{
    struct peer peer = peer_start(role);
    FACT(peer.pid > 0, "a second process can be started");
    return peer;
}

static void receive(struct peer *peer, const void *data, size_t bytes, int fd)
{
    FACT(!peer_send(peer->socket, data, bytes, fd), "the second process listens");
}

static void hears(struct peer *peer, void *data, size_t bytes)
{
    FACT(!peer_receive(peer->socket, data, bytes, NULL), "the second process answers");
}

static void need_ipc(void)
{
    NEED(DEVICE_ATTRIBUTE(IPC_EVENT_SUPPORTED), "no interprocess handles");
    NEED(!DEVICE_ATTRIBUTE(INTEGRATED), "no memory handles on Tegra");
    conf_need_processes();
}

static void need_shared_pools(void)
{
    NEED(DEVICE_ATTRIBUTE(MEMORY_POOLS_SUPPORTED), "no memory pools");
    NEED(DEVICE_ATTRIBUTE(MEMPOOL_SUPPORTED_HANDLE_TYPES) & POSIX_FD,
         "no pools shared by descriptor");
    conf_need_processes();
}

static CUmemoryPool create_pool(unsigned types)
{
    CUmemPoolProps props = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
                            .handleTypes = (CUmemAllocationHandleType)types,
                            .location = {CU_MEM_LOCATION_TYPE_DEVICE, 0}};
    return GOT(CUmemoryPool, cuMemPoolCreate(&got, &props));
}

static size_t size_of(int i) { return 1000 + (size_t)i * CONF_MIB; }

/* Byte i of the producer's data, and of the consumer's reply. */
static unsigned char pattern(size_t i, unsigned char seed) { return (unsigned char)(i * 7 + seed); }

static void write_pattern(CUdeviceptr at, size_t bytes, unsigned char seed)
{
    unsigned char *data = malloc(bytes);
    for (size_t i = 0; data && i < bytes; i++)
        data[i] = pattern(i, seed);
    DO(cuMemcpyHtoD(at, data, bytes));
    DO(cuCtxSynchronize());
    free(data);
}

static int holds_pattern(CUdeviceptr at, size_t bytes, unsigned char seed)
{
    unsigned char *data = malloc(bytes);
    int same = data && !cuMemcpyDtoH(data, at, bytes);
    for (size_t i = 0; same && i < bytes; i++)
        same = data[i] == pattern(i, seed);
    free(data);
    return same;
}

/* ---- in the second process ---- */

static void peer_context(void)
{
    PEER(!cuInit(0) && !cuDevicePrimaryCtxRetain(&context, 0) && !cuCtxSetCurrent(context));
}

struct memory_message {
    CUipcMemHandle handle;
    size_t bytes;
};

static void consume_memory(int socket)
{
    struct memory_message message;
    CUdeviceptr at, again;
    char done = 1;
    peer_context();
    while (!peer_receive(socket, &message, sizeof message, NULL)) {
        PEER(!cuIpcOpenMemHandle(&at, message.handle, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS));
        PEER(holds_pattern(at, message.bytes, 1));
        PEER(!cuIpcOpenMemHandle(&again, message.handle, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS));
        PEER(again == at); /* opened twice: the same pointer, counted */
        PEER(!cuIpcCloseMemHandle(again));
        PEER(holds_pattern(at, message.bytes, 1));
        PEER(!cuMemsetD8(at, 0x77, message.bytes) && !cuCtxSynchronize());
        PEER(!cuIpcCloseMemHandle(at));
        PEER(cuIpcCloseMemHandle(at));
        PEER(!peer_send(socket, &done, 1, -1));
    }
}

struct event_message {
    CUipcMemHandle memory;
    CUipcEventHandle ready, consumed;
};

static void consume_after_event(int socket)
{
    struct event_message message;
    CUevent ready, consumed;
    CUdeviceptr at, own;
    CUstream stream;
    char done = 1;
    unsigned char *data = malloc(BYTES);
    peer_context();
    PEER(data && !peer_receive(socket, &message, sizeof message, NULL));
    PEER(!cuIpcOpenMemHandle(&at, message.memory, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS));
    PEER(!cuIpcOpenEventHandle(&ready, message.ready));
    PEER(!cuIpcOpenEventHandle(&consumed, message.consumed));
    PEER(!cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    /* the function that runs behind the wait is used once before, in case of lazy loading */
    PEER(!cuMemAlloc(&own, BYTES / 2) && !cuMemsetD8Async(own, 0, BYTES / 2, stream));
    PEER(!cuStreamSynchronize(stream) && !cuMemFree(own));
    PEER(cuEventQuery(ready) == CUDA_ERROR_NOT_READY);
    PEER(!cuStreamWaitEvent(stream, ready, 0));
    PEER(!cuMemsetD8Async(at, 0x66, BYTES / 2, stream));
    PEER(!cuEventRecord(consumed, stream));
    /* the producer has not signalled it yet */
    PEER(cuEventQuery(consumed) == CUDA_ERROR_NOT_READY);
    PEER(!peer_send(socket, &done, 1, -1));
    PEER(!cuEventSynchronize(consumed));
    PEER(!cuEventQuery(ready));
    PEER(!cuMemcpyDtoH(data, at, BYTES));
    PEER(data[0] == 0x66 && data[BYTES - 1] == 0x55);
    PEER(!cuEventDestroy(ready) && !cuEventDestroy(consumed) && !cuStreamDestroy(stream));
    PEER(!cuIpcCloseMemHandle(at));
    free(data);
}

static void consume_descriptor(int socket)
{
    CUmemGenericAllocationHandle handle;
    CUdeviceptr at;
    size_t bytes;
    int fd = -1;
    char done = 1;
    peer_context();
    PEER(!peer_receive(socket, &bytes, sizeof bytes, &fd) && fd >= 0);
    PEER(!cuMemImportFromShareableHandle(&handle, (void *)(intptr_t)fd, POSIX_FD));
    PEER(!close(fd));
    PEER(!cuMemAddressReserve(&at, bytes, 0, 0, 0) && !cuMemMap(at, bytes, 0, handle, 0) &&
         !cuMemSetAccess(at, bytes, &both, 1));
    PEER(!peer_send(socket, &done, 1, -1));
    PEER(!peer_receive(socket, &done, 1, NULL)); /* the producer has signalled it */
    PEER(holds_pattern(at, bytes, 3));
    PEER(!cuMemUnmap(at, bytes) && !cuMemAddressFree(at, bytes) && !cuMemRelease(handle));
}

static void consume_pool(int socket)
{
    CUmemPoolPtrExportData data[COUNT];
    CUdeviceptr at[COUNT], own;
    CUmemoryPool pool;
    CUstream stream;
    int fd = -1;
    char done = 1;
    peer_context();
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

static const struct peer_role roles[] = {
    {"memory", consume_memory},
    {"event", consume_after_event},
    {"descriptor", consume_descriptor},
    {"pool", consume_pool},
};

/* Before main, which the second process never reaches. */
__attribute__((constructor)) static void be_a_peer(int argc, char **argv)
{
    peer_run(roles, sizeof roles / sizeof roles[0], argc, argv);
}

/* ---- memory ---- */

TEST(the_consumer_sees_and_changes_the_producers_bytes)
{
    const size_t sizes[] = {SMALL, BYTES, 17};
    CUdeviceptr at[3];
    need_ipc();
    struct peer peer = start("memory");
    for (int i = 0; i < 3; i++) {
        struct memory_message message = {.bytes = sizes[i]};
        char done = 0;
        at[i] = conf_alloc(sizes[i]);
        write_pattern(at[i], sizes[i], 1);
        DO(cuIpcGetMemHandle(&message.handle, at[i]));
        receive(&peer, &message, sizeof message, -1);
        hears(&peer, &done, 1);
        FACT(conf_byte(at[i]) == 0x77 && conf_byte(at[i] + sizes[i] - 1) == 0x77,
             "cuIpcCloseMemHandle: the original allocation will be unaffected");
    }
    for (int i = 0; i < 3; i++)
        DO(cuMemFree(at[i]));
    FACT_EQ(peer_end(&peer), 0, "cuIpcOpenMemHandle: if already opened, the reference count "
                                "is incremented and the existing pointer returned; freed with "
                                "cuIpcCloseMemHandle");
}

TEST(only_device_memory_has_memory_handles)
{
    CUipcMemHandle handle;
    need_ipc();
    CUdeviceptr at = conf_alloc(SMALL);
    REFUSED(cuIpcGetMemHandle(NULL, at), "returns");
    REFUSED(cuIpcGetMemHandle(&handle, 0), "base pointer");
    REFUSED(cuIpcGetMemHandle(&handle, (uintptr_t)conf_pinned(SMALL)),
            "device memory allocated with cuMemAlloc");
    DO(cuIpcGetMemHandle(&handle, at));
    CUipcMemHandle again;
    WORKS(cuIpcGetMemHandle(&again, at), "may be called multiple times on an allocation");
    CUdeviceptr opened;
    REFUSED(cuIpcOpenMemHandle(&opened, handle, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS),
            "exported from another process");
}

/* ---- events ---- */

TEST(processes_order_their_work_by_events)
{
    struct event_message message;
    CUevent ready, consumed;
    int gate;
    char done = 0;
    need_ipc();
    struct peer peer = start("event");
    unsigned char *pinned = conf_pinned(1);
    CUdeviceptr at = conf_alloc(BYTES);
    CUstream stream = conf_stream(), own = conf_stream();
    DO(cuMemsetD8(at, 0, BYTES));
    DO(cuCtxSynchronize());
    DO(cuEventCreate(&ready, CU_EVENT_INTERPROCESS | CU_EVENT_DISABLE_TIMING));
    DO(cuEventCreate(&consumed, CU_EVENT_INTERPROCESS | CU_EVENT_DISABLE_TIMING));
    WORKS(cuEventQuery(ready), "never recorded");
    DO(cuIpcGetMemHandle(&message.memory, at));
    DO(cuIpcGetEventHandle(&message.ready, ready));
    DO(cuIpcGetEventHandle(&message.consumed, consumed));
    conf_close(stream, &gate);
    DO(cuMemsetD8Async(at, 0x55, BYTES, stream));
    DO(cuEventRecord(ready, stream));
    DO(cuStreamWaitEvent(own, ready, 0));
    receive(&peer, &message, sizeof message, -1);
    hears(&peer, &done, 1);
    BUSY(cuEventQuery(ready), "work not completed");
    BUSY(cuEventQuery(consumed),
         "cuIpcGetEventHandle: cuEventRecord and cuEventQuery in either process");
    DO(cuStreamWaitEvent(own, consumed, 0));
    DO(cuMemcpyDtoHAsync(pinned, at, 1, own));
    BUSY(cuStreamQuery(own), "cuIpcGetEventHandle: cuStreamWaitEvent in either process");
    conf_open(&gate);
    DO(cuStreamSynchronize(own));
    FACT_EQ(pinned[0], 0x66,
            "cuIpcGetEventHandle: synchronization between GPU work in different processes");
    FACT_EQ(conf_byte(at + BYTES - 1), 0x55, "cuStreamWaitEvent");
    DO(cuEventSynchronize(consumed));
    FACT_EQ(peer_end(&peer), 0, "cuIpcOpenEventHandle: behaves like a locally created event");
}

TEST(only_interprocess_events_have_handles)
{
    CUipcEventHandle handle;
    CUevent event;
    need_ipc();
    INVALID(cuEventCreate(&event, CU_EVENT_INTERPROCESS), "CU_EVENT_DISABLE_TIMING must be set");
    DO(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
    REFUSED(cuIpcGetEventHandle(&handle, event), "created with the CU_EVENT_INTERPROCESS flag");
    DO(cuEventDestroy(event));
    DO(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING | CU_EVENT_INTERPROCESS));
    REFUSED(cuIpcGetEventHandle(NULL, event), "returns");
    DO(cuIpcGetEventHandle(&handle, event));
}

/* ---- descriptors ---- */

TEST(a_descriptor_outlives_its_exporter)
{
    CUmemAllocationProp prop = {.type = CU_MEM_ALLOCATION_TYPE_PINNED,
                                .requestedHandleTypes = POSIX_FD,
                                .location = {CU_MEM_LOCATION_TYPE_DEVICE, 0}};
    CUmemGenericAllocationHandle handle;
    CUdeviceptr at;
    size_t bytes = 0;
    int fd = -1;
    char done = 0;
    NEED(DEVICE_ATTRIBUTE(HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED),
         "no export as a file descriptor");
    conf_need_processes();
    struct peer peer = start("descriptor");
    DO(cuMemGetAllocationGranularity(&bytes, &prop, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
    DO(cuMemCreate(&handle, bytes, &prop, 0));
    DO(cuMemExportToShareableHandle(&fd, handle, POSIX_FD, 0));
    receive(&peer, &bytes, sizeof bytes, fd);
    close(fd);
    DO(cuMemAddressReserve(&at, bytes, 0, 0, 0));
    DO(cuMemMap(at, bytes, 0, handle, 0));
    DO(cuMemSetAccess(at, bytes, &both, 1));
    write_pattern(at, bytes, 3);
    hears(&peer, &done, 1);
    DO(cuMemUnmap(at, bytes));
    DO(cuMemAddressFree(at, bytes));
    DO(cuMemRelease(handle));
    receive(&peer, &done, 1, -1);
    FACT_EQ(peer_end(&peer), 0, "cuMemRelease: freed when all references to the handle, "
                                "its shareable counterparts too, are released");
}

/* ---- pools ---- */

TEST(pointers_of_an_imported_pool_are_the_same_memory)
{
    CUmemPoolPtrExportData data[COUNT];
    CUdeviceptr at[COUNT];
    int fd = -1;
    char done = 0;
    need_shared_pools();
    struct peer peer = start("pool");
    CUmemoryPool pool = create_pool(POSIX_FD);
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
        FACT_EQ(conf_byte(at[i] + size_of(i) - 1), 0x60 + i,
                "cuMemPoolImportPointer: pointer to imported memory");
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
    CUmemoryPool plain = create_pool(0), shared = create_pool(POSIX_FD), standard;
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
