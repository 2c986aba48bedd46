/* SPDX-License-Identifier: Apache-2.0
 *
 * Kernels, memsets, copies, launches of a graph and waits of two threads, each made by a function of its own.
 * Argument: rounds of each thread; "switch", "signal": kernels are recorded in every second of one thread's; "kill": is killed after some, more than a second after the one before last.
 * Prints the waits it made. */
#define _GNU_SOURCE /* RTLD_DEFAULT */
#include <cuda_runtime_api.h>
#include <dlfcn.h>
#include <nvtx3/nvToolsExt.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "simulator/sim_stub.h"

#define BYTES ((size_t)64 << 10)
#define SITE __attribute__((noinline))

static void stub(void) {}

static void must(cudaError_t result)
{
    if (result != cudaSuccess)
        exit(3);
}

SITE void kernel_here(cudaStream_t stream)
{
    void *args[] = {NULL};
    must(cudaLaunchKernel((void *)stub, (dim3){1, 1, 1}, (dim3){32, 1, 1}, args, 0, stream));
}

SITE void memset_here(void *device, cudaStream_t stream)
{
    must(cudaMemsetAsync(device, 7, BYTES, stream));
}

SITE void copy_here(void *to, const void *from, cudaStream_t stream)
{
    must(cudaMemcpyAsync(to, from, BYTES, cudaMemcpyDefault, stream));
}

SITE void graph_here(cudaGraphExec_t graph, cudaStream_t stream)
{
    must(cudaGraphLaunch(graph, stream));
}

SITE void wait_here(cudaStream_t stream)
{
    must(cudaStreamSynchronize(stream));
}

/* A range and a mark as the program wants them to be shown. */
static void annotate(void)
{
    nvtxEventAttributes_t shown = {.version = NVTX_VERSION, .size = NVTX_EVENT_ATTRIB_STRUCT_SIZE,
                                   .colorType = NVTX_COLOR_ARGB, .color = 0xff00ff00,
                                   .payloadType = NVTX_PAYLOAD_TYPE_INT32, .payload.iValue = -3,
                                   .messageType = NVTX_MESSAGE_TYPE_ASCII, .message.ascii = "shown"};
    nvtxRangePushEx(&shown);
    nvtxRangePop();
    shown.payloadType = NVTX_PAYLOAD_TYPE_FLOAT;
    shown.payload.fValue = 0.5f;
    nvtxMarkEx(&shown);
}

static unsigned rounds;

/* *record*: our function that switches, or NULL. */
static int (*record)(int on);

static void *work(void *killed)
{
    cudaStream_t stream;
    cudaGraph_t graph;
    cudaGraphExec_t launched;
    void *device, *other, *pinned, *pageable = malloc(BYTES);
    must(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    must(cudaMalloc(&device, BYTES));
    must(cudaMalloc(&other, BYTES));
    must(cudaMallocHost(&pinned, BYTES));
    must(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    kernel_here(stream);
    memset_here(device, stream);
    kernel_here(stream);
    must(cudaStreamEndCapture(stream, &graph));
    must(cudaGraphInstantiate(&launched, graph, 0));
    for (unsigned i = 0; i < rounds; i++) {
        if (record && record((int)i % 2))
            exit(4);
        kernel_here(stream);
        memset_here(device, stream);
        copy_here(i % 2 ? device : other, pinned, stream);
        copy_here(i % 2 ? other : pageable, device, stream);
        graph_here(launched, stream);
        if (i % 16 == 0)
            wait_here(stream);
    }
    if (killed)
        usleep(1100000);
    wait_here(stream);
    if (killed)
        raise(SIGKILL);
    return NULL;
}

static int by_signal(int on)
{
    (void)on;
    return raise(SIGUSR1);
}

int main(int argc, char **argv)
{
    pthread_t second;
    bool killed = argc > 1 && strcmp(argv[1], "kill") == 0, switched = argc > 1 && strcmp(argv[1], "switch") == 0;
    void *found = switched ? dlsym(RTLD_DEFAULT, "vramscope_record_kernels") : NULL;
    memcpy(&record, &found, sizeof found);
    if (argc > 1 && strcmp(argv[1], "signal") == 0)
        record = by_signal;
    rounds = argc > 1 && !killed && !switched && !record ? (unsigned)atoi(argv[1]) : 10;
    void **handle = __cudaRegisterFatBinary(sim_stub_fat_binary());
    sim_stub_kernel(handle, stub, "stub");
    __cudaRegisterFatBinaryEnd(handle);
    must(cudaFree(NULL));
    if (killed)
        work("");
    if (switched)
        annotate();
    if (switched)
        return work(NULL) || !record || record(0);
    if (record)
        return work(NULL) != NULL;
    if (pthread_create(&second, NULL, work, NULL))
        return 3;
    work(NULL);
    pthread_join(second, NULL);
    printf("%u\n", 2 * ((rounds + 15) / 16 + 1));
    return 0;
}
