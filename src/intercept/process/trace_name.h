/* SPDX-License-Identifier: Apache-2.0
 *
 * What this process's trace is called: by the option `output`, and where that name is taken by
 * others beside it. */
#ifndef VS_TRACE_NAME_H
#define VS_TRACE_NAME_H

#include "base/vs_err.h"

#define VS_TRACE_NAME_TRIES 110 /* the last ones are names that nobody has had */

/* vs_trace_name: the name to try at *attempt*, absolute, into *path* (PATH_MAX bytes): the
 * *pattern* filled in; then NAME.PID.vst, NAME.PID.2.vst, …; at last with the time for the number,
 * since a container's programs all have the same pid. A link is followed where it leads to no
 * file yet. VS_ERR_LIMIT when too long; VS_ERR_ARG for an unknown percent sign. */
enum vs_err vs_trace_name(const char *pattern, unsigned attempt, char *path) VS_MUST_CHECK;

#endif
