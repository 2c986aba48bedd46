/* SPDX-License-Identifier: Apache-2.0
 *
 * Other tools' use of CUPTI in this process, noticed at their first call. */
#ifndef VS_CUPTI_GUARD_H
#define VS_CUPTI_GUARD_H

#include <stdbool.h>

/* vs_cupti_guard: the answer to dlsym(handle, *name*) for a function of CUPTI, after
 * the real answer *fn*: our handler where it must be noticed. Any thread. */
void *vs_cupti_guard(const char *name, void *fn);

/* vs_cupti_guard_absent: is *name* a function that we stand in front of, and there is
 * no libcupti behind it? */
bool vs_cupti_guard_absent(const char *name);

#endif
