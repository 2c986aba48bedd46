/* SPDX-License-Identifier: Apache-2.0
 *
 * A small random generator, so that a failing sequence can be repeated from its seed. */
#ifndef CM_RANDOM_H
#define CM_RANDOM_H

#include <stdint.h>

/* cm_random: xorshift64*; *state* must not be 0. */
static inline uint64_t cm_random(uint64_t *state)
{
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return *state * UINT64_C(0x2545f4914f6cdd1d);
}

#endif
