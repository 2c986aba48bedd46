/* SPDX-License-Identifier: Apache-2.0
 *
 * What our code keeps of the program's thread: its errno; and it prevents the thread's cancellation:
 * its locks would stay taken, and frees by its thread-local destructors would be missed. Held around
 * anything that may be a cancellation point: system calls on files, the driver. */
#ifndef VS_CANCEL_H
#define VS_CANCEL_H

#include <errno.h>
#include <pthread.h>

static inline int vs_cancel_hold(void)
{
    int before;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before);
    return before;
}

static inline void vs_cancel_restore(int before)
{
    pthread_setcancelstate(before, NULL);
}

/* VS_CANCEL_SCOPE: held until the end of the block, however the block is left. */
static inline void vs_cancel_scope_end(const int *before)
{
    vs_cancel_restore(*before);
}
#define VS_CANCEL_SCOPE() \
    const int vs_cancel_before_ __attribute__((cleanup(vs_cancel_scope_end), unused)) = \
        vs_cancel_hold()

static inline void vs_errno_restore(const int *before)
{
    errno = *before;
}

/* VS_KEEP_ERRNO: errno has its present value again at the end of the block, however the block is
 * left. */
#define VS_KEEP_ERRNO() \
    const int vs_kept_errno_ __attribute__((cleanup(vs_errno_restore), unused)) = errno

#endif
