/* SPDX-License-Identifier: Apache-2.0
 *
 * Handlers run after the fact. Injected, we cannot stand in front of the driver: CUPTI
 * tells us of a call instead, and the hook's own handler is called with the call's
 * arguments, while the "real" function that it reaches gives back the result that the
 * driver has given already. So all families are recorded by the same code, whichever
 * way calls are seen. */
#ifndef VS_INJECT_REPLAY_H
#define VS_INJECT_REPLAY_H

#include "intercept/hook.h"
#include "intercept/tracker.h"

/* One per thread; calls of the driver that CUPTI reports do not nest. */
struct vs_replay {
    int hook;        /* enum vs_hook_id whose next real call is replayed; -1: none */
    CUresult result; /* what that call returns */
    bool watched;    /* frees are noted, since the driver may still refuse them */
    bool freed;      /* vs_track_free took *live* out, by *api* in *stream* */
    struct vs_live live;
    uint64_t stream;
    const char *api;
};

extern _Thread_local struct vs_replay vs_replay __attribute__((tls_model("initial-exec")));
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

/* vs_replay_note_free: *live* was taken out of the table. */
static inline void vs_replay_note_free(const struct vs_live *live, uint64_t stream, const char *api)
{
    if (!__builtin_expect(vs_replay_on, 0) || !vs_replay.watched)
        return;
    vs_replay.freed = true;
    vs_replay.live = *live;
    vs_replay.stream = stream;
    vs_replay.api = api;
}

#endif
