/* SPDX-License-Identifier: Apache-2.0
 *
 * The same programs, linked with libcupti instead of opening it. */
#define PROFILER_LINKED
#include "victim_profilers.c"
