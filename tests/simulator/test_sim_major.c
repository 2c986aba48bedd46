/* SPDX-License-Identifier: Apache-2.0
 *
 * A program of CUDA 11 or CUDA 12, as its compiler would generate it: no header is used, functions
 * and structures are those of 11.8 and 12.9 by hand, offsets and sizes as in the headers of these
 * releases. Built once for each; MAJOR selects one. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>
#include <stdbool.h>
#include <string.h>

#include "support/cmocka_test.h"

#define OK(call) assert_int_equal((call), 0)
#define FAILS(call, error) assert_int_equal((call), (error))

enum { INVALID_VALUE = 1, INSUFFICIENT_DRIVER = 35, SYMBOL_NOT_FOUND = 500, NOT_SUPPORTED = 801 };

typedef struct {
    unsigned x, y, z;
} dim3_t;

int cudaRuntimeGetVersion(int *);
int cudaDriverGetVersion(int *);
int cudaGetDeviceCount(int *);
int cudaSetDevice(int);
int cudaGetDeviceProperties(void *, int); /* of the CUDA 11 layout in both */
int cudaChooseDevice(int *, const void *);
int cudaMalloc(void **, size_t);
int cudaFree(void *);
int cudaMallocManaged(void **, size_t, unsigned);
int cudaMemset(void *, int, size_t);
int cudaMemcpy(void *, const void *, size_t, int);
int cudaMemPrefetchAsync(const void *, size_t, int, void *);
int cudaMemPrefetchAsync_ptsz(const void *, size_t, int, void *);
int cudaMemAdvise(const void *, size_t, int, int);
int cudaMemRangeGetAttribute(void *, size_t, int, const void *, size_t);
int cudaPointerGetAttributes(void *, const void *);
int cudaFuncGetAttributes(void *, const void *);
int cudaStreamCreate(void **);
int cudaStreamGetCaptureInfo(void *, int *, unsigned long long *);
int cudaStreamGetCaptureInfo_v2(void *, int *, unsigned long long *, void **, const void **,
                                size_t *);
int cudaThreadSynchronize(void);
int cudaThreadGetLimit(size_t *, int);
int cudaSetDoubleForDevice(double *);
int cudaLaunchKernel(const void *, dim3_t, dim3_t, void **, size_t, void *);
int cudaDeviceSynchronize(void);
int cudaGetLastError(void);
int cudaEventCreate(void **);
int cudaEventRecord(void *, void *);
int cudaEventElapsedTime(float *, void *, void *);
void **__cudaRegisterFatBinary(void *);
void __cudaRegisterFatBinaryEnd(void **);
void __cudaRegisterFunction(void **, const char *, char *, const char *, int, void *, void *,
                            void *, void *, int *);
int cudaStreamBeginCapture(void *, int);
int cudaStreamEndCapture(void *, void **);
int cudaStreamUpdateCaptureDependencies(void *, void **, size_t, unsigned);
int cudaStreamSynchronize(void *);
int cudaGraphCreate(void **, unsigned);
int cudaGraphDestroy(void *);
int cudaGraphAddEmptyNode(void **, void *, const void **, size_t);
int cudaGraphAddDependencies(void *, const void **, const void **, size_t);
int cudaGraphRemoveDependencies(void *, const void **, const void **, size_t);
int cudaGraphGetEdges(void *, void **, void **, size_t *);
int cudaGraphNodeGetDependencies(void *, void **, size_t *);
int cudaGraphNodeGetDependentNodes(void *, void **, size_t *);
int cudaGraphLaunch(void *, void *);
int cudaGraphExecDestroy(void *);
#if MAJOR == 11
int cudaGraphInstantiate(void **, void *, void **, char *, size_t);
int cudaGraphExecUpdate(void *, void *, void **, int *);
#else
int cudaGraphInstantiate(void **, void *, unsigned long long);
int cudaGraphExecUpdate(void *, void *, void *);
#endif
#if MAJOR == 11
int cudaGetDriverEntryPoint(const char *, void **, unsigned long long);
int cudaBindTexture(size_t *, const void *, const void *, const void *, size_t);
#else
int cudaGetDeviceProperties_v2(void *, int);
int cudaGetDriverEntryPoint(const char *, void **, unsigned long long, int *);
int cudaMemPrefetchAsync_v2(const void *, size_t, uint64_t, unsigned, void *);
int cudaEventElapsedTime_v2(float *, void *, void *);
#endif

