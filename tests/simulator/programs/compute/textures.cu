// SPDX-License-Identifier: Apache-2.0
// Textures of linear, pitched and array memory, in one to three dimensions, layers, cubemap faces
// and mipmap levels, with every way of addressing and filtering; and surfaces. All compared with
// the formulas of the CUDA C++ Programming Guide, "Texture Fetching".
#include <algorithm>
#include <cmath>
#include <vector>

#include "program.h"
#include "textures_kernels.cuh"

static int failures;

static void expect(bool holds, const char *what)
{
    printf("%s: %s\n", what, holds ? "right" : "WRONG");
    failures += !holds;
}

struct Texture {
    cudaTextureObject_t t;
    Texture(const cudaResourceDesc &r, cudaTextureAddressMode address, cudaTextureFilterMode filter,
            bool normalized, cudaTextureReadMode read = cudaReadModeElementType, float levels = 0)
    {
        cudaTextureDesc d = {};
        std::fill(d.addressMode, d.addressMode + 3, address);
        d.filterMode = d.mipmapFilterMode = filter;
        d.normalizedCoords = normalized;
        d.readMode = read;
        d.maxMipmapLevelClamp = levels;
        d.borderColor[0] = 0.25f;
        CUDA_CHECK(cudaCreateTextureObject(&t, &r, &d, nullptr));
    }
    ~Texture() { CUDA_CHECK(cudaDestroyTextureObject(t)); }
};

struct Array { // in device memory, with *v* in it
    cudaArray_t array;
    template <typename T> Array(const std::vector<T> &v, cudaExtent extent, unsigned flags = 0)
    {
        cudaChannelFormatDesc channel = cudaCreateChannelDesc<T>();
        CUDA_CHECK(cudaMalloc3DArray(&array, &channel, extent, flags));
        cudaMemcpy3DParms p = {};
        p.srcPtr = make_cudaPitchedPtr((void *)v.data(), extent.width * sizeof(T), extent.width,
                                       extent.height);
        p.dstArray = array;
        p.extent = make_cudaExtent(extent.width, extent.height, std::max(extent.depth, (size_t)1));
        p.kind = cudaMemcpyHostToDevice;
        CUDA_CHECK(cudaMemcpy3D(&p));
    }
    ~Array() { CUDA_CHECK(cudaFreeArray(array)); }
    cudaResourceDesc resource() const
    {
        cudaResourceDesc r = {};
        r.resType = cudaResourceTypeArray;
        r.res.array.array = array;
        return r;
    }
};

static bool close(float a, float b, float by) { return std::fabs(a - b) <= by; }

// ---- the guide's formulas ----

static int address(cudaTextureAddressMode mode, bool normalized, int i, int n)
{
    if (i >= 0 && i < n)
        return i;
    if (mode == cudaAddressModeBorder)
        return -1;
    if (normalized && mode == cudaAddressModeWrap)
        return ((i % n) + n) % n;
    if (normalized && mode == cudaAddressModeMirror) {
        int m = ((i % (2 * n)) + 2 * n) % (2 * n);
        return m < n ? m : 2 * n - 1 - m;
    }
    return i < 0 ? 0 : n - 1;
}

static float reference(const std::vector<float> &v, int w, int h, float2 at,
                       cudaTextureAddressMode mode, cudaTextureFilterMode filter, bool normalized)
{
    auto element = [&](int x, int y) {
        x = address(mode, normalized, x, w);
        y = address(mode, normalized, y, h);
        return x < 0 || y < 0 ? 0.25f : v[(size_t)y * w + x];
    };
    float x = normalized ? at.x * w : at.x, y = normalized ? at.y * h : at.y;
    if (filter == cudaFilterModePoint)
        return element((int)std::floor(x), (int)std::floor(y));
    x -= 0.5f, y -= 0.5f;
    int i = (int)std::floor(x), j = (int)std::floor(y);
    float a = x - i, b = y - j;
    return (1 - a) * (1 - b) * element(i, j) + a * (1 - b) * element(i + 1, j) +
           (1 - a) * b * element(i, j + 1) + a * b * element(i + 1, j + 1);
}

