/* SPDX-License-Identifier: Apache-2.0
 *
 * Runtime symbols, seen only where a program links or loads libcudart as a shared
 * library. They record nothing: they leave their name for the driver hook that
 * the runtime is about to call, so that shared and static programs are counted
 * by the same code, once. */
#include <string.h>

#include "intercept/hook.h"

/* Users know the function, not its per-thread-stream variant. Folded at compile
 * time: every name is a literal. */
static inline const char *api_name(const char *symbol)
{
    if (strcmp(symbol, "cudaMallocAsync_ptsz") == 0)
        return "cudaMallocAsync";
    if (strcmp(symbol, "cudaMallocFromPoolAsync_ptsz") == 0)
        return "cudaMallocFromPoolAsync";
    if (strcmp(symbol, "cudaFreeAsync_ptsz") == 0)
        return "cudaFreeAsync";
    if (strcmp(symbol, "cudaGraphLaunch_ptsz") == 0)
        return "cudaGraphLaunch";
    return symbol;
}

#define VS_DRIVER_HOOK(name, params, args)
#define VS_RUNTIME_HOOK(name, params, args)                     \
    cudaError_t name params                                     \
    {                                                           \
        /* the outermost call names: the runtime calls itself */ \
        bool outermost = !vs_thread.api;                        \
        if (outermost)                                          \
            vs_thread.api = api_name(#name);                    \
        vs_fn_##name real = (vs_fn_##name)vs_hook_real(VS_HOOK_##name); \
        cudaError_t r = real ? real args : cudaErrorSymbolNotFound; \
        if (outermost)                                          \
            vs_thread.api = NULL;                               \
        return r;                                               \
    }
#include "intercept/hook_table.h"