static int loaded_runtimes(struct dl_phdr_info *info, size_t size, void *arg)
{
    (void)size;
    *(int *)arg += strstr(info->dlpi_name, "libcudart.so.") != NULL;
    return 0;
}

TEST(the_library_has_the_majors_soname_and_version_node)
{
    int count = 0;
    dl_iterate_phdr(loaded_runtimes, &count);
    assert_int_equal(count, 1);
    void *runtime = dlopen(RUNTIME_SONAME, RTLD_NOW | RTLD_NOLOAD);
    assert_non_null(runtime);
    assert_ptr_equal(dlvsym(runtime, "cudaMalloc", RUNTIME_SONAME), (void *)cudaMalloc);
    assert_null(dlvsym(runtime, "cudaMalloc", "libcudart.so.13"));
}

TEST(versions_are_of_the_last_release)
{
    assert_int_equal(GOT(int, cudaRuntimeGetVersion(&got)), MAJOR == 11 ? 11080 : 12090);
    assert_true(GOT(int, cudaDriverGetVersion(&got)) >= 1000 * MAJOR);
}

TEST(names_of_younger_releases_are_absent)
{
    static const char *const since_12[] = {"cudaLibraryLoadData", "cudaGetKernel", "cudaInitDevice",
                                           "cudaGetDeviceProperties_v2", "cudaMemAdvise_v2",
                                           "cudaGraphAddNode", "cudaStreamGetCaptureInfo_v3"};
    static const char *const since_13[] = {"cudaMemGetDefaultMemPool", "cudaLogsCurrent",
                                           "cudaMemDiscardBatchAsync"};
    static const char *const until_12[] = {"cudaThreadExit", "cudaStreamGetCaptureInfo_v2",
                                           "cudaLaunchCooperativeKernelMultiDevice"};
    void *runtime = dlopen(RUNTIME_SONAME, RTLD_NOW | RTLD_NOLOAD);
    for (size_t i = 0; i < sizeof since_12 / sizeof *since_12; i++)
        assert_int_equal(dlsym(runtime, since_12[i]) != NULL, MAJOR == 12);
    for (size_t i = 0; i < sizeof since_13 / sizeof *since_13; i++)
        assert_null(dlsym(runtime, since_13[i]));
    for (size_t i = 0; i < sizeof until_12 / sizeof *until_12; i++)
        assert_non_null(dlsym(runtime, until_12[i]));
    assert_int_equal(dlsym(runtime, "cudaBindTexture") != NULL, MAJOR == 11);
}

/* ---- cudaDeviceProp ---- */

static int int_at(const char *p, size_t offset)
{
    int value;
    memcpy(&value, p + offset, sizeof value);
    return value;
}

static size_t size_at(const char *p, size_t offset)
{
    size_t value;
    memcpy(&value, p + offset, sizeof value);
    return value;
}

