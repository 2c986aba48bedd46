/* SPDX-License-Identifier: Apache-2.0
 *
 * Texture and surface functions for kernels on the host, as the CUDA C++ Programming Guide
 * describes them ("Texture Functions", "Surface Functions", "Texture Fetching"). Included by
 * vramscope_simulator_kernels.hpp; do not include it directly.
 *
 * Linear filtering uses weights of 8 fraction bits, rounded to nearest; the guide gives their
 * precision, but not the rounding. Not supported: anisotropic filtering (the ratio is taken as
 * 1) and filtering across the edges of cubemap faces. */
#ifndef VRAMSCOPE_SIMULATOR_TEXTURES_HPP
#define VRAMSCOPE_SIMULATOR_TEXTURES_HPP

#ifndef VRAMSCOPE_SIMULATOR_KERNELS_HPP
#include "vramscope_simulator_kernels.hpp"
#endif

namespace vramscope_sim {

using texture = vramscope_sim_texture;
using level = vramscope_sim_level;

/* ---- values: four channels of 32 bits; floats and integers by their bits ---- */

struct texel {
    unsigned bits[4];
};

template <typename T> struct channels_of { /* scalars */
    using base = T;
    static constexpr unsigned count = 1;
};
#define VRAMSCOPE_SIM_CHANNELS(type, base_type)                                                    \
    template <> struct channels_of<type##1> {                                                      \
        using base = base_type;                                                                    \
        static constexpr unsigned count = 1;                                                       \
    };                                                                                             \
    template <> struct channels_of<type##2> {                                                      \
        using base = base_type;                                                                    \
        static constexpr unsigned count = 2;                                                       \
    };                                                                                             \
    template <> struct channels_of<type##4> {                                                      \
        using base = base_type;                                                                    \
        static constexpr unsigned count = 4;                                                       \
    };
VRAMSCOPE_SIM_CHANNELS(char, signed char)
VRAMSCOPE_SIM_CHANNELS(uchar, unsigned char)
VRAMSCOPE_SIM_CHANNELS(short, short)
VRAMSCOPE_SIM_CHANNELS(ushort, unsigned short)
VRAMSCOPE_SIM_CHANNELS(int, int)
VRAMSCOPE_SIM_CHANNELS(uint, unsigned)
VRAMSCOPE_SIM_CHANNELS(float, float)
#undef VRAMSCOPE_SIM_CHANNELS

template <typename T> T texel_as(const texel &t)
{
    using base = typename channels_of<T>::base;
    base values[channels_of<T>::count];
    for (unsigned i = 0; i < channels_of<T>::count; i++)
        if constexpr (std::is_floating_point_v<base>)
            values[i] = base(same_bits<float>(t.bits[i]));
        else
            values[i] = base(t.bits[i]);
    T value;
    static_assert(sizeof value == sizeof values, "a type that textures can have");
    std::memcpy(static_cast<void *>(&value), values, sizeof value);
    return value;
}

inline float half_to_float(unsigned short h)
{
    unsigned sign = (h & 0x8000u) << 16, exponent = h >> 10 & 31u, fraction = h & 0x3ffu;
    if (exponent == 31)
        return same_bits<float>(sign | 0x7f800000u | fraction << 13);
    float value = exponent ? same_bits<float>((exponent + 112) << 23 | fraction << 13)
                           : float(fraction) * 0x1p-24f;
    return sign ? -value : value;
}

inline float srgb_to_linear(float v)
{
    return v <= 0.04045f ? v / 12.92f : std::pow((v + 0.055f) / 1.055f, 2.4f);
}

/* The objects, and the failure of a kernel that uses none. */
inline const texture &texture_at(unsigned long long object, bool surface)
{
    const texture *t = vramscope_sim_texture_of(object);
    if (!t || (t->surface != 0) != surface)
        runner::mine().fail_launch(CUDA_ERROR_ILLEGAL_ADDRESS,
                                   surface ? "access to a surface object that does not exist"
                                           : "a fetch from a texture object that does not exist");
    return *t;
}

