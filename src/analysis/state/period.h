/* SPDX-License-Identifier: Apache-2.0
 *
 * Finds whether a sequence of requests repeats, from where on, and how often. Uses only the sizes:
 * training loops and servers of equal requests need no marks. */
#ifndef VS_PERIOD_H
#define VS_PERIOD_H

#include <stddef.h>
#include <stdint.h>

#include "base/vs_err.h"

struct vs_period {
    uint32_t prologue; /* requests before the first repetition */
    uint32_t length;   /* of the period; 0: it does not repeat */
    uint32_t repeats;  /* whole periods from the prologue on, at least 3 */
};

/* vs_period_find: the shortest period among those that explain most of the sequence in one stretch;
 * at least half of it, or none. VS_ERR_NOMEM. *Cost*: linear, times a constant number of
 * candidates. */
enum vs_err vs_period_find(const uint32_t *sizes, size_t count, struct vs_period *out) VS_MUST_CHECK;

#endif
