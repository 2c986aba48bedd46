/* SPDX-License-Identifier: Apache-2.0
 *
 * The post-mortem in a few lines, for the summary of `vramscope run`: what failed, the verdict, the
 * call site to look at, and the first remedy. */
#ifndef VS_OOM_BRIEF_H
#define VS_OOM_BRIEF_H

#include "analysis/oom/oom.h"
#include "viewer/common/text_style.h"

/* vs_oom_brief: prints *oom*, the failure that ended the program. */
void vs_oom_brief(const struct vs_oom *oom, const struct vs_style *style);

#endif
