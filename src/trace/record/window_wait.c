/* SPDX-License-Identifier: Apache-2.0
 *
 * How long a thread waits for the background thread, that is for a disk or the reader of a pipe: as
 * long as windows are written, then for a limited time. The wait also checks whether the background
 * thread still exists, as programs may end it without our knowledge. */
#include "base/vs_clock.h"
#include "trace/record/recorder_internal.h"
#include "trace/record/shortage.h"

/* interval at which a waiting thread checks whether the background thread still exists */
#define POLL_NS UINT64_C(100000000)
/* checks without progress after which an ending recording stops waiting; counted rather than timed,
 * because a program that was stopped meanwhile has not waited */
#define END_POLLS 100u

unsigned vs_window_end_polls(const struct vs_recorder *r)
{
    return r->wait_polls < END_POLLS ? r->wait_polls : END_POLLS;
}

static unsigned polls_allowed_locked(const struct vs_recorder *r)
{
    if (r->stalled)
        return 1;
    return r->closed || r->leaving ? vs_window_end_polls(r) : r->wait_polls;
}

bool vs_window_wait_locked(struct vs_recorder *r)
{
    uint64_t written = r->written_sequence;
    unsigned looks = 0;
    vs_writer_hasten_locked(r);
    for (;;) {
        bool woken = vs_cond_wait(&r->progress, &r->lock, vs_clock_ns() + POLL_NS);
        if (woken || r->thread_done || r->written_sequence != written)
            return true;
        if (!vs_writer_alive(r)) {
            vs_writer_take_over_locked(r);
            return true;
        }
        if (++looks >= polls_allowed_locked(r)) {
            vs_shortage_stall_locked(r, looks);
            return false;
        }
    }
}

static bool is_writing_locked(const struct vs_recorder *r)
{
    bool writing = false;
    for (unsigned i = 0; i < VS_WINDOWS; i++)
        writing |= r->windows[i].state == VS_WINDOW_WRITING;
    return writing;
}

bool vs_window_wait_idle_locked(struct vs_recorder *r)
{
    while (is_writing_locked(r)) {
        if (!vs_window_wait_locked(r))
            return false;
    }
    return true;
}
