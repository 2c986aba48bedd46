/* SPDX-License-Identifier: Apache-2.0
 *
 * The soname in the file of a shared library, without loading it. */
#ifndef VS_AUDIT_SONAME_H
#define VS_AUDIT_SONAME_H

#include <stdbool.h>
#include <stddef.h>

/* vs_audit_soname: reads the soname (DT_SONAME) of the shared library at *path* into *soname*, of
 * *max* bytes. false, with *soname* unwritten, when the file cannot be read, is not a shared
 * library of 64 bits, has no soname, or has one that does not fit. *Threads*: any. */
bool vs_audit_soname(const char *path, char *soname, size_t max);

#endif
