/* SPDX-License-Identifier: Apache-2.0
 *
 * Entry points by name and version: cuGetProcAddress and the runtime's use of it. Functions are
 * called through the returned pointers, not compared with symbols. */
#include "conf.h"

#define RULE "cuGetProcAddress: "
#define RUNTIME_RULE "cudaGetDriverEntryPointByVersion: "

typedef CUresult (*any_function)(void);

static CUresult look(const char *name, int version, cuuint64_t flags, any_function *function,
                     CUdriverProcAddressQueryResult *status)
{
    void *found = NULL;
    CUresult e = cuGetProcAddress(name, &found, version, flags, status);
    memcpy(function, &found, sizeof found);
    return e;
}

static void *entry(const char *name, int version, cuuint64_t flags)
{
    return GOT(void *, cuGetProcAddress(name, &got, version, flags, NULL));
}

TEST(known_functions_are_found)
{
    static const struct {
        const char *name;
        int since;
    } known[] = {{"cuInit", 2000},
                 {"cuDriverGetVersion", 2020},
                 {"cuMemAlloc", 3020},
                 {"cuMemFree", 3020},
                 {"cuLaunchKernel", 4000},
                 {"cuStreamCreateWithPriority", 5050},
                 {"cuMemAllocManaged", 6000},
                 {"cuLaunchHostFunc", 10000},
                 {"cuMemCreate", 10020},
                 {"cuMemAllocAsync", 11020},
                 {"cuGraphInstantiateWithParams", 12000}};
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        any_function f = NULL;
        CUdriverProcAddressQueryResult status = CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
        WORKS(look(known[i].name, known[i].since, 0, &f, &status), RULE "returns");
        FACT(f, RULE "a function for the version that introduced it");
        FACT_EQ(status, CU_GET_PROC_ADDRESS_SUCCESS, RULE "found");
        WORKS(look(known[i].name, CUDA_VERSION, 0, &f, NULL), RULE "symbolStatus is optional");
        FACT(f, RULE "a function for any later version");
    }
}

TEST(newer_functions_need_newer_versions)
{
    static const char *const names[] = {"cuMemAllocAsync", "cuMemCreate", "cuLaunchHostFunc"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        any_function f = NULL;
        CUdriverProcAddressQueryResult status = CU_GET_PROC_ADDRESS_SUCCESS;
        WORKS(look(names[i], 9000, 0, &f, &status), RULE "success and NULL");
        FACT(!f, RULE "no function for the version asked for");
        FACT_EQ(status, CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT,
                RULE "found, but not supported by the version asked for");
    }
}

TEST(unknown_names_are_not_found)
{
    static const char *const names[] = {"cuMemAllocNeverWas", "cudaMalloc", "x"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        any_function f = NULL;
        CUdriverProcAddressQueryResult status = CU_GET_PROC_ADDRESS_SUCCESS;
        WORKS(look(names[i], CUDA_VERSION, 0, &f, &status), RULE "success and NULL");
        FACT(!f, RULE "NULL for an invalid symbol");
        FACT_EQ(status, CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND, RULE "not found");
    }
}

TEST(a_version_beyond_the_drivers_is_refused)
{
    any_function f = NULL;
    int version = 0;
    DO(cuDriverGetVersion(&version));
    INVALID(look("cuInit", version + 1000, 0, &f, NULL),
            RULE "an invalid value if the version is greater than the driver's");
}

TEST(what_is_found_works)
{
    CUresult (*get_version)(int *), (*count_devices)(int *);
    int seen = 0, version = 0;
    *(void **)&get_version = entry("cuDriverGetVersion", CUDA_VERSION, 0);
    *(void **)&count_devices = entry("cuDeviceGetCount", CUDA_VERSION, 0);
    DO(cuDriverGetVersion(&version));
    WORKS(get_version(&seen), RULE "the address of the driver function");
    FACT_EQ(seen, version, RULE "the address of the driver function");
    INVALID(count_devices(NULL), RULE "the address of the function");
}

TEST(versions_of_one_function_differ)
{
    CUresult (*mem_alloc)(CUdeviceptr *, size_t);
    CUdeviceptr memory = 0;
    void *old = entry("cuStreamBeginCapture", 10000, 0);
    void *new = entry("cuStreamBeginCapture", 10010, 0);
    FACT(old && new && old != new, RULE "the versioned function of the version asked for");
    *(void **)&mem_alloc = entry("cuMemAlloc", CUDA_VERSION, 0);
    WORKS(mem_alloc(&memory, 4096), RULE "cuMemAlloc stands for cuMemAlloc_v2");
}

TEST(streams_can_be_chosen)
{
    const cuuint64_t per_thread = CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM;
    CUresult (*query)(CUstream), (*launch)(CUstream, CUhostFn, void *);
    void *legacy = entry("cuStreamQuery", CUDA_VERSION, CU_GET_PROC_ADDRESS_LEGACY_STREAM);
    int gate = 0;
    *(void **)&query = entry("cuStreamQuery", CUDA_VERSION, per_thread);
    *(void **)&launch = entry("cuLaunchHostFunc", CUDA_VERSION, per_thread);
    FACT(legacy != *(void **)&query, RULE "a per-thread version where there is one");
    FACT(entry("cuMemAlloc", CUDA_VERSION, per_thread) != NULL,
         RULE "the legacy version where there is no per-thread one");
    DO(launch(NULL, conf_gate, &gate));
    BUSY(query(NULL), RULE "0 means the thread's own stream");
    BUSY(cuStreamQuery(CU_STREAM_PER_THREAD),
         "CU_STREAM_PER_THREAD: what 0 means with per-thread default streams");
    conf_open(&gate);
    DO(cuCtxSynchronize());
    WORKS(query(NULL), RULE "0 means the thread's own stream");
}

TEST(the_runtime_finds_driver_functions)
{
    enum cudaDriverEntryPointQueryResult status = cudaDriverEntryPointSymbolNotFound;
    CUresult (*get_version)(int *) = NULL;
    void *found = NULL;
    int version = 0;
    FACT_EQ(cudaGetDriverEntryPointByVersion("cuDriverGetVersion", &found, CUDA_VERSION,
                                             cudaEnableDefault, &status),
            cudaSuccess, RUNTIME_RULE "returns");
    FACT_EQ(status, cudaDriverEntryPointSuccess, RUNTIME_RULE "found");
    *(void **)&get_version = found;
    WORKS(get_version(&version), RUNTIME_RULE "the address of the driver function");
    FACT_EQ(cudaGetDriverEntryPointByVersion("cuNeverWas", &found, CUDA_VERSION, cudaEnableDefault,
                                             &status),
            cudaSuccess, RUNTIME_RULE "success and NULL for an invalid symbol");
    FACT(!found, RUNTIME_RULE "success and NULL for an invalid symbol");
    FACT_EQ(status, cudaDriverEntryPointSymbolNotFound, RUNTIME_RULE "not found");
    FACT_EQ(cudaGetDriverEntryPointByVersion("cuMemAllocAsync", &found, 10000, cudaEnableDefault,
                                             &status),
            cudaSuccess, RUNTIME_RULE "success and NULL");
    FACT_EQ(status, cudaDriverEntryPointVersionNotSufficent, RUNTIME_RULE "too old a version");
}
