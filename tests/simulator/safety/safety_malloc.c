/* SPDX-License-Identifier: Apache-2.0
 *
 * Random programs on several streams that allocate with cuMemAlloc and free with cuMemFree, which
 * waits for the work of the context: safety_malloc FIRST-SEED COUNT. Run under the preload library,
 * in caching mode. */
#define _GNU_SOURCE /* RTLD_DEFAULT */
#include "safety.h"

#include <dlfcn.h>

static void allocate(void)
{
    CUdeviceptr p;
    uint64_t bytes = draw_bytes(), stream = draw(STREAMS);
    if (block_count == BLOCKS_MAX)
        return;
    CUresult r = cuMemAlloc(&p, bytes);
    if (r == CUDA_ERROR_OUT_OF_MEMORY)
        return;
    OK(r);
    blocks[block_count] =
        (struct block){.addr = p, .words = bytes / 8, .home = stream, .at = stream};
    launch(&blocks[block_count++], stream);
}

static void release(unsigned i)
{
    OK(cuMemFree(blocks[i].addr));
    blocks[i] = blocks[--block_count];
}

static void step(void)
{
    unsigned what = (unsigned)draw(100);
    if (what < 42)
        allocate();
    else if (what < 66 && block_count)
        use(&blocks[draw(block_count)]);
    else if (what < 95 && block_count)
        release((unsigned)draw(block_count));
    else if (what == 95)
        OK(cuCtxSynchronize());
    else if (what == 96)
        OK(cuStreamSynchronize(streams[draw(STREAMS)]));
}

/* With the cache, freed memory is still reserved. */
static void expect_cache(void)
{
    uint64_t (*trim)(int);
    *(void **)&trim = dlsym(RTLD_DEFAULT, "vramscope_trim");
    REQUIRE(trim && trim(0) > 0);
}

int main(int argc, char **argv)
{
    if (argc != 3) {
        fprintf(stderr, "usage: safety_malloc FIRST-SEED COUNT\n");
        return 2;
    }
    start();
    uint64_t first = strtoull(argv[1], NULL, 10), count = strtoull(argv[2], NULL, 10);
    for (uint64_t seed = first; seed < first + count; seed++) {
        random_state = seed;
        for (int i = 0; i < STEPS; i++)
            step();
        while (block_count)
            release(block_count - 1);
        OK(cuCtxSynchronize());
        expect_unchanged(seed);
    }
    if (getenv("SAFETY_CACHE"))
        expect_cache();
    printf("%llu seeds\n", (unsigned long long)count);
    return 0;
}
