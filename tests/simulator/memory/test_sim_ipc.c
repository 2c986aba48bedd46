/* SPDX-License-Identifier: Apache-2.0
 *
 * Interprocess handles where the behaviour of a real device is undefined, or belongs to the
 * simulator alone: stale handles, processes that end, capacity. */
#include "conformance/conf_peer.h"

#include <cuda_runtime_api.h>
#include <signal.h>

#include "sim_test.h"

#define LAZY CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS

struct handles {
    CUipcMemHandle memory;
    CUipcEventHandle event;
};

/* ---- in the second process ---- */

/* Exports memory and an event whose record never ends, and waits for a message. */
static void export_all(int socket)
{
    static atomic_int never;
    struct handles handles;
    CUdeviceptr at;
    CUevent event;
    char word = 0;
    sim_start();
    sim_register_kernels();
    PEER(!cuMemAlloc(&at, 3 * MIB) && !cuMemsetD8(at, 0x31, 3 * MIB) && !cuCtxSynchronize());
    PEER(!cuEventCreate(&event, CU_EVENT_INTERPROCESS | CU_EVENT_DISABLE_TIMING));
    sim_launch_gate(NULL, &never);
    PEER(!cuEventRecord(event, NULL));
    PEER(!cuIpcGetMemHandle(&handles.memory, at) && !cuIpcGetEventHandle(&handles.event, event));
    PEER(!peer_send(socket, &handles, sizeof handles, -1));
    while (!peer_receive(socket, &word, 1, NULL)) {
        if (word == 'f') {
            atomic_store(&never, 1);
            PEER(!cuMemFree(at) && !cuEventDestroy(event));
        }
        PEER(!peer_send(socket, &word, 1, -1));
    }
    _exit(0); /* as if killed: no cleanup */
}

static void consume_through_the_runtime(int socket)
{
    cudaIpcMemHandle_t handle;
    cudaEvent_t event;
    struct handles handles;
    void *at;
    unsigned char byte;
    PEER(!peer_receive(socket, &handles, sizeof handles, NULL));
    memcpy(&handle, &handles.memory, sizeof handle);
    PEER(!cudaIpcOpenMemHandle(&at, handle, cudaIpcMemLazyEnablePeerAccess));
    cudaIpcEventHandle_t event_handle;
    memcpy(&event_handle, &handles.event, sizeof event_handle);
    PEER(!cudaIpcOpenEventHandle(&event, event_handle));
    PEER(!cudaEventSynchronize(event) && !cudaEventDestroy(event));
    PEER(!cudaMemcpy(&byte, at, 1, cudaMemcpyDeviceToHost) && byte == 0x19);
    PEER(!cudaMemset(at, 0x20, 100) && !cudaDeviceSynchronize() && !cudaIpcCloseMemHandle(at));
}

static void open_and_see(int socket)
{
    struct handles handles;
    CUdeviceptr at;
    CUevent event;
    size_t before;
    sim_start();
    before = sim_free_bytes();
    PEER(!peer_receive(socket, &handles, sizeof handles, NULL));
    PEER(!cuIpcOpenMemHandle(&at, handles.memory, LAZY));
    PEER(sim_free_bytes() == before); /* memory of another process does not use our capacity */
    PEER(cuMemFree(at) == CUDA_ERROR_INVALID_VALUE);
    PEER(cuIpcGetMemHandle(&handles.memory, at) == CUDA_ERROR_INVALID_VALUE);
    PEER(cuIpcOpenMemHandle(&at, handles.memory, 0) == CUDA_ERROR_INVALID_VALUE);
    PEER(!cuIpcOpenEventHandle(&event, handles.event));
    PEER(cuIpcGetEventHandle(&handles.event, event) == CUDA_ERROR_INVALID_HANDLE);
    PEER(!cuDevicePrimaryCtxReset(0)); /* closes the handles opened in the context */
    PEER(!cuCtxSetCurrent(sim_start()));
    PEER(cuIpcCloseMemHandle(at) == CUDA_ERROR_INVALID_VALUE);
}

static const struct peer_role roles[] = {
    {"exporter", export_all}, {"runtime", consume_through_the_runtime}, {"opener", open_and_see}};

/* ---- here ---- */

static struct peer exporter(struct handles *handles)
{
    struct peer peer = peer_start("exporter");
    assert_int_equal(peer_receive(peer.socket, handles, sizeof *handles, NULL), 0);
    return peer;
}

static void say(struct peer *peer, char word)
{
    assert_int_equal(peer_send(peer->socket, &word, 1, -1), 0);
    assert_int_equal(peer_receive(peer->socket, &word, 1, NULL), 0);
}

TEST(a_handle_of_freed_memory_is_refused)
{
    struct handles handles;
    struct peer peer = exporter(&handles);
    CUdeviceptr at;
    CUevent event;
    OK(cuIpcOpenMemHandle(&at, handles.memory, LAZY));
    OK(cuIpcCloseMemHandle(at));
    say(&peer, 'f');
    FAILS(cuIpcOpenMemHandle(&at, handles.memory, LAZY), CUDA_ERROR_INVALID_HANDLE);
    FAILS(cuIpcOpenEventHandle(&event, handles.event), CUDA_ERROR_INVALID_HANDLE);
    assert_int_equal(peer_end(&peer), 0);
}

TEST(a_handle_of_a_process_that_ended_is_refused)
{
    struct handles handles;
    struct peer peer = exporter(&handles);
    CUdeviceptr at;
    CUevent event;
    assert_int_equal(peer_end(&peer), 0);
    FAILS(cuIpcOpenMemHandle(&at, handles.memory, LAZY), CUDA_ERROR_INVALID_HANDLE);
    FAILS(cuIpcOpenEventHandle(&event, handles.event), CUDA_ERROR_INVALID_HANDLE);
}

