/* SPDX-License-Identifier: Apache-2.0
 *
 * The post-mortem of a trace as `vramscope oom` and `vramscope view` show it. */
#ifndef VS_OOM_TOOL_H
#define VS_OOM_TOOL_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/oom/oom.h"

/* vs_oom_tool_build: diagnoses failure *nth* (0: see vs_oom_build) of the trace of *report* (and of *watch*, or NULL), tries
 * remedies by replay if *replay*, and adds the kinds of tensors and the failed line, which *memory*
 * owns. **out* is NULL where no allocation failed. VS_ERR_NOT_FOUND when there is no failure *nth*;
 * VS_ERR_STATE when the trace does not have every allocation before the failure: no diagnosis is
 * possible. The position of *reader* is lost. Ownership: vs_oom_free. */
enum vs_err vs_oom_tool_build(struct vs_reader *reader, const struct vs_report *report,
                              struct vs_oom_watch *watch, uint64_t nth, bool replay,
                              struct vs_arena *memory, struct vs_oom **out) VS_MUST_CHECK;

#endif
