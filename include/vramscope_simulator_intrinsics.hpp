/* SPDX-License-Identifier: Apache-2.0
 *
 * The functions of device code. Included by vramscope_simulator_kernels.hpp; do not
 * include it directly. Barriers, votes, shuffles and relaxed atomics follow the CUDA C++
 * Programming Guide, "C++ Language Extensions". Fast-math functions have the precision of
 * the host's functions. */
#ifndef VRAMSCOPE_SIMULATOR_INTRINSICS_HPP
#define VRAMSCOPE_SIMULATOR_INTRINSICS_HPP

#ifndef VRAMSCOPE_SIMULATOR_KERNELS_HPP
#include "vramscope_simulator_kernels.hpp"
#endif

/* ---- barriers and fences ---- */

inline void __syncthreads() { vramscope_sim::runner::mine().block_barrier(false); }
inline int __syncthreads_count(int predicate)
{
    return int(vramscope_sim::runner::mine().block_barrier(predicate).yes);
}
inline int __syncthreads_and(int predicate)
{
    return vramscope_sim::runner::mine().block_barrier(predicate).no == 0;
}
inline int __syncthreads_or(int predicate)
{
    return vramscope_sim::runner::mine().block_barrier(predicate).yes != 0;
}
inline void __threadfence_block() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
inline void __threadfence() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
inline void __threadfence_system() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }

/* ---- warps ---- */

namespace vramscope_sim {

inline unsigned warp_vote(unsigned mask, bool vote)
{
    exchange mine = {};
    mine.vote = vote;
    mine.from = runner::mine().lane();
    return runner::mine().warp_barrier(mask, mine).vote;
}

template <typename T> T warp_value(unsigned mask, T value, unsigned from)
{
    static_assert(sizeof(T) <= 16 && std::is_trivially_copyable_v<T>);
    exchange mine = {};
    std::memcpy(mine.value, &value, sizeof value);
    mine.from = from;
    std::memcpy(&value, runner::mine().warp_barrier(mask, mine).value, sizeof value);
    return value;
}

template <typename T, typename F> T warp_reduce(unsigned mask, T value, F join)
{
    T all{};
    bool first = true;
    for (unsigned lane = 0; lane < 32; lane++) {
        if (!(mask & 1u << lane))
            continue;
        T other = warp_value(mask, value, lane);
        all = first ? other : join(all, other);
        first = false;
    }
    return all;
}

} // namespace vramscope_sim

inline void __syncwarp(unsigned mask = 0xffffffffu) { vramscope_sim::warp_vote(mask, false); }
inline unsigned __ballot_sync(unsigned mask, int predicate)
{
    return vramscope_sim::warp_vote(mask, predicate);
}
inline int __any_sync(unsigned mask, int predicate)
{
    return vramscope_sim::warp_vote(mask, predicate) != 0;
}
inline int __all_sync(unsigned mask, int predicate)
{
    return vramscope_sim::warp_vote(mask, !predicate) == 0;
}
/* A device may choose which threads run together; here each runs alone. */
inline unsigned __activemask() { return 1u << vramscope_sim::runner::mine().lane(); }

