/* SPDX-License-Identifier: Apache-2.0
 *
 * Runs handlers after the fact. An injected library cannot intercept the driver: instead, CUPTI
 * reports a call, and the hook's own handler is called with the call's arguments, while the "real"
 * function that it calls returns the result that the driver has already returned. So all families
 * are recorded by the same code in both cases. */
#ifndef VS_REPLAYED_CALL_H
#define VS_REPLAYED_CALL_H

#include "intercept/route/hook.h"

/* One per thread; calls of the driver that CUPTI reports do not nest. */
struct vs_injected_call {
    int hook;        /* enum vs_hook_id whose next real call is replayed; -1: none */
    CUresult result; /* the result of that call */
};

extern _Thread_local struct vs_injected_call vs_replay __attribute__((tls_model("initial-exec")));
extern bool vs_replay_on; /* immutable once calls arrive: CUPTI observes this process */

/* vs_replay_result: replaces any real function; ignores its arguments. */
CUresult vs_replay_result(void);

/* vs_replay_function: the result of vs_hook_real while *id* is replayed, else NULL. */
static inline void *vs_replay_function(enum vs_hook_id id)
{
    return __builtin_expect(vs_replay_on, 0) && vs_replay.hook == (int)id
               ? (void *)vs_replay_result
               : NULL;
}

/* vs_replay_suspend, vs_replay_resume: in between, all real functions are real; for our own calls
 * of a function that may be replayed. */
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

#endif
