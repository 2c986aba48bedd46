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

[[noreturn]] inline void __trap()
{
    vramscope_sim::runner::mine().fail_launch(CUDA_ERROR_LAUNCH_FAILED, "__trap() was called");
}
inline void __nanosleep(unsigned) { sched_yield(); }

/* ---- warps ---- */

namespace vramscope_sim {

inline unsigned warp_vote(unsigned mask, bool vote)
{
    exchange mine = {};
    mine.vote = vote;
    return runner::mine().warp_barrier(mask, mine, [](const gathered &all) { return all.voted; });
}

template <typename T> exchange shown(T value)
{
    static_assert(sizeof(T) <= sizeof exchange::value && std::is_trivially_copyable_v<T>,
                  "threads exchange trivially copyable values of up to 32 bytes");
    exchange mine = {};
    std::memcpy(mine.value, static_cast<const void *>(&value), sizeof value);
    return mine;
}

template <typename T> VRAMSCOPE_SIM_UNSEEN T value_of(const exchange &shown)
{
    alignas(T) unsigned char bytes[sizeof(T)];
    std::memcpy(bytes, shown.value, sizeof(T));
    return *reinterpret_cast<T *>(bytes);
}

/* *value* of the lane *from*; the caller's own if that lane takes no part. */
template <typename T> T warp_value(unsigned mask, T value, unsigned from)
{
    return runner::mine().warp_barrier(mask, shown(value), [&](const gathered &all) {
        return all.lanes & 1u << from ? value_of<T>(all.lane[from]) : value;
    });
}

/* join(... join(join(a, b), c) ...) of the values of those lanes in *mask* that are also in
 * *of*, from the lowest lane to the highest. */
template <typename T, typename F>
T warp_reduce(unsigned mask, T value, F join, unsigned of = 0xffffffffu)
{
    return runner::mine().warp_barrier(mask, shown(value), [&](const gathered &all) {
        T sum = value;
        bool first = true;
        for (unsigned lanes = all.lanes & of; lanes; lanes &= lanes - 1) {
            T other = value_of<T>(all.lane[__builtin_ctz(lanes)]);
            sum = first ? other : T(join(sum, other));
            first = false;
        }
        return sum;
    });
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
/* The lanes that reach this call before any lane of the warp can go on. Inlined, so that the
 * place in the kernel identifies the call. */
__attribute__((always_inline)) inline unsigned __activemask()
{
    return vramscope_sim::runner::mine().converge();
}

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
    return vramscope_sim::runner::mine().warp_barrier(
        mask, vramscope_sim::shown(value), [&](const vramscope_sim::gathered &all) {
            unsigned same = 0;
            for (unsigned lanes = all.lanes; lanes; lanes &= lanes - 1) {
                int lane = __builtin_ctz(lanes);
                if (!std::memcmp(all.lane[lane].value, &value, sizeof value))
                    same |= 1u << lane;
            }
            return same;
        });
}
template <typename T> unsigned __match_all_sync(unsigned mask, T value, int *all)
{
    unsigned same = __match_any_sync(mask, value);
    *all = __all_sync(mask, same == mask);
    return *all ? mask : 0;
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

template <typename T, typename R> using if_arithmetic = std::enable_if_t<std::is_arithmetic_v<T>, R>;

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

/* Scopes make no difference here: all threads see each other's atomics. */
#define VRAMSCOPE_SIM_SCOPES(name)                                                                 \
    template <typename T> T name##_system(T *p, vramscope_sim::same_t<T> v) { return name(p, v); } \
    template <typename T> T name##_block(T *p, vramscope_sim::same_t<T> v) { return name(p, v); }
VRAMSCOPE_SIM_SCOPES(atomicAdd)
VRAMSCOPE_SIM_SCOPES(atomicSub)
VRAMSCOPE_SIM_SCOPES(atomicExch)
VRAMSCOPE_SIM_SCOPES(atomicMin)
VRAMSCOPE_SIM_SCOPES(atomicMax)
VRAMSCOPE_SIM_SCOPES(atomicInc)
VRAMSCOPE_SIM_SCOPES(atomicDec)
VRAMSCOPE_SIM_SCOPES(atomicAnd)
VRAMSCOPE_SIM_SCOPES(atomicOr)
VRAMSCOPE_SIM_SCOPES(atomicXor)
#undef VRAMSCOPE_SIM_SCOPES
template <typename T>
T atomicCAS_system(T *p, vramscope_sim::same_t<T> expected, vramscope_sim::same_t<T> v)
{
    return atomicCAS(p, expected, v);
}
template <typename T>
T atomicCAS_block(T *p, vramscope_sim::same_t<T> expected, vramscope_sim::same_t<T> v)
{
    return atomicCAS(p, expected, v);
}

/* ---- memory and time ---- */

template <typename T> T __ldg(const T *p) { return *p; }
template <typename T> T __ldcg(const T *p) { return *p; }
template <typename T> T __ldca(const T *p) { return *p; }
template <typename T> T __ldcs(const T *p) { return *p; }
template <typename T> void __stcg(T *p, vramscope_sim::same_t<T> v) { *p = v; }
template <typename T> void __stcs(T *p, vramscope_sim::same_t<T> v) { *p = v; }
template <typename T> void __stwb(T *p, vramscope_sim::same_t<T> v) { *p = v; }
template <typename T> void __stwt(T *p, vramscope_sim::same_t<T> v) { *p = v; }

inline long long clock64()
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000000000ll + now.tv_nsec;
}

#endif
