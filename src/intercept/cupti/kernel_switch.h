/* SPDX-License-Identifier: Apache-2.0
 *
 * Kernels and copies of only a part of the run: of some steps (option kernels_steps), of the ranges with one
 * name (kernels_range), or between two signals (kernels_signal). Steps are counted as in the report: the outermost ranges with a step-like name on the
 * first thread that opens one. */
#ifndef VS_KERNEL_SWITCH_H
#define VS_KERNEL_SWITCH_H

#include <stdbool.h>

/* vs_switch_given: does one of the options ask for a part only? The options have been read. */
bool vs_switch_given(void);

/* vs_switch_pushed, _popped: the calling thread opened or closed a range that is recorded. *domain*: static
 * text. */
void vs_switch_pushed(const char *name, const char *domain);
void vs_switch_popped(const char *domain);

/* vs_switch_withdrawn: the step of *domain* that is open on the calling thread is none (automatic_steps.h). */
void vs_switch_withdrawn(const char *domain);

/* vs_switch_signal: takes the signal of kernels_signal; false where the program handles it itself.
 * vs_switch_signalled: in a hook: makes the switch that the signal asked for, if it did. */
bool vs_switch_signal(void);
void vs_switch_signalled(void);

#endif
