/* SPDX-License-Identifier: Apache-2.0
 *
 * Memory shared between processes that number devices differently (CUDA_VISIBLE_DEVICES): it
 * belongs to the same device in both, and is refused where that device is hidden. */
#include "conformance/conf_peer.h"

#include "sim_test.h"

#define POSIX_FD CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR
#define LAZY CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS

struct shared {
    CUipcMemHandle memory;
    CUmemPoolPtrExportData pointer;
    int bus; /* of the device of all memory */
};

static int bus_of(CUdevice device)
{
    return GOT(int, cuDeviceGetAttribute(&got, CU_DEVICE_ATTRIBUTE_PCI_BUS_ID, device));
}

static int bus_of_pointer(CUdeviceptr at)
{
    int ordinal = -1;
    OK(cuPointerGetAttribute(&ordinal, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, at));
    return bus_of(ordinal);
}

/* ---- in the second process ---- */

static void start_and_receive(const char *visible, int socket, struct shared *s, int fds[2])
{
    char word;
    setenv("CUDA_VISIBLE_DEVICES", visible, 1);
    sim_start();
    PEER(!peer_receive(socket, s, sizeof *s, &fds[0]));
    PEER(!peer_receive(socket, &word, 1, &fds[1]));
}

static void take_what_is_seen(int socket)
{
    struct shared s;
    int fds[2];
    CUmemGenericAllocationHandle handle;
    CUmemAllocationProp prop;
    CUmemoryPool pool;
    CUdeviceptr at;
    start_and_receive("3,1", socket, &s, fds);
    PEER(!cuIpcOpenMemHandle(&at, s.memory, LAZY) && bus_of_pointer(at) == s.bus);
    PEER(!cuMemImportFromShareableHandle(&handle, (void *)(intptr_t)fds[0], POSIX_FD));
    PEER(!cuMemGetAllocationPropertiesFromHandle(&prop, handle));
    PEER(bus_of(prop.location.id) == s.bus);
    PEER(!cuMemPoolImportFromShareableHandle(&pool, (void *)(intptr_t)fds[1], POSIX_FD, 0));
    PEER(!cuMemPoolImportPointer(&at, pool, &s.pointer) && bus_of_pointer(at) == s.bus);
}

static void be_refused(int socket)
{
    struct shared s;
    int fds[2];
    CUmemGenericAllocationHandle handle;
    CUmemoryPool pool;
    CUdeviceptr at;
    start_and_receive("0,1", socket, &s, fds);
    PEER(cuIpcOpenMemHandle(&at, s.memory, LAZY) == CUDA_ERROR_MAP_FAILED);
    PEER(cuMemImportFromShareableHandle(&handle, (void *)(intptr_t)fds[0],
                                        POSIX_FD) ==
         CUDA_ERROR_NOT_SUPPORTED);
    PEER(cuMemPoolImportFromShareableHandle(&pool, (void *)(intptr_t)fds[1],
                                            POSIX_FD,
                                            0) == CUDA_ERROR_INVALID_VALUE);
}

static const struct peer_role roles[] = {{"sees", take_what_is_seen}, {"does not", be_refused}};

/* ---- here, where device 0 is the last of four ---- */

static void share_with(const char *role)
{
    CUmemAllocationProp memory = sim_prop;
    CUmemPoolProps props = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED, .handleTypes = POSIX_FD,
                            .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE}};
    memory.requestedHandleTypes = POSIX_FD;
    CUmemGenericAllocationHandle handle;
    CUmemoryPool pool;
    CUdeviceptr block;
    struct shared s = {.bus = bus_of(0)};
    int memory_fd, pool_fd;
    struct peer peer = peer_start(role);
    CUdeviceptr at = sim_alloc(4 * MIB);
    OK(cuIpcGetMemHandle(&s.memory, at));
    OK(cuMemCreate(&handle, 2 * MIB, &memory, 0));
    OK(cuMemExportToShareableHandle(&memory_fd, handle, POSIX_FD, 0));
    OK(cuMemPoolCreate(&pool, &props));
    OK(cuMemPoolExportToShareableHandle(&pool_fd, pool, POSIX_FD, 0));
    OK(cuMemAllocFromPoolAsync(&block, 4096, pool, NULL));
    OK(cuStreamSynchronize(NULL));
    OK(cuMemPoolExportPointer(&s.pointer, block));
    assert_int_equal(peer_send(peer.socket, &s, sizeof s, memory_fd), 0);
    assert_int_equal(peer_send(peer.socket, "p", 1, pool_fd), 0);
    assert_int_equal(peer_end(&peer), 0);
    close(memory_fd);
    close(pool_fd);
    OK(cuMemFreeAsync(block, NULL));
    OK(cuMemPoolDestroy(pool));
    OK(cuMemRelease(handle));
    OK(cuMemFree(at));
}

TEST(what_is_shared_is_of_the_same_device_in_both)
{
    share_with("sees");
}

TEST(what_is_of_a_device_not_visible_is_refused)
{
    share_with("does not");
}

int main(int argc, char **argv)
{
    setenv("VRAMSCOPE_SIMULATE", "h100-80g,capacity=2GiB,devices=4", 1);
    peer_run(roles, sizeof roles / sizeof roles[0], argc, argv);
    setenv("CUDA_VISIBLE_DEVICES", "3,2", 1);
    sim_start();
    return vs_run_tests(NULL, NULL);
}
