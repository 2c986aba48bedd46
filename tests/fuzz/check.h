/* SPDX-License-Identifier: Apache-2.0
 *
 * A condition that no input breaks: otherwise the fuzzer has found something. */
#ifndef VS_FUZZ_CHECK_H
#define VS_FUZZ_CHECK_H

#include <stdbool.h>
#include <stdlib.h>

static inline void check(bool right)
{
    if (!right)
        abort();
}

#endif
