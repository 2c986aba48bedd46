/* SPDX-License-Identifier: Apache-2.0
 *
 * C++ and Rust names in readable form. */
#ifndef VS_DEMANGLE_H
#define VS_DEMANGLE_H

#define VS_DEMANGLED_MAX 65536u

/* vs_demangle: the readable form of a mangled name, to be freed by the caller, truncated after
 * VS_DEMANGLED_MAX bytes; NULL when *name* is not mangled or memory ran out: show *name* itself.
 * Any thread. */
char *vs_demangle(const char *name);

#endif