static void linear_memory(void)
{
    std::vector<float> v(300);
    for (size_t i = 0; i < v.size(); i++)
        v[i] = noise(i);
    Device<float> memory(v), out(320);
    cudaResourceDesc r = {};
    r.resType = cudaResourceTypeLinear;
    r.res.linear.devPtr = memory.p;
    r.res.linear.desc = cudaCreateChannelDesc<float>();
    r.res.linear.sizeInBytes = v.size() * sizeof(float);
    Texture t(r, cudaAddressModeClamp, cudaFilterModePoint, false);
    fetch_linear<<<2, 160>>>(t.t, -10, 320, out.p);
    std::vector<float> got = out.get();
    bool right = true;
    for (int i = 0; i < 320; i++)
        right &= got[i] == (i < 10 || i >= 310 ? 0 : v[i - 10]);
    expect(right, "linear memory by index, 0 outside");
}

static void two_dimensions(void)
{
    const int w = 37, h = 21, n = 1000;
    std::vector<float> v((size_t)w * h);
    for (size_t i = 0; i < v.size(); i++)
        v[i] = noise(i + 1000);
    Array array(v, make_cudaExtent(w, h, 0));
    size_t pitch;
    cudaResourceDesc pitched = {};
    pitched.resType = cudaResourceTypePitch2D;
    CUDA_CHECK(cudaMallocPitch(&pitched.res.pitch2D.devPtr, &pitch, w * sizeof(float), h));
    CUDA_CHECK(cudaMemcpy2D(pitched.res.pitch2D.devPtr, pitch, v.data(), w * sizeof(float),
                            w * sizeof(float), h, cudaMemcpyHostToDevice));
    pitched.res.pitch2D.desc = cudaCreateChannelDesc<float>();
    pitched.res.pitch2D.width = w;
    pitched.res.pitch2D.height = h;
    pitched.res.pitch2D.pitchInBytes = pitch;
    Device<float> out(n);
    for (bool normalized : {false, true}) {
        std::vector<float2> at(n);
        for (int i = 0; i < n; i++) {
            at[i] = make_float2(noise(2 * i) * 3 - 1, noise(2 * i + 1) * 3 - 1);
            if (!normalized)
                at[i] = make_float2(at[i].x * w, at[i].y * h);
        }
        Device<float2> places(at);
        int wrong = 0;
        for (auto mode : {cudaAddressModeWrap, cudaAddressModeClamp, cudaAddressModeMirror,
                          cudaAddressModeBorder})
            for (auto filter : {cudaFilterModePoint, cudaFilterModeLinear})
                for (const cudaResourceDesc &r : {array.resource(), pitched}) {
                    Texture t(r, mode, filter, normalized);
                    sample_2d<<<8, 128>>>(t.t, places.p, n, out.p);
                    std::vector<float> got = out.get();
                    float by = filter == cudaFilterModeLinear ? 0.01f : 0;
                    for (int i = 0; i < n; i++)
                        wrong += !close(got[i],
                                        reference(v, w, h, at[i], mode, filter, normalized), by);
                }
        expect(wrong == 0, normalized ? "normalized coordinates" : "coordinates in elements");
    }
    CUDA_CHECK(cudaFree(pitched.res.pitch2D.devPtr));
}

static void weights(void)
{
    const int n = 1025;
    std::vector<float> v = {0, 1, 1, 1};
    std::vector<float2> at(n);
    for (int i = 0; i < n; i++)
        at[i] = make_float2(0.5f + i / 1024.0f, 0.5f);
    Array array(v, make_cudaExtent(4, 1, 0));
    Device<float2> places(at);
    Device<float> out(n);
    Texture t(array.resource(), cudaAddressModeClamp, cudaFilterModeLinear, false);
    sample_2d<<<9, 128>>>(t.t, places.p, n, out.p);
    std::vector<float> got = out.get();
    bool right = true;
    for (int i = 0; i < n; i++)
        right &= got[i] * 256 == std::floor(got[i] * 256) && close(got[i], i / 1024.0f, 1 / 256.0f);
    expect(right, "weights have 8 bits of fraction");
}

