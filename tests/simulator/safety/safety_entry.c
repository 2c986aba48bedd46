/* SPDX-License-Identifier: Apache-2.0
 *
 * Random programs on several streams that allocate with the library's stream-ordered entry points:
 * safety_entry FIRST-SEED COUNT. The streams include the two default ones, and streams are
 * destroyed while their work is still queued, so that their handles are reused. */
#include "safety.h"

#include "vramscope.h"

static unsigned used_on[BLOCKS_MAX]; /* a bit per stream that uses the block */

static void allocate(void)
{
    uint64_t bytes = draw_bytes(), stream = draw(STREAMS);
    if (block_count == BLOCKS_MAX)
        return;
    void *p = vramscope_torch_alloc(bytes, 0, streams[stream]);
    if (!p)
        return;
    used_on[block_count] = 1u << stream;
    blocks[block_count] = (struct block){
        .addr = (uint64_t)(uintptr_t)p, .words = bytes / 8, .home = stream, .at = stream};
    launch(&blocks[block_count++], stream);
}

/* The last user may be named when the block is freed; all others are recorded now. */
static void use_one(void)
{
    if (!block_count)
        return;
    unsigned i = (unsigned)draw(block_count);
    struct block *b = &blocks[i];
    uint64_t before = b->at;
    if (before != b->home)
        vramscope_torch_record_stream((void *)(uintptr_t)b->addr, streams[before]);
    use(b);
    used_on[i] |= 1u << b->at;
}

static void release(unsigned i)
{
    vramscope_torch_free((void *)(uintptr_t)blocks[i].addr, 0, 0, streams[blocks[i].at]);
    blocks[i] = blocks[--block_count];
    used_on[i] = used_on[block_count];
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

static void step(void)
{
    unsigned what = (unsigned)draw(100);
    if (what < 42)
        allocate();
    else if (what < 64)
        use_one();
    else if (what < 92 && block_count)
        release((unsigned)draw(block_count));
    else if (what == 93)
        vramscope_torch_reset();
    else if (what == 94)
        OK(cuStreamSynchronize(streams[draw(STREAMS)]));
    else if (what > 95)
        renew_stream();
}

static void run_seed(uint64_t seed)
{
    CUstream kept[2] = {streams[0], streams[1]};
    random_state = seed;
    if (!draw(2))
        streams[0] = NULL;
    if (!draw(2))
        streams[1] = CU_STREAM_PER_THREAD;
    for (int i = 0; i < STEPS; i++)
        step();
    while (block_count)
        release(block_count - 1);
    OK(cuCtxSynchronize());
    for (int i = 0; i < 2; i++) {
        if (streams[i] == NULL || streams[i] == CU_STREAM_PER_THREAD)
            streams[i] = kept[i];
    }
    expect_unchanged(seed);
}

int main(int argc, char **argv)
{
    int64_t allocated, live, peak;
    struct vramscope_device_stats stats;
    if (argc != 3) {
        fprintf(stderr, "usage: safety_entry FIRST-SEED COUNT\n");
        return 2;
    }
    start();
    uint64_t first = strtoull(argv[1], NULL, 10), count = strtoull(argv[2], NULL, 10);
    for (uint64_t seed = first; seed < first + count; seed++)
        run_seed(seed);
    REQUIRE(vramscope_get_statistic(0, "allocation.all.allocated", &allocated) == 0);
    REQUIRE(vramscope_get_statistic(0, "allocation.all.current", &live) == 0);
    REQUIRE(allocated > 0 && live == 0);
    /* the figures of the device and of its allocator come from different counters */
    REQUIRE(vramscope_get_statistic(0, "reserved_bytes.all.peak", &peak) == 0);
    REQUIRE(vramscope_get_device_stats(0, &stats) == 0);
    REQUIRE(stats.reserved_peak == (uint64_t)peak && stats.allocated == 0);
    printf("%llu seeds\n", (unsigned long long)count);
    return 0;
}
