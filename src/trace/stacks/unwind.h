/* SPDX-License-Identifier: Apache-2.0
 *
 * Stacks by libunwind, for the frames that the rules of walk.h do not cover. */
#ifndef VS_UNWIND_H
#define VS_UNWIND_H

#include <stdbool.h>
#include <stddef.h>

/* vs_unwind_load: load libunwind privately, once per process. false without. */
bool vs_unwind_load(void);

/* vs_unwind_capture: return addresses of the calling thread, innermost first (its
 * own caller's first), at most *max*. */
size_t vs_unwind_capture(void **pcs, size_t max);

#endif
