/* SPDX-License-Identifier: Apache-2.0
 *
 * Keeps signals of our writes away from the program: SIGXFSZ and SIGPIPE, which a failed write
 * raises in the writing thread, and SIGTTOU, which stops a background program that writes to a
 * terminal. */
#ifndef VS_SIGNAL_GUARD_H
#define VS_SIGNAL_GUARD_H

#include <pthread.h>
#include <signal.h>
#include <time.h>

#include "base/vs_cancel.h"

struct vs_signal_guard {
    sigset_t before, raised;
};

static inline void vs_signal_guard_enter(struct vs_signal_guard *guard)
{
    sigemptyset(&guard->raised);
    sigaddset(&guard->raised, SIGXFSZ);
    sigaddset(&guard->raised, SIGPIPE);
    sigaddset(&guard->raised, SIGTTOU);
    pthread_sigmask(SIG_BLOCK, &guard->raised, &guard->before);
}

/* vs_signal_guard_leave: consumes signals raised by our write and restores the mask. A signal of
 * these kinds that was already pending for the thread is consumed as well. errno is preserved. */
static inline void vs_signal_guard_leave(struct vs_signal_guard *guard)
{
    VS_KEEP_ERRNO();
    static const struct timespec no_time = {0, 0};
    while (sigtimedwait(&guard->raised, NULL, &no_time) > 0) {
    }
    pthread_sigmask(SIG_SETMASK, &guard->before, NULL);
}

#endif
