/* SPDX-License-Identifier: Apache-2.0
 *
 * Captures of streams, as far as others must know of them: while any is under way the
 * cache serves nothing and synchronises nothing, and what the driver forbids meanwhile
 * is forbidden with us too. Every capture is counted from before it begins until it has
 * ended, its stream was destroyed, or its context was. */
#ifndef VS_CAPTURE_H
#define VS_CAPTURE_H

#include <cuda.h>
#include <stdatomic.h>
#include <stdbool.h>

/* vs_capture_count: captures in this process right now. */
extern _Atomic int vs_capture_count;

static inline bool vs_capture_any(void)
{
    return atomic_load_explicit(&vs_capture_count, memory_order_relaxed) > 0;
}

/* vs_capture_begins: one may begin in *stream* now: from its first instant on no other
 * thread may make a synchronisation of ours, which would invalidate it. Gives the stream's
 * context: while anything is captured a stream is not asked for it (cuStreamGetDevice
 * would invalidate the capture), and it is taken to be the current one.
 * vs_capture_began: it did, or not. Gives *r* on. Any thread; no lock. */
CUcontext vs_capture_begins(CUstream stream);
CUresult vs_capture_began(CUstream stream, bool per_thread, CUcontext context, CUresult r);

/* vs_capture_ended: the driver's answer *r* to the end of a capture in *stream*. */
CUresult vs_capture_ended(CUstream stream, bool per_thread, CUresult r);

/* vs_capture_taken: forget the capture that began in *stream*, which is about to be
 * destroyed and takes its capture with it: false when there is none. Call before, and
 * vs_capture_given_back, with the *context* that was its, when the driver refused. */
bool vs_capture_taken(CUstream stream, CUcontext *context);
void vs_capture_given_back(CUstream stream, CUcontext context);

/* vs_capture_context_gone: its streams are, and their captures. */
void vs_capture_context_gone(CUcontext context);

/* vs_capture_forbids_free: a free that the cache would serve, while something is
 * captured: does the driver forbid it to this thread? Then its code is in *result*, and
 * what was captured is invalidated, as without us. Call with vs_thread.inside > 0. */
bool vs_capture_forbids_free(CUdeviceptr ptr, CUresult *result);

#endif