static void check_properties(int (*get)(void *, int), size_t bytes)
{
    char p[1200];
    memset(p, 0x5a, sizeof p);
    OK(get(p, 0));
    assert_non_null(strstr(p, "A100-40GB"));
    assert_true(size_at(p, 288) == (size_t)40442 << 20); /* totalGlobalMem */
    assert_true(size_at(p, 296) == 49152);               /* sharedMemPerBlock */
    assert_int_equal(int_at(p, 308), 32);                /* warpSize */
    assert_int_equal(int_at(p, 320), 1024);              /* maxThreadsPerBlock */
    assert_int_equal(int_at(p, 344), 65535);             /* maxGridSize[2] */
    assert_int_equal(int_at(p, 348), 1410000);           /* clockRate */
    assert_true(size_at(p, 352) == 65536);               /* totalConstMem */
    assert_int_equal(int_at(p, 360), 8);                 /* major */
    assert_true(size_at(p, 368) == 512);                 /* textureAlignment */
    assert_true(size_at(p, 376) == 32);                  /* texturePitchAlignment */
    assert_int_equal(int_at(p, 384), 1);                 /* deviceOverlap */
    assert_int_equal(int_at(p, 388), 108);               /* multiProcessorCount */
    assert_int_equal(int_at(p, 392), 0);                 /* kernelExecTimeoutEnabled */
    assert_int_equal(int_at(p, 400), 1);                 /* canMapHostMemory */
    assert_int_equal(int_at(p, 404), 0);                 /* computeMode */
    assert_true(size_at(p, 568) == 512);                 /* surfaceAlignment */
    assert_int_equal(int_at(p, 576), 1);                 /* concurrentKernels */
    assert_int_equal(int_at(p, 584), 1);                 /* pciBusID */
    assert_int_equal(int_at(p, 604), 1);                 /* unifiedAddressing */
    assert_int_equal(int_at(p, 608), 1215000);           /* memoryClockRate */
    assert_int_equal(int_at(p, 612), 5120);              /* memoryBusWidth */
    assert_int_equal(int_at(p, 616), 40 << 20);          /* l2CacheSize */
    assert_int_equal(int_at(p, 624), 2048);              /* maxThreadsPerMultiProcessor */
    assert_true(size_at(p, 640) == 164 << 10);           /* sharedMemPerMultiprocessor */
    assert_int_equal(int_at(p, 648), 65536);             /* regsPerMultiprocessor */
    assert_int_equal(int_at(p, 652), 1);                 /* managedMemory */
    assert_int_equal(int_at(p, 668), 2);                 /* singleToDoublePrecisionPerfRatio */
    assert_int_equal(int_at(p, 676), 1);                 /* concurrentManagedAccess */
    assert_int_equal(int_at(p, 692), 0);                 /* cooperativeMultiDeviceLaunch */
    assert_true(size_at(p, 696) == 163 << 10);           /* sharedMemPerBlockOptin */
    assert_int_equal(int_at(p, 712), 32);                /* maxBlocksPerMultiProcessor */
    assert_true(size_at(p, 720) == 1024);                /* reservedSharedMemPerBlock */
    if (bytes > 728) {
        assert_int_equal(int_at(p, 728), 1); /* hostRegisterSupported */
        assert_int_equal(int_at(p, 744), 1); /* memoryPoolsSupported */
        assert_int_equal(int_at(p, 780), 0); /* reserved[0] */
    }
    for (size_t i = bytes; i < sizeof p; i++)
        assert_int_equal(p[i], 0x5a); /* not ours */
    FAILS(get(NULL, 0), INVALID_VALUE);
    cudaGetLastError();
}

TEST(device_properties_have_the_majors_layout)
{
    char wanted[1032] = "";
    check_properties(cudaGetDeviceProperties, 728);
#if MAJOR == 12
    check_properties(cudaGetDeviceProperties_v2, 1032);
#endif
    assert_int_equal(GOT(int, cudaChooseDevice(&got, wanted)), 0);
}

/* ---- structures that grew ---- */

TEST(pointer_attributes_are_24_bytes)
{
    struct {
        int type, device;
        void *device_pointer, *host_pointer;
        char guard[128];
    } a;
    void *p;
    OK(cudaMalloc(&p, 4096));
    memset(&a, 0x5a, sizeof a);
    OK(cudaPointerGetAttributes(&a, p));
    assert_int_equal(a.type, 2); /* cudaMemoryTypeDevice */
    assert_int_equal(a.device, 0);
    assert_ptr_equal(a.device_pointer, p);
    assert_null(a.host_pointer);
    for (size_t i = 0; i < sizeof a.guard; i++)
        assert_int_equal(a.guard[i], 0x5a);
}

static int kernel_stub;

static void register_kernel(void)
{
    static struct {
        int magic, version;
        const void *data;
        void *unused;
    } wrapper = {0x466243b1, 1, (const void *)8, 0};
    void **handle = __cudaRegisterFatBinary(&wrapper);
    __cudaRegisterFunction(handle, (const char *)&kernel_stub, (char *)"old_kernel", "old_kernel",
                           -1, NULL, NULL, NULL, NULL, NULL);
    __cudaRegisterFatBinaryEnd(handle);
}

TEST(function_attributes_have_the_majors_size)
{
    const size_t bytes = MAJOR == 11 ? 56 : 144;
    char a[256];
    memset(a, 0x5a, sizeof a);
    OK(cudaFuncGetAttributes(a, &kernel_stub));
    assert_int_equal(int_at(a, 24), 1024); /* maxThreadsPerBlock */
    for (size_t i = bytes; i < sizeof a; i++)
        assert_int_equal(a[i], 0x5a);
}

