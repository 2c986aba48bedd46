/* SPDX-License-Identifier: Apache-2.0
 *
 * A program that loads libvramscope.so itself, linked among its libraries or opened at run time. It
 * allocates by the runtime, by the driver directly and by a pointer from cuGetProcAddress, and
 * prints the number of each. */
#include <cuda.h>
#include <cuda_runtime_api.h>
#include <dlfcn.h>
#include <string.h>

#include "check_line.h"

static void by_runtime(int n)
{
    void *p;
    for (int i = 0; i < n; i++) {
        CHECK(cudaMalloc(&p, MIB) == cudaSuccess);
        CHECK(cudaFree(p) == cudaSuccess);
    }
}

#ifdef WITH_DRIVER
static void by_driver(int n)
{
    CUdeviceptr p;
    for (int i = 0; i < n; i++) {
        CHECK(cuMemAlloc(&p, MIB) == CUDA_SUCCESS);
        CHECK(cuMemFree(p) == CUDA_SUCCESS);
    }
}
#else
#define by_driver(n) ((void)(n))
#endif

static void by_pointer(int n)
{
    CUresult (*alloc)(CUdeviceptr *, size_t), (*release)(CUdeviceptr);
    void *driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    CHECK(driver);
    *(void **)&alloc = dlsym(driver, "cuMemAlloc_v2");
    *(void **)&release = dlsym(driver, "cuMemFree_v2");
    CHECK(alloc && release);
    CUdeviceptr p;
    for (int i = 0; i < n; i++) {
        CHECK(alloc(&p, MIB) == CUDA_SUCCESS);
        CHECK(release(p) == CUDA_SUCCESS);
    }
}

/* Opened at run time: its statistics work; calls that are already linked bypass it. */
static int open_library(const char *scope)
{
    by_runtime(2);
    void *library = dlopen(getenv("LINKED_LIBRARY"),
                           RTLD_NOW | (strcmp(scope, "global") == 0 ? RTLD_GLOBAL : RTLD_LOCAL));
    CHECK(library);
    int (*recording)(void);
    void (*push)(const char *), (*pop)(void);
    *(void **)&recording = dlsym(library, "vramscope_recording");
    *(void **)&push = dlsym(library, "vramscope_range_push");
    *(void **)&pop = dlsym(library, "vramscope_range_pop");
    CHECK(recording && push && pop);
    push("a range");
    by_runtime(3);
    pop();
    printf("recording %d\n", recording());
    CHECK(dlclose(library) == 0);
    by_runtime(1);
    return 0;
}

int main(int argc, char **argv)
{
    if (argc == 2 && *argv[1])
        return open_library(argv[1]);
    by_runtime(3);
    by_driver(5);
    by_pointer(7);
    puts("done");
    return 4;
}
