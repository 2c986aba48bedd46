/* SPDX-License-Identifier: Apache-2.0
 *
 * Arrays and mipmapped arrays: valid descriptions, their attributes, and that copies write to the
 * described place. */
#include "conf.h"

static CUarray array_2d(size_t width, size_t height, CUarray_format format, unsigned channels)
{
    CUDA_ARRAY_DESCRIPTOR d = {
        .Width = width, .Height = height, .Format = format, .NumChannels = channels};
    return GOT(CUarray, cuArrayCreate(&got, &d));
}

/* What such an array is created with; it is freed again. */
static CUresult create_3d(size_t w, size_t h, size_t d, unsigned flags)
{
    CUDA_ARRAY3D_DESCRIPTOR desc = {w, h, d, CU_AD_FORMAT_FLOAT, 1, flags};
    CUarray array;
    CUresult result = cuArray3DCreate(&array, &desc);
    if (result == CUDA_SUCCESS)
        DO(cuArrayDestroy(array));
    return result;
}

TEST(a_descriptor_comes_back_as_given)
{
    CUDA_ARRAY_DESCRIPTOR d;
    CUDA_ARRAY3D_DESCRIPTOR d3;
    CUarray array = array_2d(64, 48, CU_AD_FORMAT_HALF, 4);
    DO(cuArrayGetDescriptor(&d, array));
    FACT_EQ(d.Width, 64, "cuArrayGetDescriptor: dimensions of the array");
    FACT_EQ(d.Height, 48, "cuArrayGetDescriptor: dimensions of the array");
    FACT_EQ(d.Format, CU_AD_FORMAT_HALF, "cuArrayGetDescriptor: format of the array");
    FACT_EQ(d.NumChannels, 4, "cuArrayGetDescriptor: format of the array");
    DO(cuArray3DGetDescriptor(&d3, array));
    FACT_EQ(d3.Width, 64, "cuArray3DGetDescriptor: may be called on 2D arrays");
    FACT_EQ(d3.Depth, 0, "cuArray3DGetDescriptor: members that do not apply are 0");
    RETURNS(cuArrayGetDescriptor(NULL, array), CUDA_ERROR_INVALID_VALUE);
}

TEST(a_row_has_height_0)
{
    CUDA_ARRAY3D_DESCRIPTOR d;
    CUarray array = array_2d(2048, 0, CU_AD_FORMAT_FLOAT, 1);
    DO(cuArray3DGetDescriptor(&d, array));
    FACT_EQ(d.Height, 0, "cuArrayCreate: one-dimensional if height is 0");
    FACT_EQ(d.Depth, 0, "cuArray3DGetDescriptor: members that do not apply are 0");
}

TEST(channels_are_1_2_or_4)
{
    CUDA_ARRAY_DESCRIPTOR d = {.Width = 16, .Height = 16, .Format = CU_AD_FORMAT_FLOAT};
    CUarray array;
    for (unsigned channels = 0; channels <= 5; channels++) {
        d.NumChannels = channels;
        CUresult e = cuArrayCreate(&array, &d);
        bool good = channels == 1 || channels == 2 || channels == 4;
        FACT_EQ(e, good ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE,
                "cuArrayCreate: NumChannels may be 1, 2, or 4");
        if (good)
            DO(cuArrayDestroy(array));
    }
}

TEST(extents_decide_what_is_created)
{
    INVALID(create_3d(0, 0, 0, 0), "cuArray3DCreate: width is at least 1");
    WORKS(create_3d(8, 4, 2, 0), "cuArray3DCreate: 3D if all three extents are non-zero");
    WORKS(create_3d(8, 0, 5, CUDA_ARRAY3D_LAYERED),
          "cuArray3DCreate: 1D layered if only height is zero");
    WORKS(create_3d(8, 8, 5, CUDA_ARRAY3D_LAYERED), "cuArray3DCreate: 2D layered");
    WORKS(create_3d(8, 8, 6, CUDA_ARRAY3D_CUBEMAP), "cuArray3DCreate: cubemap");
    WORKS(create_3d(8, 8, 12, CUDA_ARRAY3D_CUBEMAP | CUDA_ARRAY3D_LAYERED),
          "cuArray3DCreate: cubemap layered");
    INVALID(create_3d(8, 4, 6, CUDA_ARRAY3D_CUBEMAP),
            "cuArray3DCreate: width of a cubemap must be equal to height");
    INVALID(create_3d(8, 8, 5, CUDA_ARRAY3D_CUBEMAP),
            "cuArray3DCreate: depth of a cubemap must be six");
    INVALID(create_3d(8, 8, 10, CUDA_ARRAY3D_CUBEMAP | CUDA_ARRAY3D_LAYERED),
            "cuArray3DCreate: depth of a layered cubemap is a multiple of six");
}

