/* SPDX-License-Identifier: Apache-2.0
 *
 * Converts the options to an allocator's configuration, and keeps the limits that the program sets
 * through the public interface. */
#ifndef VS_POLICY_H
#define VS_POLICY_H

#include <stdbool.h>

#include "allocator/core/allocator.h"
#include "intercept/track/context.h"

/* vs_policy_config: the configuration by the options policy and alloc_conf, as far as *ops* and the
 * device permit; an impossible setting is logged once and left out. */
void vs_policy_config(const struct vs_context *context, const struct vs_device_ops *ops,
                      enum vs_reuse reuse, struct vs_allocator_config *config);

/* vs_policy_set_fraction: the share of *device* that our allocators may reserve, from now on.
 * VS_ERR_ARG outside [0, 1] or for an ordinal out of range. */
enum vs_err vs_policy_set_fraction(uint32_t device, double fraction) VS_MUST_CHECK;

/* vs_policy_most: the limit in bytes of memory that cudaMalloc in *context* (may be NULL) may take
 * from the driver: the fraction of its device; UINT64_MAX without one, and if the cache is off. */
uint64_t vs_policy_most(const struct vs_context *context);

#endif
