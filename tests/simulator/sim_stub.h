/* SPDX-License-Identifier: Apache-2.0
 *
 * The start-up code that nvcc generates, written by hand, so that C compiled without nvcc has
 * kernels and device variables. */
#ifndef SIM_STUB_H
#define SIM_STUB_H

#include <cuda_runtime_api.h>

#ifdef __cplusplus
extern "C" {
#endif
void **__cudaRegisterFatBinary(void *fatCubin);
void __cudaRegisterFatBinaryEnd(void **fatCubinHandle);
void __cudaUnregisterFatBinary(void **fatCubinHandle);
void __cudaRegisterFunction(void **fatCubinHandle, const char *hostFun, char *deviceFun,
                            const char *deviceName, int thread_limit, uint3 *tid, uint3 *bid,
                            dim3 *bDim, dim3 *gDim, int *wSize);
void __cudaRegisterVar(void **fatCubinHandle, char *hostVar, char *deviceAddress,
                       const char *deviceName, int ext, size_t size, int constant, int global);
void __cudaRegisterManagedVar(void **fatCubinHandle, void **hostVarPtrAddress, char *deviceAddress,
                              const char *deviceName, int ext, size_t size, int constant,
                              int global);
char __cudaInitModule(void **fatCubinHandle);
unsigned __cudaPushCallConfiguration(dim3 gridDim, dim3 blockDim, size_t sharedMem,
                                     struct CUstream_st *stream);
cudaError_t __cudaPopCallConfiguration(dim3 *gridDim, dim3 *blockDim, size_t *sharedMem,
                                       void *stream);
#ifdef __cplusplus
}
#endif

/* A fat binary with a valid wrapper only. */
static inline void *sim_stub_fat_binary(void)
{
    static struct {
        int magic, version;
        const void *data;
        void *unused;
    } wrapper = {0x466243b1, 1, (const void *)8, 0}; /* no address of code */
    return &wrapper;
}

static inline void sim_stub_kernel(void **handle, void (*stub)(void), const char *name)
{
    __cudaRegisterFunction(handle, (const char *)stub, (char *)name, name, -1, 0, 0, 0, 0, 0);
}

#endif
