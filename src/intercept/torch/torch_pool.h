/* SPDX-License-Identifier: Apache-2.0
 *
 * Private pools for the stream-ordered entry points. */
#ifndef VS_TORCH_POOL_H
#define VS_TORCH_POOL_H

#include <cuda.h>
#include <stdbool.h>

#include "intercept/track/context.h"

/* vs_torch_pool_accepts: does a request of *stream* in *context* go to a private pool? */
bool vs_torch_pool_accepts(const struct vs_context *context, CUstream stream);

/* vs_torch_pool_context_gone: nobody ends the pools that were begun in *context*. */
void vs_torch_pool_context_gone(const struct vs_context *context);

#endif