static void colors(void)
{
    const int w = 16, h = 8, n = w * h;
    std::vector<uchar4> v(n);
    std::vector<float2> at(n);
    for (int i = 0; i < n; i++) {
        v[i] = make_uchar4(i, 255 - i, 2 * i % 256, i * 7 % 256);
        at[i] = make_float2(i % w + 0.5f, i / w + 0.5f);
    }
    Array array(v, make_cudaExtent(w, h, 0));
    Device<float2> places(at);
    Device<float4> out(n);
    Texture t(array.resource(), cudaAddressModeClamp, cudaFilterModeLinear, false,
              cudaReadModeNormalizedFloat);
    sample_colors<<<1, n>>>(t.t, places.p, n, out.p);
    std::vector<float4> got = out.get();
    bool right = true;
    for (int i = 0; i < n; i++)
        right &= close(got[i].x, v[i].x / 255.0f, 1e-5f) && close(got[i].w, v[i].w / 255.0f, 1e-5f);
    expect(right, "bytes read as fractions of 255");
}

static void volumes(void)
{
    const int w = 9, h = 7, d = 5, n = 500;
    std::vector<float> v((size_t)w * h * d);
    for (size_t i = 0; i < v.size(); i++)
        v[i] = (float)(i % w) + 10.0f * (float)(i / w % h) + 100.0f * (float)(i / (w * h));
    std::vector<float3> at(n);
    for (int i = 0; i < n; i++) // where the filter interpolates, so that it is linear
        at[i] = make_float3(0.5f + noise(3 * i) * (w - 1), 0.5f + noise(3 * i + 1) * (h - 1),
                            0.5f + noise(3 * i + 2) * (d - 1));
    Array array(v, make_cudaExtent(w, h, d));
    Device<float3> places(at);
    Device<float> out(n);
    Texture t(array.resource(), cudaAddressModeClamp, cudaFilterModeLinear, false);
    sample_3d<<<4, 128>>>(t.t, places.p, n, out.p);
    std::vector<float> got = out.get();
    bool right = true;
    for (int i = 0; i < n; i++)
        right &= close(got[i], at[i].x - 0.5f + 10 * (at[i].y - 0.5f) + 100 * (at[i].z - 0.5f),
                       0.5f);
    expect(right, "three dimensions");
}

static void layers(void)
{
    const int w = 9, h = 7, d = 5;
    std::vector<int> numbers((size_t)w * h * d);
    for (size_t i = 0; i < numbers.size(); i++)
        numbers[i] = (int)i * 3 - 400;
    Array array(numbers, make_cudaExtent(w, h, d), cudaArrayLayered);
    Device<int> picked((size_t)w * h);
    Texture t(array.resource(), cudaAddressModeClamp, cudaFilterModePoint, false);
    bool right = true;
    for (int layer = 0; layer < d; layer++) {
        sample_layers<<<dim3(1, h), 32>>>(t.t, w, h, layer, picked.p);
        right &= picked.get() == std::vector<int>(numbers.begin() + layer * w * h,
                                                  numbers.begin() + (layer + 1) * w * h);
    }
    expect(right, "layers");
}

