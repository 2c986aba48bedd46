/* SPDX-License-Identifier: Apache-2.0
 *
 * A driver API program, linked with libcuda directly: what libraries ask before they share memory,
 * and memory of peers. */
#define _GNU_SOURCE
#include <cuda.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "driver_function.h"

#define MIB ((size_t)1 << 20)

static void check(CUresult r, const char *what)
{
    if (r == CUDA_SUCCESS)
        return;
    printf("%s: %d\n", what, (int)r);
    exit(3);
}

static CUresult exported(CUdeviceptr p)
{
    CUipcMemHandle handle;
    return cuIpcGetMemHandle(&handle, p);
}

/* What libraries ask before they share memory; other answers are in compat's victim_answers_queries. */
static int questions(void)
{
    CUdeviceptr blocks[2];
    unsigned shared[2], on = 1;
    CUresult given[2];
    for (int i = 0; i < 2; i++) {
        check(cuMemAlloc(&blocks[i], 5000), "cuMemAlloc");
        check(cuPointerGetAttribute(&shared[i], CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE,
                                    blocks[i]), "capable");
    }
    check(cuPointerSetAttribute(&on, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, blocks[1]), "sync memops");
    for (int i = 0; i < 2; i++) {
        given[i] = exported(blocks[i]);
        printf("as reported %d\n", shared[i] == (given[i] == CUDA_SUCCESS));
    }
    fprintf(stderr, "exported %d %d", (int)given[0], (int)given[1]);
    check(cuMemFree(blocks[1]), "cuMemFree");
    check(cuMemAlloc(&blocks[1], 7000), "cuMemAlloc");
    /* a program that shares once will share again */
    fprintf(stderr, " then %d\n", (int)exported(blocks[1]));
    check(cuMemFree(blocks[0]), "cuMemFree");
    check(cuMemFree(blocks[1]), "cuMemFree");
    return 0;
}

/* Mapped memory of the cache is not visible as such to the program. */
static CUresult access_of(unsigned long long *flags, const CUmemLocation *location, CUdeviceptr ptr)
{
    CUresult (*get)(unsigned long long *, const CUmemLocation *, CUdeviceptr);
    *(void **)&get = driver_function("cuMemGetAccess");
    return get ? get(flags, location, ptr) : CUDA_ERROR_NOT_FOUND;
}

/* May device 1 use memory of device 0, allocated before and after its access was enabled? */
static int peers(CUcontext context, CUdevice other)
{
    CUcontext accessor;
    CUdeviceptr before, after;
    CUmemLocation location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = other};
    unsigned long long flags[3] = {9, 9, 9};
    check(cuMemAlloc(&before, MIB), "cuMemAlloc");
    check(access_of(&flags[0], &location, before), "access_of");
    check(cuCtxCreate(&accessor, NULL, 0, other), "cuCtxCreate");
    check(cuCtxEnablePeerAccess(context, 0), "cuCtxEnablePeerAccess");
    check(access_of(&flags[1], &location, before), "access_of");
    check(cuCtxPopCurrent(&accessor), "cuCtxPopCurrent");
    check(cuMemAlloc(&after, 30 * MIB), "cuMemAlloc");
    check(access_of(&flags[2], &location, after), "access_of");
    printf("access %llu then %llu, of new memory %llu\n", flags[0], flags[1], flags[2]);
    return 0;
}

int main(int argc, char **argv)
{
    CUcontext context;
    check(cuInit(0), "cuInit");
    check(cuCtxCreate(&context, NULL, 0, 0), "cuCtxCreate");
    return argc > 1 && strcmp(argv[1], "peers") == 0 ? peers(context, 1) : questions();
}
