/* SPDX-License-Identifier: Apache-2.0
 *
 * The stand-in driver except for memory and streams: initialisation, devices, contexts, entry
 * points by name and version, modules, launches, errors. */
#include "sim_test.h"

#include <dlfcn.h>

static CUresult before_init; /* the result of a call before cuInit */

TEST(calls_before_init_are_refused)
{
    assert_int_equal(before_init, CUDA_ERROR_NOT_INITIALIZED);
    INVALID(cuInit(1));
    OK(cuInit(0)); /* again */
}

TEST(devices_are_what_the_spec_says)
{
    int value;
    char name[64];
    assert_int_equal(GOT(int, cuDeviceGetCount(&got)), 2);
    OK(cuDeviceGetName(name, sizeof name, 1));
    assert_non_null(strstr(name, "H100"));
    assert_int_equal(GOT(size_t, cuDeviceTotalMem(&got, 0)), 512 * MIB);
    OK(cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, 0));
    assert_int_equal(value, 132);
    OK(cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, 0));
    assert_int_equal(value, 9);
    OK(cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_MULTICAST_SUPPORTED, 0));
    assert_int_equal(value, 0); /* not simulated, and reported so */
}

TEST(handles_of_contexts_are_checked)
{
    CUdevice dev;
    CUcontext primary = sim_context(), b = sim_context_on(1);
    OK(cuCtxGetDevice(&dev));
    assert_int_equal(dev, 1);
    OK(cuCtxDestroy(b)); /* and pops it */
    assert_ptr_equal(GOT(CUcontext, cuCtxGetCurrent(&got)), primary);
    FAILS(cuCtxDestroy(b), CUDA_ERROR_CONTEXT_IS_DESTROYED);
    FAILS(cuCtxDestroy(primary), CUDA_ERROR_INVALID_CONTEXT);
    FAILS(cuCtxSetCurrent((CUcontext)&dev), CUDA_ERROR_INVALID_CONTEXT);
}

TEST(a_primary_context_lives_while_it_is_retained)
{
    unsigned flags;
    CUcontext mine = sim_context();
    assert_int_equal(GOT(int, cuDevicePrimaryCtxGetState(1, &flags, &got)), 0);
    CUcontext a = sim_retain(1);
    assert_ptr_equal(a, GOT(CUcontext, cuDevicePrimaryCtxRetain(&got, 1)));
    OK(cuCtxSetCurrent(a));
    CUdeviceptr p = sim_alloc(MIB);
    CUstream s = sim_stream(0);
    CUevent ev = sim_event(0);
    OK(cuDevicePrimaryCtxRelease(1));
    OK(cuMemGetAddressRange(NULL, NULL, p));
    OK(cuDevicePrimaryCtxRelease(1));
    assert_int_equal(GOT(int, cuDevicePrimaryCtxGetState(1, &flags, &got)), 0);
    FAILS(cuMemGetInfo(NULL, NULL), CUDA_ERROR_CONTEXT_IS_DESTROYED);
    OK(cuDevicePrimaryCtxRetain(&a, 1));
    INVALID(cuMemFree(p)); /* destroyed with the context */
    FAILS(cuEventQuery(ev), CUDA_ERROR_CONTEXT_IS_DESTROYED);
    FAILS(cuStreamQuery(s), CUDA_ERROR_INVALID_HANDLE);
    OK(cuEventDestroy(ev));
    OK(cuDevicePrimaryCtxRelease(1));
    FAILS(cuDevicePrimaryCtxRelease(1), CUDA_ERROR_INVALID_CONTEXT);
    OK(cuCtxSetCurrent(mine));
}

TEST(memory_of_two_devices_is_counted_apart_and_copied_between)
{
    int value = 42;
    CUcontext zero = sim_context(), one = sim_retain(1);
    size_t before = sim_free_bytes();
    OK(cuCtxPushCurrent(one));
    size_t before_one = sim_free_bytes();
    CUdeviceptr q = sim_alloc(8 * MIB);
    assert_int_equal(before_one - sim_free_bytes(), 8 * MIB);
    OK(cuCtxPopCurrent(NULL));
    assert_int_equal(sim_free_bytes(), before);
    CUdeviceptr p = sim_alloc(4);
    OK(cuMemcpyHtoD(p, &value, 4));
    OK(cuMemcpyPeer(q, one, p, zero, 4));
    assert_int_equal(GOT(int, cuMemcpyDtoH(&got, q, 4)), 42);
    OK(cuMemFree(p));
    OK(cuMemFree(q));
    OK(cuDevicePrimaryCtxRelease(1));
}

/* ---- entry points ---- */

static void *by_name(const char *name, int version, cuuint64_t flags,
                     CUdriverProcAddressQueryResult *status)
{
    void *found = (void *)1;
    OK(cuGetProcAddress(name, &found, version, flags, status));
    return found;
}