inline bool reads_fractions(const texture &t)
{
    return t.texel == VRAMSCOPE_SIM_UNORM || t.texel == VRAMSCOPE_SIM_SNORM ||
           (t.texel != VRAMSCOPE_SIM_FLOAT && t.channel_bytes < 4 &&
            !(t.flags & CU_TRSF_READ_AS_INTEGER));
}

/* One channel as stored: sign or zero extended. */
inline int stored_channel(const texture &t, const char *at)
{
    bool negative = t.texel == VRAMSCOPE_SIM_SIGNED || t.texel == VRAMSCOPE_SIM_SNORM;
    if (t.channel_bytes == 1) {
        signed char c;
        std::memcpy(&c, at, 1);
        return negative ? c : int((unsigned char)c);
    }
    if (t.channel_bytes == 2) {
        short s;
        std::memcpy(&s, at, 2);
        return negative ? s : int((unsigned short)s);
    }
    int i;
    std::memcpy(&i, at, 4);
    return i;
}

inline unsigned read_channel(const texture &t, const char *at, unsigned channel)
{
    int value = stored_channel(t, at);
    if (t.texel == VRAMSCOPE_SIM_FLOAT && t.channel_bytes == 2)
        return same_bits<unsigned>(half_to_float((unsigned short)value));
    if (t.texel == VRAMSCOPE_SIM_FLOAT || !reads_fractions(t))
        return unsigned(value);
    bool negative = t.texel == VRAMSCOPE_SIM_SIGNED || t.texel == VRAMSCOPE_SIM_SNORM;
    float most = float((1 << (t.channel_bytes * 8 - negative)) - 1);
    float fraction = std::fmax(float(value) / most, -1.0f);
    if (t.flags & CU_TRSF_SRGB && channel < 3 && t.channel_bytes == 1 && !negative)
        fraction = srgb_to_linear(fraction);
    return same_bits<unsigned>(fraction);
}

inline texel read_texel(const texture &t, const level &l, long x, long y, long z)
{
    unsigned bytes = t.channels * t.channel_bytes;
    const char *at = l.base + std::size_t(z) * l.slice + std::size_t(y) * l.pitch +
                     std::size_t(x) * bytes;
    texel value = {};
    for (unsigned c = 0; c < t.channels; c++)
        value.bits[c] = read_channel(t, at + c * t.channel_bytes, c);
    return value;
}

inline texel border_texel(const texture &t)
{
    texel value = {};
    bool floats = t.texel == VRAMSCOPE_SIM_FLOAT || reads_fractions(t);
    for (unsigned c = 0; c < t.channels; c++)
        value.bits[c] = floats ? same_bits<unsigned>(t.border[c]) : unsigned(int(t.border[c]));
    return value;
}

/* ---- coordinates ---- */

/* The element that stands for *i* of *n*; -1: the border colour. */
inline long addressed(const texture &t, unsigned dimension, long i, long n)
{
    unsigned mode = t.address_mode[dimension];
    bool normalized = t.flags & CU_TRSF_NORMALIZED_COORDINATES;
    if (!normalized && (mode == CU_TR_ADDRESS_MODE_WRAP || mode == CU_TR_ADDRESS_MODE_MIRROR))
        mode = CU_TR_ADDRESS_MODE_CLAMP;
    if (i >= 0 && i < n)
        return i;
    switch (mode) {
    case CU_TR_ADDRESS_MODE_WRAP: return (i % n + n) % n;
    case CU_TR_ADDRESS_MODE_MIRROR:
        i = (i % (2 * n) + 2 * n) % (2 * n);
        return i < n ? i : 2 * n - 1 - i;
    case CU_TR_ADDRESS_MODE_BORDER: return -1;
    default: return i < 0 ? 0 : n - 1;
    }
}

