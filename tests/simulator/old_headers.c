/* SPDX-License-Identifier: Apache-2.0
 *
 * Compiled with the headers of an older CUDA: the functions that differ between major versions, as
 * a program of that version uses them. */
#include <cuda_runtime_api.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NEED(condition)                                          \
    do {                                                         \
        if (!(condition)) {                                      \
            printf("line %d: not so: %s\n", __LINE__, #condition); \
            exit(1);                                             \
        }                                                        \
    } while (0)
#define OK(call) NEED((call) == cudaSuccess)

static void properties(void)
{
    struct {
        struct cudaDeviceProp p;
        char guard[64];
    } got;
    memset(&got, 0x5a, sizeof got);
    OK(cudaGetDeviceProperties(&got.p, 0));
    NEED(strstr(got.p.name, "A100-40GB"));
    NEED(got.p.totalGlobalMem == (size_t)40442 << 20 && got.p.major == 8 && got.p.minor == 0);
    NEED(got.p.clockRate == 1410000 && got.p.memoryClockRate == 1215000);
    NEED(got.p.multiProcessorCount == 108 && got.p.warpSize == 32 && got.p.l2CacheSize == 40 << 20);
    NEED(got.p.deviceOverlap == 1 && got.p.computeMode == cudaComputeModeDefault);
    NEED(got.p.sharedMemPerBlockOptin == 163 << 10 && got.p.maxBlocksPerMultiProcessor == 32);
    NEED(got.p.textureAlignment == 512 && got.p.surfaceAlignment == 512);
    NEED(got.p.singleToDoublePrecisionPerfRatio == 2 && got.p.reservedSharedMemPerBlock == 1024);
#if CUDART_VERSION >= 12000
    NEED(got.p.memoryPoolsSupported == 1 && got.p.hostRegisterSupported == 1);
#endif
    for (size_t i = 0; i < sizeof got.guard; i++)
        NEED(got.guard[i] == 0x5a);
    int device = 7;
    OK(cudaChooseDevice(&device, &got.p));
    NEED(device == 0);
}

static void memory(void)
{
    void *p, *managed;
    struct cudaPointerAttributes a;
    OK(cudaMalloc(&p, 4096));
    OK(cudaPointerGetAttributes(&a, p));
    NEED(a.type == cudaMemoryTypeDevice && a.devicePointer == p && a.device == 0);
    OK(cudaMallocManaged(&managed, 4096, cudaMemAttachGlobal));
    OK(cudaMemAdvise(managed, 4096, cudaMemAdviseSetPreferredLocation, cudaCpuDeviceId));
    OK(cudaMemPrefetchAsync(managed, 4096, 0, NULL));
    OK(cudaDeviceSynchronize());
    int where = 7;
    OK(cudaMemRangeGetAttribute(&where, sizeof where, cudaMemRangeAttributeLastPrefetchLocation,
                                managed, 4096));
    NEED(where == 0);
    OK(cudaFree(managed));
    OK(cudaFree(p));
}

static void events_and_streams(void)
{
    cudaEvent_t from, to;
    cudaStream_t stream;
    float ms = -1;
    enum cudaStreamCaptureStatus status = cudaStreamCaptureStatusActive;
    OK(cudaEventCreate(&from));
    OK(cudaEventCreate(&to));
    OK(cudaStreamCreate(&stream));
    OK(cudaEventRecord(from, stream));
    OK(cudaEventRecord(to, stream));
    OK(cudaStreamSynchronize(stream));
    OK(cudaEventElapsedTime(&ms, from, to));
    NEED(ms >= 0);
#if CUDART_VERSION >= 12000
    OK(cudaStreamGetCaptureInfo(stream, &status, NULL, NULL, NULL, NULL));
#else
    OK(cudaStreamGetCaptureInfo(stream, &status, NULL));
#endif
    NEED(status == cudaStreamCaptureStatusNone);
}

static void entry_points(void)
{
    void *f = NULL;
#if CUDART_VERSION >= 12000
    enum cudaDriverEntryPointQueryResult found;
    OK(cudaGetDriverEntryPoint("cuMemAlloc", &f, cudaEnableDefault, &found));
    NEED(found == cudaDriverEntryPointSuccess);
#else
    OK(cudaGetDriverEntryPoint("cuMemAlloc", &f, cudaEnableDefault));
#endif
    NEED(f);
}

int main(void)
{
    int version;
    OK(cudaRuntimeGetVersion(&version));
    NEED(version / 1000 == CUDART_VERSION / 1000);
    properties();
    memory();
    events_and_streams();
    entry_points();
    puts("as the headers say");
    return 0;
}
