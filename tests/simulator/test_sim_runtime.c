/* SPDX-License-Identifier: Apache-2.0
 *
 * The stand-in runtime, beyond the facts of conformance/conf_runtime.c and conf_error.c: registered
 * kernels and variables, and that each call reaches the driver. */
#include "sim_test.h"

#include "sim_stub.h"

static int device_variable; /* the host shadows of variables in device code */
static int *managed_variable;

static void add_stub(void) {}
static void gate_stub(void) {}
static void unregistered_stub(void) {}

static void **image;

static void register_program(void)
{
    image = __cudaRegisterFatBinary(sim_stub_fat_binary());
    sim_stub_kernel(image, add_stub, "add");
    sim_stub_kernel(image, gate_stub, "gate");
    __cudaRegisterVar(image, (char *)&device_variable, (char *)"device_variable", "device_variable",
                      0, 16, 0, 0);
    __cudaRegisterManagedVar(image, (void **)&managed_variable, (char *)"managed_variable",
                             "managed_variable", 0, 4, 0, 0);
    __cudaRegisterFatBinaryEnd(image);
}

static const dim3 one = {1, 1, 1};

TEST(devices_are_what_the_spec_says)
{
    struct cudaDeviceProp p;
    assert_int_equal(GOT(int, cudaGetDeviceCount(&got)), 2);
    OK(cudaGetDeviceProperties(&p, 1));
    assert_non_null(strstr(p.name, "T4"));
    assert_int_equal(p.totalGlobalMem, 512 * MIB);
    assert_int_equal(p.multiProcessorCount, 40);
    assert_int_equal(p.major * 10 + p.minor, 75);
}

TEST(nothing_is_a_valid_size_and_a_valid_free)
{
    void *p = (void *)1;
    size_t pitch = 1;
    OK(cudaMalloc(&p, 0));
    assert_null(p);
    OK(cudaFree(NULL));
    OK(cudaFreeHost(NULL));
    OK(cudaMallocPitch(&p, &pitch, 0, 5));
    assert_null(p);
    OK(cudaMemcpy(NULL, NULL, 0, cudaMemcpyHostToDevice));
}

TEST(kernels_registered_by_hand_run)
{
    int *p, host[1000], count = 1000, what = 5;
    void *args[] = {&p, &count, &what};
    cudaKernel_t kernel;
    cudaLaunchConfig_t config = {.gridDim = {8, 1, 1}, .blockDim = {128, 1, 1}};
    OK(cudaMalloc((void **)&p, sizeof host));
    OK(cudaMemset(p, 0, sizeof host));
    OK(cudaLaunchKernel((void *)add_stub, (dim3){8, 1, 1}, (dim3){128, 1, 1}, args, 0, NULL));
    OK(cudaGetKernel(&kernel, (void *)add_stub));
    OK(cudaLaunchKernel((void *)kernel, (dim3){8, 1, 1}, (dim3){128, 1, 1}, args, 0,
                        cudaStreamPerThread));
    OK(cudaLaunchKernelExC(&config, (void *)add_stub, args));
    OK(cudaMemcpy(host, p, sizeof host, cudaMemcpyDeviceToHost));
    for (int i = 0; i < 1000; i++)
        assert_int_equal(host[i], 15);
    assert_string_equal(GOT(const char *, cudaFuncGetName(&got, (void *)add_stub)), "add");
}

TEST(impossible_launches_are_named)
{
    FAILS(cudaLaunchKernel((void *)unregistered_stub, one, one, NULL, 0, NULL),
          cudaErrorInvalidDeviceFunction);
    FAILS(cudaLaunchKernel((void *)add_stub, (dim3){0, 1, 1}, one, NULL, 0, NULL),
          cudaErrorInvalidConfiguration);
    FAILS(cudaLaunchKernel((void *)add_stub, one, (dim3){32, 32, 2}, NULL, 0, NULL),
          cudaErrorInvalidConfiguration);
    INVALID(cudaLaunchKernel((void *)add_stub, one, one, NULL, 1 << 20, NULL));
    INVALID(cudaGetLastError());
}

