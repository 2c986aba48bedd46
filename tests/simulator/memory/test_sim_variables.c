/* SPDX-License-Identifier: Apache-2.0
 *
 * Device variables of kernels whose code runs on the host: initial values, copies from the host,
 * devices and modules with their own variables. */
#include "sim_test.h"

static int counter = 40;             /* __device__ int counter = 40; */
static const int table[2] = {3, 5};  /* __constant__ const */
static int out_of_date[1024] = {-1}; /* a large one */

static atomic_int gate_open, gate_entered;

/* count(int *seen): stores the value of counter, then increments it. */
static void count(const struct vramscope_sim_launch *launch, unsigned long first, unsigned long last)
{
    (void)first, (void)last;
    **(int **)launch->args[0] = counter++;
}

/* hold(): increments it, and does not return until the gate opens. */
static void hold(const struct vramscope_sim_launch *launch, unsigned long first, unsigned long last)
{
    (void)launch, (void)first, (void)last;
    counter++;
    atomic_store(&gate_entered, 1);
    while (!atomic_load(&gate_open))
        usleep(100);
}

static CUmodule module_new(void)
{
    return GOT(CUmodule, cuModuleLoadData(&got, "image"));
}

static int run_count(CUmodule module)
{
    CUfunction f;
    int value;
    OK(cuModuleGetFunction(&f, module, "count"));
    CUdeviceptr seen = sim_alloc(sizeof(int));
    void *args[] = {&seen};
    OK(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, NULL, args, NULL));
    OK(cuMemcpyDtoH(&value, seen, sizeof value));
    OK(cuMemFree(seen));
    return value;
}

static int *variable(CUmodule module, const char *name, size_t bytes)
{
    CUdeviceptr address;
    assert_int_equal(GOT(size_t, cuModuleGetGlobal(&address, &got, module, name)), bytes);
    return (int *)address;
}

TEST(a_variable_begins_with_what_it_held_when_it_was_registered)
{
    CUmodule module = module_new();
    int value = 0, values[2];
    counter = 1000; /* the host's copy has no effect by itself */
    OK(cuMemcpyDtoH(&value, (CUdeviceptr)variable(module, "counter", sizeof value), sizeof value));
    assert_int_equal(value, 40);
    OK(cuMemcpyDtoH(values, (CUdeviceptr)variable(module, "table", sizeof values), sizeof values));
    assert_memory_equal(values, table, sizeof values);
}

TEST(kernels_see_what_the_host_copies_and_the_host_what_kernels_write)
{
    CUmodule module = module_new();
    CUdeviceptr address = (CUdeviceptr)variable(module, "counter", sizeof(int));
    int value = 7;
    assert_int_equal(run_count(module), 40);
    OK(cuMemcpyDtoH(&value, address, sizeof value));
    assert_int_equal(value, 41);
    value = 7;
    OK(cuMemcpyHtoD(address, &value, sizeof value));
    assert_int_equal(run_count(module), 7);
    OK(cuMemsetD32(address, 12, 1));
    assert_int_equal(run_count(module), 12);
}

TEST(every_module_has_its_own)
{
    CUmodule one = module_new(), two = module_new();
    assert_int_equal(run_count(one), 40);
    assert_int_equal(run_count(one), 41);
    assert_int_equal(run_count(two), 40);
    assert_int_equal(run_count(one), 42);
}

TEST(every_device_has_its_own)
{
    CUlibrary library;
    CUmodule module[2];
    CUcontext before = sim_context();
    OK(cuLibraryLoadData(&library, "image", NULL, NULL, 0, NULL, NULL, 0));
    OK(cuLibraryGetModule(&module[0], library));
    CUcontext other = sim_retain(1);
    OK(cuCtxSetCurrent(other));
    OK(cuLibraryGetModule(&module[1], library));
    assert_int_equal(run_count(module[1]), 40);
    assert_int_equal(run_count(module[1]), 41);
    OK(cuCtxSetCurrent(before));
    assert_int_equal(run_count(module[0]), 40);
    OK(cuLibraryUnload(library));
    OK(cuDevicePrimaryCtxRelease(1));
}

/* Regression: a copy by one stream while a kernel runs in another is not undone by the kernel's
 * end. */
TEST(a_copy_to_one_variable_while_a_kernel_writes_another_stays)
{
    CUmodule module = module_new();
    CUfunction f;
    int *large = variable(module, "out_of_date", sizeof out_of_date), value = 9;
    CUdeviceptr address = (CUdeviceptr)variable(module, "counter", sizeof(int));
    OK(cuModuleGetFunction(&f, module, "hold"));
    CUstream running = sim_stream(CU_STREAM_NON_BLOCKING);
    CUstream copying = sim_stream(CU_STREAM_NON_BLOCKING);
    atomic_store(&gate_open, 0);
    atomic_store(&gate_entered, 0);
    OK(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, running, NULL, NULL));
    while (!atomic_load(&gate_entered))
        usleep(100);
    OK(cuMemsetD32Async((CUdeviceptr)(large + 1000), 77, 1, copying));
    OK(cuStreamSynchronize(copying));
    atomic_store(&gate_open, 1);
    OK(cuStreamSynchronize(running));
    OK(cuMemcpyDtoH(&value, (CUdeviceptr)(large + 1000), sizeof value));
    assert_int_equal(value, 77);
    OK(cuMemcpyDtoH(&value, address, sizeof value));
    assert_int_equal(value, 41);
}

TEST(a_name_nobody_registered_is_not_found)
{
    CUmodule module = module_new();
    CUdeviceptr address;
    FAILS(cuModuleGetGlobal(&address, NULL, module, "unheard_of"), CUDA_ERROR_NOT_FOUND);
    assert_int_equal(vramscope_sim_register_variable("", &counter, sizeof counter, 0), 0);
    assert_int_equal(vramscope_sim_register_variable("x", NULL, 4, 0), 0);
    assert_int_equal(vramscope_sim_register_variable("x", &counter, 0, 0), 0);
}

SETUP(begin)
{
    static const size_t count_bytes[] = {sizeof(void *)};
    sim_begin_on("a100-40g,capacity=256MiB,context=16MiB,devices=2");
    assert_int_equal(vramscope_sim_register("count", count, count_bytes, 1), 1);
    assert_int_equal(vramscope_sim_register("hold", hold, NULL, 0), 1);
    assert_int_equal(vramscope_sim_register_variable("counter", &counter, sizeof counter, 0), 1);
    assert_int_equal(vramscope_sim_register_variable("table", (void *)table, sizeof table, 1), 1);
    assert_int_equal(
        vramscope_sim_register_variable("out_of_date", out_of_date, sizeof out_of_date, 0), 1);
    return 0;
}
