/* SPDX-License-Identifier: Apache-2.0
 *
 * Arrays, facts of the simulated device alone: their exact memory, stale handles, refused forms. */
#include "sim_test.h"

static CUarray make(size_t w, size_t h, size_t d, CUarray_format format, unsigned channels,
                    unsigned flags)
{
    CUDA_ARRAY3D_DESCRIPTOR desc = {.Width = w, .Height = h, .Depth = d, .Format = format,
                                    .NumChannels = channels, .Flags = flags};
    return GOT(CUarray, cuArray3DCreate(&got, &desc));
}

static CUresult refused(CUarray_format format, unsigned channels, unsigned flags)
{
    CUDA_ARRAY3D_DESCRIPTOR desc = {
        .Width = 64, .Height = 64, .Format = format, .NumChannels = channels, .Flags = flags};
    CUarray array;
    return cuArray3DCreate(&array, &desc);
}

TEST(an_array_takes_what_memory_of_its_size_takes)
{
    size_t before = sim_free_bytes();
    CUarray large = make(1024, 1024, 3, CU_AD_FORMAT_FLOAT, 4, 0); /* 48 MiB */
    assert_int_equal(before - sim_free_bytes(), 48 * MIB);
    CUarray odd = make(1000, 1000, 0, CU_AD_FORMAT_UNSIGNED_INT8, 4, 0); /* 4000000 bytes */
    assert_int_equal(before - sim_free_bytes(), 52 * MIB);
    CUarray small = make(16, 16, 0, CU_AD_FORMAT_UNSIGNED_INT8, 1, 0);
    CUarray small_too = make(16, 16, 0, CU_AD_FORMAT_UNSIGNED_INT8, 1, 0);
    assert_int_equal(before - sim_free_bytes(), 54 * MIB);
    OK(cuArrayDestroy(large));
    OK(cuArrayDestroy(odd));
    OK(cuArrayDestroy(small));
    OK(cuArrayDestroy(small_too));
    assert_int_equal(sim_free_bytes(), before);
}

TEST(mipmaps_give_everything_back)
{
    CUDA_ARRAY3D_DESCRIPTOR d = {
        .Width = 2048, .Height = 2048, .Format = CU_AD_FORMAT_FLOAT, .NumChannels = 1};
    size_t before = sim_free_bytes();
    CUmipmappedArray mip;
    CUarray level;
    for (int i = 0; i < 3; i++) {
        OK(cuMipmappedArrayCreate(&mip, &d, 12));
        assert_true(before - sim_free_bytes() >= 16 * MIB / 3 * 4);
        OK(cuMipmappedArrayGetLevel(&level, mip, 11));
        FAILS(cuArrayDestroy(level), CUDA_ERROR_INVALID_HANDLE);
        OK(cuMipmappedArrayDestroy(mip));
        assert_int_equal(sim_free_bytes(), before);
        FAILS(cuMipmappedArrayGetLevel(&level, mip, 0), CUDA_ERROR_INVALID_HANDLE);
    }
}

TEST(handles_of_destroyed_arrays_are_refused)
{
    CUDA_ARRAY3D_DESCRIPTOR d;
    char bytes[16];
    CUarray array = make(64, 0, 0, CU_AD_FORMAT_UNSIGNED_INT8, 1, 0);
    OK(cuArrayDestroy(array));
    FAILS(cuArrayDestroy(array), CUDA_ERROR_INVALID_HANDLE);
    FAILS(cuArrayDestroy(NULL), CUDA_ERROR_INVALID_HANDLE);
    FAILS(cuArray3DGetDescriptor(&d, array), CUDA_ERROR_INVALID_HANDLE);
    INVALID(cuMemcpyAtoH(bytes, array, 0, 16));
}

TEST(the_handle_is_no_address)
{
    CUarray array = make(64, 0, 0, CU_AD_FORMAT_UNSIGNED_INT8, 1, 0);
    CUdeviceptr address = (CUdeviceptr)(uintptr_t)array, base;
    char bytes[16];
    unsigned type;
    size_t size;
    INVALID(cuMemcpyDtoH(bytes, address, 16));
    INVALID(cuMemFree(address));
    FAILS(cuMemGetAddressRange(&base, &size, address), CUDA_ERROR_NOT_FOUND);
    INVALID(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, address));
}

TEST(what_is_not_built_says_so)
{
    FAILS(refused(CU_AD_FORMAT_FLOAT, 1, CUDA_ARRAY3D_SPARSE), CUDA_ERROR_NOT_SUPPORTED);
    FAILS(refused(CU_AD_FORMAT_FLOAT, 1, CUDA_ARRAY3D_DEFERRED_MAPPING), CUDA_ERROR_NOT_SUPPORTED);
    FAILS(refused(CU_AD_FORMAT_NV12, 1, 0), CUDA_ERROR_NOT_SUPPORTED);
    FAILS(refused(CU_AD_FORMAT_BC7_UNORM, 4, 0), CUDA_ERROR_NOT_SUPPORTED);
    INVALID(refused((CUarray_format)0x77, 1, 0));
    INVALID(refused(CU_AD_FORMAT_FLOAT, 1, 1u << 30));
    INVALID(refused(CU_AD_FORMAT_UNORM_INT8X4, 2, 0));
}