template <typename T> T __shfl_sync(unsigned mask, T value, int from, int width = 32)
{
    unsigned lane = vramscope_sim::runner::mine().lane(), w = unsigned(width);
    return vramscope_sim::warp_value(mask, value, (lane & ~(w - 1)) | (unsigned(from) & (w - 1)));
}
template <typename T> T __shfl_up_sync(unsigned mask, T value, unsigned delta, int width = 32)
{
    unsigned lane = vramscope_sim::runner::mine().lane(), inside = lane & (unsigned(width) - 1);
    return vramscope_sim::warp_value(mask, value, delta <= inside ? lane - delta : lane);
}
template <typename T> T __shfl_down_sync(unsigned mask, T value, unsigned delta, int width = 32)
{
    unsigned lane = vramscope_sim::runner::mine().lane(), inside = lane & (unsigned(width) - 1);
    return vramscope_sim::warp_value(mask, value,
                                     inside + delta < unsigned(width) ? lane + delta : lane);
}
template <typename T> T __shfl_xor_sync(unsigned mask, T value, int lanes, int width = 32)
{
    unsigned lane = vramscope_sim::runner::mine().lane(), from = lane ^ unsigned(lanes);
    bool inside = from <= (lane | (unsigned(width) - 1)) && from < 32;
    return vramscope_sim::warp_value(mask, value, inside ? from : lane);
}
template <typename T> unsigned __match_any_sync(unsigned mask, T value)
{
    unsigned same = 0;
    for (unsigned lane = 0; lane < 32; lane++)
        if (mask & 1u << lane && vramscope_sim::warp_value(mask, value, lane) == value)
            same |= 1u << lane;
    return same;
}
template <typename T> T __reduce_add_sync(unsigned mask, T value)
{
    return vramscope_sim::warp_reduce(mask, value, [](T a, T b) { return T(a + b); });
}
template <typename T> T __reduce_min_sync(unsigned mask, T value)
{
    return vramscope_sim::warp_reduce(mask, value, [](T a, T b) { return a < b ? a : b; });
}
template <typename T> T __reduce_max_sync(unsigned mask, T value)
{
    return vramscope_sim::warp_reduce(mask, value, [](T a, T b) { return a > b ? a : b; });
}

/* ---- atomics; for the checker they do not conflict with each other ---- */

