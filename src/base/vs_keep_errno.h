/* SPDX-License-Identifier: Apache-2.0
 *
 * The program's errno, which our code must not change. */
#ifndef VS_KEEP_ERRNO_H
#define VS_KEEP_ERRNO_H

#include <errno.h>

static inline void vs_errno_restore(const int *before)
{
    errno = *before;
}

/* VS_KEEP_ERRNO: errno has its present value again at the end of the block, however the block is
 * left. */
#define VS_KEEP_ERRNO() \
    const int vs_kept_errno_ __attribute__((cleanup(vs_errno_restore), unused)) = errno

#endif