TEST(launch_configurations_are_pushed_and_popped)
{
    dim3 grid, block;
    size_t shared;
    cudaStream_t stream;
    assert_int_equal(
        __cudaPushCallConfiguration((dim3){2, 3, 4}, (dim3){5, 6, 7}, 8, (cudaStream_t)9), 0);
    assert_int_equal(__cudaPushCallConfiguration(one, one, 1, NULL), 0);
    assert_int_equal(GOT(size_t, __cudaPopCallConfiguration(&grid, &block, &got, &stream)), 1);
    OK(__cudaPopCallConfiguration(&grid, &block, &shared, &stream));
    assert_int_equal(grid.z, 4);
    assert_int_equal(block.y, 6);
    assert_int_equal(shared, 8);
    assert_ptr_equal(stream, (cudaStream_t)9);
    FAILS(__cudaPopCallConfiguration(&grid, &block, &shared, &stream),
          cudaErrorMissingConfiguration);
    cudaGetLastError();
}

TEST(device_variables_are_copied_to_and_from)
{
    int in[4] = {1, 2, 3, 4}, out[4] = {0}, *address;
    size_t bytes;
    OK(cudaMemcpyToSymbol(&device_variable, in, sizeof in, 0, cudaMemcpyHostToDevice));
    OK(cudaMemcpyFromSymbol(out, &device_variable, 8, 8, cudaMemcpyDeviceToHost));
    assert_int_equal(out[0], 3);
    assert_int_equal(out[1], 4);
    OK(cudaGetSymbolSize(&bytes, &device_variable));
    assert_int_equal(bytes, 16);
    OK(cudaGetSymbolAddress((void **)&address, &device_variable));
    OK(cudaMemcpy(out, address, sizeof out, cudaMemcpyDeviceToHost));
    assert_int_equal(out[0], 1);
    INVALID(cudaMemcpyToSymbol(&device_variable, in, sizeof in, 4, cudaMemcpyHostToDevice));
    FAILS(cudaMemcpyToSymbol(&bytes, in, 4, 0, cudaMemcpyHostToDevice), cudaErrorInvalidSymbol);
    FAILS(cudaMemcpyToSymbol(&device_variable, in, 4, 0, cudaMemcpyDeviceToHost),
          cudaErrorInvalidMemcpyDirection);
    cudaGetLastError();
    assert_null(managed_variable);
    assert_int_equal(__cudaInitModule(image), 1);
    *managed_variable = 8;
    OK(cudaMemcpy(out, managed_variable, 4, cudaMemcpyDefault));
    assert_int_equal(out[0], 8);
}

TEST(graphs_name_kernels_by_stub_and_variables_by_shadow)
{
    int in[4] = {1, 2, 3, 4}, out[4] = {0}, count = 4, what = 10;
    int *address;
    struct cudaKernelNodeParams params = {
        .func = (void *)add_stub, .gridDim = one, .blockDim = {4, 1, 1}}, got;
    struct cudaMemcpy3DParms copied;
    cudaGraphNode_t write, kernel, read_back;
    cudaGraphExec_t exec;
    cudaGraph_t graph;
    OK(cudaGetSymbolAddress((void **)&address, &device_variable));
    void *args[] = {&address, &count, &what};
    params.kernelParams = args;
    OK(cudaGraphCreate(&graph, 0));
    OK(cudaGraphAddMemcpyNodeToSymbol(&write, graph, NULL, 0, &device_variable, in, sizeof in, 0,
                                      cudaMemcpyHostToDevice));
    OK(cudaGraphAddKernelNode(&kernel, graph, &write, 1, &params));
    OK(cudaGraphAddMemcpyNodeFromSymbol(&read_back, graph, &kernel, 1, out, &device_variable, 8, 8,
                                        cudaMemcpyDeviceToHost));
    OK(cudaGraphKernelNodeGetParams(kernel, &got));
    assert_ptr_equal(got.func, add_stub);
    assert_int_equal(got.blockDim.x, 4);
    assert_int_equal(*(int *)got.kernelParams[2], 10);
    OK(cudaGraphMemcpyNodeGetParams(read_back, &copied));
    assert_ptr_equal(copied.dstPtr.ptr, out);
    assert_ptr_equal(copied.srcPtr.ptr, address + 2);
    assert_int_equal(copied.extent.width, 8);
    assert_int_equal(copied.kind, cudaMemcpyDeviceToHost);
    OK(cudaGraphInstantiate(&exec, graph, 0));
    OK(cudaGraphLaunch(exec, NULL));
    OK(cudaDeviceSynchronize());
    assert_int_equal(out[0], 13);
    assert_int_equal(out[1], 14);
    what = 20;
    OK(cudaGraphExecKernelNodeSetParams(exec, kernel, &params));
    OK(cudaGraphLaunch(exec, NULL));
    OK(cudaDeviceSynchronize());
    assert_int_equal(out[1], 24);
    params.func = (void *)unregistered_stub;
    FAILS(cudaGraphAddKernelNode(&kernel, graph, NULL, 0, &params),
          cudaErrorInvalidDeviceFunction);
    FAILS(cudaGraphAddMemcpyNodeToSymbol(&write, graph, NULL, 0, &device_variable, in, 16, 4,
                                         cudaMemcpyHostToDevice),
          cudaErrorInvalidValue);
    cudaGetLastError();
}

