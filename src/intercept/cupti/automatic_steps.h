/* SPDX-License-Identifier: Apache-2.0
 *
 * Steps and phases that nobody marked: found by our part in Python (python/vramscope/values/steps.py),
 * recorded as ranges of a domain of their own. They give way to the program's own ranges:
 *  - the first range or step of the program ends them for good: its names are better;
 *  - the range of a test ("test:…") only ends those before it, and its end those inside: the steps of
 *    each test are counted from 1.
 * An *era* is a span without such a change. A step that gives way is no step if it is the first of its
 * era, or if only its forward pass was seen: a mark says so (docs/internals/trace-format.md, "Steps"). */
#ifndef VS_AUTOMATIC_STEPS_H
#define VS_AUTOMATIC_STEPS_H

#include <stdbool.h>
#include <stdint.h>

/* vs_automatic_era: from 1; 0: the program marks its own. Any thread. */
uint32_t vs_automatic_era(void);

/* vs_automatic_place: the calling thread is now in *phase* (NULL: none) of step *number*. It is the
 * only thread that calls this. Does nothing in era 0. */
void vs_automatic_place(uint64_t number, const char *phase);

/* vs_automatic_give_way: the program begins a range or step of its own. Any thread. */
void vs_automatic_give_way(bool is_test);

/* vs_automatic_range_ends: the calling thread ends a range of the program. */
void vs_automatic_range_ends(void);

#endif
