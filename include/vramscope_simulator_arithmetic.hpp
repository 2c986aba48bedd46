/* SPDX-License-Identifier: Apache-2.0
 *
 * The arithmetic of device code that C++ lacks: integer and bit operations, arithmetic and
 * conversions with a rounding mode, fast-math functions with the precision of the host's.
 * Included by vramscope_simulator_kernels.hpp; do not include it directly. */
#ifndef VRAMSCOPE_SIMULATOR_ARITHMETIC_HPP
#define VRAMSCOPE_SIMULATOR_ARITHMETIC_HPP

#ifndef VRAMSCOPE_SIMULATOR_KERNELS_HPP
#include "vramscope_simulator_kernels.hpp"
#endif

/* ---- integers ---- */

inline int __popc(unsigned x) { return __builtin_popcount(x); }
inline int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
inline int __clz(int x) { return x ? __builtin_clz(unsigned(x)) : 32; }
inline int __clzll(long long x) { return x ? __builtin_clzll((unsigned long long)x) : 64; }
inline int __ffs(int x) { return __builtin_ffs(x); }
inline int __ffsll(long long x) { return __builtin_ffsll(x); }
inline unsigned __brev(unsigned x)
{
    unsigned r = 0;
    for (int i = 0; i < 32; i++)
        r |= (x >> i & 1u) << (31 - i);
    return r;
}
inline int __mul24(int a, int b)
{
    return int(unsigned(int(unsigned(a) << 8) >> 8) * unsigned(int(unsigned(b) << 8) >> 8));
}
inline unsigned __umul24(unsigned a, unsigned b) { return (a & 0xffffffu) * (b & 0xffffffu); }
inline int __mulhi(int a, int b) { return int((long long)a * b >> 32); }
inline unsigned __umulhi(unsigned a, unsigned b) { return unsigned((unsigned long long)a * b >> 32); }

/* Templates for the same reason as min and max, below. */
template <typename T> vramscope_sim::if_arithmetic<T, float> rsqrtf(T x)
{
    return 1.0f / std::sqrt(float(x));
}
template <typename T>
vramscope_sim::if_arithmetic<T, std::conditional_t<std::is_same_v<T, float>, float, double>>
rsqrt(T x)
{
    return 1 / std::sqrt(x);
}
inline long long __mul64hi(long long a, long long b) { return (long long)((__int128)a * b >> 64); }
inline unsigned long long __umul64hi(unsigned long long a, unsigned long long b)
{
    return (unsigned long long)((unsigned __int128)a * b >> 64);
}
inline unsigned long long __brevll(unsigned long long x)
{
    return (unsigned long long)__brev(unsigned(x)) << 32 | __brev(unsigned(x >> 32));
}
inline unsigned __byte_perm(unsigned x, unsigned y, unsigned select)
{
    unsigned long long bytes = (unsigned long long)y << 32 | x;
    unsigned r = 0;
    for (int i = 0; i < 4; i++)
        r |= unsigned(bytes >> (select >> 4 * i & 7u) * 8 & 0xffu) << 8 * i;
    return r;
}
inline unsigned __funnelshift_l(unsigned low, unsigned high, unsigned by)
{
    return unsigned(((unsigned long long)high << 32 | low) << (by & 31u) >> 32);
}
inline unsigned __funnelshift_r(unsigned low, unsigned high, unsigned by)
{
    return unsigned(((unsigned long long)high << 32 | low) >> (by & 31u));
}
inline unsigned __sad(int a, int b, unsigned c)
{
    return c + (a > b ? unsigned(a) - unsigned(b) : unsigned(b) - unsigned(a));
}
inline unsigned __usad(unsigned a, unsigned b, unsigned c) { return c + (a > b ? a - b : b - a); }
inline unsigned __vabsdiffu4(unsigned a, unsigned b)
{
    unsigned r = 0;
    for (int i = 0; i < 32; i += 8)
        r |= __usad(a >> i & 0xffu, b >> i & 0xffu, 0) << i;
    return r;
}
inline unsigned __vsadu4(unsigned a, unsigned b)
{
    unsigned sum = 0;
    for (int i = 0; i < 32; i += 8)
        sum = __usad(a >> i & 0xffu, b >> i & 0xffu, sum);
    return sum;
}
template <typename T> vramscope_sim::if_arithmetic<T, unsigned> umin(T a, unsigned b)
{
    return unsigned(a) < b ? unsigned(a) : b;
}
template <typename T> vramscope_sim::if_arithmetic<T, unsigned> umax(T a, unsigned b)
{
    return unsigned(a) < b ? b : unsigned(a);
}

/* ---- functions of the host's precision ---- */

