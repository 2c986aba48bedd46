/* SPDX-License-Identifier: Apache-2.0
 *
 * The call stacks of copies: CUPTI's records of copies have none, so its callbacks of the functions
 * that copy record the stack under the number that the copy's record will have. For the option
 * copy_stacks only, because CUPTI has one subscriber and other profilers are then refused. */
#ifndef VS_COPY_CALLS_H
#define VS_COPY_CALLS_H

#include "intercept/cupti/cupti_library.h"

/* vs_copy_calls_start: becomes the subscriber. CUPTI's result; *other* as in vs_cupti_subscribe.
 * Once per process. */
CUptiResult vs_copy_calls_start(const struct vs_cupti *cupti, char other[VS_CUPTI_NAME_MAX]);

/* vs_copy_calls_stop: unsubscribes, if started. */
void vs_copy_calls_stop(const struct vs_cupti *cupti);

#endif
