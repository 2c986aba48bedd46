/* SPDX-License-Identifier: Apache-2.0
 *
 * Detects other tools' use of CUPTI in this process at their first call. */
#ifndef VS_CUPTI_GUARD_H
#define VS_CUPTI_GUARD_H

#include <stdbool.h>

/* vs_cupti_guard: the result of dlsym(handle, *name*) for a function of CUPTI; *fn* is the real
 * result: our handler if the call must be intercepted. Any thread. */
void *vs_cupti_guard(const char *name, void *fn);

/* vs_cupti_guard_absent: is *name* a function that we intercept while libcupti is not loaded? */
bool vs_cupti_guard_absent(const char *name);

#endif
