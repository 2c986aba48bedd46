/* SPDX-License-Identifier: Apache-2.0
 *
 * Modules and launches: PTX is loaded, kernels are found and run, in stream order,
 * with the arguments they were launched with. */
#include "conf.h"

#define COUNT 4096u
#define BYTES (COUNT * sizeof(uint32_t))
#define LAUNCH "cuLaunchKernel: "

static struct {
    CUmodule module;
    CUfunction fill, add, copy;
    CUdeviceptr a, b;
    uint32_t *host; /* pinned */
    CUstream stream;
    int gate;
} p;

SETUP(setup)
{
    p.a = conf_alloc(BYTES), p.b = conf_alloc(BYTES);
    p.host = conf_pinned(BYTES);
    p.stream = conf_stream();
    p.module = conf_module();
    p.fill = conf_function(p.module, "conf_fill");
    p.add = conf_function(p.module, "conf_add");
    p.copy = conf_function(p.module, "conf_copy");
    /* launched once, so that no later launch loads anything (lazy loading) */
    uint32_t none = 0;
    void *args[] = {&p.a, &none, &none}, *copy_args[] = {&p.a, &p.b, &none};
    return cuLaunchKernel(p.fill, 1, 1, 1, 32, 1, 1, 0, NULL, args, NULL) ||
           cuLaunchKernel(p.add, 1, 1, 1, 32, 1, 1, 0, NULL, args, NULL) ||
           cuLaunchKernel(p.copy, 1, 1, 1, 32, 1, 1, 0, NULL, copy_args, NULL) ||
           cuCtxSynchronize();
}

static CUresult run(CUfunction f, CUdeviceptr out, uint32_t value, uint32_t count, CUstream stream)
{
    void *args[] = {&out, &value, &count};
    return cuLaunchKernel(f, (COUNT + 127) / 128, 1, 1, 128, 1, 1, 0, stream, args, NULL);
}

static void read_back(CUdeviceptr from)
{
    DO(cuCtxSynchronize());
    DO(cuMemcpyDtoH(p.host, from, BYTES));
}

TEST(kernels_compute)
{
    uint32_t count = COUNT;
    void *args[] = {&p.b, &p.a, &count};
    WORKS(run(p.fill, p.a, 7, COUNT, p.stream), LAUNCH "returns");
    WORKS(run(p.add, p.a, 3, COUNT / 2, p.stream), LAUNCH "returns");
    DO(cuLaunchKernel(p.copy, COUNT / 128, 1, 1, 128, 1, 1, 0, p.stream, args, NULL));
    read_back(p.b);
    FACT_EQ(p.host[0], 10, LAUNCH "each thread of each block runs once");
    FACT_EQ(p.host[COUNT / 2 - 1], 10, LAUNCH "each thread of each block runs once");
    FACT_EQ(p.host[COUNT / 2], 7, LAUNCH "parameters are passed in the kernel's order");
    FACT_EQ(p.host[COUNT - 1], 7, LAUNCH "each thread of each block runs once");
}

TEST(arguments_are_copied_at_the_launch)
{
    CUdeviceptr out = p.a;
    uint32_t value = 11, count = COUNT;
    void *args[] = {&out, &value, &count};
    conf_close(p.stream, &p.gate);
    DO(cuLaunchKernel(p.fill, COUNT / 64, 1, 1, 64, 1, 1, 0, p.stream, args, NULL));
    out = 0;
    value = 12;
    count = 1;
    memset(args, 0, sizeof args);
    BUSY(cuStreamQuery(p.stream),
         "guide, asynchronous concurrent execution: launches return at once");
    conf_open(&p.gate);
    read_back(p.a);
    FACT_EQ(p.host[0], 11, LAUNCH "parameters are copied when it is called");
    FACT_EQ(p.host[COUNT - 1], 11, LAUNCH "parameters are copied when it is called");
}

TEST(launches_of_a_stream_run_in_order)
{
    DO(run(p.fill, p.a, 0, COUNT, p.stream));
    for (uint32_t i = 1; i <= 100; i++) {
        DO(run(p.add, p.a, i, COUNT, p.stream));
        if (i == 50)
            DO(run(p.fill, p.a, 1000, COUNT, p.stream));
    }
    read_back(p.a);
    FACT_EQ(p.host[5], 1000 + (51 + 100) * 50 / 2,
            "guide, streams: a stream's work happens in order");
}