namespace vramscope_sim {

/* *p* = change(*p*); returns the old value. */
template <typename T, typename F> VRAMSCOPE_SIM_UNSEEN T atomic_change(T *p, F change)
{
    T old, now;
    VRAMSCOPE_SIM_CHANGES(p);
    __atomic_load(p, &old, __ATOMIC_RELAXED);
    do
        now = change(old);
    while (!__atomic_compare_exchange(p, &old, &now, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
    return old;
}

template <typename T> struct same { /* keeps the second argument out of deduction */
    using type = T;
};
template <typename T> using same_t = typename same<T>::type;

} // namespace vramscope_sim

template <typename T> VRAMSCOPE_SIM_UNSEEN T atomicAdd(T *p, vramscope_sim::same_t<T> v)
{
    if constexpr (std::is_integral_v<T>) {
        VRAMSCOPE_SIM_CHANGES(p);
        return __atomic_fetch_add(p, v, __ATOMIC_RELAXED);
    } else {
        return vramscope_sim::atomic_change(p, [v](T old) { return T(old + v); });
    }
}
template <typename T> VRAMSCOPE_SIM_UNSEEN T atomicSub(T *p, vramscope_sim::same_t<T> v)
{
    VRAMSCOPE_SIM_CHANGES(p);
    return __atomic_fetch_sub(p, v, __ATOMIC_RELAXED);
}
template <typename T> VRAMSCOPE_SIM_UNSEEN T atomicExch(T *p, vramscope_sim::same_t<T> v)
{
    return vramscope_sim::atomic_change(p, [v](T) { return v; });
}
template <typename T> VRAMSCOPE_SIM_UNSEEN T atomicMin(T *p, vramscope_sim::same_t<T> v)
{
    return vramscope_sim::atomic_change(p, [v](T old) { return old < v ? old : v; });
}
template <typename T> VRAMSCOPE_SIM_UNSEEN T atomicMax(T *p, vramscope_sim::same_t<T> v)
{
    return vramscope_sim::atomic_change(p, [v](T old) { return old > v ? old : v; });
}
template <typename T> VRAMSCOPE_SIM_UNSEEN T atomicAnd(T *p, vramscope_sim::same_t<T> v)
{
    VRAMSCOPE_SIM_CHANGES(p);
    return __atomic_fetch_and(p, v, __ATOMIC_RELAXED);
}
template <typename T> VRAMSCOPE_SIM_UNSEEN T atomicOr(T *p, vramscope_sim::same_t<T> v)
{
    VRAMSCOPE_SIM_CHANGES(p);
    return __atomic_fetch_or(p, v, __ATOMIC_RELAXED);
}
template <typename T> VRAMSCOPE_SIM_UNSEEN T atomicXor(T *p, vramscope_sim::same_t<T> v)
{
    VRAMSCOPE_SIM_CHANGES(p);
    return __atomic_fetch_xor(p, v, __ATOMIC_RELAXED);
}
VRAMSCOPE_SIM_UNSEEN inline unsigned atomicInc(unsigned *p, unsigned last)
{
    return vramscope_sim::atomic_change(p, [last](unsigned old) { return old >= last ? 0 : old + 1; });
}
VRAMSCOPE_SIM_UNSEEN inline unsigned atomicDec(unsigned *p, unsigned last)
{
    return vramscope_sim::atomic_change(
        p, [last](unsigned old) { return old == 0 || old > last ? last : old - 1; });
}
template <typename T>
VRAMSCOPE_SIM_UNSEEN T atomicCAS(T *p, vramscope_sim::same_t<T> expected, vramscope_sim::same_t<T> v)
{
    VRAMSCOPE_SIM_CHANGES(p);
    __atomic_compare_exchange(p, &expected, &v, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
    return expected;
}

/* ---- arithmetic ---- */

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
inline int __mul24(int a, int b) { return (a << 8 >> 8) * (b << 8 >> 8); }
inline int __mulhi(int a, int b) { return int((long long)a * b >> 32); }
inline unsigned __umulhi(unsigned a, unsigned b) { return unsigned((unsigned long long)a * b >> 32); }

inline float rsqrtf(float x) { return 1.0f / std::sqrt(x); }
inline double rsqrt(double x) { return 1.0 / std::sqrt(x); }
inline float __expf(float x) { return std::exp(x); }
inline float __logf(float x) { return std::log(x); }
inline float __log2f(float x) { return std::log2(x); }
inline float __sinf(float x) { return std::sin(x); }
inline float __cosf(float x) { return std::cos(x); }
inline float __powf(float x, float y) { return std::pow(x, y); }
inline float __fdividef(float a, float b) { return a / b; }
inline float __frcp_rn(float x) { return 1.0f / x; }
inline float __fsqrt_rn(float x) { return std::sqrt(x); }
inline float __frsqrt_rn(float x) { return 1.0f / std::sqrt(x); }
inline float __fadd_rn(float a, float b) { return a + b; }
inline float __fmul_rn(float a, float b) { return a * b; }
inline float __fmaf_rn(float a, float b, float c) { return std::fma(a, b, c); }
inline float __saturatef(float x) { return x > 0.0f ? (x < 1.0f ? x : 1.0f) : 0.0f; }
inline int __float2int_rn(float x) { return int(std::nearbyint(x)); }
inline int __float2int_rz(float x) { return int(x); }
inline int __float2int_rd(float x) { return int(std::floor(x)); }
inline int __float2int_ru(float x) { return int(std::ceil(x)); }
inline float __int2float_rn(int x) { return float(x); }

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

template <typename T> T __ldg(const T *p) { return *p; }

/* CUDA's overloads for mixed arguments; std::min and std::max have none. */
#define VRAMSCOPE_SIM_MIN_MAX(type)                                                                \
    inline type min(type a, type b) { return a < b ? a : b; }                                      \
    inline type max(type a, type b) { return a > b ? a : b; }
VRAMSCOPE_SIM_MIN_MAX(int)
VRAMSCOPE_SIM_MIN_MAX(unsigned)
VRAMSCOPE_SIM_MIN_MAX(long)
VRAMSCOPE_SIM_MIN_MAX(unsigned long)
VRAMSCOPE_SIM_MIN_MAX(long long)
VRAMSCOPE_SIM_MIN_MAX(unsigned long long)
VRAMSCOPE_SIM_MIN_MAX(float)
VRAMSCOPE_SIM_MIN_MAX(double)
#undef VRAMSCOPE_SIM_MIN_MAX

inline long long clock64()
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000000000ll + now.tv_nsec;
}

#endif