inline long whole(float x) /* rounded down, and bounded so that it fits */
{
    return x > -1e9f && x < 1e9f ? long(std::floor(x)) : x > 0 ? 1000000000 : -1000000000;
}

struct axis { /* the elements that a coordinate lies between, and the weight of the second */
    long first, second;
    float weight;
};

inline axis axis_of(const texture &t, unsigned dimension, float x, unsigned n)
{
    if (!n)
        return {0, 0, 0}; /* the texture has no such dimension */
    if (t.flags & CU_TRSF_NORMALIZED_COORDINATES)
        x *= float(n);
    if (t.filter_mode == CU_TR_FILTER_MODE_POINT) {
        long i = addressed(t, dimension, whole(x), n);
        return {i, i, 0};
    }
    x -= 0.5f;
    long i = whole(x);
    float weight = std::floor((x - float(i)) * 256 + 0.5f) / 256;
    return {addressed(t, dimension, i, n), addressed(t, dimension, i + 1, n),
            weight >= 0 && weight <= 1 ? weight : 0};
}

/* ---- filtering ---- */

inline texel mixed(const texel &a, const texel &b, float weight, unsigned channels)
{
    texel value = {};
    for (unsigned c = 0; c < channels; c++)
        value.bits[c] = same_bits<unsigned>((1 - weight) * same_bits<float>(a.bits[c]) +
                                            weight * same_bits<float>(b.bits[c]));
    return value;
}

inline texel one_of(const texture &t, const level &l, long x, long y, long z)
{
    return x < 0 || y < 0 || z < 0 ? border_texel(t) : read_texel(t, l, x, y, z);
}

inline texel along_x(const texture &t, const level &l, const axis &x, long y, long z)
{
    texel a = one_of(t, l, x.first, y, z);
    return x.weight == 0 ? a : mixed(a, one_of(t, l, x.second, y, z), x.weight, t.channels);
}

inline texel along_y(const texture &t, const level &l, const axis &x, const axis &y, long z)
{
    texel a = along_x(t, l, x, y.first, z);
    return y.weight == 0 ? a : mixed(a, along_x(t, l, x, y.second, z), y.weight, t.channels);
}

struct sample_place { /* coordinates; layer: number of the plane, -1: z is a coordinate */
    float x, y, z;
    long layer;
};

inline texel sampled(const texture &t, const level &l, const sample_place &p)
{
    axis x = axis_of(t, 0, p.x, l.width), y = axis_of(t, 1, p.y, l.height);
    if (p.layer >= 0)
        return along_y(t, l, x, y, std::min(p.layer, long(l.depth ? l.depth : 1) - 1));
    axis z = axis_of(t, 2, p.z, l.depth);
    texel a = along_y(t, l, x, y, z.first);
    return z.weight == 0 ? a : mixed(a, along_y(t, l, x, y, z.second), z.weight, t.channels);
}

inline texel sampled_lod(const texture &t, const sample_place &p, float lod)
{
    lod = std::fmin(std::fmax(lod + t.bias, t.min_level), t.max_level);
    lod = std::fmin(std::fmax(lod, 0.0f), float(t.levels - 1));
    if (t.mipmap_filter_mode == CU_TR_FILTER_MODE_POINT)
        return sampled(t, t.level[unsigned(lod + 0.5f)], p);
    unsigned below = unsigned(lod);
    float weight = std::floor((lod - float(below)) * 256 + 0.5f) / 256;
    texel a = sampled(t, t.level[below], p);
    return weight == 0 ? a : mixed(a, sampled(t, t.level[below + 1], p), weight, t.channels);
}

inline texel fetch(unsigned long long object, const sample_place &p, float lod = 0)
{
    const texture &t = texture_at(object, false);
    if (t.linear)
        runner::mine().fail_launch(CUDA_ERROR_LAUNCH_FAILED,
                                   "linear memory is read by tex1Dfetch() only");
    return sampled_lod(t, p, lod);
}

