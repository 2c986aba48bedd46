/* SPDX-License-Identifier: Apache-2.0
 *
 * Programs that also run under other interposers, preloaded before us or after. Each interposer
 * prints the number of its calls: no call may bypass it, none may be recorded twice, and none may
 * be forwarded back to its own caller. */
#include "victim_memory.h"

VICTIM("routing")

#define COUNT 7

static void by_runtime(void)
{
    void *p[COUNT];
    for (int i = 0; i < COUNT; i++)
        p[i] = take(1000 + (size_t)i);
    for (int i = 0; i < COUNT; i++)
        give(p[i]);
}

static void by_driver(void)
{
    start();
    for (int i = 0; i < COUNT; i++)
        release(allocate(3 * MIB));
}

/* As programs do that run with and without a driver. */
static void by_handle(void)
{
    void *driver = dlopen("libcuda.so.1", RTLD_NOW);
    use_found(find(driver, "cuMemAlloc_v2"), find(driver, "cuMemFree_v2"), 5 * MIB);
}

static void everything(void)
{
    by_runtime();
    by_driver();
    by_handle();
}

static void looked_up(void)
{
    by_runtime();
    by_handle();
}

/* After us, an interposer of exported functions also sees the runtime's calls, and one of dlsym
 * those that the program links: the function after ours is the same for all callers. The cases
 * after us only make calls that the interposer handles. */
#define BEHIND_CACHE \
    REFUSED(CACHING, "same memory; an interposer after the cache sees its segments")

AGAIN(next_before, everything, "an interposer of cudaMalloc with RTLD_NEXT, before vramscope", 0,
      PRELOAD_BEFORE("libroute_next.so"))
AGAIN(next_after, everything, "an interposer of cudaMalloc with RTLD_NEXT, after vramscope", 0,
      PRELOAD_AFTER("libroute_next.so"))
AGAIN(both_sides, looked_up, "interposers of cudaMalloc before and of dlsym after vramscope",
      VF_NOT_SANITIZED, PRELOAD_BEFORE("libroute_next.so"), PRELOAD_AFTER("libroute_dlsym.so"),
      BEHIND_CACHE)
/* One interposer before us, and after us with the calls that it handles. */
#define BESIDE(name, before, after, title, flags, library)                                        \
    AGAIN(name##_before, before, title ", before vramscope", flags, PRELOAD_BEFORE(library))      \
    AGAIN(name##_after, after, title ", after vramscope", flags, PRELOAD_AFTER(library),          \
          BEHIND_CACHE)
BESIDE(dlsym, everything, looked_up, "an interposer of both versions of dlsym", VF_NOT_SANITIZED,
       "libroute_dlsym.so")
BESIDE(plain_dlsym, everything, looked_up, "an interposer of unversioned dlsym", VF_NOT_SANITIZED,
       "libroute_dlsym_plain.so")
BESIDE(driver_next, by_driver, by_driver,
       "an interposer of cuMemAlloc and cuGetProcAddress with RTLD_NEXT", 0, "libroute_driver_1.so")
BESIDE(driver_handle, by_driver, by_driver,
       "an interposer that uses dlsym on the driver's handle", 0, "libroute_driver_2.so")
BESIDE(driver_table, by_driver, by_driver,
       "an interposer with a table filled in its constructor", 0, "libroute_driver_3.so")
AGAIN(all_before, by_driver, "interposers of dlsym and cuMemAlloc, before vramscope",
      VF_NOT_SANITIZED, PRELOAD_BEFORE("libroute_dlsym.so"), PRELOAD_BEFORE("libroute_driver_2.so"))
AGAIN(all_after, by_driver, "interposers of dlsym and cuMemAlloc, after vramscope",
      VF_NOT_SANITIZED, PRELOAD_AFTER("libroute_dlsym.so"), PRELOAD_AFTER("libroute_driver_2.so"),
      BEHIND_CACHE)