TEST(kernels_are_launched_by_their_stub)
{
    void *from, *to;
    OK(cudaEventCreate(&from));
    OK(cudaEventCreate(&to));
    OK(cudaEventRecord(from, NULL));
    OK(cudaLaunchKernel(&kernel_stub, (dim3_t){1, 1, 1}, (dim3_t){32, 1, 1}, NULL, 0, NULL));
    OK(cudaEventRecord(to, NULL));
    OK(cudaDeviceSynchronize());
    assert_true(GOT(float, cudaEventElapsedTime(&got, from, to)) >= 0);
#if MAJOR == 12
    assert_true(GOT(float, cudaEventElapsedTime_v2(&got, from, to)) >= 0);
#endif
}

/* ---- other arguments ---- */

TEST(prefetch_and_advice_take_a_device_number)
{
    const int last_prefetch = 4, preferred = 2, set_preferred = 3, cpu = -1;
    void *p, *stream;
    int where = 7;
    OK(cudaMallocManaged(&p, 1 << 20, 1));
    OK(cudaStreamCreate(&stream));
    OK(cudaMemPrefetchAsync(p, 1 << 20, 0, stream));
    OK(cudaThreadSynchronize());
    OK(cudaMemRangeGetAttribute(&where, sizeof where, last_prefetch, p, 1 << 20));
    assert_int_equal(where, 0);
    OK(cudaMemPrefetchAsync_ptsz(p, 1 << 20, cpu, stream));
    OK(cudaThreadSynchronize());
    OK(cudaMemRangeGetAttribute(&where, sizeof where, last_prefetch, p, 1 << 20));
    assert_int_equal(where, cpu);
    OK(cudaMemAdvise(p, 1 << 20, set_preferred, cpu));
    OK(cudaMemRangeGetAttribute(&where, sizeof where, preferred, p, 1 << 20));
    assert_int_equal(where, cpu);
    OK(cudaMemAdvise(p, 1 << 20, set_preferred, 0));
    OK(cudaMemRangeGetAttribute(&where, sizeof where, preferred, p, 1 << 20));
    assert_int_equal(where, 0);
#if MAJOR == 12
    const uint64_t host = 2; /* struct cudaMemLocation {type host, id 0} in a register */
    OK(cudaMemPrefetchAsync_v2(p, 1 << 20, host, 0, stream));
    OK(cudaThreadSynchronize());
    OK(cudaMemRangeGetAttribute(&where, sizeof where, last_prefetch, p, 1 << 20));
    assert_int_equal(where, cpu);
#endif
}

TEST(capture_info_v2_names_graph_and_dependencies)
{
    void *stream, *seen = NULL;
    const void *nodes = NULL;
    int status = 7;
    unsigned long long id = 0, same = 0;
    size_t count = 7;
    OK(cudaStreamCreate(&stream));
    assert_int_equal(GOT(int, cudaStreamGetCaptureInfo(stream, &got, &id)), 0);
    OK(cudaStreamBeginCapture(stream, 2)); /* relaxed */
    OK(cudaLaunchKernel(&kernel_stub, (dim3_t){1, 1, 1}, (dim3_t){1, 1, 1}, NULL, 0, stream));
    OK(cudaStreamGetCaptureInfo(stream, &status, &id));
    assert_int_equal(status, 1); /* active */
    OK(cudaStreamGetCaptureInfo_v2(stream, &status, &same, &seen, &nodes, &count));
    assert_true(id == same);
    assert_int_equal(count, 1);
    OK(cudaStreamUpdateCaptureDependencies(stream, NULL, 0, 1)); /* set: none */
    OK(cudaStreamGetCaptureInfo_v2(stream, &status, NULL, NULL, NULL, &count));
    assert_int_equal(count, 0);
    assert_ptr_equal(GOT(void *, cudaStreamEndCapture(stream, &got)), seen);
}

