/* SPDX-License-Identifier: Apache-2.0
 *
 * Replaces lm_kernels.cu if there is no nvcc: registers the kernels' names with the
 * CUDA runtime exactly like the code that nvcc generates, but with an empty fat
 * binary. A real GPU cannot run these kernels; the simulated one runs the host
 * functions of lm_kernels_host.c. The runtime's registration entry points are
 * declared here because the public headers declare them for C++ only. */
#include "lm_kernels.h"

#include <cuda_runtime_api.h>
#include <stddef.h>

void **__cudaRegisterFatBinary(void *fat_binary);
void __cudaRegisterFatBinaryEnd(void **handle);
void __cudaUnregisterFatBinary(void **handle);
void __cudaRegisterFunction(void **handle, const char *host_function, char *device_function,
                            const char *device_name, int thread_limit, uint3 *thread_id,
                            uint3 *block_id, dim3 *block_dim, dim3 *grid_dim, int *warp_size);

const int lm_kernels_have_device_code = 0;

/* A fat binary's header: magic, version, size of the header, size of what
 * follows it (nothing). */
static const struct {
    unsigned magic;
    unsigned short version, header_bytes;
    unsigned long long body_bytes;
} empty_fat_binary = {0xba55ed50u, 1, 16, 0};

/* What __cudaRegisterFatBinary takes (fatbinary_section.h). */
static const struct {
    int magic, version;
    const void *data;
    void *file_name;
} fat_binary_wrapper = {0x466243b1, 1, &empty_fat_binary, NULL};

/* One distinct address per kernel. */
static char stubs[LM_KERNEL_COUNT];
static void **fat_binary_handle;

const void *lm_kernel_symbol(enum lm_kernel_id id)
{
    return &stubs[id];
}

__attribute__((constructor)) static void register_kernels(void)
{
#define LM_NAME(name) "lm_" #name,
    static const char *const names[] = {LM_KERNELS(LM_NAME, LM_NAME, LM_NAME, LM_NAME)};
#undef LM_NAME
    fat_binary_handle = __cudaRegisterFatBinary((void *)&fat_binary_wrapper);
    for (int id = 0; id < LM_KERNEL_COUNT; id++)
        __cudaRegisterFunction(fat_binary_handle, &stubs[id], (char *)names[id], names[id], -1,
                               NULL, NULL, NULL, NULL, NULL);
    __cudaRegisterFatBinaryEnd(fat_binary_handle);
}

__attribute__((destructor)) static void unregister_kernels(void)
{
    __cudaUnregisterFatBinary(fat_binary_handle);
}