TEST(entry_points_are_chosen_by_version)
{
    static const struct {
        const char *name;
        int version;
        cuuint64_t flags;
        const char *symbol;
    } cases[] = {
        {"cuMemAlloc", 2000, 0, "cuMemAlloc"},
        {"cuMemAlloc", 3010, 0, "cuMemAlloc"},
        {"cuMemAlloc", 3020, 0, "cuMemAlloc_v2"},
        {"cuMemAlloc", 13000, 2, "cuMemAlloc_v2"},
        {"cuMemFree", 3020, 1, "cuMemFree_v2"},
        {"cuMemGetInfo", 3020, 0, "cuMemGetInfo_v2"},
        {"cuMemFreeHost", 2000, 0, "cuMemFreeHost"},
        {"cuMemHostRegister", 6050, 0, "cuMemHostRegister_v2"},
        {"cuDevicePrimaryCtxRetain", 7000, 0, "cuDevicePrimaryCtxRetain"},
        {"cuDevicePrimaryCtxRelease", 7000, 0, "cuDevicePrimaryCtxRelease"},
        {"cuDevicePrimaryCtxRelease", 11000, 0, "cuDevicePrimaryCtxRelease_v2"},
        {"cuCtxCreate", 3020, 0, "cuCtxCreate_v2"},
        {"cuCtxCreate", 12050, 0, "cuCtxCreate_v4"},
        {"cuMemPrefetchAsync", 8000, 0, "cuMemPrefetchAsync"},
        {"cuMemPrefetchAsync", 12020, 2, "cuMemPrefetchAsync_v2_ptsz"},
        {"cuMemAllocAsync", 11020, 1, "cuMemAllocAsync"},
        {"cuMemAllocAsync", 11020, 2, "cuMemAllocAsync_ptsz"},
        {"cuMemFreeAsync", 11020, 2, "cuMemFreeAsync_ptsz"},
        /* per-thread forms were introduced with 7.0 */
        {"cuMemcpyHtoD", 3020, 2, "cuMemcpyHtoD_v2"},
        {"cuMemcpyHtoD", 7000, 2, "cuMemcpyHtoD_v2_ptds"},
        {"cuLaunchKernel", 4000, 0, "cuLaunchKernel"},
        {"cuLaunchKernel", 7000, 2, "cuLaunchKernel_ptsz"},
        {"cuGetProcAddress", 11030, 0, "cuGetProcAddress"},
        {"cuGetProcAddress", 12000, 0, "cuGetProcAddress_v2"},
        {"cuGraphLaunch", 12000, 2, "cuGraphLaunch_ptsz"}, /* exists, although not simulated */
    };
    CUdriverProcAddressQueryResult status;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        void *expected = dlsym(RTLD_DEFAULT, cases[i].symbol);
        assert_non_null(expected);
        assert_ptr_equal(by_name(cases[i].name, cases[i].version, cases[i].flags, &status),
                         expected);
        assert_int_equal(status, CU_GET_PROC_ADDRESS_SUCCESS);
    }
}

TEST(entry_points_that_do_not_exist_are_null)
{
    CUdriverProcAddressQueryResult status;
    void *found = (void *)1;
    CUresult (*v1)(const char *, void **, int, cuuint64_t);
    assert_null(by_name("cuMemAlloc_v2", 13000, 0, &status)); /* base names only */
    assert_null(by_name("", 0, 0, NULL));
    INVALID(cuGetProcAddress("cuInit", &found, 13010, 0, &status)); /* newer than us */
    INVALID(cuGetProcAddress(NULL, &found, 13000, 0, &status));
    INVALID(cuGetProcAddress("cuInit", &found, 13000, 64, &status));
    *(void **)&v1 = dlsym(RTLD_DEFAULT, "cuGetProcAddress");
    FAILS(v1("cuNothing", &found, 13000, 0), CUDA_ERROR_NOT_FOUND);
    assert_null(found);
}

TEST(what_is_not_simulated_says_so)
{
    CUgraphConditionalHandle condition;
    CUmemGenericAllocationHandle handle;
    FAILS(cuGraphConditionalHandleCreate(&condition, NULL, NULL, 0, 0), CUDA_ERROR_NOT_SUPPORTED);
    FAILS(cuMulticastCreate(&handle, NULL), CUDA_ERROR_NOT_SUPPORTED);
}

TEST(a_module_has_each_function_once_until_it_is_unloaded)
{
    CUmodule module;
    CUfunction a;
    INVALID(cuModuleLoadData(&module, NULL));
    OK(cuModuleLoadData(&module, "image"));
    OK(cuModuleGetFunction(&a, module, "some_kernel"));
    assert_ptr_equal(a, GOT(CUfunction, cuModuleGetFunction(&got, module, "some_kernel")));
    OK(cuModuleUnload(module));
    FAILS(cuModuleGetFunction(&a, module, "some_kernel"), CUDA_ERROR_INVALID_HANDLE);
}

