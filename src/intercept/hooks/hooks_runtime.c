/* SPDX-License-Identifier: Apache-2.0
 *
 * Runtime symbols, called only where a program links or loads libcudart as a shared library. They
 * record nothing: they set their name for the driver hook that the runtime is about to call, so
 * that shared and static programs are counted by the same code, once. Each is defined once for
 * every version of VS_RUNTIME_VERSIONS; preload.map has the same versions. */
#include "base/vs_log.h"
#include "intercept/route/hook.h"

/* A linker that drops unneeded libraries may drop libcudart of a program that is linked with this library
 * before it and calls only functions that both have. */
static __attribute__((cold, noinline)) cudaError_t no_runtime(const char *name)
{
    vs_log_once(VS_LOG_ERROR, "%s fails: the CUDA runtime is not loaded. If the program is linked with "
                              "-lvramscope, link it with -lcudart before -lvramscope, or with "
                              "-Wl,--no-as-needed", name);
    return cudaErrorSymbolNotFound;
}

#define AT_any "@@" /* found by a reference without a version */
#define AT_11 "@"
#define AT_12 "@"
#define AT_13 "@"
#define AT_14 "@"

#define FORWARD(suffix, version, name, params, args, name_of_users)                         \
    VS_EXPORT cudaError_t vs_runtime_##name##_##suffix params;                              \
    __asm__(".symver vs_runtime_" #name "_" #suffix ", " #name AT_##suffix version          \
            ", remove");                                                                    \
    cudaError_t vs_runtime_##name##_##suffix params                                         \
    {                                                                                       \
        /* the outermost call determines the name: the runtime calls itself */              \
        bool outermost = !vs_thread.api;                                                    \
        if (outermost) {                                                                    \
            vs_hook_called(__builtin_return_address(0));                                    \
            vs_thread.api = name_of_users;                                                  \
        }                                                                                   \
        vs_fn_##name real = (vs_fn_##name)vs_runtime_real(VS_RUNTIME_##name,                \
                                                          VS_RUNTIME_VERSION_##suffix);     \
        cudaError_t r = real ? real args : no_runtime(#name);                               \
        if (outermost)                                                                      \
            vs_thread.api = NULL;                                                           \
        return r;                                                                           \
    }

#define VS_RUNTIME_HOOK(name, params, args, api, ...) VS_RUNTIME_VERSIONS(FORWARD, name, params, args, api)
#include "generated/hook_table.h"

#define ADDRESS(suffix, version, name) (void *)vs_runtime_##name##_##suffix,
void *const vs_runtime_handlers[VS_RUNTIME_COUNT][VS_RUNTIME_VERSION_COUNT] = {
#define VS_RUNTIME_HOOK(name, ...) {VS_RUNTIME_VERSIONS(ADDRESS, name)},
#include "generated/hook_table.h"
};
