/* SPDX-License-Identifier: Apache-2.0
 *
 * Handlers run after the fact. Injected, we cannot stand in front of the driver: CUPTI
 * tells us of a call instead, and the hook's own handler is called with the call's
 * arguments, while the "real" function that it reaches gives back the result that the
 * driver has given already. So all families are recorded by the same code, whichever
 * way calls are seen. */
#ifndef VS_INJECT_REPLAY_H
#define VS_INJECT_REPLAY_H

#include "intercept/route/hook.h"
#include "intercept/track/tracker.h"

/* One per thread; calls of the driver that CUPTI reports do not nest. */
struct vs_injected_call {
    int hook;        /* enum vs_hook_id whose next real call is replayed; -1: none */
    CUresult result; /* what that call returns */
    bool watched;    /* the call has only begun: the driver may still refuse it */
    bool leaving;    /* it frees *live*, by *api* in *stream* */
    struct vs_tracked live;
    uint64_t stream;
    const char *api;
};

extern _Thread_local struct vs_injected_call vs_replay __attribute__((tls_model("initial-exec")));
extern bool vs_replay_on; /* immutable once calls arrive: this process is observed by CUPTI */

/* vs_replay_result: stands for any real function: takes no arguments whatever it is given. */
CUresult vs_replay_result(void);

/* vs_replay_function: what vs_hook_real answers with while *id* is replayed, else NULL. */
static inline void *vs_replay_function(enum vs_hook_id id)
{
    return __builtin_expect(vs_replay_on, 0) && vs_replay.hook == (int)id
               ? (void *)vs_replay_result
               : NULL;
}

/* vs_replay_suspend, vs_replay_resume: in between, all real functions are real; for our
 * own calls of what may be the replayed one. */
static inline int vs_replay_suspend(void)
{
    int hook = vs_replay.hook;
    vs_replay.hook = -1;
    return hook;
}

static inline void vs_replay_resume(int hook)
{
    vs_replay.hook = hook;
}

/* vs_replay_defers: *live* left the table by a call that has only begun: kept until the
 * driver's answer is known (vs_track_left then). False: it is known. */
static inline bool vs_replay_defers(const struct vs_tracked *live, uint64_t stream, const char *api)
{
    if (!__builtin_expect(vs_replay_on, 0) || !vs_replay.watched)
        return false;
    vs_replay.leaving = true;
    vs_replay.live = *live;
    vs_replay.stream = stream;
    vs_replay.api = api;
    return true;
}

#endif
