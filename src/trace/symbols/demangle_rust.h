/* SPDX-License-Identifier: Apache-2.0
 *
 * Rust's names, of both its manglings. Private to src/trace and its tests. */
#ifndef VS_DEMANGLE_RUST_H
#define VS_DEMANGLE_RUST_H

#include <stdbool.h>
#include <stddef.h>

#define VS_RUST_NAME_MAX 4096u

/* vs_demangle_rust: *name*, mangled in the "v0" way ("_R…"), as people write it, into *out*
 * (VS_RUST_NAME_MAX bytes; longer ones are cut). false when it is no such name. */
bool vs_demangle_rust(const char *name, char *out);

/* vs_demangle_rust_is_legacy: a name of the older way, which is C++'s with a hash at its
 * end ("_ZN…17h0123456789abcdefE"). */
bool vs_demangle_rust_is_legacy(const char *name);
/* vs_demangle_rust_tidy: such a name, demangled as C++, without hash and escapes; in
 * place. */
void vs_demangle_rust_tidy(char *name);

#endif
