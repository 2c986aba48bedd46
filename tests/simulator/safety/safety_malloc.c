/* SPDX-License-Identifier: Apache-2.0
 *
 * Random programs on several streams that allocate with cuMemAlloc and free with cuMemFree, which
 * waits for the work of the context: safety_malloc FIRST-SEED COUNT. Run under the preload library,
 * in caching mode. */
#define _GNU_SOURCE /* RTLD_DEFAULT */
#include "safety.h"

#include <dlfcn.h>

static uint64_t allocate(uint64_t bytes, uint64_t stream)
{
    CUdeviceptr p = 0;
    (void)stream;
    CUresult r = cuMemAlloc(&p, bytes);
    if (r != CUDA_ERROR_OUT_OF_MEMORY)
        OK(r);
    return p;
}

static void free_block(unsigned i) { OK(cuMemFree(blocks[i].addr)); }

static void other(unsigned what)
{
    if (what == 95)
        OK(cuCtxSynchronize());
}

static void run_seed(uint64_t seed)
{
    static const struct memory memory = {allocate, NULL, free_block, other};
    run(&memory, seed);
}

int main(int argc, char **argv)
{
    uint64_t (*trim)(int);
    run_seeds(argc, argv, 2, run_seed);
    if (getenv("SAFETY_CACHE")) { /* freed memory is still reserved */
        *(void **)&trim = dlsym(RTLD_DEFAULT, "vramscope_trim");
        REQUIRE(trim && trim(0) > 0);
    }
    return 0;
}
