/* SPDX-License-Identifier: Apache-2.0
 *
 * Kernels that compute the same on a GPU and on the simulated one:
 *   conf_fill(out, value, count)   out[i] = value
 *   conf_add(out, value, count)    out[i] += value
 *   conf_copy(out, in, count)      out[i] = in[i]
 * of 32-bit elements, one thread of a one-dimensional launch each. */
#ifndef CONF_KERNELS_H
#define CONF_KERNELS_H

#include "conf.h"

extern const char conf_ptx[];

/* conf_module: loads them into the current context. */
CUmodule conf_module(void);
/* conf_function: finds one by name. */
CUfunction conf_function(CUmodule module, const char *name);

#endif