/* As frameworks expect. */
TEST(not_ready_is_recorded_as_an_error)
{
    atomic_int open = 0, *address = &open;
    void *args[] = {&address};
    cudaStream_t s;
    OK(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
    OK(cudaLaunchKernel((void *)gate_stub, one, one, args, 0, s));
    FAILS(cudaStreamQuery(s), cudaErrorNotReady);
    FAILS(cudaGetLastError(), cudaErrorNotReady);
    atomic_store(&open, 1);
    OK(cudaStreamSynchronize(s));
}

TEST(resetting_a_device_starts_it_anew)
{
    size_t before, total;
    void *p;
    int out = 0, in = 3;
    OK(cudaSetDevice(1));
    OK(cudaMemGetInfo(&before, &total));
    OK(cudaMalloc(&p, 64 * MIB));
    OK(cudaDeviceReset());
    assert_int_equal(before, GOT(size_t, cudaMemGetInfo(&got, &total)));
    INVALID(cudaFree(p));
    cudaGetLastError();
    OK(cudaMemcpyToSymbol(&device_variable, &in, 4, 0, cudaMemcpyHostToDevice)); /* made again */
    OK(cudaMemcpyFromSymbol(&out, &device_variable, 4, 0, cudaMemcpyDeviceToHost));
    assert_int_equal(out, 3);
    OK(cudaSetDevice(0));
}

TEST(counted_array_copies_go_on_in_the_next_row)
{
    struct cudaChannelFormatDesc desc =
        cudaCreateChannelDesc(8, 0, 0, 0, cudaChannelFormatKindUnsigned);
    unsigned char in[100], out[100] = {0}, row[10];
    cudaArray_t array, other;
    for (int i = 0; i < 100; i++)
        in[i] = (unsigned char)(i + 1);
    OK(cudaMallocArray(&array, &desc, 10, 10, 0));
    OK(cudaMallocArray(&other, &desc, 25, 4, 0));
    _Pragma("GCC diagnostic push")
    _Pragma("GCC diagnostic ignored \"-Wdeprecated-declarations\"")
    OK(cudaMemcpyToArray(array, 0, 0, in, 100, cudaMemcpyHostToDevice));
    OK(cudaMemcpyFromArray(out, array, 7, 2, 33, cudaMemcpyDeviceToHost));
    assert_memory_equal(out, in + 27, 33);
    OK(cudaMemcpyArrayToArray(other, 3, 1, array, 7, 2, 33, cudaMemcpyDeviceToDevice));
    OK(cudaMemcpyFromArray(out, other, 3, 1, 33, cudaMemcpyDeviceToHost));
    assert_memory_equal(out, in + 27, 33);
    INVALID(cudaMemcpyToArray(array, 7, 9, in, 4, cudaMemcpyHostToDevice));
    INVALID(cudaMemcpyToArray(array, 10, 0, in, 1, cudaMemcpyHostToDevice));
    _Pragma("GCC diagnostic pop")
    OK(cudaMemcpy2DFromArrayAsync(row, 10, array, 0, 9, 10, 1, cudaMemcpyDefault, 0));
    assert_memory_equal(row, in + 90, 10);
    cudaGetLastError();
}

TEST(channel_descriptors_are_checked)
{
    const struct {
        struct cudaChannelFormatDesc desc;
        cudaError_t error;
    } cases[] = {
        {{32, 32, 32, 0, cudaChannelFormatKindFloat}, cudaErrorInvalidChannelDescriptor},
        {{32, 16, 0, 0, cudaChannelFormatKindFloat}, cudaErrorInvalidChannelDescriptor},
        {{8, 0, 0, 0, cudaChannelFormatKindFloat}, cudaErrorInvalidChannelDescriptor},
        {{0, 0, 0, 0, cudaChannelFormatKindUnsigned}, cudaErrorInvalidChannelDescriptor},
        {{8, 8, 8, 8, cudaChannelFormatKindNone}, cudaErrorInvalidChannelDescriptor},
        {{8, 8, 0, 0, cudaChannelFormatKindUnsignedNormalized8X4},
         cudaErrorInvalidChannelDescriptor},
        {{8, 8, 8, 8, cudaChannelFormatKindUnsignedNormalized8X4}, cudaSuccess},
        {{16, 0, 0, 0, cudaChannelFormatKindSignedNormalized16X1}, cudaSuccess},
        {{8, 8, 8, 0, cudaChannelFormatKindNV12}, cudaErrorNotSupported},
        {{16, 16, 16, 16, cudaChannelFormatKindFloat}, cudaSuccess},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct cudaChannelFormatDesc got;
        cudaArray_t array = NULL;
        FAILS(cudaMallocArray(&array, &cases[i].desc, 16, 16, 0), cases[i].error);
        if (cases[i].error)
            continue;
        OK(cudaGetChannelDesc(&got, array));
        assert_memory_equal(&got, &cases[i].desc, sizeof got);
        OK(cudaFreeArray(array));
    }
    cudaGetLastError();
}

TEST(what_is_not_simulated_says_so)
{
    FAILS(cudaCtxResetPersistingL2Cache(), cudaErrorNotSupported);
    FAILS(cudaGetLastError(), cudaErrorNotSupported);
    assert_string_equal(cudaGetErrorName(cudaErrorNotSupported), "cudaErrorNotSupported");
    assert_string_equal(cudaGetErrorString(cudaErrorMemoryAllocation), "out of memory");
}

TEST(occupancy_and_function_attributes)
{
    struct cudaFuncAttributes a;
    int blocks;
    OK(cudaFuncGetAttributes(&a, (void *)add_stub));
    assert_int_equal(a.maxThreadsPerBlock, 1024);
    OK(cudaFuncSetAttribute((void *)add_stub, cudaFuncAttributeMaxDynamicSharedMemorySize, 60000));
    OK(cudaFuncGetAttributes(&a, (void *)add_stub));
    assert_int_equal(a.maxDynamicSharedSizeBytes, 60000);
    OK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, (void *)add_stub, 256, 0));
    assert_int_equal(blocks, 4);
}

TEST(an_unregistered_image_takes_its_kernels_along)
{
    void **other = __cudaRegisterFatBinary(sim_stub_fat_binary());
    sim_stub_kernel(other, unregistered_stub, "other");
    __cudaRegisterFatBinaryEnd(other);
    OK(cudaLaunchKernel((void *)unregistered_stub, one, one, NULL, 0, NULL));
    __cudaUnregisterFatBinary(other);
    FAILS(cudaLaunchKernel((void *)unregistered_stub, one, one, NULL, 0, NULL),
          cudaErrorInvalidDeviceFunction);
    cudaGetLastError();
}

SETUP(setup)
{
    setenv("VRAMSCOPE_SIMULATE", "t4-16g,capacity=512MiB,context=16MiB,devices=2", 1);
    register_program(); /* before any CUDA call, as start-up code does */
    OK(cudaFree(NULL));
    sim_register_kernels();
    return 0;
}
