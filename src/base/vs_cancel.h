/* SPDX-License-Identifier: Apache-2.0
 *
 * A thread of the program that is being cancelled must not go inside our code: locks
 * would stay taken, and what its thread-local destructors free would pass us by. Held
 * around whatever may be a cancellation point: system calls on files, the driver. */
#ifndef VS_CANCEL_H
#define VS_CANCEL_H

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

#endif
