/* SPDX-License-Identifier: Apache-2.0
 *
 * Texture and surface objects: what they accept, and that they describe what they were made of.
 * Kernels that read them are in tests/simulator/programs. */
#include "conf.h"

#define TEX "cuTexObjectCreate"
#define SURF "cuSurfObjectCreate"
#define RT "cudaCreateTextureObject"

static CUarray picture(unsigned flags)
{
    CUDA_ARRAY3D_DESCRIPTOR d = {.Width = 64, .Height = 32, .Format = CU_AD_FORMAT_FLOAT,
                                 .NumChannels = 2, .Flags = flags};
    return GOT(CUarray, cuArray3DCreate(&got, &d));
}

TEST(an_object_describes_its_array)
{
    CUarray array = picture(0);
    CUDA_RESOURCE_DESC r = {.resType = CU_RESOURCE_TYPE_ARRAY, .res.array.hArray = array}, r2;
    CUDA_TEXTURE_DESC t = {.addressMode = {CU_TR_ADDRESS_MODE_MIRROR, CU_TR_ADDRESS_MODE_BORDER,
                                           CU_TR_ADDRESS_MODE_WRAP},
                           .filterMode = CU_TR_FILTER_MODE_LINEAR,
                           .flags = CU_TRSF_NORMALIZED_COORDINATES},
                      t2;
    CUtexObject a = 0, b = 0;
    DO(cuTexObjectCreate(&a, &r, &t, NULL));
    DO(cuTexObjectCreate(&b, &r, &t, NULL));
    FACT(a && b && a != b, TEX ": each call makes an object");
    DO(cuTexObjectGetResourceDesc(&r2, a));
    FACT_EQ(r2.resType, CU_RESOURCE_TYPE_ARRAY, "cuTexObjectGetResourceDesc");
    FACT(r2.res.array.hArray == array, "cuTexObjectGetResourceDesc");
    DO(cuTexObjectGetTextureDesc(&t2, a));
    FACT_EQ(t2.addressMode[0], CU_TR_ADDRESS_MODE_MIRROR, "cuTexObjectGetTextureDesc");
    FACT_EQ(t2.filterMode, CU_TR_FILTER_MODE_LINEAR, "cuTexObjectGetTextureDesc");
    FACT_EQ(t2.flags, CU_TRSF_NORMALIZED_COORDINATES, "cuTexObjectGetTextureDesc");
    DO(cuTexObjectDestroy(a));
    DO(cuTexObjectGetTextureDesc(&t2, b));
}

TEST(settings_are_checked)
{
    CUarray array = picture(0);
    CUDA_RESOURCE_DESC r = {.resType = CU_RESOURCE_TYPE_ARRAY, .res.array.hArray = array};
    CUDA_TEXTURE_DESC t = {.filterMode = CU_TR_FILTER_MODE_POINT}, bad = t;
    CUtexObject object = 0;
    INVALID(cuTexObjectCreate(&object, NULL, &t, NULL), TEX ": returns");
    INVALID(cuTexObjectCreate(&object, &r, NULL, NULL), TEX ": returns");
    bad.filterMode = (CUfilter_mode)5;
    INVALID(cuTexObjectCreate(&object, &r, &bad, NULL), TEX ": returns");
    bad = t;
    bad.addressMode[1] = (CUaddress_mode)9;
    INVALID(cuTexObjectCreate(&object, &r, &bad, NULL), TEX ": returns");
    r.flags = 1;
    INVALID(cuTexObjectCreate(&object, &r, &t, NULL), TEX ": flags must be zero");
}