static CUresult shaped(unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
                       unsigned shared)
{
    uint32_t zero = 0;
    void *args[] = {&p.a, &zero, &zero};
    return cuLaunchKernel(p.fill, gx, gy, gz, bx, by, bz, shared, p.stream, args, NULL);
}

TEST(shapes_beyond_the_device_are_refused)
{
    WORKS(shaped(1, 1, 1, 1024, 1, 1, 0), LAUNCH "1024 threads a block");
    INVALID(shaped(1, 1, 1, 1025, 1, 1, 0),
            "guide, technical specifications: 1024 threads a block");
    INVALID(shaped(1, 1, 1, 32, 32, 2, 0), "guide, technical specifications: 1024 threads a block");
    INVALID(shaped(1, 1, 1, 1, 1, 65, 0), "guide, technical specifications: 64 threads in z");
    INVALID(shaped(1, 65536, 1, 1, 1, 1, 0), "guide, technical specifications: 65535 blocks in y");
    INVALID(shaped(1, 1, 65536, 1, 1, 1, 0), "guide, technical specifications: 65535 blocks in z");
    INVALID(shaped(0, 1, 1, 1, 1, 1, 0), LAUNCH "returns");
    INVALID(shaped(1, 1, 1, 1, 0, 1, 0), LAUNCH "returns");
    WORKS(shaped(1, 1, 1, 32, 1, 1, 49152), "guide, shared memory: 48 KB without opting in");
    INVALID(shaped(1, 1, 1, 32, 1, 1, 49152 + 16),
            "guide, shared memory: more than 48 KB must be opted in to");
    WORKS(cuStreamSynchronize(p.stream), LAUNCH "a refused launch breaks nothing");
}

TEST(more_shared_memory_can_be_opted_in_to)
{
    int optin = DEVICE_ATTRIBUTE(MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);
    NEED(optin > 49152, "no more than 48 KB of shared memory here");
    WORKS(cuFuncSetAttribute(p.fill, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, optin),
          "up to what the device allows");
    WORKS(shaped(1, 1, 1, 32, 1, 1, (unsigned)optin),
          "CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES");
    DO(cuStreamSynchronize(p.stream));
    FACT(cuFuncSetAttribute(p.fill, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, optin + 1024) !=
             CUDA_SUCCESS,
         "CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES: within the device's limit");
    DO(cuFuncSetAttribute(p.fill, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 49152));
}

TEST(functions_report_their_attributes)
{
    int value = -1;
    DO(cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, p.fill));
    FACT(value >= 32 && value <= 1024, "CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK");
    DO(cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_NUM_REGS, p.fill));
    FACT(value > 0 && value <= 255, "CU_FUNC_ATTRIBUTE_NUM_REGS: at most 255 a thread");
    DO(cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, p.fill));
    FACT_EQ(value, 0, "CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES: statically allocated, none here");
    RETURNS(cuFuncGetAttribute(&value, (CUfunction_attribute)1000, p.fill),
            CUDA_ERROR_INVALID_VALUE);
    FACT(!strcmp(GOT(const char *, cuFuncGetName(&got, p.fill)), "conf_fill"),
         "cuFuncGetName: the function's name");
    FACT(GOT(CUmodule, cuFuncGetModule(&got, p.fill)) == p.module,
         "cuFuncGetModule: the module it was found in");
}

TEST(occupancy_stays_within_the_device)
{
    int blocks = -1, fewer = -1, grid = -1, size = -1;
    int threads = DEVICE_ATTRIBUTE(MAX_THREADS_PER_MULTIPROCESSOR);
    for (int block = 32; block <= 1024; block *= 2) {
        DO(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, p.fill, block, 0));
        FACT(blocks >= 1, "cuOccupancyMaxActiveBlocksPerMultiprocessor: one block fits");
        FACT(blocks * block <= threads,
             "cuOccupancyMaxActiveBlocksPerMultiprocessor: threads a multiprocessor holds");
        FACT(blocks <= DEVICE_ATTRIBUTE(MAX_BLOCKS_PER_MULTIPROCESSOR),
             "cuOccupancyMaxActiveBlocksPerMultiprocessor: blocks it holds");
    }
    DO(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, p.fill, 128, 0));
    DO(cuOccupancyMaxActiveBlocksPerMultiprocessor(&fewer, p.fill, 128, 32768));
    FACT(fewer <= blocks, "cuOccupancyMaxActiveBlocksPerMultiprocessor: shared memory used");
    DO(cuOccupancyMaxPotentialBlockSize(&grid, &size, p.fill, NULL, 0, 0));
    FACT(size >= 32 && size <= 1024, "cuOccupancyMaxPotentialBlockSize: a block size");
    FACT(grid >= DEVICE_ATTRIBUTE(MULTIPROCESSOR_COUNT),
         "cuOccupancyMaxPotentialBlockSize: enough blocks for the whole device");
    DO(cuOccupancyMaxPotentialBlockSize(&grid, &size, p.fill, NULL, 0, 64));
    FACT(size <= 64, "cuOccupancyMaxPotentialBlockSize: blockSizeLimit");
}