TEST(a_handle_that_is_none_is_refused)
{
    CUipcMemHandle memory;
    CUipcEventHandle event_handle;
    CUdeviceptr at;
    CUevent event;
    memset(&memory, 0x5c, sizeof memory);
    memset(&event_handle, 0x5c, sizeof event_handle);
    FAILS(cuIpcOpenMemHandle(&at, memory, LAZY), CUDA_ERROR_INVALID_HANDLE);
    FAILS(cuIpcOpenEventHandle(&event, event_handle), CUDA_ERROR_INVALID_HANDLE);
}

TEST(opened_memory_outlives_the_exporter)
{
    struct handles handles;
    struct peer peer = exporter(&handles);
    CUdeviceptr at;
    OK(cuIpcOpenMemHandle(&at, handles.memory, LAZY));
    assert_int_equal(peer_end(&peer), 0);
    assert_int_equal(GOT(unsigned char, cuMemcpyDtoH(&got, at + 3 * MIB - 1, 1)), 0x31);
    OK(cuIpcCloseMemHandle(at));
}

TEST(an_event_whose_recorder_died_lets_waiters_go)
{
    struct handles handles;
    struct peer peer = exporter(&handles);
    CUevent event;
    OK(cuIpcOpenEventHandle(&event, handles.event));
    FAILS(cuEventQuery(event), CUDA_ERROR_NOT_READY);
    CUstream stream = sim_stream(CU_STREAM_NON_BLOCKING);
    OK(cuStreamWaitEvent(stream, event, 0));
    FAILS(cuStreamQuery(stream), CUDA_ERROR_NOT_READY);
    OK(kill(peer.pid, SIGKILL));
    OK(cuEventSynchronize(event)); /* before any wait for the process */
    OK(cuStreamSynchronize(stream));
    assert_int_equal(peer_end(&peer), 128 + SIGKILL);
}

/* Fails the current context for good. */
static void fail_the_context(void)
{
    atomic_int open = 0;
    CUmemGenericAllocationHandle handle = sim_create(2 * MIB);
    CUdeviceptr at = sim_map(handle, 2 * MIB);
    CUstream stream = sim_stream(CU_STREAM_NON_BLOCKING);
    sim_launch_gate(stream, &open);
    OK(cuMemsetD8Async(at, 1, 100, stream));
    OK(cuMemUnmap(at, 2 * MIB));
    atomic_store(&open, 1);
    FAILS(cuStreamSynchronize(stream), CUDA_ERROR_ILLEGAL_ADDRESS);
    OK(cuMemRelease(handle));
    OK(cuMemAddressFree(at, 2 * MIB));
}

TEST(a_failed_context_waits_for_no_other_process)
{
    struct handles handles;
    struct peer peer = exporter(&handles); /* has recorded the event behind a closed gate */
    CUevent event;
    sim_register_kernels();
    CUcontext ctx = sim_context_on(0);
    OK(cuIpcOpenEventHandle(&event, handles.event));
    CUstream stream = sim_stream(CU_STREAM_NON_BLOCKING);
    OK(cuStreamWaitEvent(stream, event, 0));
    fail_the_context();
    FAILS(cuEventSynchronize(event), CUDA_ERROR_ILLEGAL_ADDRESS);
    OK(cuCtxDestroy(ctx)); /* waits for its streams */
    OK(kill(peer.pid, SIGKILL));
    assert_int_equal(peer_end(&peer), 128 + SIGKILL);
}

TEST(an_opened_handle_takes_no_capacity_and_ends_with_its_context)
{
    struct handles handles;
    struct peer peer = peer_start("opener");
    CUdeviceptr at = sim_alloc(50 * MIB);
    CUevent event = sim_event(CU_EVENT_INTERPROCESS | CU_EVENT_DISABLE_TIMING);
    OK(cuIpcGetMemHandle(&handles.memory, at));
    OK(cuIpcGetEventHandle(&handles.event, event));
    assert_int_equal(peer_send(peer.socket, &handles, sizeof handles, -1), 0);
    assert_int_equal(peer_end(&peer), 0);
}

TEST(the_runtime_passes_handles_on)
{
    struct handles handles;
    cudaIpcMemHandle_t handle;
    cudaIpcEventHandle_t event_handle;
    cudaEvent_t event;
    void *at;
    unsigned char byte = 0;
    struct peer peer = peer_start("runtime");
    OK(cudaMalloc(&at, 100));
    OK(cudaMemset(at, 0x19, 100));
    OK(cudaEventCreateWithFlags(&event, cudaEventInterprocess | cudaEventDisableTiming));
    OK(cudaEventRecord(event, 0));
    OK(cudaIpcGetMemHandle(&handle, at));
    OK(cudaIpcGetEventHandle(&event_handle, event));
    INVALID(cudaIpcGetMemHandle(&handle, &byte));
    OK(cudaIpcGetMemHandle(&handle, at));
    memcpy(&handles.memory, &handle, sizeof handle);
    memcpy(&handles.event, &event_handle, sizeof event_handle);
    assert_int_equal(peer_send(peer.socket, &handles, sizeof handles, -1), 0);
    assert_int_equal(peer_end(&peer), 0);
    OK(cudaMemcpy(&byte, (char *)at + 99, 1, cudaMemcpyDeviceToHost));
    assert_int_equal(byte, 0x20);
}

int main(int argc, char **argv)
{
    setenv("VRAMSCOPE_SIMULATE", "h100-80g,capacity=2GiB", 1);
    peer_run(roles, sizeof roles / sizeof roles[0], argc, argv);
    sim_start();
    return vs_run_tests(NULL, NULL);
}