inline float __expf(float x) { return std::exp(x); }
inline float __logf(float x) { return std::log(x); }
inline float __log2f(float x) { return std::log2(x); }
inline float __sinf(float x) { return std::sin(x); }
inline float __cosf(float x) { return std::cos(x); }
inline float __powf(float x, float y) { return std::pow(x, y); }
inline float __fdividef(float a, float b) { return a / b; }
inline float __frsqrt_rn(float x) { return 1.0f / std::sqrt(x); }
inline float fdividef(float a, float b) { return a / b; }
inline float __tanf(float x) { return std::tan(x); }
inline float __log10f(float x) { return std::log10(x); }
inline float __exp10f(float x) { return std::pow(10.0f, x); }
inline void __sincosf(float x, float *s, float *c) { *s = std::sin(x), *c = std::cos(x); }
inline float sinpif(float x) { return float(std::sin(double(x) * M_PI)); }
inline float cospif(float x) { return float(std::cos(double(x) * M_PI)); }
inline double sinpi(double x) { return std::sin(x * M_PI); }
inline double cospi(double x) { return std::cos(x * M_PI); }
inline void sincospif(float x, float *s, float *c) { *s = sinpif(x), *c = cospif(x); }
inline void sincospi(double x, double *s, double *c) { *s = sinpi(x), *c = cospi(x); }
inline float rcbrtf(float x) { return 1 / std::cbrt(x); }
inline float normcdff(float x) { return 0.5f * std::erfc(x * -0.70710678f); }
inline double normcdf(double x) { return 0.5 * std::erfc(x * -M_SQRT1_2); }
inline float __saturatef(float x) { return x > 0.0f ? (x < 1.0f ? x : 1.0f) : 0.0f; }

namespace vramscope_sim {
template <typename To, typename From> To same_bits(From x)
{
    static_assert(sizeof(To) == sizeof(From));
    To to;
    std::memcpy(&to, &x, sizeof to);
    return to;
}
} // namespace vramscope_sim

inline int __float_as_int(float x) { return vramscope_sim::same_bits<int>(x); }
inline unsigned __float_as_uint(float x) { return vramscope_sim::same_bits<unsigned>(x); }
inline float __int_as_float(int x) { return vramscope_sim::same_bits<float>(x); }
inline float __uint_as_float(unsigned x) { return vramscope_sim::same_bits<float>(x); }
inline long long __double_as_longlong(double x) { return vramscope_sim::same_bits<long long>(x); }
inline double __longlong_as_double(long long x) { return vramscope_sim::same_bits<double>(x); }

inline int __double2hiint(double x) { return int(__double_as_longlong(x) >> 32); }
inline int __double2loint(double x) { return int(__double_as_longlong(x)); }
inline double __hiloint2double(int high, int low)
{
    return __longlong_as_double((long long)((unsigned long long)unsigned(high) << 32 | unsigned(low)));
}

/* ---- with a rounding mode: rn nearest, rz to zero, ru up, rd down ---- */

namespace vramscope_sim {

/* An optimiser must neither move *x* nor know its value. */
template <typename T> void opaque(T &x) { asm volatile("" : "+m"(x) : : "memory"); }

template <int mode, typename F, typename... A> auto rounded(F f, A... a)
{
    int before = std::fegetround();
    (opaque(a), ...);
    std::fesetround(mode);
    auto answer = f(a...);
    opaque(answer);
    std::fesetround(before);
    return answer;
}
template <int mode, typename To, typename From> To rounded_to(From x)
{
    if constexpr (std::is_integral_v<To>) {
        From whole = rounded<mode>([](From v) { return std::nearbyint(v); }, x);
        if (!(whole >= From(std::numeric_limits<To>::min()))) /* also: not a number */
            return whole < 0 ? std::numeric_limits<To>::min() : To(0);
        return whole >= From(std::numeric_limits<To>::max()) ? std::numeric_limits<To>::max()
                                                             : To(whole);
    } else {
        return rounded<mode>([](From v) { return To(v); }, x);
    }
}

} // namespace vramscope_sim

