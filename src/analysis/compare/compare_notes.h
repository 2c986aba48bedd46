/* SPDX-License-Identifier: Apache-2.0
 *
 * What keeps two runs from being compared as they are. Private to this folder. */
#ifndef VS_COMPARE_NOTES_H
#define VS_COMPARE_NOTES_H

#include "analysis/compare/comparison.h"

/* vs_compare_notes: sets the notes of *out*, of which both runs are set, and whether names are
 * comparable. */
void vs_compare_notes(struct vs_comparison *out);

#endif
