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
    unsigned flags;
    DO(cudaSetDevice(0));
    CUcontext current = conf_context();
    FACT(current, "cudaSetDevice: the context is current immediately");
    FACT_EQ(GOT(int, cuDevicePrimaryCtxGetState(0, &flags, &got)), 1,
            "cudaSetDevice: initialises the primary context");
    DO(cuDevicePrimaryCtxRetain(&primary, 0));
    FACT(current == primary, "cudaSetDevice: binds the primary context");
    DO(cuDevicePrimaryCtxRelease(0));
    DO(cudaStreamCreate(&stream));
    FACT(GOT(CUcontext, cuStreamGetCtx(stream, &got)) == primary,
         SHARED "a cudaStream_t is a CUstream of the primary context");
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
    int count = 0;
    pthread_t thread;
    DO(cudaGetDeviceCount(&count));
    struct visit v = {.device = -1, .after = count - 1};
    DO(cudaSetDevice(count - 1));
    FACT_EQ(GOT(int, cudaGetDevice(&got)), count - 1, "cudaGetDevice: what cudaSetDevice set");
    DO(pthread_create(&thread, NULL, visit_thread, &v));
    pthread_join(thread, NULL);
    FACT_EQ(v.device, 0, "guide, device selection: device 0 unless set");
    FACT_EQ(v.work, cudaSuccess, "guide, initialization: at the first call");
    FACT_EQ(v.set, cudaSuccess, "cudaSetDevice: from any host thread");
    DO(cudaSetDevice(0));
    FACT_EQ(GOT(int, cudaGetDevice(&got)), 0, "cudaSetDevice: for the calling host thread");
    RETURNS(cudaGetDevice(NULL), cudaErrorInvalidValue);
}

TEST(allocations_belong_to_the_current_device)
{
    void *memory = NULL;
    int count = 0;
    DO(cudaGetDeviceCount(&count));
    for (int i = 0; i < count; i++) {
        DO(cudaSetDevice(i));
        DO(cudaMalloc(&memory, 4096));
        DO(cudaSetDevice(0));
        FACT_EQ(GOT(struct cudaPointerAttributes, cudaPointerGetAttributes(&got, memory)).device, i,
                "cudaSetDevice: memory allocated later resides on the device");
        WORKS(cudaFree(memory), "from any device");
    }
}

TEST(flags_of_the_device)
{
    DO(cudaSetDeviceFlags(cudaDeviceScheduleBlockingSync));
    FACT_EQ(GOT(unsigned, cudaGetDeviceFlags(&got)) & cudaDeviceScheduleMask,
            cudaDeviceScheduleBlockingSync, "cudaGetDeviceFlags: the flags for the current device");
    DO(cudaSetDeviceFlags(cudaDeviceScheduleAuto));
    RETURNS(cudaSetDeviceFlags(0x80000000u), cudaErrorInvalidValue);
}

TEST(streams_of_the_runtime)
{
    cudaStream_t stream = NULL;
    int least = 0, greatest = 0;
    DO(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    FACT_EQ(GOT(unsigned, cudaStreamGetFlags(stream, &got)), cudaStreamNonBlocking,
            "cudaStreamGetFlags");
    WORKS(cudaStreamQuery(stream), "no work");
    DO(cudaStreamDestroy(stream));
    DO(cudaDeviceGetStreamPriorityRange(&least, &greatest));
    FACT(greatest <= least, "cudaDeviceGetStreamPriorityRange");
    DO(cudaStreamCreateWithPriority(&stream, cudaStreamDefault, greatest));
    FACT_EQ(GOT(int, cudaStreamGetPriority(stream, &got)), greatest, "cudaStreamGetPriority");
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
    FACT(GOT(size_t, cudaDeviceGetLimit(&got, cudaLimitStackSize)) > 0,
         "cudaLimitStackSize: bytes of each thread's stack");
    DO(cudaDeviceSetLimit(cudaLimitStackSize, 4096));
    FACT(GOT(size_t, cudaDeviceGetLimit(&got, cudaLimitStackSize)) >= 4096,
         "cudaDeviceSetLimit: rounded up at most");
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
