/* SPDX-License-Identifier: Apache-2.0
 *
 * Stacks by libunwind, for frames without a rule of walk.h. */
#ifndef VS_UNWIND_H
#define VS_UNWIND_H

#include <stdbool.h>
#include <stddef.h>

/* vs_unwind_load: loads libunwind privately, once per process. Returns false when it is not
 * available. */
bool vs_unwind_load(void);

/* vs_unwind_capture: return addresses of the calling thread, innermost first (beginning with that
 * of its own caller), at most *max*. */
size_t vs_unwind_capture(void **pcs, size_t max);

#endif
