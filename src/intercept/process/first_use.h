/* SPDX-License-Identifier: Apache-2.0
 *
 * Code that is loaded lazily takes its memory when something of it is first asked for.
 * Those calls are measured as loading is, but a program may make them in a loop: so each
 * module or library once, and otherwise one call in each period of the option sample_ms. */
#ifndef VS_FIRST_USE_H
#define VS_FIRST_USE_H

#include "intercept/track/usage.h"

/* vs_first_use_begins: vs_usage_begins where *handle* was not measured yet, or the last
 * measuring is long ago; else *mark* asks for nothing. NULL: only by time. Any thread, no
 * lock. Cost where nothing is measured: a few loads and a look at the clock. */
void vs_first_use_begins(struct vs_usage_mark *mark, const void *handle);

/* vs_first_use_gone: *handle* is unloaded; another may have its number. */
void vs_first_use_gone(const void *handle);

#endif