TEST(linear_memory_is_aligned)
{
    size_t alignment = (size_t)DEVICE_ATTRIBUTE(TEXTURE_ALIGNMENT),
           pitch = (size_t)DEVICE_ATTRIBUTE(TEXTURE_PITCH_ALIGNMENT);
    CUtexObject object = 0;
    FACT(alignment && pitch, "cuDeviceGetAttribute");
    CUdeviceptr memory = conf_alloc(1 << 20);
    CUDA_RESOURCE_DESC r = {.resType = CU_RESOURCE_TYPE_LINEAR,
                            .res.linear = {.devPtr = memory, .format = CU_AD_FORMAT_FLOAT,
                                           .numChannels = 1, .sizeInBytes = 1 << 16}};
    CUDA_TEXTURE_DESC t = {.filterMode = CU_TR_FILTER_MODE_POINT};
    DO(cuTexObjectCreate(&object, &r, &t, NULL));
    DO(cuTexObjectDestroy(object));
    r.res.linear.devPtr = memory + 4;
    INVALID(cuTexObjectCreate(&object, &r, &t, NULL),
            TEX ": devPtr is aligned to CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT");
    r = (CUDA_RESOURCE_DESC){.resType = CU_RESOURCE_TYPE_PITCH2D,
                             .res.pitch2D = {.devPtr = memory, .format = CU_AD_FORMAT_UNSIGNED_INT8,
                                             .numChannels = 4, .width = 40, .height = 30,
                                             .pitchInBytes = 8 * pitch}};
    DO(cuTexObjectCreate(&object, &r, &t, NULL));
    DO(cuTexObjectDestroy(object));
    r.res.pitch2D.pitchInBytes = 8 * pitch + 4;
    INVALID(cuTexObjectCreate(&object, &r, &t, NULL),
            TEX ": pitchInBytes is aligned to CU_DEVICE_ATTRIBUTE_TEXTURE_PITCH_ALIGNMENT");
}

TEST(a_surface_is_of_an_array)
{
    CUarray plain = picture(0), writable = picture(CUDA_ARRAY3D_SURFACE_LDST);
    CUDA_RESOURCE_DESC r = {.resType = CU_RESOURCE_TYPE_ARRAY, .res.array.hArray = writable}, r2;
    CUsurfObject surface = 0;
    DO(cuSurfObjectCreate(&surface, &r));
    DO(cuSurfObjectGetResourceDesc(&r2, surface));
    FACT(r2.res.array.hArray == writable, "cuSurfObjectGetResourceDesc");
    DO(cuSurfObjectDestroy(surface));
    r.res.array.hArray = plain;
    WORKS(cuSurfObjectCreate(&surface, &r), SURF ": CUDA_ARRAY3D_SURFACE_LDST is not checked");
    r.resType = CU_RESOURCE_TYPE_LINEAR;
    INVALID(cuSurfObjectCreate(&surface, &r), SURF ": resType must be CU_RESOURCE_TYPE_ARRAY");
}

TEST(the_runtime_describes_its_objects)
{
    void *memory;
    size_t pitch, most = 0;
    struct cudaResourceDesc r = {.resType = cudaResourceTypePitch2D}, r2;
    struct cudaTextureDesc t = {.addressMode = {cudaAddressModeClamp, cudaAddressModeWrap,
                                                cudaAddressModeBorder},
                                .filterMode = cudaFilterModeLinear,
                                .readMode = cudaReadModeNormalizedFloat,
                                .normalizedCoords = 1},
                           t2;
    cudaTextureObject_t object;
    DO(cudaMallocPitch(&memory, &pitch, 4 * 50, 20));
    r.res.pitch2D.devPtr = memory;
    r.res.pitch2D.desc = (struct cudaChannelFormatDesc){8, 8, 8, 8, cudaChannelFormatKindUnsigned};
    r.res.pitch2D.width = 50;
    r.res.pitch2D.height = 20;
    r.res.pitch2D.pitchInBytes = pitch;
    DO(cudaCreateTextureObject(&object, &r, &t, NULL));
    DO(cudaGetTextureObjectResourceDesc(&r2, object));
    FACT(r2.resType == cudaResourceTypePitch2D && r2.res.pitch2D.devPtr == memory &&
             r2.res.pitch2D.pitchInBytes == pitch && r2.res.pitch2D.desc.w == 8 &&
             r2.res.pitch2D.desc.f == cudaChannelFormatKindUnsigned,
         "cudaGetTextureObjectResourceDesc");
    DO(cudaGetTextureObjectTextureDesc(&t2, object));
    FACT(t2.addressMode[1] == cudaAddressModeWrap && t2.filterMode == cudaFilterModeLinear &&
             t2.readMode == cudaReadModeNormalizedFloat && t2.normalizedCoords == 1,
         "cudaGetTextureObjectTextureDesc");
    DO(cudaDestroyTextureObject(object));
    t.readMode = cudaReadModeElementType;
    REFUSED(cudaCreateTextureObject(&object, &r, &t, NULL),
            RT ": linear filtering is for floating-point values");
    FACT_EQ(cudaCreateTextureObject(NULL, &r, &t, NULL), cudaErrorInvalidFilterSetting,
            RT ": the settings are checked first");
    DO(cudaDeviceGetTexture1DLinearMaxWidth(&most, &r.res.pitch2D.desc, 0));
    FACT(most >= (size_t)1 << 27, "guide, technical specifications");
}
