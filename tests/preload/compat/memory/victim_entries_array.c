/* SPDX-License-Identifier: Apache-2.0
 *
 * CUDA arrays and mipmapped arrays of every shape, by both layers and in their forms
 * from before CUDA 3.2. */
#include "victim_memory.h"

VICTIM("arrays", INJECTED)

static struct cudaExtent box(size_t width, size_t height, size_t depth)
{
    struct cudaExtent extent = {width, height, depth};
    return extent;
}

static struct cudaChannelFormatDesc floats(void)
{
    struct cudaChannelFormatDesc desc = {32, 0, 0, 0, cudaChannelFormatKindFloat};
    return desc;
}

static void destroy(CUarray array)
{
    FREES(VT_ARRAY, cuArrayDestroy(array));
}

static CUarray make(size_t width, size_t height, size_t depth, CUarray_format format,
                    unsigned channels, unsigned flags, int64_t bytes)
{
    CUarray array;
    CUDA_ARRAY3D_DESCRIPTOR desc = {width, height, depth, format, channels, flags};
    ALLOCATES(VT_ARRAY, bytes, cuArray3DCreate(&array, &desc));
    return array;
}

CASE(plain, "arrays of one and two dimensions", 0)
{
    CUarray array;
    CUDA_ARRAY_DESCRIPTOR row = {1000, 0, CU_AD_FORMAT_FLOAT, 1};
    CUDA_ARRAY_DESCRIPTOR plane = {640, 480, CU_AD_FORMAT_UNSIGNED_INT8, 4};
    start();
    ALLOCATES(VT_ARRAY, 4000, cuArrayCreate(&array, &row));
    destroy(array);
    ALLOCATES(VT_ARRAY, 640 * 480 * 4, cuArrayCreate(&array, &plane));
    destroy(array);
    printf("destroyed: %d\n", cuArrayDestroy(array));
}

CASE(shapes, "layered, cubemap and 3D arrays, surfaces", 0)
{
    start();
    CUarray a[] = {make(64, 0, 0, CU_AD_FORMAT_HALF, 2, 0, 64 * 4),
                   make(33, 17, 5, CU_AD_FORMAT_SIGNED_INT16, 1, 0, 33 * 17 * 5 * 2),
                   make(64, 0, 9, CU_AD_FORMAT_UNSIGNED_INT8, 1, CUDA_ARRAY3D_LAYERED, 64 * 9),
                   make(64, 32, 3, CU_AD_FORMAT_FLOAT, 4, CUDA_ARRAY3D_LAYERED, 64 * 32 * 3 * 16),
                   make(128, 128, 6, CU_AD_FORMAT_UNSIGNED_INT8, 4, CUDA_ARRAY3D_CUBEMAP,
                        128 * 128 * 6 * 4),
                   make(16, 16, 1, CU_AD_FORMAT_UNORM_INT16X2, 2,
                        CUDA_ARRAY3D_LAYERED | CUDA_ARRAY3D_SURFACE_LDST, 16 * 16 * 4)};
    for (size_t i = 0; i < sizeof a / sizeof *a; i++)
        destroy(a[i]);
}

CASE(mipmaps, "mipmapped arrays count as one allocation each", 0)
{
    CUmipmappedArray mip;
    CUarray level;
    CUDA_ARRAY3D_DESCRIPTOR plane = {256, 64, 0, CU_AD_FORMAT_FLOAT, 1, 0},
                            layers = {64, 64, 3, CU_AD_FORMAT_UNSIGNED_INT8, 1,
                                      CUDA_ARRAY3D_LAYERED};
    start();
    OK(cuMipmappedArrayCreate(&mip, &plane, 3));
    tally_alloc(VT_ARRAY, (256 * 64 + 128 * 32 + 64 * 16) * 4);
    OK(cuMipmappedArrayGetLevel(&level, mip, 1)); /* a part of it, not an allocation */
    FREES(VT_ARRAY, cuMipmappedArrayDestroy(mip));
    ALLOCATES(VT_ARRAY, (64 * 64 + 32 * 32) * 3, cuMipmappedArrayCreate(&mip, &layers, 2));
    FREES(VT_ARRAY, cuMipmappedArrayDestroy(mip));
    OK(cuMipmappedArrayCreate(&mip, &plane, 9)); /* down to a single texel */
    int64_t bytes = 0;
    for (int i = 0; i < 9; i++)
        bytes += (256 >> i) * (64 >> i ? 64 >> i : 1) * 4;
    tally_alloc(VT_ARRAY, bytes);
    FREES(VT_ARRAY, cuMipmappedArrayDestroy(mip));
}

CASE(by_the_runtime, "arrays by the runtime API, one allocation fails", 0)
{
    cudaArray_t a, b;
    cudaMipmappedArray_t mip;
    struct cudaChannelFormatDesc one = floats(),
                                 four = {8, 8, 8, 8, cudaChannelFormatKindUnsigned};
    ALLOCATES(VT_ARRAY, 300 * 200 * 4, cudaMallocArray(&a, &four, 300, 200, 0));
    ALLOCATES(VT_ARRAY, 20 * 30 * 40 * 4, cudaMalloc3DArray(&b, &one, box(20, 30, 40), 0));
    OK(cudaMallocMipmappedArray(&mip, &one, box(32, 32, 0), 2, 0));
    tally_alloc(VT_ARRAY, (32 * 32 + 16 * 16) * 4);
    FREES(VT_ARRAY, cudaFreeMipmappedArray(mip));
    FREES(VT_ARRAY, cudaFreeArray(b));
    FREES(VT_ARRAY, cudaFreeArray(a));
    OK(cudaFreeArray(NULL));
    printf("%s\n", cudaGetErrorName(cudaMallocArray(&a, &one, (size_t)1 << 40, 1, 0)));
    tally_failed(VT_ARRAY);
}