TEST(boxes_must_lie_within_the_array_and_on_elements)
{
    CUarray array = make(8, 8, 0, CU_AD_FORMAT_FLOAT, 1, 0);
    CUarray bytes = make(8, 8, 0, CU_AD_FORMAT_UNSIGNED_INT8, 1, 0);
    float host[64] = {0};
    CUDA_MEMCPY2D good = {.srcMemoryType = CU_MEMORYTYPE_HOST, .srcHost = host,
                          .dstMemoryType = CU_MEMORYTYPE_ARRAY, .dstArray = array,
                          .WidthInBytes = 32, .Height = 8};
    CUDA_MEMCPY2D c = good;
    OK(cuMemcpy2D(&c));
    c.dstXInBytes = 4;
    INVALID(cuMemcpy2D(&c));
    c = good, c.dstY = 1;
    INVALID(cuMemcpy2D(&c));
    c = good, c.WidthInBytes = 30;
    INVALID(cuMemcpy2D(&c));
    c = good, c.dstY = SIZE_MAX;
    INVALID(cuMemcpy2D(&c));
    c = good, c.srcMemoryType = CU_MEMORYTYPE_ARRAY, c.srcArray = bytes, c.WidthInBytes = 8;
    INVALID(cuMemcpy2D(&c)); /* elements of another size */
}

TEST(an_array_that_does_not_fit_is_refused)
{
    CUDA_ARRAY3D_DESCRIPTOR d = {.Width = 16384, .Height = 16384, .Depth = 16384,
                                 .Format = CU_AD_FORMAT_FLOAT, .NumChannels = 4};
    size_t before = sim_free_bytes();
    CUarray array;
    CUmipmappedArray mip;
    FAILS(cuArray3DCreate(&array, &d), CUDA_ERROR_OUT_OF_MEMORY);
    FAILS(cuMipmappedArrayCreate(&mip, &d, 4), CUDA_ERROR_OUT_OF_MEMORY);
    assert_int_equal(sim_free_bytes(), before);
}

TEST(arrays_end_with_their_context)
{
    CUDA_ARRAY3D_DESCRIPTOR d = {
        .Width = 1024, .Height = 1024, .Format = CU_AD_FORMAT_FLOAT, .NumChannels = 1};
    CUDA_ARRAY3D_DESCRIPTOR got;
    CUmipmappedArray mip;
    size_t before = sim_free_bytes();
    CUcontext ctx = sim_context_on(0);
    CUarray array = make(1024, 1024, 0, CU_AD_FORMAT_FLOAT, 1, 0);
    OK(cuMipmappedArrayCreate(&mip, &d, 5));
    OK(cuCtxDestroy(ctx));
    assert_int_equal(sim_free_bytes(), before);
    FAILS(cuArray3DGetDescriptor(&got, array), CUDA_ERROR_INVALID_HANDLE);
    FAILS(cuMipmappedArrayDestroy(mip), CUDA_ERROR_INVALID_HANDLE);
}

TEST(destroying_waits_for_the_work)
{
    CUarray array = make(1024, 0, 0, CU_AD_FORMAT_UNSIGNED_INT8, 1, 0);
    unsigned char *out, in[1024];
    memset(in, 5, sizeof in);
    CUstream stream = sim_stream(CU_STREAM_NON_BLOCKING);
    OK(cuMemAllocHost((void **)&out, 1024));
    OK(cuMemcpyHtoA(array, 0, in, 1024));
    for (int i = 0; i < 50; i++)
        OK(cuMemcpyAtoHAsync(out, array, 0, 1024, stream));
    OK(cuArrayDestroy(array));
    OK(cuStreamQuery(stream));
    assert_int_equal(out[1023], 5);
}

/* Memory freed with a captured copy can be reused. */
TEST(captured_copies_name_their_arrays)
{
    CUarray array = make(64, 8, 4, CU_AD_FORMAT_UNSIGNED_INT8, 1, 0);
    unsigned char in[32], out[16];
    CUDA_MEMCPY3D copy = {.srcMemoryType = CU_MEMORYTYPE_HOST, .srcHost = in, .srcPitch = 16,
                          .srcHeight = 2,
                          .dstMemoryType = CU_MEMORYTYPE_ARRAY, .dstArray = array,
                          .dstXInBytes = 8, .dstY = 3, .dstZ = 2,
                          .WidthInBytes = 16, .Height = 2, .Depth = 1}, got;
    memset(in, 7, sizeof in);
    CUstream s = sim_stream(CU_STREAM_NON_BLOCKING);
    OK(cuStreamBeginCapture(s, CU_STREAM_CAPTURE_MODE_RELAXED));
    OK(cuMemcpy3DAsync(&copy, s));
    CUgraph graph = sim_captured(s);
    CUgraphNode node = sim_only_node(graph);
    OK(cuGraphMemcpyNodeGetParams(node, &got));
    assert_int_equal(got.dstMemoryType, CU_MEMORYTYPE_ARRAY);
    assert_ptr_equal(got.dstArray, array);
    assert_int_equal(got.dstXInBytes, 8);
    assert_int_equal(got.dstY, 3);
    assert_int_equal(got.dstZ, 2);
    assert_int_equal(got.dstDevice, 0); /* programs do not have its address */
    OK(cuGraphMemcpyNodeSetParams(node, &got));
    CUgraphExec exec = sim_exec(graph);
    sim_run(exec, s);
    got.srcMemoryType = CU_MEMORYTYPE_ARRAY;
    got.srcArray = array;
    got.srcXInBytes = 8;
    got.srcY = 4;
    got.srcZ = 2;
    got.dstMemoryType = CU_MEMORYTYPE_HOST;
    got.dstHost = out;
    got.dstXInBytes = got.dstY = got.dstZ = got.dstPitch = got.dstHeight = 0;
    got.Height = 1;
    OK(cuMemcpy3D(&got));
    assert_memory_equal(out, in, sizeof out);
}

SIM_TESTS_ON("a100-40g,capacity=4GiB")
