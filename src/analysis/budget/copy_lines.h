/* SPDX-License-Identifier: Apache-2.0
 *
 * Which calls copied how much: the calls of a trace with their stacks, matched with the copies that
 * they made. Private to this folder. */
#ifndef VS_COPY_LINES_H
#define VS_COPY_LINES_H

#include "analysis/budget/quantities.h"

/* vs_copy_goes: whether copies of *kind* (enum vs_copy_kind of the trace) go that way. */
bool vs_copy_goes(enum vs_copy_way way, uint64_t kind);

/* vs_copy_lines_read: fills run->copies, where the program was recorded with the option copy_stacks.
 * VS_ERR_NOMEM. Cost: reads the trace once. */
enum vs_err vs_copy_lines_read(struct vs_measured *run) VS_MUST_CHECK;

#endif
