/* SPDX-License-Identifier: Apache-2.0
 *
 * The runtime: its current device, the primary context it shares with the driver, its streams and
 * host functions, and unknown functions and symbols. */
#include "conf.h"

#include <pthread.h>

#define SHARED "guide, interoperability between runtime and driver: "

TEST(the_primary_context_is_shared)
{
    CUcontext primary = NULL;
    CUstream stream = NULL;
    CUcontext owner = NULL;
    unsigned flags;
    int active = 0;
    DO(cudaSetDevice(0));
    CUcontext current = conf_context();
    FACT(current, "cudaSetDevice: the context is current immediately");
    DO(cuDevicePrimaryCtxGetState(0, &flags, &active));
    FACT_EQ(active, 1, "cudaSetDevice: initialises the primary context");
    DO(cuDevicePrimaryCtxRetain(&primary, 0));
    FACT(current == primary, "cudaSetDevice: binds the primary context");
    DO(cuDevicePrimaryCtxRelease(0));
    DO(cudaStreamCreate(&stream));
    DO(cuStreamGetCtx(stream, &owner));
    FACT(owner == primary, SHARED "a cudaStream_t is a CUstream of the primary context");
    WORKS(cuStreamSynchronize(stream), SHARED "a cudaStream_t is a CUstream");
    DO(cudaStreamDestroy(stream));
    DO(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    WORKS(cudaStreamGetFlags(stream, &flags), SHARED "a CUstream is a cudaStream_t");
    FACT_EQ(flags, cudaStreamNonBlocking, SHARED "a CUstream is a cudaStream_t");
    WORKS(cudaStreamDestroy(stream), SHARED "a CUstream is a cudaStream_t");
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
    FACT_EQ(device, count - 1, "cudaGetDevice: what cudaSetDevice set");
    DO(pthread_create(&thread, NULL, visit_thread, &v));
    pthread_join(thread, NULL);
    FACT_EQ(v.device, 0, "guide, device selection: device 0 unless set");
    FACT_EQ(v.work, cudaSuccess, "guide, initialization: at the first call");
    FACT_EQ(v.set, cudaSuccess, "cudaSetDevice: from any host thread");
    DO(cudaSetDevice(0));
    DO(cudaGetDevice(&device));
    FACT_EQ(device, 0, "cudaSetDevice: for the calling host thread");
    RETURNS(cudaGetDevice(NULL), cudaErrorInvalidValue);
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
                "cudaSetDevice: memory allocated later resides on the device");
        WORKS(cudaFree(memory), "from any device");
    }
}

TEST(flags_of_the_device)
{
    unsigned flags = 0;
    DO(cudaSetDeviceFlags(cudaDeviceScheduleBlockingSync));
    DO(cudaGetDeviceFlags(&flags));
    FACT_EQ(flags & cudaDeviceScheduleMask, cudaDeviceScheduleBlockingSync,
            "cudaGetDeviceFlags: the flags for the current device");
    DO(cudaSetDeviceFlags(cudaDeviceScheduleAuto));
    RETURNS(cudaSetDeviceFlags(0x80000000u), cudaErrorInvalidValue);
}

TEST(streams_of_the_runtime)
{
    cudaStream_t stream = NULL;
    unsigned flags = 99;
    int least = 0, greatest = 0, priority = 99;
    DO(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    DO(cudaStreamGetFlags(stream, &flags));
    FACT_EQ(flags, cudaStreamNonBlocking, "cudaStreamGetFlags");
    WORKS(cudaStreamQuery(stream), "no work");
    DO(cudaStreamDestroy(stream));
    DO(cudaDeviceGetStreamPriorityRange(&least, &greatest));
    FACT(greatest <= least, "cudaDeviceGetStreamPriorityRange");
    DO(cudaStreamCreateWithPriority(&stream, cudaStreamDefault, greatest));
    DO(cudaStreamGetPriority(stream, &priority));
    FACT_EQ(priority, greatest, "cudaStreamGetPriority");
    DO(cudaStreamDestroy(stream));
    RETURNS(cudaStreamCreate(NULL), cudaErrorInvalidValue);
    RETURNS(cudaStreamCreateWithFlags(&stream, 0x80000000u), cudaErrorInvalidValue);
}

TEST(host_functions_of_the_runtime)
{
    cudaStream_t stream = NULL;
    int gate = 0;
    DO(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    DO(cudaLaunchHostFunc(stream, conf_gate, &gate));
    BUSY(cudaStreamQuery(stream), "a host function is the stream's work");
    conf_open(&gate);
    WORKS(cudaDeviceSynchronize(), "blocks until all tasks are done");
    WORKS(cudaStreamQuery(stream), "cudaDeviceSynchronize: blocks until all tasks are done");
}

static int not_on_the_device;

TEST(symbols_that_are_not_on_the_device)
{
    void *address = &address;
    size_t bytes = 77;
    int value = 0;
    FACT_EQ(cudaGetSymbolAddress(&address, &not_on_the_device), cudaErrorInvalidSymbol,
            "a symbol that cannot be found");
    FACT(address == &address, "cudaGetSymbolAddress: *devPtr is unchanged");
    FACT_EQ(cudaGetSymbolSize(&bytes, &not_on_the_device), cudaErrorInvalidSymbol,
            "a symbol that cannot be found");
    FACT_EQ(bytes, 77, "cudaGetSymbolSize: *size is unchanged");
    RETURNS(cudaMemcpyToSymbol(&not_on_the_device, &value, sizeof value, 0, cudaMemcpyHostToDevice),
            cudaErrorInvalidSymbol);
    FACT_EQ(cudaMemcpyFromSymbol(&value, &not_on_the_device, sizeof value, 0,
                                 cudaMemcpyDeviceToHost),
            cudaErrorInvalidSymbol, "cudaMemcpyFromSymbol: returns");
}

TEST(limits_of_the_device)
{
    size_t value = 0;
    DO(cudaDeviceGetLimit(&value, cudaLimitStackSize));
    FACT(value > 0, "cudaLimitStackSize: bytes of each thread's stack");
    DO(cudaDeviceSetLimit(cudaLimitStackSize, 4096));
    DO(cudaDeviceGetLimit(&value, cudaLimitStackSize));
    FACT(value >= 4096, "cudaDeviceSetLimit: rounded up at most");
}

TEST(resetting_the_device)
{
    struct cudaPointerAttributes attributes = {0};
    void *memory = NULL;
    DO(cudaMalloc(&memory, 256 * CONF_MIB));
    DO(cudaDeviceReset());
    DO(cudaSetDevice(0));
    DO(cudaPointerGetAttributes(&attributes, (char *)memory + 255 * CONF_MIB));
    FACT_EQ(attributes.type, cudaMemoryTypeUnregistered,
            "cudaDeviceReset: destroys the device's allocations");
    WORKS(cudaMalloc(&memory, CONF_MIB),
          "cudaDeviceReset: a later call initialises the device again");
    WORKS(cudaMemset(memory, 1, CONF_MIB), "cudaDeviceReset");
    WORKS(cudaFree(memory), "cudaDeviceReset");
}
