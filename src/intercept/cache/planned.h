/* SPDX-License-Identifier: Apache-2.0
 *
 * The option plan: one allocator of this process, the first that is created on the plan's device,
 * places memory by it. */
#ifndef VS_PLANNED_H
#define VS_PLANNED_H

#include "allocator/core/allocator.h"
#include "intercept/track/context.h"

/* vs_planned_begin: for a new allocator of *context*; logs once why a plan is not used. */
void vs_planned_begin(const struct vs_context *context, struct vs_allocator *allocator);

/* vs_planned_report: logs how the plan was followed, at level info. Takes the allocator's locks. */
void vs_planned_report(void);

#endif
