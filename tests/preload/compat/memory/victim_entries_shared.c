/* SPDX-License-Identifier: Apache-2.0
 *
 * Foreign memory: opened from another process by IPC or from a pool, and external memory. It is
 * listed where it is mapped, and counted only where it is allocated. The other process is forked
 * before either has used CUDA. */
#include "victim.h"

#include <cuda.h>
#include <cuda_runtime_api.h>

#include "../../../simulator/conformance/conf_peer.h"

VICTIM("memory of others", INJECTED)

struct pair {
    int parent, child;
    pid_t pid;
};

static struct pair fork_peer(void)
{
    int ends[2];
    CHECK(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends) == 0);
    struct pair pair = {ends[0], ends[1], fork()};
    CHECK(pair.pid >= 0);
    return pair;
}

static void child_is_content(const struct pair *pair)
{
    int status;
    CHECK(waitpid(pair->pid, &status, 0) == pair->pid && status == 0);
}

/* Opens the handle twice, which gives the same address, and closes it twice. */
static void opener(int socket)
{
    cudaIpcMemHandle_t handle;
    unsigned char byte = 0;
    void *p, *q;
    CHECK(peer_receive(socket, &handle, sizeof handle, NULL) == 0);
    ALLOCATES(VT_IPC, 3 * MIB, cudaIpcOpenMemHandle(&p, handle, cudaIpcMemLazyEnablePeerAccess));
    OK(cudaIpcOpenMemHandle(&q, handle, cudaIpcMemLazyEnablePeerAccess));
    CHECK(p == q);
    OK(cudaMemcpy(&byte, (char *)p + 12345, 1, cudaMemcpyDeviceToHost));
    CHECK(byte == 0x42);
    OK(cudaIpcCloseMemHandle(p));
    OK(cudaMemcpy(&byte, (char *)q + MIB, 1, cudaMemcpyDeviceToHost));
    FREES(VT_IPC, cudaIpcCloseMemHandle(q));
    CHECK(peer_send(socket, &byte, 1, -1) == 0);
}

CASE(ipc, "IPC: opened twice in another process, one mapping there", VF_CHILDREN)
{
    cudaIpcMemHandle_t handle;
    unsigned char byte;
    void *other, *p;
    struct pair pair = fork_peer();
    if (!pair.pid) {
        opener(pair.child);
        exit(0);
    }
    ALLOCATES(VT_DEVICE, 2 * MIB, cudaMalloc(&other, 2 * MIB));
    ALLOCATES(VT_DEVICE, 3 * MIB, cudaMalloc(&p, 3 * MIB));
    OK(cudaMemset(p, 0x42, 3 * MIB));
    OK(cudaDeviceSynchronize());
    OK(cudaIpcGetMemHandle(&handle, p));
    CHECK(peer_send(pair.parent, &handle, sizeof handle, -1) == 0);
    CHECK(peer_receive(pair.parent, &byte, 1, NULL) == 0);
    child_is_content(&pair);
    FREES(VT_DEVICE, cudaFree(p));
    FREES(VT_DEVICE, cudaFree(other));
}

static void pool_importer(int socket)
{
    CUmemPoolPtrExportData data;
    CUmemoryPool pool;
    CUdeviceptr p;
    CUcontext ctx;
    int fd = -1;
    unsigned char byte = 0;
    OK(cuInit(0));
    OK(cuDevicePrimaryCtxRetain(&ctx, 0));
    OK(cuCtxSetCurrent(ctx));
    CHECK(peer_receive(socket, &data, sizeof data, &fd) == 0);
    OK(cuMemPoolImportFromShareableHandle(&pool, (void *)(intptr_t)fd,
                                          CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
    ALLOCATES(VT_IPC, 2 * MIB, cuMemPoolImportPointer(&p, pool, &data));
    OK(cuMemcpyDtoH(&byte, p + 77, 1));
    CHECK(byte == 0x33);
    FREES(VT_IPC, cuMemFreeAsync(p, NULL));
    OK(cuStreamSynchronize(NULL));
    CHECK(peer_send(socket, &byte, 1, -1) == 0);
}

CASE(pool_pointer, "a pool's pointer imported by another process", VF_CHILDREN)
{
    CUmemPoolProps props;
    CUmemPoolPtrExportData data;
    CUmemoryPool pool;
    CUdeviceptr p;
    CUcontext ctx;
    int fd;
    unsigned char byte;
    struct pair pair = fork_peer();
    if (!pair.pid) {
        pool_importer(pair.child);
        exit(0);
    }
    memset(&props, 0, sizeof props);
    props.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
    props.handleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
    props.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    OK(cuInit(0));
    OK(cuDevicePrimaryCtxRetain(&ctx, 0));
    OK(cuCtxSetCurrent(ctx));
    OK(cuMemPoolCreate(&pool, &props));
    ALLOCATES(VT_ASYNC, 2 * MIB, cuMemAllocFromPoolAsync(&p, 2 * MIB, pool, NULL));
    OK(cuMemsetD8Async(p, 0x33, 2 * MIB, NULL));
    OK(cuStreamSynchronize(NULL));
    OK(cuMemPoolExportToShareableHandle(&fd, pool, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
    OK(cuMemPoolExportPointer(&data, p));
    CHECK(peer_send(pair.parent, &data, sizeof data, fd) == 0);
    close(fd);
    CHECK(peer_receive(pair.parent, &byte, 1, NULL) == 0);
    child_is_content(&pair);
    FREES(VT_ASYNC, cuMemFreeAsync(p, NULL));
    OK(cuStreamSynchronize(NULL));
    OK(cuMemPoolDestroy(pool));
}

CASE(external, "external memory mapped twice, one mapping outlives the import", 0)
{
    struct cudaExternalMemoryHandleDesc desc;
    struct cudaExternalMemoryBufferDesc low, high;
    cudaExternalMemory_t memory;
    void *p, *q;
    int fd = memfd_create("external", MFD_CLOEXEC);
    CHECK(fd >= 0 && ftruncate(fd, (off_t)(4 * MIB)) == 0);
    memset(&desc, 0, sizeof desc);
    memset(&low, 0, sizeof low);
    memset(&high, 0, sizeof high);
    desc.type = cudaExternalMemoryHandleTypeOpaqueFd;
    desc.handle.fd = fd; /* owned by the driver from here on */
    desc.size = 4 * MIB;
    OK(cudaImportExternalMemory(&memory, &desc));
    low.size = 3 * MIB;
    high.offset = 2 * MIB;
    high.size = 2 * MIB;
    ALLOCATES(VT_IPC, 3 * MIB, cudaExternalMemoryGetMappedBuffer(&p, memory, &low));
    ALLOCATES(VT_IPC, 2 * MIB, cudaExternalMemoryGetMappedBuffer(&q, memory, &high));
    OK(cudaMemset(p, 7, 3 * MIB));
    FREES(VT_IPC, cudaFree(p));
    OK(cudaDestroyExternalMemory(memory));
    FREES(VT_IPC, cudaFree(q)); /* it outlives the object */
}

CASE(graphics_is_refused, "invalid graphics resources", 0)
{
    size_t bytes;
    void *p = NULL;
    OK(cudaFree(NULL));
    printf("%d %d\n", cudaGraphicsMapResources(0, NULL, 0) != 0,
           cudaGraphicsResourceGetMappedPointer(&p, &bytes, NULL) != 0);
}