TEST(impossible_launches_are_refused)
{
    CUfunction f = sim_function("some_kernel"), add = sim_function("add");
    int value, one = 1;
    void *packed[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &one, CU_LAUNCH_PARAM_END};
    OK(cuFuncSetAttribute(f, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 100000));
    INVALID(cuFuncSetAttribute(f, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 1 << 20));
    OK(cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, f));
    assert_int_equal(value, 100000);
    FAILS(cuLaunchKernel(NULL, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL), CUDA_ERROR_INVALID_HANDLE);
    INVALID(cuLaunchKernel(add, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL));
    FAILS(cuLaunchKernel(add, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, packed), CUDA_ERROR_NOT_SUPPORTED);
    CUlaunchAttribute attribute = {.id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE, .value.cooperative = 1};
    CUlaunchConfig config = {.gridDimX = 1, .gridDimY = 1, .gridDimZ = 1, .blockDimX = 1,
                             .blockDimY = 1, .blockDimZ = 1, .attrs = &attribute, .numAttrs = 1};
    OK(cuLaunchKernelEx(&config, f, NULL, NULL));
    config.gridDimX = 1000000;
    FAILS(cuLaunchKernelEx(&config, f, NULL, NULL), CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE);
    config.gridDimX = 1;
    attribute.value.cooperative = 0;
    OK(cuLaunchKernelEx(&config, f, NULL, NULL));
    OK(cuCtxSynchronize());
}

struct big {
    int values[400];
};

static atomic_int big_sum;

static void sum_big(const struct vramscope_sim_launch *launch, unsigned long first,
                    unsigned long last)
{
    const struct big *a = launch->args[0], *b = launch->args[2];
    char middle = *(char *)launch->args[1];
    int sum = 0;
    (void)first, (void)last;
    for (int i = 0; i < 400; i++)
        sum += a->values[i] + b->values[i];
    atomic_store(&big_sum, sum + middle);
}

TEST(large_arguments_are_copied_whole)
{
    static const size_t sizes[] = {sizeof(struct big), 1, sizeof(struct big)};
    struct big a, b;
    char middle = 7;
    void *args[] = {&a, &middle, &b};
    int expected = 7;
    for (int i = 0; i < 400; i++) {
        a.values[i] = i;
        b.values[i] = 3 * i + 1;
        expected += 4 * i + 1;
    }
    assert_int_equal(vramscope_sim_register("sum_big", sum_big, sizes, 3), 1);
    OK(cuLaunchKernel(sim_function("sum_big"), 1, 1, 1, 1, 1, 1, 0, NULL, args, NULL));
    memset(&a, 0, sizeof a);
    memset(&b, 0, sizeof b);
    OK(cuCtxSynchronize());
    assert_int_equal(big_sum, expected);
}

static atomic_int which;
static void first_one(const struct vramscope_sim_launch *l, unsigned long f, unsigned long t)
{
    (void)l, (void)f, (void)t;
    atomic_store(&which, 1);
}
static void second_one(const struct vramscope_sim_launch *l, unsigned long f, unsigned long t)
{
    (void)l, (void)f, (void)t;
    atomic_store(&which, 2);
}

TEST(registering_again_replaces_and_bad_registrations_fail)
{
    static const size_t zero = 0;
    CUfunction f = sim_function("replaced");
    assert_int_equal(vramscope_sim_register("replaced", first_one, NULL, 0), 1);
    OK(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL));
    OK(cuCtxSynchronize());
    assert_int_equal(which, 1);
    assert_int_equal(vramscope_sim_register("replaced", second_one, NULL, 0), 1);
    OK(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL));
    OK(cuCtxSynchronize());
    assert_int_equal(which, 2);
    assert_int_equal(vramscope_sim_register(NULL, first_one, NULL, 0), 0);
    assert_int_equal(vramscope_sim_register("x", NULL, NULL, 0), 0);
    assert_int_equal(vramscope_sim_register("x", first_one, NULL, 1), 0);
    assert_int_equal(vramscope_sim_register("x", first_one, &zero, 1), 0);
    assert_int_equal(vramscope_sim_register("x", first_one, &zero, 1000), 0);
}

TEST(occupancy_is_bounded_by_threads_and_shared_memory)
{
    CUfunction f = sim_function("some_kernel");
    int grid;
    size_t bytes;
    assert_int_equal(GOT(int, cuOccupancyMaxActiveBlocksPerMultiprocessor(&got, f, 1024, 0)), 2);
    assert_int_equal(GOT(int, cuOccupancyMaxActiveBlocksPerMultiprocessor(&got, f, 32, 0)), 32);
    assert_int_equal(GOT(int, cuOccupancyMaxActiveBlocksPerMultiprocessor(&got, f, 32, 200 << 10)),
                     1);
    assert_int_equal(GOT(int, cuOccupancyMaxPotentialBlockSize(&grid, &got, f, NULL, 0, 256)), 256);
    assert_int_equal(grid, 132 * 8);
    OK(cuOccupancyAvailableDynamicSMemPerBlock(&bytes, f, 4, 128));
    assert_true(bytes > 0 && bytes < (228 << 10) / 4);
}

SETUP(setup)
{
    int count;
    setenv("VRAMSCOPE_SIMULATE", "h100-80g,capacity=512MiB,devices=2,context=10MiB", 1);
    before_init = cuDeviceGetCount(&count);
    sim_start();
    sim_register_kernels();
    return 0;
}
