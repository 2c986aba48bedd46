/* SPDX-License-Identifier: Apache-2.0
 *
 * Random programs on several streams that allocate with the library's stream-ordered entry points:
 * safety_entry FIRST-SEED COUNT. The streams include the two default ones, and streams are
 * destroyed while their work is still queued, so that their handles are reused. */
#include "safety.h"

#include "vramscope.h"

static unsigned used_on[BLOCKS_MAX]; /* a bit per stream that uses the block */

static uint64_t allocate(uint64_t bytes, uint64_t stream)
{
    used_on[block_count] = 1u << stream;
    return (uintptr_t)vramscope_torch_alloc(bytes, 0, streams[stream]);
}

/* The last user may be named when the block is freed; all others are recorded now. */
static void use_block(unsigned i)
{
    struct block *b = &blocks[i];
    uint64_t before = b->at;
    if (before != b->home)
        vramscope_torch_record_stream((void *)(uintptr_t)b->addr, streams[before]);
    use(b);
    used_on[i] |= 1u << b->at;
}

static void free_block(unsigned i)
{
    vramscope_torch_free((void *)(uintptr_t)blocks[i].addr, 0, 0, streams[blocks[i].at]);
    used_on[i] = used_on[block_count - 1];
}

/* Destroys a stream that no block uses, with its queued work, and creates another. */
static void renew_stream(void)
{
    uint64_t stream = draw(STREAMS);
    for (unsigned i = 0; i < block_count; i++)
        if (used_on[i] >> stream & 1)
            return;
    if (streams[stream] == NULL || streams[stream] == CU_STREAM_PER_THREAD)
        return;
    OK(cuStreamDestroy(streams[stream]));
    OK(cuStreamCreate(&streams[stream], CU_STREAM_NON_BLOCKING));
}

static void other(unsigned what)
{
    if (what == 93)
        vramscope_torch_reset();
    else if (what > 95)
        renew_stream();
}

static void run_seed(uint64_t seed)
{
    static const struct memory memory = {allocate, use_block, free_block, other};
    CUstream kept[2] = {streams[0], streams[1]};
    if (!draw(2))
        streams[0] = NULL;
    if (!draw(2))
        streams[1] = CU_STREAM_PER_THREAD;
    run(&memory, seed);
    for (int i = 0; i < 2; i++)
        if (streams[i] == NULL || streams[i] == CU_STREAM_PER_THREAD)
            streams[i] = kept[i];
}

int main(int argc, char **argv)
{
    int64_t allocated, live, peak;
    struct vramscope_device_stats stats;
    run_seeds(argc, argv, 2, run_seed);
    REQUIRE(vramscope_get_statistic(0, "allocation.all.allocated", &allocated) == 0);
    REQUIRE(vramscope_get_statistic(0, "allocation.all.current", &live) == 0);
    REQUIRE(allocated > 0 && live == 0);
    /* the figures of the device and of its allocator come from different counters */
    REQUIRE(vramscope_get_statistic(0, "reserved_bytes.all.peak", &peak) == 0);
    REQUIRE(vramscope_get_device_stats(0, &stats) == 0);
    REQUIRE(stats.reserved_peak == (uint64_t)peak && stats.allocated == 0);
    return 0;
}
