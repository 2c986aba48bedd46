/* SPDX-License-Identifier: Apache-2.0
 *
 * Weak definitions of the functions of a library that it does not have, by what they return: each
 * names itself once and returns the library's "not supported" (STATUS; COUNT: negative), or 0 or an empty text
 * where it returns no status. cmake/library_calls.py writes them from the library's unsupported.txt.
 * Parameters are not named: the calling convention allows a callee to ignore them. */
#ifndef VS_LIBRARY_FALLBACK_H
#define VS_LIBRARY_FALLBACK_H

#include "simulator/libraries/common/vs_library_base.h"

#define VS_LIBRARY_WEAK __attribute__((weak, visibility("default")))
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
#define VS_LIBRARY_FALLBACK_COUNT(name)                                                            \
    VS_LIBRARY_WEAK int64_t name(void);                                                            \
    int64_t name(void) { return -vs_library_unsupported(#name, NULL); }
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
/* A real or complex number of either precision: in the first two registers of floating point. */
#define VS_LIBRARY_FALLBACK_REAL(name)                                                             \
    VS_LIBRARY_WEAK double _Complex name(void);                                                    \
    double _Complex name(void)                                                                     \
    {                                                                                              \
        vs_library_unsupported(#name, NULL);                                                       \
        return 0;                                                                                  \
    }
#define VS_LIBRARY_FALLBACK_NOTHING(name)                                                          \
    VS_LIBRARY_WEAK void name(void);                                                               \
    void name(void) { vs_library_unsupported(#name, NULL); }

#endif