TEST(extents_have_limits)
{
    size_t widest_1d = (size_t)DEVICE_ATTRIBUTE(MAXIMUM_TEXTURE1D_WIDTH);
    size_t layers = (size_t)DEVICE_ATTRIBUTE(MAXIMUM_TEXTURE1D_LAYERED_LAYERS);
    size_t highest = (size_t)DEVICE_ATTRIBUTE(MAXIMUM_TEXTURE2D_HEIGHT);
    WORKS(create_3d(widest_1d, 0, 0, 0), "cuArray3DCreate: 1D width up to TEXTURE1D_WIDTH");
    INVALID(create_3d(widest_1d + 1, 0, 0, 0), "cuArray3DCreate: 1D width up to TEXTURE1D_WIDTH");
    INVALID(create_3d(8, highest + 1, 0, 0), "cuArray3DCreate: 2D height up to TEXTURE2D_HEIGHT");
    WORKS(create_3d(8, 0, layers, CUDA_ARRAY3D_LAYERED),
          "cuArray3DCreate: 1D layered up to TEXTURE1D_LAYERED_LAYERS");
    INVALID(create_3d(8, 0, layers + 1, CUDA_ARRAY3D_LAYERED),
            "cuArray3DCreate: 1D layered up to TEXTURE1D_LAYERED_LAYERS");
}

static void *make_large(void) { return array_2d(4096, 4096, CU_AD_FORMAT_FLOAT, 4); }

static void drop(void *array) { DO(cuArrayDestroy(array)); }

TEST(storage_comes_from_the_device)
{
    FACT(conf_takes_memory(256 * CONF_MIB, make_large, drop),
         "cuArrayCreate: an array is device memory (CUDA_ERROR_OUT_OF_MEMORY)");
}

TEST(what_other_arrays_have_is_refused)
{
    CUDA_ARRAY_SPARSE_PROPERTIES sparse;
    CUDA_ARRAY_MEMORY_REQUIREMENTS need;
    CUarray plane, array = array_2d(64, 64, CU_AD_FORMAT_UNSIGNED_INT8, 1);
    INVALID(cuArrayGetSparseProperties(&sparse, array), "not allocated with CUDA_ARRAY3D_SPARSE");
    INVALID(cuArrayGetMemoryRequirements(&need, array, 0), "not CUDA_ARRAY3D_DEFERRED_MAPPING");
    INVALID(cuArrayGetPlane(&plane, array, 0), "does not have a multi-planar format");
}

/* ---- copies ---- */

TEST(a_row_is_copied_at_its_offset)
{
    unsigned char in[256], out[256] = {0};
    CUarray array = array_2d(256, 0, CU_AD_FORMAT_UNSIGNED_INT8, 1);
    for (int i = 0; i < 256; i++)
        in[i] = (unsigned char)(i * 7);
    DO(cuMemcpyHtoA(array, 0, in, 256));
    DO(cuMemcpyAtoH(out, array, 16, 100));
    FACT(!memcmp(out, in + 16, 100), "cuMemcpyAtoH: srcOffset is in bytes");
    CUdeviceptr device = conf_alloc(256);
    DO(cuMemcpyAtoD(device, array, 32, 64));
    DO(cuMemcpyDtoH(out, device, 64));
    FACT(!memcmp(out, in + 32, 64), "cuMemcpyAtoD: srcOffset is in bytes");
    DO(cuMemcpyDtoA(array, 128, device, 64));
    DO(cuMemcpyAtoH(out, array, 128, 64));
    FACT(!memcmp(out, in + 32, 64), "cuMemcpyDtoA: dstOffset is in bytes");
    DO(cuMemcpyAtoA(array, 0, array, 128, 64));
    DO(cuMemcpyAtoH(out, array, 0, 64));
    FACT(!memcmp(out, in + 32, 64), "cuMemcpyAtoA: copies from array to array");
}

