/* SPDX-License-Identifier: Apache-2.0
 *
 * Names of functions as a debugger or demangler gives them, and as call sites show them: without
 * parameters, return type, inline namespaces of an ABI and long template arguments. No state. */
#ifndef VS_FUNCTION_TEXT_H
#define VS_FUNCTION_TEXT_H

#include <stdbool.h>
#include <stddef.h>

/* vs_function_text: "void thrust::THRUST_300001_SM_900_NS::sort<…long…>(first, last)" as
 * "thrust::sort<…>" in *out* of *max* bytes, at least 1; longer names are cut. Template arguments of
 * a few characters stay: alloc<int> and alloc<float> are two functions. Returns the length. */
size_t vs_function_text(const char *function, char *out, size_t max);

/* vs_function_qualified: *function* without its return type: it begins with its outermost namespace or
 * class. A part of *function*. */
const char *vs_function_qualified(const char *function);

#endif
