/* SPDX-License-Identifier: Apache-2.0
 *
 * Interface of the frame rule table (walk_rules.c) for walk.c. Private to these. */
#ifndef VS_WALK_RULES_H
#define VS_WALK_RULES_H

#include <stdint.h>

#include "trace/stacks/cfi.h"

/* vs_walk_rule: the rule of the code that returns to *pc*, never NULL: VS_FRAME_NONE for code
 * outside any object. Not on machines where no stack is walked. *Threads*: any. *Cost*: a table
 * lookup; the first time, a search in the object's tables, which takes locks. */
const struct vs_frame_rule *vs_walk_rule(uint64_t pc);

/* vs_walk_rules_discard: discards all rules, which are then looked up again. */
void vs_walk_rules_discard(void);

#endif
