/* SPDX-License-Identifier: Apache-2.0
 *
 * The driver functions that no other file defines. The form for per-thread default streams
 * calls the ordinary form with a per-thread stream instead of stream 0, or with stream 0 being
 * that one if the function takes no stream. An older form that only lacks edge data calls the newer
 * one. All others return
 * CUDA_ERROR_NOT_SUPPORTED, so that programs which only name them load. The fallbacks are
 * weak: a definition of vs_sim_impl_<symbol> (vs_sim_rename.h) replaces them. */
#include <cuda.h>

CUstream vs_sim_default_stream(CUstream stream); /* vs_sim_driver.h */
CUresult vs_sim_not_supported(void);
CUresult vs_sim_not_supported(void) { return CUDA_ERROR_NOT_SUPPORTED; }

#define VS_NOT_SUPPORTED(symbol)              \
    __asm__(".weak vs_sim_impl_" #symbol "\n" \
            ".hidden vs_sim_impl_" #symbol "\n" \
            ".set vs_sim_impl_" #symbol ", vs_sim_not_supported\n");
#define VS_STREAM(stream) ((stream) ? (stream) : CU_STREAM_PER_THREAD)
#define VS_PER_THREAD(symbol, base, parameters, arguments)                                    \
    CUresult ordinary_##base parameters __asm__("vs_sim_impl_" #base);                        \
    __attribute__((weak)) CUresult fallback_##symbol parameters __asm__("vs_sim_impl_" #symbol); \
    CUresult fallback_##symbol parameters { return ordinary_##base arguments; }
#define VS_OLDER(symbol, newer, parameters, arguments, newer_parameters)                      \
    CUresult ordinary_##newer newer_parameters __asm__("vs_sim_impl_" #newer);                \
    __attribute__((weak)) CUresult fallback_##symbol parameters __asm__("vs_sim_impl_" #symbol); \
    CUresult fallback_##symbol parameters { return ordinary_##newer arguments; }
#define VS_DEFAULT_STREAM(symbol, base, parameters, arguments)                                \
    CUresult ordinary_##base parameters __asm__("vs_sim_impl_" #base);                        \
    __attribute__((weak)) CUresult fallback_##symbol parameters __asm__("vs_sim_impl_" #symbol); \
    CUresult fallback_##symbol parameters                                                     \
    {                                                                                         \
        CUstream before = vs_sim_default_stream(CU_STREAM_PER_THREAD);                        \
        CUresult e = ordinary_##base arguments;                                               \
        vs_sim_default_stream(before);                                                        \
        return e;                                                                             \
    }
#include "generated/vs_sim_entry_fallback_table.h"
