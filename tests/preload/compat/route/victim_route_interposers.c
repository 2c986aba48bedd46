/* SPDX-License-Identifier: Apache-2.0
 *
 * Programs that also run under other interposers, preloaded before us or after. Each interposer
 * prints the number of its calls: no call may bypass it, none may be recorded twice, and none may
 * be forwarded back to its own caller. */
#define _GNU_SOURCE
#include <cuda.h>
#include <cuda_runtime_api.h>
#include <dlfcn.h>

#include "victim.h"

#define COUNT 7

static void by_runtime(void)
{
    void *p[COUNT];
    for (int i = 0; i < COUNT; i++) {
        OK(cudaMalloc(&p[i], 1000 + (size_t)i));
        tally_alloc(VT_DEVICE, 1000 + i);
    }
    for (int i = 0; i < COUNT; i++) {
        OK(cudaFree(p[i]));
        tally_free(VT_DEVICE);
    }
}

static void by_driver(void)
{
    CUdeviceptr p;
    CUdevice device;
    CUcontext context;
    OK(cuInit(0));
    OK(cuDeviceGet(&device, 0));
    OK(cuDevicePrimaryCtxRetain(&context, device));
    OK(cuCtxSetCurrent(context));
    for (int i = 0; i < COUNT; i++) {
        OK(cuMemAlloc(&p, 3 << 20));
        tally_alloc(VT_DEVICE, 3 << 20);
        OK(cuMemFree(p));
        tally_free(VT_DEVICE);
    }
}

typedef CUresult (*alloc_fn)(CUdeviceptr *, size_t);
typedef CUresult (*free_fn)(CUdeviceptr);

/* As programs do that run with and without a driver. */
static void by_handle(void)
{
    void *driver = dlopen("libcuda.so.1", RTLD_NOW);
    CHECK(driver);
    alloc_fn alloc;
    free_fn release;
    CUdeviceptr p;
    *(void **)&alloc = dlsym(driver, "cuMemAlloc_v2");
    *(void **)&release = dlsym(driver, "cuMemFree_v2");
    CHECK(alloc && release);
    OK(alloc(&p, 5 << 20));
    tally_alloc(VT_DEVICE, 5 << 20);
    OK(release(p));
    tally_free(VT_DEVICE);
}

static int everything(void)
{
    by_runtime();
    by_driver();
    by_handle();
    return 5;
}

static int direct(void)
{
    by_driver();
    return 6;
}

static int looked_up(void)
{
    by_runtime();
    by_handle();
    return 4;
}

/* After us, an interposer of exported functions also sees the runtime's calls, and one of dlsym
 * those that the program links: the function after ours is the same for all callers. The cases
 * after us only make calls that the interposer handles. */
#define SAME(name, work) \
    static int name(void) { return work(); }
SAME(next_before, everything)
SAME(next_after, everything)
SAME(both_sides, looked_up)
SAME(dlsym_before, everything)
SAME(dlsym_after, looked_up)
SAME(plain_dlsym_before, everything)
SAME(plain_dlsym_after, looked_up)
SAME(driver_next_before, direct)
SAME(driver_next_after, direct)
SAME(driver_handle_before, direct)
SAME(driver_handle_after, direct)
SAME(driver_table_before, direct)
SAME(driver_table_after, direct)
SAME(all_before, direct)
SAME(all_after, direct)

#define BEHIND_CACHE(name) \
    REFUSED(name, CACHING, "same memory; an interposer after the cache sees its segments")

VICTIM("routing")
CASE(next_before, "an interposer of cudaMalloc with RTLD_NEXT, before vramscope", 0)
PRELOAD_BEFORE(next_before, "libroute_next.so")
CASE(next_after, "an interposer of cudaMalloc with RTLD_NEXT, after vramscope", 0)
PRELOAD_AFTER(next_after, "libroute_next.so")
#if !VICTIM_SANITIZED
CASE(both_sides, "interposers of cudaMalloc before and of dlsym after vramscope", 0)
PRELOAD_BEFORE(both_sides, "libroute_next.so")
PRELOAD_AFTER(both_sides, "libroute_dlsym.so")
BEHIND_CACHE(both_sides)
CASE(dlsym_before, "an interposer of both versions of dlsym, before vramscope", 0)
PRELOAD_BEFORE(dlsym_before, "libroute_dlsym.so")
CASE(dlsym_after, "an interposer of both versions of dlsym, after vramscope", 0)
PRELOAD_AFTER(dlsym_after, "libroute_dlsym.so")
BEHIND_CACHE(dlsym_after)
CASE(plain_dlsym_before, "an interposer of unversioned dlsym, before vramscope", 0)
PRELOAD_BEFORE(plain_dlsym_before, "libroute_dlsym_plain.so")
CASE(plain_dlsym_after, "an interposer of unversioned dlsym, after vramscope", 0)
PRELOAD_AFTER(plain_dlsym_after, "libroute_dlsym_plain.so")
BEHIND_CACHE(plain_dlsym_after)
#endif
CASE(driver_next_before,
     "an interposer of cuMemAlloc and cuGetProcAddress with RTLD_NEXT, before vramscope", 0)
PRELOAD_BEFORE(driver_next_before, "libroute_driver_1.so")
CASE(driver_next_after,
     "an interposer of cuMemAlloc and cuGetProcAddress with RTLD_NEXT, after vramscope", 0)
PRELOAD_AFTER(driver_next_after, "libroute_driver_1.so")
BEHIND_CACHE(driver_next_after)
CASE(driver_handle_before,
     "an interposer that uses dlsym on the driver's handle, before vramscope", 0)
PRELOAD_BEFORE(driver_handle_before, "libroute_driver_2.so")
CASE(driver_handle_after,
     "an interposer that uses dlsym on the driver's handle, after vramscope", 0)
PRELOAD_AFTER(driver_handle_after, "libroute_driver_2.so")
BEHIND_CACHE(driver_handle_after)
CASE(driver_table_before,
     "an interposer with a table filled in its constructor, before vramscope", 0)
PRELOAD_BEFORE(driver_table_before, "libroute_driver_3.so")
CASE(driver_table_after, "an interposer with a table filled in its constructor, after vramscope", 0)
PRELOAD_AFTER(driver_table_after, "libroute_driver_3.so")
BEHIND_CACHE(driver_table_after)
#if !VICTIM_SANITIZED
CASE(all_before, "interposers of dlsym and cuMemAlloc, before vramscope", 0)
PRELOAD_BEFORE(all_before, "libroute_dlsym.so")
PRELOAD_BEFORE(all_before, "libroute_driver_2.so")
CASE(all_after, "interposers of dlsym and cuMemAlloc, after vramscope", 0)
PRELOAD_AFTER(all_after, "libroute_dlsym.so")
PRELOAD_AFTER(all_after, "libroute_driver_2.so")
BEHIND_CACHE(all_after)
#endif
END_VICTIM