TEST(a_row_is_copied_in_stream_order)
{
    unsigned char *in, *out;
    CUarray array = array_2d(4096, 0, CU_AD_FORMAT_UNSIGNED_INT8, 1);
    int gate = 0;
    DO(cuMemAllocHost((void **)&in, 4096));
    DO(cuMemAllocHost((void **)&out, 4096));
    CUstream stream = conf_stream();
    memset(in, 1, 4096);
    memset(out, 9, 4096);
    conf_close(stream, &gate);
    DO(cuMemcpyHtoAAsync(array, 0, in, 4096, stream));
    DO(cuMemcpyAtoHAsync(out, array, 0, 4096, stream));
    FACT_EQ(out[0], 9, "cuMemcpyAtoHAsync: waits for earlier work in its stream");
    conf_open(&gate);
    DO(cuStreamSynchronize(stream));
    FACT_EQ(out[4095], 1, "cuMemcpyHtoAAsync: done with the stream's work");
}

TEST(a_box_is_copied_to_its_place)
{
    enum { W = 32, H = 16 };
    float in[8][8], out[H][W];
    CUarray array = array_2d(W, H, CU_AD_FORMAT_FLOAT, 1);
    CUDA_MEMCPY2D clear = {.srcMemoryType = CU_MEMORYTYPE_HOST, .srcHost = out,
                           .srcPitch = sizeof out[0],
                           .dstMemoryType = CU_MEMORYTYPE_ARRAY, .dstArray = array,
                           .WidthInBytes = sizeof out[0], .Height = H};
    memset(out, 0, sizeof out);
    DO(cuMemcpy2D(&clear));
    for (int y = 0; y < 8; y++)
        for (int x = 0; x < 8; x++)
            in[y][x] = (float)(10 * y + x + 1);
    CUDA_MEMCPY2D to = {.srcMemoryType = CU_MEMORYTYPE_HOST, .srcHost = in,
                        .srcXInBytes = 2 * sizeof(float), .srcY = 1, .srcPitch = sizeof in[0],
                        .dstMemoryType = CU_MEMORYTYPE_ARRAY, .dstArray = array,
                        .dstXInBytes = 5 * sizeof(float), .dstY = 3,
                        .WidthInBytes = 4 * sizeof(float), .Height = 6};
    DO(cuMemcpy2D(&to));
    CUDA_MEMCPY2D from = {.srcMemoryType = CU_MEMORYTYPE_ARRAY, .srcArray = array,
                          .dstMemoryType = CU_MEMORYTYPE_HOST, .dstHost = out,
                          .dstPitch = sizeof out[0],
                          .WidthInBytes = sizeof out[0], .Height = H};
    memset(out, 1, sizeof out);
    DO(cuMemcpy2D(&from));
    FACT(out[3][5] == in[1][2], "cuMemcpy2D: dstXInBytes and dstY are the corner");
    FACT(out[8][8] == in[6][5], "cuMemcpy2D: WidthInBytes and Height");
    FACT(out[3][4] == 0 && out[3][9] == 0, "cuMemcpy2D: nothing beside the box");
    FACT(out[2][5] == 0 && out[9][5] == 0, "cuMemcpy2D: nothing above or below the box");
}

