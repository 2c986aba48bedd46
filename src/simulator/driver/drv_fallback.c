/* SPDX-License-Identifier: Apache-2.0
 *
 * The driver functions that no other file defines. The form for per-thread default streams
 * calls the ordinary form with a per-thread stream instead of stream 0. All others return
 * CUDA_ERROR_NOT_SUPPORTED, so that programs which only name them load. The fallbacks are
 * weak: a definition of vs_sim_impl_<symbol> (vs_sim_rename.h) replaces them. */
#include <cuda.h>

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
#include "generated/vs_sim_entry_fallback_table.h"
