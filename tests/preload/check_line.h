/* SPDX-License-Identifier: Apache-2.0
 *
 * For programs that print "ok" or the first line that was wrong. Header-only. */
#ifndef VS_CHECK_LINE_H
#define VS_CHECK_LINE_H

#include <stdio.h>
#include <stdlib.h>

#define MIB ((size_t)1 << 20)

#define CHECK(condition)                                        \
    do {                                                        \
        if (!(condition)) {                                     \
            printf("line %d: %s\n", __LINE__, #condition);      \
            exit(1);                                            \
        }                                                       \
    } while (0)

#endif
