/* SPDX-License-Identifier: Apache-2.0
 *
 * The name of this process's trace: from the option `output`, with alternatives if that name is in
 * use. */
#ifndef VS_TRACE_NAME_H
#define VS_TRACE_NAME_H

#include "base/vs_err.h"

#define VS_TRACE_NAME_TRIES 110 /* the last ones are names never used before */

/* vs_trace_name: writes the name to try at *attempt*, absolute, to *path* (PATH_MAX bytes): the
 * expanded *pattern*; then NAME.PID.vst, NAME.PID.2.vst, …; at last with the time instead of the
 * number, since a container's programs all have the same pid. A link is followed if its target does
 * not exist yet. VS_ERR_LIMIT if too long; VS_ERR_ARG for an unknown percent sequence. */
enum vs_err vs_trace_name(const char *pattern, unsigned attempt, char *path) VS_MUST_CHECK;

#endif