inline texel fetch_index(unsigned long long object, long index)
{
    const texture &t = texture_at(object, false);
    const level &l = t.level[0];
    return index < 0 || index >= long(l.width) ? texel{} : read_texel(t, l, index, 0, 0);
}

/* The level at which a step of the screen is about one element. */
inline float lod_of(unsigned long long object, const float *dx, const float *dy, int dimensions)
{
    const texture &t = texture_at(object, false);
    const unsigned extent[3] = {t.level[0].width, t.level[0].height, t.level[0].depth};
    float along[2] = {0, 0};
    for (int i = 0; i < dimensions; i++) {
        float scale = t.flags & CU_TRSF_NORMALIZED_COORDINATES ? float(extent[i]) : 1;
        along[0] += dx[i] * scale * dx[i] * scale;
        along[1] += dy[i] * scale * dy[i] * scale;
    }
    return 0.5f * std::log2(std::fmax(std::fmax(along[0], along[1]), 1e-30f));
}

/* The guide, "Cubemap Textures": the face that a direction points to, and the place on it. */
inline sample_place on_cube(float x, float y, float z, long layer)
{
    float ax = std::fabs(x), ay = std::fabs(y), az = std::fabs(z), m, s, t;
    long face;
    if (ax >= ay && ax >= az) {
        face = x >= 0 ? 0 : 1;
        m = ax, s = x >= 0 ? -z : z, t = -y;
    } else if (ay >= az) {
        face = y >= 0 ? 2 : 3;
        m = ay, s = x, t = y >= 0 ? z : -z;
    } else {
        face = z >= 0 ? 4 : 5;
        m = az, s = z >= 0 ? x : -x, t = -y;
    }
    return {(s / m + 1) / 2, (t / m + 1) / 2, 0, layer * 6 + face};
}

/* The four elements that bilinear filtering would mix: of the second row, then the first. */
template <typename T> T gathered_texels(unsigned long long object, float x, float y, int channel)
{
    texture t = texture_at(object, false);
    t.filter_mode = CU_TR_FILTER_MODE_LINEAR; /* for its pair of elements */
    const level &l = t.level[0];
    axis ax = axis_of(t, 0, x, l.width), ay = axis_of(t, 1, y, l.height);
    texel found = {{one_of(t, l, ax.first, ay.second, 0).bits[channel],
                    one_of(t, l, ax.second, ay.second, 0).bits[channel],
                    one_of(t, l, ax.second, ay.first, 0).bits[channel],
                    one_of(t, l, ax.first, ay.first, 0).bits[channel]}};
    return texel_as<T>(found);
}

inline long layer_at(int layer) { return layer < 0 ? 0 : layer; }

/* ---- surfaces ---- */

/* The bytes of an element; NULL: outside, and nothing is read or written. *x*: in bytes. */
inline char *surface_bytes(unsigned long long object, std::size_t bytes, int x, int y, int z,
                           cudaSurfaceBoundaryMode mode)
{
    const texture &t = texture_at(object, true);
    const level &l = t.level[0];
    long width = long(l.width) * t.channels * t.channel_bytes, height = l.height ? l.height : 1,
         depth = l.depth ? l.depth : 1, at[3] = {x, y, z},
         last[3] = {width - long(bytes), height - 1, depth - 1};
    for (int i = 0; i < 3; i++) {
        if (at[i] >= 0 && at[i] <= last[i])
            continue;
        if (mode == cudaBoundaryModeTrap)
            runner::mine().fail_launch(CUDA_ERROR_LAUNCH_FAILED,
                                       "access outside of a surface, with cudaBoundaryModeTrap");
        if (mode == cudaBoundaryModeZero)
            return nullptr;
        at[i] = at[i] < 0 ? 0 : last[i];
    }
    return l.base + std::size_t(at[2]) * l.slice + std::size_t(at[1]) * l.pitch + std::size_t(at[0]);
}