TEST(planes_are_copied_to_their_place)
{
    enum { W = 8, H = 4, D = 6 };
    int in[D][H][W], out[2][2][3];
    CUarray array;
    CUDA_ARRAY3D_DESCRIPTOR d = {.Width = W, .Height = H, .Depth = D,
                                 .Format = CU_AD_FORMAT_SIGNED_INT32, .NumChannels = 1,
                                 .Flags = CUDA_ARRAY3D_LAYERED};
    DO(cuArray3DCreate(&array, &d));
    for (int i = 0; i < D * H * W; i++)
        (&in[0][0][0])[i] = i;
    CUDA_MEMCPY3D to = {.srcMemoryType = CU_MEMORYTYPE_HOST, .srcHost = in,
                        .srcPitch = sizeof in[0][0], .srcHeight = H,
                        .dstMemoryType = CU_MEMORYTYPE_ARRAY, .dstArray = array,
                        .WidthInBytes = sizeof in[0][0], .Height = H, .Depth = D};
    DO(cuMemcpy3D(&to));
    CUDA_MEMCPY3D from = {.srcMemoryType = CU_MEMORYTYPE_ARRAY, .srcArray = array,
                          .srcXInBytes = 2 * sizeof(int), .srcY = 1, .srcZ = 3,
                          .dstMemoryType = CU_MEMORYTYPE_HOST, .dstHost = out,
                          .dstPitch = sizeof out[0][0], .dstHeight = 2,
                          .WidthInBytes = sizeof out[0][0], .Height = 2, .Depth = 2};
    DO(cuMemcpy3D(&from));
    FACT_EQ(out[0][0][0], in[3][1][2], "cuMemcpy3D: srcXInBytes, srcY and srcZ");
    FACT_EQ(out[1][1][2], in[4][2][4], "cuMemcpy3D: dstHeight separates planes");
}

TEST(batches_are_in_stream_order)
{
    unsigned char *pinned, out[256];
    int gate = 0;
    CUstream stream = conf_stream();
    DO(cuMemAllocHost((void **)&pinned, 512));
    CUdeviceptr device = conf_alloc(512);
    memset(pinned, 1, 512);
    CUdeviceptr to[2] = {device, device + 256},
                from[2] = {(CUdeviceptr)(uintptr_t)pinned, (CUdeviceptr)(uintptr_t)pinned + 256};
    size_t sizes[2] = {256, 256}, first[1] = {0};
    CUmemcpyAttributes attrs[1] = {{.srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_STREAM}};
    conf_close(stream, &gate);
    DO(cuMemcpyBatchAsync(to, from, sizes, 2, attrs, first, 1, stream));
    memset(pinned, 2, 512);
    conf_open(&gate);
    DO(cuStreamSynchronize(stream));
    DO(cuMemcpyDtoH(out, device + 256, 256));
    FACT(out[0] == 2 && out[255] == 2,
         "cuMemcpyBatchAsync: SRC_ACCESS_ORDER_STREAM reads in stream order");
    attrs[0].srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_DURING_API_CALL;
    unsigned char local[256];
    memset(local, 3, sizeof local);
    from[0] = (CUdeviceptr)(uintptr_t)local;
    DO(cuMemcpyBatchAsync(to, from, sizes, 1, attrs, first, 1, stream));
    memset(local, 4, sizeof local);
    DO(cuStreamSynchronize(stream));
    DO(cuMemcpyDtoH(out, device, 256));
    FACT(out[0] == 3 && out[255] == 3,
         "cuMemcpyBatchAsync: DURING_API_CALL has read when the call returns");
    attrs[0].srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_INVALID;
    INVALID(cuMemcpyBatchAsync(to, from, sizes, 1, attrs, first, 1, stream),
            "each copy needs a valid srcAccessOrder");
}

TEST(batches_reach_arrays)
{
    float in[6][5], out[6][5];
    CUarray array = array_2d(16, 16, CU_AD_FORMAT_FLOAT, 1);
    CUDA_MEMCPY3D_BATCH_OP op;
    for (int i = 0; i < 30; i++)
        (&in[0][0])[i] = (float)i;
    memset(&op, 0, sizeof op);
    op.src.type = CU_MEMCPY_OPERAND_TYPE_POINTER;
    op.src.op.ptr.ptr = (CUdeviceptr)(uintptr_t)in;
    op.dst.type = CU_MEMCPY_OPERAND_TYPE_ARRAY;
    op.dst.op.array.array = array;
    op.dst.op.array.offset = (CUoffset3D){3, 2, 0};
    op.extent = (CUextent3D){5, 6, 1};
    op.srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_STREAM;
    CUstream stream = conf_stream();
    WORKS(cuMemcpy3DBatchAsync(1, &op, 0, stream), "pointer to CUDA array");
    DO(cuStreamSynchronize(stream));
    CUDA_MEMCPY2D back = {.srcMemoryType = CU_MEMORYTYPE_ARRAY, .srcArray = array,
                          .srcXInBytes = 3 * sizeof(float), .srcY = 2,
                          .dstMemoryType = CU_MEMORYTYPE_HOST, .dstHost = out,
                          .dstPitch = sizeof out[0],
                          .WidthInBytes = sizeof out[0], .Height = 6};
    DO(cuMemcpy2D(&back));
    FACT(!memcmp(in, out, sizeof in),
         "cuMemcpy3DBatchAsync: offset and extent are in elements of the array");
    INVALID(cuMemcpy3DBatchAsync(1, &op, 1, stream), "flags must be zero");
    op.extent.depth = 0;
    INVALID(cuMemcpy3DBatchAsync(1, &op, 0, stream), "the extent must not be zero");
}

