/* SPDX-License-Identifier: Apache-2.0
 *
 * What walk.c asks of the table of frame rules (walk_rules.c). Private to these. */
#ifndef VS_WALK_RULES_H
#define VS_WALK_RULES_H

#include <stdint.h>

#include "trace/stacks/cfi.h"

/* vs_walk_rule: the rule of the code that returns to *pc*, never NULL: VS_FRAME_NONE for code
 * in no object. Not on machines where nothing is walked. *Threads*: any. *Cost*: a look into
 * the table; the first time, a search in the object's tables, which takes locks. */
const struct vs_frame_rule *vs_walk_rule(uint64_t pc);

/* vs_walk_rules_forget: look all of them up again. */
void vs_walk_rules_forget(void);

#endif
