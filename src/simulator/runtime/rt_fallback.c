/* SPDX-License-Identifier: Apache-2.0
 *
 * The exported runtime functions that no other file defines. Rows of forwards.txt are one call of
 * the driver; others leave all but their entry to a function of another file. The form for
 * per-thread default streams calls the ordinary form with a per-thread stream instead of stream 0.
 * All others return cudaErrorNotSupported and make it the last error, so that programs which only
 * name them load. The fallbacks are weak: a definition of vs_rt_impl_<symbol> or
 * vs_rt_old_<symbol> replaces them (rt_api.c makes the symbols). */
#include "simulator/runtime/vs_sim_runtime.h"

cudaError_t vs_rt_not_supported(void);
cudaError_t vs_rt_not_supported(void) { return vs_rt_result(cudaErrorNotSupported); }

#define NOT_SUPPORTED(impl)       \
    __asm__(".weak " impl "\n"    \
            ".hidden " impl "\n"  \
            ".set " impl ", vs_rt_not_supported\n");
#define VS_NOT_SUPPORTED(symbol) NOT_SUPPORTED("vs_rt_impl_" #symbol)
#define VS_STREAM(stream) ((stream) ? (stream) : cudaStreamPerThread)
#define VS_PER_THREAD(symbol, base, parameters, arguments)                                       \
    cudaError_t ordinary_##base parameters __asm__("vs_rt_impl_" #base);                         \
    __attribute__((weak)) cudaError_t fallback_##symbol parameters __asm__("vs_rt_impl_" #symbol); \
    cudaError_t fallback_##symbol parameters { return ordinary_##base arguments; }
#define VS_FORWARD(symbol, parameters, entered, call)                          \
    cudaError_t forward_##symbol parameters __asm__("vs_rt_impl_" #symbol);    \
    cudaError_t forward_##symbol parameters                                    \
    {                                                                          \
        CUfunction function __attribute__((unused));                           \
        cudaError_t e = entered;                                               \
        return vs_rt_result(e ? e : call);                                     \
    }
#define VS_SAME_SIZE(ours, theirs) _Static_assert(sizeof(ours) == sizeof(theirs), "passed through");
#pragma GCC visibility push(hidden)
#include "generated/vs_sim_runtime_fallback_table.h"
#pragma GCC visibility pop

#define VS_RT_OLD(symbol, cbid) NOT_SUPPORTED("vs_rt_old_" #symbol)
#include "generated/vs_sim_runtime_old_table.h"
