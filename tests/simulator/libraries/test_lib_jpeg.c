/* SPDX-License-Identifier: Apache-2.0
 *
 * The stand-in for nvJPEG: sizes come from the header of a file, and a state's memory grows to the largest image. */
#include "sim_library.h"
#include "simulator/libraries/common/vs_library_base.h"
#include "simulator/libraries/nvjpeg/vs_nvjpeg_api.h"

VS_NVJPEG_FUNCTIONS(VS_LIBRARY_DECLARE)

/* 3000 × 1999, three components, 4:2:0; behind another segment. */
static unsigned char image[] = {0xff, 0xd8, 0xff, 0xe0, 0, 4, 1, 2, 0xff, 0xc0, 0, 17, 8, 1999 >> 8, 1999 & 255,
                                3000 >> 8, 3000 & 255, 3, 1, 0x22, 0, 2, 0x11, 1, 3, 0x11, 1, 0xff, 0xda, 0, 0};

TEST(an_image_is_decoded_into_memory_of_its_size)
{
    struct nvjpegHandle *handle;
    struct nvjpegJpegState *decoder;
    nvjpegImage_t to = {.pitch = {3 * 3000}};
    int components, subsampling, widths[4], heights[4];
    size_t before, after, total;
    OK(nvjpegCreateSimple(&handle));
    OK(nvjpegJpegStateCreate(handle, &decoder));
    OK(nvjpegGetImageInfo(handle, image, sizeof image, &components, &subsampling, widths, heights));
    assert_int_equal(components, 3);
    assert_int_equal(subsampling, NVJPEG_CSS_420);
    assert_int_equal(widths[0] + 10000 * widths[1], 3000 + 10000 * 1500);
    assert_int_equal(heights[0] + 10000 * heights[1], 1999 + 10000 * 1000);
    OK(cudaMalloc((void **)&to.channel[0], 3 * 3000 * 1999));
    OK(cudaMemGetInfo(&before, &total));
    for (int i = 0; i < 2; i++)
        OK(nvjpegDecode(handle, decoder, image, sizeof image, NVJPEG_OUTPUT_RGBI, &to, NULL));
    OK(cudaDeviceSynchronize());
    OK(cudaMemGetInfo(&after, &total));
    size_t blocks = 375 * 250 + 2 * 188 * 125;
    assert_in_range(before - after, blocks * 128, blocks * 128 + (4 << 20));
    to.pitch[0]--;
    FAILS(nvjpegDecode(handle, decoder, image, sizeof image, NVJPEG_OUTPUT_RGBI, &to, NULL), NVJPEG_STATUS_INVALID_PARAMETER);
    for (size_t length = 0; length < 27; length++)
        FAILS(nvjpegGetImageInfo(handle, image, length, &components, &subsampling, widths, heights), NVJPEG_STATUS_BAD_JPEG);
    OK(nvjpegJpegStateDestroy(decoder));
    OK(nvjpegDestroy(handle));
    FAILS(nvjpegDestroy(handle), NVJPEG_STATUS_NOT_INITIALIZED);
}

SETUP(begin)
{
    return cudaFree(NULL);
}