/* ---- mipmapped arrays ---- */

static CUmipmappedArray mipmap(size_t width, size_t height, unsigned levels)
{
    CUDA_ARRAY3D_DESCRIPTOR d = {width, height, 0, CU_AD_FORMAT_UNSIGNED_INT8, 1, 0};
    return GOT(CUmipmappedArray, cuMipmappedArrayCreate(&got, &d, levels));
}

static CUarray level_of(CUmipmappedArray mip, unsigned i)
{
    return GOT(CUarray, cuMipmappedArrayGetLevel(&got, mip, i));
}

TEST(levels_halve)
{
    CUDA_ARRAY3D_DESCRIPTOR got;
    CUarray level;
    CUmipmappedArray mip = mipmap(64, 16, 5);
    DO(cuArray3DGetDescriptor(&got, level_of(mip, 0)));
    FACT_EQ(got.Width, 64, "cuMipmappedArrayGetLevel: level 0 is the whole size");
    DO(cuArray3DGetDescriptor(&got, level_of(mip, 4)));
    FACT_EQ(got.Width, 4, "guide, mipmapped: each level is half the size");
    FACT_EQ(got.Height, 1, "guide, mipmapped: each level is half the size");
    INVALID(cuMipmappedArrayGetLevel(&level, mip, 5), "level above the number of levels");
}

TEST(the_number_of_levels_is_clamped)
{
    CUarray level;
    CUmipmappedArray mip = mipmap(16, 8, 100);
    WORKS(cuMipmappedArrayGetLevel(&level, mip, 4),
          "cuMipmappedArrayCreate: clamped to 1 + floor(log2(max(width, height)))");
    INVALID(cuMipmappedArrayGetLevel(&level, mip, 5),
            "cuMipmappedArrayCreate: clamped to 1 + floor(log2(max(width, height)))");
}

TEST(levels_hold_their_own_bytes)
{
    unsigned char in[2][32], out[32];
    CUmipmappedArray mip = mipmap(32, 0, 3);
    for (unsigned i = 0; i < 2; i++) {
        memset(in[i], (int)i + 1, sizeof in[i]);
        DO(cuMemcpyHtoA(level_of(mip, i), 0, in[i], 32 >> i));
    }
    for (unsigned i = 0; i < 2; i++) {
        DO(cuMemcpyAtoH(out, level_of(mip, i), 0, 32 >> i));
        FACT(!memcmp(out, in[i], 32 >> i), "cuMipmappedArrayGetLevel: a level is an array");
    }
}

/* ---- the runtime ---- */

TEST(the_runtime_describes_its_arrays)
{
    struct cudaChannelFormatDesc in = {16, 16, 0, 0, cudaChannelFormatKindUnsigned}, out, again;
    struct cudaExtent extent;
    unsigned flags = 99;
    cudaArray_t array;
    DO(cudaMallocArray(&array, &in, 40, 30, cudaArraySurfaceLoadStore));
    DO(cudaArrayGetInfo(&out, &extent, &flags, array));
    FACT(out.x == 16 && out.y == 16 && !out.z && !out.w,
         "cudaArrayGetInfo: desc is the array's type");
    FACT_EQ(out.f, cudaChannelFormatKindUnsigned, "cudaArrayGetInfo: desc");
    FACT_EQ(extent.width, 40, "cudaArrayGetInfo: extent is the shape");
    FACT_EQ(extent.height, 30, "cudaArrayGetInfo: extent is the shape");
    FACT_EQ(extent.depth, 0, "cudaArrayGetInfo: 2D arrays have depth zero");
    FACT_EQ(flags, cudaArraySurfaceLoadStore, "cudaArrayGetInfo: flags");
    WORKS(cudaArrayGetInfo(NULL, NULL, NULL, array), "any may be NULL");
    DO(cudaGetChannelDesc(&again, array));
    FACT(again.x == 16 && again.f == cudaChannelFormatKindUnsigned,
         "cudaGetChannelDesc: channel descriptor of the array");
    DO(cudaFreeArray(array));
    WORKS(cudaFreeArray(NULL), "0 performs no operation");
    WORKS(cudaFreeMipmappedArray(NULL), "0 performs no operation");
}