#define VRAMSCOPE_SIM_ROUNDED(suffix, mode)                                                        \
    inline float __fadd_##suffix(float a, float b)                                                 \
    {                                                                                              \
        return vramscope_sim::rounded<mode>([](float x, float y) { return x + y; }, a, b);         \
    }                                                                                              \
    inline float __fsub_##suffix(float a, float b)                                                 \
    {                                                                                              \
        return vramscope_sim::rounded<mode>([](float x, float y) { return x - y; }, a, b);         \
    }                                                                                              \
    inline float __fmul_##suffix(float a, float b)                                                 \
    {                                                                                              \
        return vramscope_sim::rounded<mode>([](float x, float y) { return x * y; }, a, b);         \
    }                                                                                              \
    inline float __fdiv_##suffix(float a, float b)                                                 \
    {                                                                                              \
        return vramscope_sim::rounded<mode>([](float x, float y) { return x / y; }, a, b);         \
    }                                                                                              \
    inline float __fmaf_##suffix(float a, float b, float c)                                        \
    {                                                                                              \
        return vramscope_sim::rounded<mode>(                                                       \
            [](float x, float y, float z) { return std::fma(x, y, z); }, a, b, c);                 \
    }                                                                                              \
    inline float __frcp_##suffix(float a) { return __fdiv_##suffix(1, a); }                        \
    inline float __fsqrt_##suffix(float a)                                                         \
    {                                                                                              \
        return vramscope_sim::rounded<mode>([](float x) { return std::sqrt(x); }, a);              \
    }                                                                                              \
    inline double __dadd_##suffix(double a, double b)                                              \
    {                                                                                              \
        return vramscope_sim::rounded<mode>([](double x, double y) { return x + y; }, a, b);       \
    }                                                                                              \
    inline double __dsub_##suffix(double a, double b)                                              \
    {                                                                                              \
        return vramscope_sim::rounded<mode>([](double x, double y) { return x - y; }, a, b);       \
    }                                                                                              \
    inline double __dmul_##suffix(double a, double b)                                              \
    {                                                                                              \
        return vramscope_sim::rounded<mode>([](double x, double y) { return x * y; }, a, b);       \
    }                                                                                              \
    inline double __ddiv_##suffix(double a, double b)                                              \
    {                                                                                              \
        return vramscope_sim::rounded<mode>([](double x, double y) { return x / y; }, a, b);       \
    }                                                                                              \
    inline double __fma_##suffix(double a, double b, double c)                                     \
    {                                                                                              \
        return vramscope_sim::rounded<mode>(                                                       \
            [](double x, double y, double z) { return std::fma(x, y, z); }, a, b, c);              \
    }                                                                                              \
    inline double __drcp_##suffix(double a) { return __ddiv_##suffix(1, a); }                      \
    inline double __dsqrt_##suffix(double a)                                                       \
    {                                                                                              \
        return vramscope_sim::rounded<mode>([](double x) { return std::sqrt(x); }, a);             \
    }                                                                                              \
    VRAMSCOPE_SIM_CONVERT(float, int, __float2int_##suffix, mode)                                  \
    VRAMSCOPE_SIM_CONVERT(float, unsigned, __float2uint_##suffix, mode)                            \
    VRAMSCOPE_SIM_CONVERT(float, long long, __float2ll_##suffix, mode)                             \
    VRAMSCOPE_SIM_CONVERT(float, unsigned long long, __float2ull_##suffix, mode)                   \
    VRAMSCOPE_SIM_CONVERT(double, int, __double2int_##suffix, mode)                                \
    VRAMSCOPE_SIM_CONVERT(double, unsigned, __double2uint_##suffix, mode)                          \
    VRAMSCOPE_SIM_CONVERT(double, long long, __double2ll_##suffix, mode)                           \
    VRAMSCOPE_SIM_CONVERT(double, unsigned long long, __double2ull_##suffix, mode)                 \
    VRAMSCOPE_SIM_CONVERT(double, float, __double2float_##suffix, mode)                            \
    VRAMSCOPE_SIM_CONVERT(int, float, __int2float_##suffix, mode)                                  \
    VRAMSCOPE_SIM_CONVERT(unsigned, float, __uint2float_##suffix, mode)                            \
    VRAMSCOPE_SIM_CONVERT(long long, float, __ll2float_##suffix, mode)                             \
    VRAMSCOPE_SIM_CONVERT(unsigned long long, float, __ull2float_##suffix, mode)                   \
    VRAMSCOPE_SIM_CONVERT(long long, double, __ll2double_##suffix, mode)                           \
    VRAMSCOPE_SIM_CONVERT(unsigned long long, double, __ull2double_##suffix, mode)
#define VRAMSCOPE_SIM_CONVERT(from, to, name, mode)                                                \
    inline to name(from x) { return vramscope_sim::rounded_to<mode, to>(x); }
VRAMSCOPE_SIM_ROUNDED(rn, FE_TONEAREST)
VRAMSCOPE_SIM_ROUNDED(rz, FE_TOWARDZERO)
VRAMSCOPE_SIM_ROUNDED(ru, FE_UPWARD)
VRAMSCOPE_SIM_ROUNDED(rd, FE_DOWNWARD)
#undef VRAMSCOPE_SIM_ROUNDED
#undef VRAMSCOPE_SIM_CONVERT
inline double __int2double_rn(int x) { return x; }
inline double __uint2double_rn(unsigned x) { return x; }

/* ---- least and greatest ---- */

/* Templates, so that functions of these names in a program's host code have precedence, and
 * so do std::min and std::max where both are visible. Arguments may differ in type. */
template <typename A, typename B>
using vramscope_sim_arithmetic =
    std::enable_if_t<std::is_arithmetic_v<A> && std::is_arithmetic_v<B>, std::common_type_t<A, B>>;
template <typename A, typename B> vramscope_sim_arithmetic<A, B> min(A a, B b)
{
    using T = std::common_type_t<A, B>;
    if constexpr (std::is_floating_point_v<T>)
        return std::fmin(T(a), T(b)); /* the other argument, if one is not a number */
    else
        return T(b) < T(a) ? T(b) : T(a);
}
template <typename A, typename B> vramscope_sim_arithmetic<A, B> max(A a, B b)
{
    using T = std::common_type_t<A, B>;
    if constexpr (std::is_floating_point_v<T>)
        return std::fmax(T(a), T(b));
    else
        return T(a) < T(b) ? T(b) : T(a);
}

#endif
