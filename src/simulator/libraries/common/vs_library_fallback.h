/* SPDX-License-Identifier: Apache-2.0
 *
 * Weak definitions of every function of a library: each names itself once and returns the library's
 * "not supported", or 0 or an empty text where it returns no status. A definition in another file
 * of the library replaces it. One file of each library includes this after <cuda.h> and its
 * vs_NAME_api.h, without declaring the functions, and expands VS_NAME_FUNCTIONS(VS_LIBRARY_FALLBACK).
 * Parameters are not named: the calling convention allows a callee to ignore them. */
#ifndef VS_LIBRARY_FALLBACK_H
#define VS_LIBRARY_FALLBACK_H

#include "simulator/libraries/common/vs_library_base.h"

#define VS_LIBRARY_WEAK __attribute__((weak, visibility("default")))
#define VS_LIBRARY_FALLBACK(releases, kind, result, name, parameters)                              \
    VS_LIBRARY_FALLBACK_##kind(name)
/* All of the register that returns it: some of cuFile's statuses are structures with a second member. */
#define VS_LIBRARY_FALLBACK_STATUS(name)                                                           \
    VS_LIBRARY_WEAK uint64_t name(void);                                                           \
    uint64_t name(void) { return (uint32_t)vs_library_unsupported(#name, NULL); }
#define VS_LIBRARY_FALLBACK_OF(type, name)                                                         \
    VS_LIBRARY_WEAK type name(void);                                                               \
    type name(void)                                                                                \
    {                                                                                              \
        vs_library_unsupported(#name, NULL);                                                       \
        return 0;                                                                                  \
    }
#define VS_LIBRARY_FALLBACK_SIZE(name) VS_LIBRARY_FALLBACK_OF(size_t, name)
#define VS_LIBRARY_FALLBACK_NUMBER(name) VS_LIBRARY_FALLBACK_OF(int, name)
#define VS_LIBRARY_FALLBACK_POINTER(name) VS_LIBRARY_FALLBACK_OF(void *, name)
#define VS_LIBRARY_FALLBACK_TEXT(name)                                                             \
    VS_LIBRARY_WEAK const char *name(void);                                                        \
    const char *name(void)                                                                         \
    {                                                                                              \
        vs_library_unsupported(#name, NULL);                                                       \
        return "";                                                                                 \
    }
#define VS_LIBRARY_FALLBACK_NOTHING(name)                                                          \
    VS_LIBRARY_WEAK void name(void);                                                               \
    void name(void) { vs_library_unsupported(#name, NULL); }

#endif
