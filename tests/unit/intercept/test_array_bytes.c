/* SPDX-License-Identifier: Apache-2.0
 *
 * The size of arrays (intercept/track/array_bytes.c), also for formats and shapes that the
 * simulated driver rejects. */
#include "support/cmocka_test.h"

#include "intercept/track/array_bytes.h"

static uint64_t bytes(unsigned format, unsigned channels, size_t width, size_t height, size_t depth,
                      unsigned flags, unsigned levels)
{
    CUDA_ARRAY3D_DESCRIPTOR desc = {.Width = width,
                                    .Height = height,
                                    .Depth = depth,
                                    .Format = (CUarray_format)format,
                                    .NumChannels = channels,
                                    .Flags = flags};
    return vs_array_bytes(&desc, levels);
}

TEST(elements_are_as_wide_as_their_format)
{
    assert_int_equal(bytes(0x01, 1, 10, 0, 0, 0, 1), 10);     /* UNSIGNED_INT8 */
    assert_int_equal(bytes(0x20, 4, 10, 3, 0, 0, 1), 480);    /* FLOAT */
    assert_int_equal(bytes(0x10, 2, 10, 3, 2, 0, 1), 240);    /* HALF */
    assert_int_equal(bytes(0xc5, 4, 8, 8, 0, 0, 1), 512);     /* UNORM_INT16X4 */
    assert_int_equal(bytes(0x50, 4, 8, 8, 0, 0, 1), 256);     /* 10, 10, 10, 2 bits */
    assert_int_equal(bytes(0xb0, 3, 64, 32, 0, 0, 1), 3072);  /* NV12: 12 bits each */
    assert_int_equal(bytes(0x9f, 3, 64, 32, 0, 0, 1), 6144);  /* P010: 24 */
    assert_int_equal(bytes(0x7fff, 1, 64, 32, 0, 0, 1), 0);   /* a future format */
}

TEST(compressed_blocks_are_whole)
{
    assert_int_equal(bytes(0x91, 4, 16, 16, 0, 0, 1), 128);      /* BC1: 8 bytes for 4 x 4 */
    assert_int_equal(bytes(0x9d, 4, 17, 15, 0, 0, 1), 5 * 4 * 16); /* BC7: 16, rounded up */
    assert_int_equal(bytes(0x91, 4, 8, 8, 0, 0, 4), 4 * 8 + 8 + 8 + 8);
}

TEST(layers_stay_while_levels_shrink)
{
    assert_int_equal(bytes(0x01, 1, 8, 8, 3, CUDA_ARRAY3D_LAYERED, 2), 64 * 3 + 16 * 3);
    assert_int_equal(bytes(0x01, 1, 8, 8, 6, CUDA_ARRAY3D_CUBEMAP, 2), 64 * 6 + 16 * 6);
    assert_int_equal(bytes(0x01, 1, 8, 8, 8, 0, 2), 512 + 64);
    assert_int_equal(bytes(0x01, 1, 8, 1, 0, 0, 99), 8 + 4 + 2 + 1); /* the maximum number of levels */
    assert_int_equal(bytes(0x01, 1, 4, 0, 9, CUDA_ARRAY3D_LAYERED, 0), 36);
}

TEST(memory_that_is_mapped_later_is_not_here_yet)
{
    assert_int_equal(bytes(0x20, 1, 512, 512, 0, 0x40, 1), 0); /* sparse */
    assert_int_equal(bytes(0x20, 1, 512, 512, 0, 0x80, 1), 0); /* deferred */
}
