/* SPDX-License-Identifier: Apache-2.0
 *
 * Foreign memory: opened from another process by IPC or from a pool, and external memory. It is
 * listed where it is mapped, and counted only where it is allocated. The other process is forked
 * before either has used CUDA. */
#include "victim_memory.h"

#include "../../../simulator/conformance/conf_peer.h"

VICTIM("memory of others", INJECTED)

static void pool_importer(int socket)
{
    CUmemPoolPtrExportData data;
    CUmemoryPool pool;
    CUdeviceptr p;
    int fd = -1;
    unsigned char byte = 0;
    start();
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
    CUmemPoolProps props = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
                            .handleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR,
                            .location = on_device(0).location};
    CUmemPoolPtrExportData data;
    CUmemoryPool pool;
    CUdeviceptr p;
    pid_t pid;
    int fd, peer = in_a_peer(pool_importer, &pid);
    unsigned char byte;
    start();
    OK(cuMemPoolCreate(&pool, &props));
    ALLOCATES(VT_ASYNC, 2 * MIB, cuMemAllocFromPoolAsync(&p, 2 * MIB, pool, NULL));
    OK(cuMemsetD8Async(p, 0x33, 2 * MIB, NULL));
    OK(cuStreamSynchronize(NULL));
    OK(cuMemPoolExportToShareableHandle(&fd, pool, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
    OK(cuMemPoolExportPointer(&data, p));
    CHECK(peer_send(peer, &data, sizeof data, fd) == 0);
    close(fd);
    CHECK(peer_receive(peer, &byte, 1, NULL) == 0);
    CHECK(status_of(pid) == 0);
    FREES(VT_ASYNC, cuMemFreeAsync(p, NULL));
    OK(cuStreamSynchronize(NULL));
    OK(cuMemPoolDestroy(pool));
}

CASE(external, "external memory mapped twice, one mapping outlives the import", 0)
{
    struct cudaExternalMemoryBufferDesc low = {.size = 3 * MIB},
                                        high = {.offset = 2 * MIB, .size = 2 * MIB};
    cudaExternalMemory_t memory;
    void *p, *q;
    int fd = memfd_create("external", MFD_CLOEXEC);
    CHECK(fd >= 0 && ftruncate(fd, (off_t)(4 * MIB)) == 0);
    struct cudaExternalMemoryHandleDesc desc = {.type = cudaExternalMemoryHandleTypeOpaqueFd,
                                                .handle.fd = fd, /* the driver's from here on */
                                                .size = 4 * MIB};
    OK(cudaImportExternalMemory(&memory, &desc));
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