TEST(a_library_is_of_no_context)
{
    CUlibrary library = NULL;
    CUkernel kernel = NULL;
    CUfunction function = NULL;
    DO(cuLibraryLoadData(&library, conf_ptx, NULL, NULL, 0, NULL, NULL, 0));
    DO(cuLibraryGetKernel(&kernel, library, "conf_fill"));
    FACT(!strcmp(GOT(const char *, cuKernelGetName(&got, kernel)), "conf_fill"),
         "cuKernelGetName: the kernel's name");
    DO(cuKernelGetFunction(&function, kernel));
    DO(run(function, p.a, 31, COUNT, p.stream));
    DO(run((CUfunction)kernel, p.b, 32, COUNT, p.stream));
    read_back(p.a);
    FACT_EQ(p.host[9], 31, "cuKernelGetFunction: a function of the current context");
    read_back(p.b);
    FACT_EQ(p.host[9], 32, LAUNCH "a CUkernel cast to CUfunction runs in the current context");
}

TEST(names_that_are_not_there_are_not_found)
{
    CUfunction function = NULL;
    CUdeviceptr address = 0;
    size_t bytes = 0;
    CUlibrary library = NULL;
    CUkernel kernel = NULL;
    CUmodule module = NULL;
    FACT_EQ(cuModuleGetFunction(&function, p.module, "conf_fil"), CUDA_ERROR_NOT_FOUND,
            "not found if no function of that name exists");
    FACT_EQ(cuModuleGetFunction(&function, p.module, "DONE"), CUDA_ERROR_NOT_FOUND,
            "not found if no function of that name exists");
    FACT_EQ(cuModuleGetGlobal(&address, &bytes, p.module, "conf_nothing"), CUDA_ERROR_NOT_FOUND,
            "not found if no variable of that name exists");
    DO(cuLibraryLoadData(&library, conf_ptx, NULL, NULL, 0, NULL, NULL, 0));
    FACT_EQ(cuLibraryGetKernel(&kernel, library, "conf_filled"), CUDA_ERROR_NOT_FOUND,
            "not found if no kernel of that name exists");
    FACT_EQ(cuLibraryGetGlobal(&address, &bytes, library, "conf_nothing"), CUDA_ERROR_NOT_FOUND,
            "not found if no variable of that name exists");
    DO(cuLibraryUnload(library));
    RETURNS(cuModuleLoad(&module, "no such file.ptx"), CUDA_ERROR_FILE_NOT_FOUND);
}

TEST(the_runtime_launches_kernels_of_modules)
{
    uint32_t value = 41, count = COUNT;
    void *args[] = {&p.a, &value, &count};
    cudaLibrary_t library;
    cudaKernel_t kernel;
    DO(cudaLibraryLoadData(&library, conf_ptx, NULL, NULL, 0, NULL, NULL, 0));
    DO(cudaLibraryGetKernel(&kernel, library, "conf_fill"));
    FACT_EQ(cudaLaunchKernel((const void *)kernel, (dim3){COUNT / 128, 1, 1}, (dim3){128, 1, 1},
                             args, 0, p.stream),
            cudaSuccess, "cudaLaunchKernel: takes a cudaKernel_t");
    FACT_EQ(cudaLaunchKernel((const void *)kernel, (dim3){1, 1, 1}, (dim3){2048, 1, 1}, args, 0,
                             p.stream),
            cudaErrorInvalidValue, "of a cudaKernel_t: the error of cuLaunchKernel");
    FACT_EQ(cudaGetLastError(), cudaErrorInvalidValue, "launches fail through it");
    read_back(p.a);
    FACT_EQ(p.host[0], 41, "cudaLaunchKernel");
}
