/* SPDX-License-Identifier: Apache-2.0
 *
 * A driver API program, linked with libcuda directly: its own context, pitched,
 * managed and host memory, asynchronous pools, queries. Prints its tally. */
#include <cuda.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MIB ((size_t)1 << 20)

static void check(CUresult r, const char *what)
{
    if (r == CUDA_SUCCESS)
        return;
    printf("%s: %d\n", what, (int)r);
    exit(3);
}

void library_victim_start(void);

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "library") == 0) {
        library_victim_start();
        return 0;
    }
    CUdevice device;
    CUcontext context;
    CUdeviceptr a, b, base;
    size_t bytes, free_bytes, total;
    check(cuInit(0), "cuInit");
    check(cuDeviceGet(&device, 0), "cuDeviceGet");
    check(cuCtxCreate(&context, NULL, 0, device), "cuCtxCreate");
    check(cuMemAlloc(&a, 3 * MIB + 100), "cuMemAlloc");
    check(cuMemAlloc(&b, 1000), "cuMemAlloc");
    check(cuMemGetAddressRange(&base, &bytes, a + 17), "cuMemGetAddressRange");
    printf("range is the block: %d %d\n", base == a, bytes == 3 * MIB + 100);
    check(cuMemGetInfo(&free_bytes, NULL), "cuMemGetInfo");
    check(cuMemGetInfo(NULL, &total), "cuMemGetInfo");
    printf("free within total: %d\n", free_bytes < total);
    check(cuMemFree(a), "cuMemFree");
    printf("freed twice: %d\n", cuMemFree(a) != CUDA_SUCCESS);
    check(cuMemFree(b), "cuMemFree");
    check(cuMemAlloc(&a, 7 * MIB), "cuMemAlloc");
    check(cuCtxDestroy(context), "cuCtxDestroy");
    check(cuCtxCreate(&context, NULL, 0, device), "cuCtxCreate again");
    check(cuMemAlloc(&a, 2 * MIB), "cuMemAlloc in the second context");
    check(cuMemFree(a), "cuMemFree");
    check(cuCtxDestroy(context), "cuCtxDestroy");
    puts("driver done");
    return 0;
}