TEST(rows_go_to_an_array_and_back)
{
    struct cudaChannelFormatDesc desc = {32, 0, 0, 0, cudaChannelFormatKindFloat};
    float in[6][10], out[6][10], part[2][3];
    cudaArray_t array, other;
    for (int i = 0; i < 60; i++)
        (&in[0][0])[i] = (float)i;
    DO(cudaMallocArray(&array, &desc, 10, 6, 0));
    DO(cudaMallocArray(&other, &desc, 10, 6, 0));
    DO(cudaMemcpy2DToArray(array, 0, 0, in, sizeof in[0], sizeof in[0], 6, cudaMemcpyHostToDevice));
    DO(cudaMemcpy2DFromArray(part, sizeof part[0], array, 4 * sizeof(float), 2, sizeof part[0], 2,
                             cudaMemcpyDeviceToHost));
    FACT(part[0][0] == in[2][4] && part[1][2] == in[3][6],
         "cudaMemcpy2DFromArray: wOffset in bytes, hOffset in rows");
    REFUSED(cudaMemcpy2DToArray(array, 0, 0, in, 8, 16, 1, cudaMemcpyHostToDevice),
            "width must not exceed spitch");
    RETURNS(cudaMemcpy2DToArray(NULL, 0, 0, in, 16, 16, 1, cudaMemcpyHostToDevice),
            cudaErrorInvalidResourceHandle);
    DO(cudaMemcpy2DArrayToArray(other, 0, 0, array, 0, 0, sizeof in[0], 6,
                                cudaMemcpyDeviceToDevice));
    DO(cudaMemcpy2DFromArray(out, sizeof out[0], other, 0, 0, sizeof out[0], 6,
                             cudaMemcpyDeviceToHost));
    FACT(!memcmp(in, out, sizeof in), "cudaMemcpy2DArrayToArray: copies");
}

TEST(extents_of_3d_copies_are_elements)
{
    struct cudaChannelFormatDesc desc = {32, 32, 0, 0, cudaChannelFormatKindFloat};
    struct cudaExtent size = {8, 4, 2};
    float in[2][4][8][2], out[2][4][8][2], two[2];
    struct cudaMemcpy3DParms to = {0}, from = {0}, both = {0};
    cudaArray_t array;
    for (int i = 0; i < 128; i++)
        (&in[0][0][0][0])[i] = (float)i;
    DO(cudaMalloc3DArray(&array, &desc, size, 0));
    to.srcPtr = (struct cudaPitchedPtr){in, sizeof in[0][0], 8, 4};
    to.dstArray = array;
    to.extent = size;
    to.kind = cudaMemcpyHostToDevice;
    WORKS(cudaMemcpy3D(&to), "the extent is in elements of the array");
    from.srcArray = array;
    from.dstPtr = (struct cudaPitchedPtr){out, sizeof out[0][0], 8, 4};
    from.extent = size;
    from.kind = cudaMemcpyDeviceToHost;
    DO(cudaMemcpy3D(&from));
    FACT(!memcmp(in, out, sizeof in), "cudaMemcpy3D: copies 3D objects");
    from.srcPos = (struct cudaPos){3, 2, 1};
    from.dstPtr = (struct cudaPitchedPtr){two, sizeof two, 1, 1};
    from.extent = (struct cudaExtent){1, 1, 1};
    DO(cudaMemcpy3D(&from));
    FACT(two[0] == in[1][2][3][0] && two[1] == in[1][2][3][1],
         "cudaMemcpy3D: srcPos is in elements of the array");
    both = to;
    both.dstPtr = (struct cudaPitchedPtr){out, sizeof out[0][0], 8, 4};
    REFUSED(cudaMemcpy3D(&both), "one of dstArray or dstPtr");
}