TEST(graph_functions_know_no_edge_data)
{
    void *graph, *first, *second, *from[4], *to[4], *exec, *stream;
    size_t count = 4;
    OK(cudaGraphCreate(&graph, 0));
    OK(cudaGraphAddEmptyNode(&first, graph, NULL, 0));
    OK(cudaGraphAddEmptyNode(&second, graph, NULL, 0));
    OK(cudaGraphAddDependencies(graph, (const void **)&first, (const void **)&second, 1));
    OK(cudaGraphGetEdges(graph, from, to, &count));
    assert_int_equal(count, 1);
    assert_ptr_equal(from[0], first);
    assert_ptr_equal(to[0], second);
    count = 4;
    OK(cudaGraphNodeGetDependencies(second, from, &count));
    assert_int_equal(count, 1);
    assert_ptr_equal(from[0], first);
    count = 4;
    OK(cudaGraphNodeGetDependentNodes(first, to, &count));
    assert_int_equal(count, 1);
    assert_ptr_equal(to[0], second);
#if MAJOR == 11
    void *culprit = &culprit;
    char log[16] = "untouched";
    int result = 7;
    OK(cudaGraphInstantiate(&exec, graph, &culprit, log, sizeof log));
    assert_null(culprit);
    assert_string_equal(log, "");
    culprit = &culprit;
    OK(cudaGraphExecUpdate(exec, graph, &culprit, &result));
    assert_int_equal(result, 0); /* cudaGraphExecUpdateSuccess */
    assert_null(culprit);
#else
    struct {
        int result;
        void *nodes[2];
    } info = {.result = 7};
    OK(cudaGraphInstantiate(&exec, graph, 0));
    OK(cudaGraphExecUpdate(exec, graph, &info));
    assert_int_equal(info.result, 0);
#endif
    OK(cudaStreamCreate(&stream));
    OK(cudaGraphLaunch(exec, stream));
    OK(cudaStreamSynchronize(stream));
    OK(cudaGraphRemoveDependencies(graph, (const void **)&first, (const void **)&second, 1));
    assert_int_equal(GOT(size_t, cudaGraphGetEdges(graph, NULL, NULL, &got)), 0);
}

TEST(driver_entry_points_are_the_majors)
{
    void *f = NULL;
#if MAJOR == 11
    OK(cudaGetDriverEntryPoint("cuMemAlloc", &f, 0));
    assert_non_null(f);
    FAILS(cudaGetDriverEntryPoint("cuLibraryLoadData", &f, 0), SYMBOL_NOT_FOUND); /* since 12 */
#else
    int status = 7;
    assert_non_null(GOT(void *, cudaGetDriverEntryPoint("cuLibraryLoadData", &got, 0, &status)));
    assert_int_equal(status, 0);
    OK(cudaGetDriverEntryPoint("cuMemGetDefaultMemPool", &f, 0, &status)); /* since 13 */
    assert_null(f);
    assert_int_equal(status, 2); /* cudaDriverEntryPointVersionNotSufficent */
#endif
    cudaGetLastError();
}

TEST(old_names_still_work)
{
    const int stack_size = 0;
    double d = 1.5;
    assert_true(GOT(size_t, cudaThreadGetLimit(&got, stack_size)) > 0);
    OK(cudaSetDoubleForDevice(&d));
    assert_true(d == 1.5);
    FAILS(cudaSetDoubleForDevice(NULL), INVALID_VALUE);
#if MAJOR == 11
    FAILS(cudaBindTexture(NULL, NULL, NULL, NULL, 0), NOT_SUPPORTED);
    FAILS(cudaGetLastError(), NOT_SUPPORTED);
#endif
    cudaGetLastError();
}

/* ---- before CUDA 12, choosing a device started nothing ---- */

TEST(set_device_starts_a_context_since_12)
{
    int (*is_active)(int, unsigned *, int *);
    void *driver = dlopen("libcuda.so.1", RTLD_NOW), *p;
    *(void **)&is_active = dlsym(driver, "cuDevicePrimaryCtxGetState");
    unsigned flags;
    OK(cudaSetDevice(1));
    assert_int_equal(GOT(int, is_active(1, &flags, &got)), MAJOR >= 12);
    OK(cudaMalloc(&p, 4096)); /* on the device chosen */
    assert_int_equal(GOT(int, is_active(1, &flags, &got)), 1);
    OK(cudaSetDevice(0));
    struct {
        int type, device;
        void *pointers[2];
    } a;
    OK(cudaPointerGetAttributes(&a, p));
    assert_int_equal(a.device, 1);
}

/* ---- CUPTI of the major: a shorter record of each kind ---- */

int cuptiGetVersion(uint32_t *);
int cuptiActivityEnable(int);
int cuptiActivityDisable(int);
int cuptiActivityRegisterCallbacks(void (*)(uint8_t **, size_t *, size_t *),
                                   void (*)(void *, uint32_t, uint8_t *, size_t, size_t));
int cuptiActivityFlushAll(uint32_t);
int cuptiActivityGetNextRecord(uint8_t *, size_t, char **);

enum { MEMCPY = 1, MEMSET = 2, CONCURRENT_KERNEL = 10, SYNCHRONIZATION = 38 };
static const int kinds[] = {MEMCPY, MEMSET, CONCURRENT_KERNEL, SYNCHRONIZATION};