static void faces(void)
{
    const int size = 4;
    std::vector<float> v(6 * size * size);
    for (size_t i = 0; i < v.size(); i++)
        v[i] = (float)i;
    Array array(v, make_cudaExtent(size, size, 6), cudaArrayCubemap);
    // each axis, then a place that is not in the middle of its face
    std::vector<float3> at = {{1, 0.1f, 0.1f}, {-1, 0.1f, 0.1f}, {0.1f, 1, 0.1f}, {0.1f, -1, 0.1f},
                              {0.1f, 0.1f, 1}, {0.1f, 0.1f, -1}, {2, 1.5f, -0.5f}};
    // by the guide's table: face * 16 + row * 4 + column
    std::vector<float> right = {0 * 16 + 1 * 4 + 1, 1 * 16 + 1 * 4 + 2, 2 * 16 + 2 * 4 + 2,
                                3 * 16 + 1 * 4 + 2, 4 * 16 + 1 * 4 + 2, 5 * 16 + 1 * 4 + 1,
                                0 * 16 + 0 * 4 + 2};
    Device<float3> places(at);
    Device<float> out(at.size());
    Texture t(array.resource(), cudaAddressModeClamp, cudaFilterModePoint, true);
    sample_cube<<<1, 32>>>(t.t, places.p, (int)at.size(), out.p);
    expect(out.get() == right, "faces of a cube");
}

static void levels(void)
{
    cudaChannelFormatDesc channel = cudaCreateChannelDesc<float>();
    cudaMipmappedArray_t mipmap;
    CUDA_CHECK(cudaMallocMipmappedArray(&mipmap, &channel, make_cudaExtent(8, 8, 0), 4));
    for (unsigned i = 0; i < 4; i++) {
        cudaArray_t level;
        size_t size = 8u >> i;
        std::vector<float> v(size * size, 10.0f * i);
        CUDA_CHECK(cudaGetMipmappedArrayLevel(&level, mipmap, i));
        CUDA_CHECK(cudaMemcpy2DToArray(level, 0, 0, v.data(), size * 4, size * 4, size,
                                       cudaMemcpyHostToDevice));
    }
    std::vector<float> lod = {-1, 0, 0.5f, 1, 1.25f, 3, 9};
    Device<float> at(lod), out(lod.size());
    cudaResourceDesc r = {};
    r.resType = cudaResourceTypeMipmappedArray;
    r.res.mipmap.mipmap = mipmap;
    {
        Texture t(r, cudaAddressModeClamp, cudaFilterModeLinear, true, cudaReadModeElementType, 3);
        sample_levels<<<1, 32>>>(t.t, at.p, (int)lod.size(), out.p);
        expect(out.get() == std::vector<float>({0, 0, 5, 10, 12.5f, 30, 30}), "levels of a mipmap");
    }
    CUDA_CHECK(cudaFreeMipmappedArray(mipmap));
}

static void surfaces(void)
{
    const int w = 19, h = 11;
    std::vector<uchar4> v((size_t)w * h), got(v.size());
    for (size_t i = 0; i < v.size(); i++)
        v[i] = make_uchar4(i, i * 3, i * 5, i * 7);
    Array from(v, make_cudaExtent(w, h, 0), cudaArraySurfaceLoadStore);
    Array to(v, make_cudaExtent(w, h, 0), cudaArraySurfaceLoadStore);
    cudaResourceDesc r = from.resource(), s = to.resource();
    cudaSurfaceObject_t a, b;
    CUDA_CHECK(cudaCreateSurfaceObject(&a, &r));
    CUDA_CHECK(cudaCreateSurfaceObject(&b, &s));
    turn<<<dim3(1, h), 32>>>(a, b, w, h);
    CUDA_CHECK(cudaMemcpy2DFromArray(got.data(), w * 4, to.array, 0, 0, w * 4, h,
                                    cudaMemcpyDeviceToHost));
    bool right = true;
    for (size_t i = 0; i < v.size(); i++) {
        uchar4 c = v[v.size() - 1 - i];
        right &= got[i].x == c.x && got[i].y == c.y && got[i].z == c.z && got[i].w == 7;
    }
    expect(right, "surfaces");
    CUDA_CHECK(cudaDestroySurfaceObject(a));
    CUDA_CHECK(cudaDestroySurfaceObject(b));
}

int main(void)
{
    linear_memory();
    two_dimensions();
    weights();
    colors();
    volumes();
    layers();
    faces();
    levels();
    surfaces();
    return failures ? EXIT_FAILURE : EXIT_SUCCESS;
}