template <typename T>
T surface_read(unsigned long long object, int x, int y, int z, cudaSurfaceBoundaryMode mode)
{
    const char *at = surface_bytes(object, sizeof(T), x, y, z, mode);
    T value{};
    if (at)
        std::memcpy(static_cast<void *>(&value), at, sizeof value);
    return value;
}

template <typename T>
void surface_write(T value, unsigned long long object, int x, int y, int z,
                   cudaSurfaceBoundaryMode mode)
{
    char *at = surface_bytes(object, sizeof(T), x, y, z, mode);
    if (at)
        std::memcpy(at, &value, sizeof value);
}

} // namespace vramscope_sim

/* ---- texture functions ---- */

#define VRAMSCOPE_SIM_ARGS(...) __VA_ARGS__
/* T name<T>(object, ...) and name(T *, object, ...). */
#define VRAMSCOPE_SIM_FETCH(name, parameters, arguments, texel)                                    \
    template <typename T> T name(cudaTextureObject_t object, VRAMSCOPE_SIM_ARGS parameters)        \
    {                                                                                              \
        return vramscope_sim::texel_as<T>(texel);                                                  \
    }                                                                                              \
    template <typename T>                                                                          \
    void name(T *value, cudaTextureObject_t object, VRAMSCOPE_SIM_ARGS parameters)                 \
    {                                                                                              \
        *value = name<T>(object, VRAMSCOPE_SIM_ARGS arguments);                                    \
    }

VRAMSCOPE_SIM_FETCH(tex1Dfetch, (int x), (x), vramscope_sim::fetch_index(object, x))
VRAMSCOPE_SIM_FETCH(tex1D, (float x), (x), vramscope_sim::fetch(object, {x, 0, 0, 0}))
VRAMSCOPE_SIM_FETCH(tex2D, (float x, float y), (x, y), vramscope_sim::fetch(object, {x, y, 0, 0}))
VRAMSCOPE_SIM_FETCH(tex3D, (float x, float y, float z), (x, y, z),
                    vramscope_sim::fetch(object, {x, y, z, -1}))
VRAMSCOPE_SIM_FETCH(tex1DLayered, (float x, int layer), (x, layer),
                    vramscope_sim::fetch(object, {x, 0, 0, vramscope_sim::layer_at(layer)}))
VRAMSCOPE_SIM_FETCH(tex2DLayered, (float x, float y, int layer), (x, y, layer),
                    vramscope_sim::fetch(object, {x, y, 0, vramscope_sim::layer_at(layer)}))
VRAMSCOPE_SIM_FETCH(texCubemap, (float x, float y, float z), (x, y, z),
                    vramscope_sim::fetch(object, vramscope_sim::on_cube(x, y, z, 0)))
VRAMSCOPE_SIM_FETCH(
    texCubemapLayered, (float x, float y, float z, int layer), (x, y, z, layer),
    vramscope_sim::fetch(object, vramscope_sim::on_cube(x, y, z, vramscope_sim::layer_at(layer))))

VRAMSCOPE_SIM_FETCH(tex1DLod, (float x, float lod), (x, lod),
                    vramscope_sim::fetch(object, {x, 0, 0, 0}, lod))
VRAMSCOPE_SIM_FETCH(tex2DLod, (float x, float y, float lod), (x, y, lod),
                    vramscope_sim::fetch(object, {x, y, 0, 0}, lod))
VRAMSCOPE_SIM_FETCH(tex3DLod, (float x, float y, float z, float lod), (x, y, z, lod),
                    vramscope_sim::fetch(object, {x, y, z, -1}, lod))
VRAMSCOPE_SIM_FETCH(tex1DLayeredLod, (float x, int layer, float lod), (x, layer, lod),
                    vramscope_sim::fetch(object, {x, 0, 0, vramscope_sim::layer_at(layer)}, lod))