static struct {
    _Alignas(16) uint8_t bytes[65536];
    size_t valid;
} activity;

static void request(uint8_t **buffer, size_t *size, size_t *records)
{
    *buffer = activity.bytes;
    *size = sizeof activity.bytes;
    *records = 0;
}

static void complete(void *context, uint32_t stream, uint8_t *buffer, size_t size, size_t valid)
{
    (void)context, (void)stream, (void)buffer, (void)size;
    activity.valid = valid;
}

static size_t record_bytes(int kind)
{
    switch (kind) {
    case CONCURRENT_KERNEL: return MAJOR == 11 ? 200 : 208;
    case MEMCPY: return MAJOR == 11 ? 88 : 96;
    case SYNCHRONIZATION: return MAJOR == 11 ? 40 : 56;
    default: return 88;
    }
}

TEST(records_have_the_majors_layout)
{
    void *p;
    char bytes[64], *record = NULL, *last = NULL;
    unsigned seen = 0;
    assert_int_equal(GOT(uint32_t, cuptiGetVersion(&got)), MAJOR == 11 ? 18 : 26);
    OK(cudaMalloc(&p, sizeof bytes));
    OK(cuptiActivityRegisterCallbacks(request, complete));
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        OK(cuptiActivityEnable(kinds[i]));
    OK(cudaMemset(p, 7, sizeof bytes));
    OK(cudaLaunchKernel(&kernel_stub, (dim3_t){3, 2, 1}, (dim3_t){32, 1, 1}, NULL, 0, NULL));
    OK(cudaMemcpy(bytes, p, sizeof bytes, 2));
    OK(cudaDeviceSynchronize());
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        OK(cuptiActivityDisable(kinds[i]));
    OK(cuptiActivityFlushAll(0));
    assert_true(activity.valid > 0);
    while (cuptiActivityGetNextRecord(activity.bytes, activity.valid, &record) == 0) {
        if (last)
            assert_true((size_t)(record - last) == (record_bytes(int_at(last, 0)) + 7) / 8 * 8);
        last = record;
        switch (int_at(record, 0)) {
        case CONCURRENT_KERNEL:
            assert_true(size_at(record, 24) >= size_at(record, 16)); /* end, start */
            assert_int_equal(int_at(record, 52), 3);                 /* gridX */
            assert_int_equal(int_at(record, 64), 32);                /* blockX */
            assert_string_equal((char *)size_at(record, 104), "old_kernel");
            seen |= 1;
            break;
        case MEMCPY:
            assert_int_equal(record[4], 2); /* copyKind: device to host */
            assert_true(size_at(record, 8) == sizeof bytes);
            seen |= 2;
            break;
        case MEMSET:
            assert_true(size_at(record, 8) == sizeof bytes);
            seen |= 4;
            break;
        case SYNCHRONIZATION: seen |= 8; break;
        default: fail();
        }
    }
    assert_non_null(last);
    assert_true((uint8_t *)last + record_bytes(int_at(last, 0)) <=
                activity.bytes + activity.valid);
    assert_int_equal(seen, 15);
}

/* The work that a profiler is to record: three kernels, a copy and a memset. */
static int run_some_work(void)
{
    void *p;
    char bytes[64];
    if (cudaMalloc(&p, 1 << 20) || cudaMemset(p, 1, 1 << 20))
        return 1;
    for (int i = 0; i < 3; i++)
        if (cudaLaunchKernel(&kernel_stub, (dim3_t){1, 1, 1}, (dim3_t){32, 1, 1}, NULL, 0, NULL))
            return 2;
    return cudaMemcpy(bytes, p, sizeof bytes, 2) || bytes[63] != 1 || cudaFree(p) ? 3 : 0;
}

int main(int argc, char **argv)
{
    if (argc > 1 && !strcmp(argv[1], "old-driver")) {
        int count = 7, version = 0;
        void *p;
        if (cudaDriverGetVersion(&version) || version != 11080)
            return 1;
        if (MAJOR == 12)
            return cudaGetDeviceCount(&count) != INSUFFICIENT_DRIVER || count;
        char bytes[16];
        return cudaMalloc(&p, 16) || cudaMemset(p, 3, 16) || cudaMemcpy(bytes, p, 16, 2) ||
               bytes[15] != 3 || cudaFree(p);
    }
    register_kernel();
    if (argc > 1 && !strcmp(argv[1], "work"))
        return run_some_work();
    return vs_run_tests(NULL, NULL);
}
