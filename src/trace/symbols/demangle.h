/* SPDX-License-Identifier: Apache-2.0
 *
 * C++ names as people write them, by the C++ runtime's own demangler, which is
 * loaded when first needed: nothing here depends on it. */
#ifndef VS_DEMANGLE_H
#define VS_DEMANGLE_H

/* vs_demangle: the readable form of a mangled name, to be freed by the caller;
 * NULL when *name* is not mangled, no C++ runtime is there, or memory ran out: show
 * *name* itself. Any thread. */
char *vs_demangle(const char *name);

#endif