VRAMSCOPE_SIM_FETCH(tex2DLayeredLod, (float x, float y, int layer, float lod), (x, y, layer, lod),
                    vramscope_sim::fetch(object, {x, y, 0, vramscope_sim::layer_at(layer)}, lod))
VRAMSCOPE_SIM_FETCH(texCubemapLod, (float x, float y, float z, float lod), (x, y, z, lod),
                    vramscope_sim::fetch(object, vramscope_sim::on_cube(x, y, z, 0), lod))
VRAMSCOPE_SIM_FETCH(tex1DGrad, (float x, float dx, float dy), (x, dx, dy),
                    vramscope_sim::fetch(object, {x, 0, 0, 0},
                                         vramscope_sim::lod_of(object, &dx, &dy, 1)))
VRAMSCOPE_SIM_FETCH(tex2DGrad, (float x, float y, float2 dx, float2 dy), (x, y, dx, dy),
                    vramscope_sim::fetch(object, {x, y, 0, 0},
                                         vramscope_sim::lod_of(object, &dx.x, &dy.x, 2)))
VRAMSCOPE_SIM_FETCH(tex3DGrad, (float x, float y, float z, float4 dx, float4 dy),
                    (x, y, z, dx, dy),
                    vramscope_sim::fetch(object, {x, y, z, -1},
                                         vramscope_sim::lod_of(object, &dx.x, &dy.x, 3)))
#undef VRAMSCOPE_SIM_FETCH

template <typename T> T tex2Dgather(cudaTextureObject_t object, float x, float y, int channel = 0)
{
    return vramscope_sim::gathered_texels<T>(object, x, y, channel & 3);
}
template <typename T>
void tex2Dgather(T *value, cudaTextureObject_t object, float x, float y, int channel = 0)
{
    *value = tex2Dgather<T>(object, x, y, channel);
}

/* ---- surface functions: x in bytes ---- */

/* name "read" and name "write"; the order of layer and face is that of the array's planes. */
#define VRAMSCOPE_SIM_SURFACE(name, parameters, arguments, y, z)                                   \
    template <typename T>                                                                          \
    T name##read(cudaSurfaceObject_t object, int x, VRAMSCOPE_SIM_ARGS parameters                  \
                 cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap)                              \
    {                                                                                              \
        return vramscope_sim::surface_read<T>(object, x, y, z, mode);                              \
    }                                                                                              \
    template <typename T>                                                                          \
    void name##read(T *value, cudaSurfaceObject_t object, int x, VRAMSCOPE_SIM_ARGS parameters     \
                    cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap)                           \
    {                                                                                              \
        *value = name##read<T>(object, x, VRAMSCOPE_SIM_ARGS arguments mode);                      \
    }                                                                                              \
    template <typename T>                                                                          \
    void name##write(T value, cudaSurfaceObject_t object, int x, VRAMSCOPE_SIM_ARGS parameters     \
                     cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap)                          \
    {                                                                                              \
        vramscope_sim::surface_write(value, object, x, y, z, mode);                                \
    }

VRAMSCOPE_SIM_SURFACE(surf1D, (), (), 0, 0)
VRAMSCOPE_SIM_SURFACE(surf2D, (int y, ), (y, ), y, 0)
VRAMSCOPE_SIM_SURFACE(surf3D, (int y, int z, ), (y, z, ), y, z)
VRAMSCOPE_SIM_SURFACE(surf1DLayered, (int layer, ), (layer, ), 0, layer)
VRAMSCOPE_SIM_SURFACE(surf2DLayered, (int y, int layer, ), (y, layer, ), y, layer)
VRAMSCOPE_SIM_SURFACE(surfCubemap, (int y, int face, ), (y, face, ), y, face)
/* layerFace: layer * 6 + face */
VRAMSCOPE_SIM_SURFACE(surfCubemapLayered, (int y, int layerFace, ), (y, layerFace, ), y, layerFace)
#undef VRAMSCOPE_SIM_SURFACE
#undef VRAMSCOPE_SIM_ARGS

#endif
