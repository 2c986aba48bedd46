/* SPDX-License-Identifier: Apache-2.0
 *
 * The runtime: its current device, the primary context it shares with the driver, its streams and
 * host functions, and unknown functions and symbols. */
#include "conf.h"

#include <pthread.h>

#define SHARED "CUDA programming guide, interoperability between runtime and driver: "

TEST(the_primary_context_is_shared)
{
    CUcontext current = NULL, primary = NULL;
    CUstream stream = NULL;
    CUcontext owner = NULL;
    unsigned flags;
    int active = 0;
    DO(cudaSetDevice(0));
    DO(cuCtxGetCurrent(&current));
    FACT(current, "cuda_runtime_api.h, cudaSetDevice: the context is current immediately");
    DO(cuDevicePrimaryCtxGetState(0, &flags, &active));
    FACT_EQ(active, 1, "cuda_runtime_api.h, cudaSetDevice: initialises the primary context");
    DO(cuDevicePrimaryCtxRetain(&primary, 0));
    FACT(current == primary, "cuda_runtime_api.h, cudaSetDevice: binds the primary context");
    DO(cuDevicePrimaryCtxRelease(0));
    DO(cudaStreamCreate(&stream));
    DO(cuStreamGetCtx(stream, &owner));
    FACT(owner == primary, SHARED "a cudaStream_t is a CUstream of the primary context");
    FACT_EQ(cuStreamSynchronize(stream), CUDA_SUCCESS, SHARED "a cudaStream_t is a CUstream");
    DO(cudaStreamDestroy(stream));
    DO(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    FACT_EQ(cudaStreamGetFlags(stream, &flags), cudaSuccess, SHARED "a CUstream is a cudaStream_t");
    FACT_EQ(flags, cudaStreamNonBlocking, SHARED "a CUstream is a cudaStream_t");
    FACT_EQ(cudaStreamDestroy(stream), cudaSuccess, SHARED "a CUstream is a cudaStream_t");
}

struct visit {
    int device, after;
    cudaError_t set, work;
};

static void *visit_thread(void *arg)
{
    struct visit *v = arg;
    void *memory = NULL;
    cudaGetDevice(&v->device);
    v->work = cudaMalloc(&memory, 4096);
    if (!v->work)
        v->work = cudaFree(memory);
    v->set = cudaSetDevice(v->after);
    return NULL;
}

TEST(each_thread_has_a_current_device)
{
    int count = 0, device = -1;
    pthread_t thread;
    DO(cudaGetDeviceCount(&count));
    struct visit v = {.device = -1, .after = count - 1};
    DO(cudaSetDevice(count - 1));
    DO(cudaGetDevice(&device));
    FACT_EQ(device, count - 1, "cuda_runtime_api.h, cudaGetDevice: what cudaSetDevice set");
    DO(pthread_create(&thread, NULL, visit_thread, &v));
    pthread_join(thread, NULL);
    FACT_EQ(v.device, 0, "CUDA programming guide, device selection: device 0 unless set");
    FACT_EQ(v.work, cudaSuccess, "CUDA programming guide, initialization: at the first call");
    FACT_EQ(v.set, cudaSuccess, "cuda_runtime_api.h, cudaSetDevice: from any host thread");
    DO(cudaSetDevice(0));
    DO(cudaGetDevice(&device));
    FACT_EQ(device, 0, "cuda_runtime_api.h, cudaSetDevice: for the calling host thread");
    FACT_EQ(cudaGetDevice(NULL), cudaErrorInvalidValue, "cuda_runtime_api.h, cudaGetDevice");
    (void)cudaGetLastError();
}

TEST(allocations_belong_to_the_current_device)
{
    struct cudaPointerAttributes attributes;
    void *memory = NULL;
    int count = 0;
    DO(cudaGetDeviceCount(&count));
    for (int i = 0; i < count; i++) {
        DO(cudaSetDevice(i));
        DO(cudaMalloc(&memory, 4096));
        DO(cudaSetDevice(0));
        DO(cudaPointerGetAttributes(&attributes, memory));
        FACT_EQ(attributes.device, i,
                "cuda_runtime_api.h, cudaSetDevice: memory allocated later resides on the device");
        FACT_EQ(cudaFree(memory), cudaSuccess, "cuda_runtime_api.h, cudaFree: from any device");
    }
}

TEST(flags_of_the_device)
{
    unsigned flags = 0;
    FACT_EQ(cudaSetDeviceFlags(cudaDeviceScheduleBlockingSync), cudaSuccess,
            "cuda_runtime_api.h, cudaSetDeviceFlags: returns");
    DO(cudaGetDeviceFlags(&flags));
    FACT_EQ(flags & cudaDeviceScheduleMask, cudaDeviceScheduleBlockingSync,
            "cuda_runtime_api.h, cudaGetDeviceFlags: the flags for the current device");
    DO(cudaSetDeviceFlags(cudaDeviceScheduleAuto));
    FACT_EQ(cudaSetDeviceFlags(0x80000000u), cudaErrorInvalidValue,
            "cuda_runtime_api.h, cudaSetDeviceFlags: returns");
    (void)cudaGetLastError();
}

TEST(streams_of_the_runtime)
{
    cudaStream_t stream = NULL;
    unsigned flags = 99;
    int least = 0, greatest = 0, priority = 99;
    DO(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    DO(cudaStreamGetFlags(stream, &flags));
    FACT_EQ(flags, cudaStreamNonBlocking, "cuda_runtime_api.h, cudaStreamGetFlags");
    FACT_EQ(cudaStreamQuery(stream), cudaSuccess, "cuda_runtime_api.h, cudaStreamQuery: no work");
    DO(cudaStreamDestroy(stream));
    DO(cudaDeviceGetStreamPriorityRange(&least, &greatest));
    FACT(greatest <= least, "cuda_runtime_api.h, cudaDeviceGetStreamPriorityRange");
    DO(cudaStreamCreateWithPriority(&stream, cudaStreamDefault, greatest));
    DO(cudaStreamGetPriority(stream, &priority));
    FACT_EQ(priority, greatest, "cuda_runtime_api.h, cudaStreamGetPriority");
    DO(cudaStreamDestroy(stream));
    FACT_EQ(cudaStreamCreate(NULL), cudaErrorInvalidValue, "cuda_runtime_api.h, cudaStreamCreate");
    FACT_EQ(cudaStreamCreateWithFlags(&stream, 0x80000000u), cudaErrorInvalidValue,
            "cuda_runtime_api.h, cudaStreamCreateWithFlags: returns");
    (void)cudaGetLastError();
}

TEST(host_functions_of_the_runtime)
{
    cudaStream_t stream = NULL;
    int gate = 0;
    DO(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    FACT_EQ(cudaLaunchHostFunc(stream, conf_gate, &gate), cudaSuccess,
            "cuda_runtime_api.h, cudaLaunchHostFunc: returns");
    FACT_EQ(cudaStreamQuery(stream), cudaErrorNotReady,
            "cuda_runtime_api.h, cudaStreamQuery: a host function is the stream's work");
    (void)cudaGetLastError();
    conf_open(&gate);
    FACT_EQ(cudaDeviceSynchronize(), cudaSuccess,
            "cuda_runtime_api.h, cudaDeviceSynchronize: blocks until all tasks are done");
    FACT_EQ(cudaStreamQuery(stream), cudaSuccess,
            "cuda_runtime_api.h, cudaDeviceSynchronize: blocks until all tasks are done");
    DO(cudaStreamDestroy(stream));
}

static int not_on_the_device;

TEST(symbols_that_are_not_on_the_device)
{
    void *address = &address;
    size_t bytes = 77;
    int value = 0;
    FACT_EQ(cudaGetSymbolAddress(&address, &not_on_the_device), cudaErrorInvalidSymbol,
            "cuda_runtime_api.h, cudaGetSymbolAddress: a symbol that cannot be found");
    FACT(address == &address, "cuda_runtime_api.h, cudaGetSymbolAddress: *devPtr is unchanged");
    FACT_EQ(cudaGetSymbolSize(&bytes, &not_on_the_device), cudaErrorInvalidSymbol,
            "cuda_runtime_api.h, cudaGetSymbolSize: a symbol that cannot be found");
    FACT_EQ(bytes, 77, "cuda_runtime_api.h, cudaGetSymbolSize: *size is unchanged");
    FACT_EQ(cudaMemcpyToSymbol(&not_on_the_device, &value, sizeof value, 0, cudaMemcpyHostToDevice),
            cudaErrorInvalidSymbol, "cuda_runtime_api.h, cudaMemcpyToSymbol: returns");
    FACT_EQ(cudaMemcpyFromSymbol(&value, &not_on_the_device, sizeof value, 0,
                                 cudaMemcpyDeviceToHost),
            cudaErrorInvalidSymbol, "cuda_runtime_api.h, cudaMemcpyFromSymbol: returns");
    (void)cudaGetLastError();
}

TEST(limits_of_the_device)
{
    size_t value = 0;
    FACT_EQ(cudaDeviceGetLimit(&value, cudaLimitStackSize), cudaSuccess,
            "cuda_runtime_api.h, cudaDeviceGetLimit: returns");
    FACT(value > 0, "cuda_runtime_api.h, cudaLimitStackSize: bytes of each thread's stack");
    FACT_EQ(cudaDeviceSetLimit(cudaLimitStackSize, 4096), cudaSuccess,
            "cuda_runtime_api.h, cudaDeviceSetLimit: returns");
    DO(cudaDeviceGetLimit(&value, cudaLimitStackSize));
    FACT(value >= 4096, "cuda_runtime_api.h, cudaDeviceSetLimit: rounded up at most");
}

TEST(resetting_the_device)
{
    struct cudaPointerAttributes attributes = {0};
    void *memory = NULL;
    DO(cudaMalloc(&memory, 256 * CONF_MIB));
    FACT_EQ(cudaDeviceReset(), cudaSuccess, "cuda_runtime_api.h, cudaDeviceReset: returns");
    DO(cudaSetDevice(0));
    DO(cudaPointerGetAttributes(&attributes, (char *)memory + 255 * CONF_MIB));
    FACT_EQ(attributes.type, cudaMemoryTypeUnregistered,
            "cuda_runtime_api.h, cudaDeviceReset: destroys the device's allocations");
    FACT_EQ(cudaMalloc(&memory, CONF_MIB), cudaSuccess,
            "cuda_runtime_api.h, cudaDeviceReset: a later call initialises the device again");
    FACT_EQ(cudaMemset(memory, 1, CONF_MIB), cudaSuccess, "cuda_runtime_api.h, cudaDeviceReset");
    FACT_EQ(cudaFree(memory), cudaSuccess, "cuda_runtime_api.h, cudaDeviceReset");
}

int conf_runtime(void)
{
    return vs_run_tests_around("runtime", conf_begin, NULL, NULL, NULL);
}
