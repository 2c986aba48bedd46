/* SPDX-License-Identifier: Apache-2.0
 *
 * Lazily loaded code takes device memory when one of its functions is first requested. Those calls
 * are measured like a load, but a program may make them in a loop: so once per module or library,
 * and otherwise one call per period of the option sample_ms. */
#ifndef VS_FIRST_USE_H
#define VS_FIRST_USE_H

#include "intercept/track/usage.h"

/* vs_first_use_begins: vs_usage_begins if *handle* was not measured yet, or the last measurement is
 * old enough; otherwise *mark* requests nothing. NULL: by time only. Any thread, no lock. Cost
 * without a measurement: a few loads and reading the clock. */
void vs_first_use_begins(struct vs_usage_mark *mark, const void *handle);

/* vs_first_use_gone: *handle* is unloaded; another may get the same value. */
void vs_first_use_gone(const void *handle);

#endif
