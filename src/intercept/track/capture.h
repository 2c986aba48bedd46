/* SPDX-License-Identifier: Apache-2.0
 *
 * State of stream captures for the other parts: while any is active the cache serves nothing and
 * synchronises nothing, and operations that the driver forbids are forbidden with us too. Every
 * capture is counted from before it begins until it has ended, its stream was destroyed, or its
 * context was. */
#ifndef VS_CAPTURE_H
#define VS_CAPTURE_H

#include <cuda.h>
#include <stdatomic.h>
#include <stdbool.h>

/* vs_capture_count: active captures in this process. */
extern _Atomic int vs_capture_count;

static inline bool vs_capture_any(void)
{
    return atomic_load_explicit(&vs_capture_count, memory_order_relaxed) > 0;
}

/* vs_capture_begins: a capture may begin in *stream* now: from its start on no other thread may
 * make a synchronisation of ours, which would invalidate it. Returns the stream's context: during
 * captures cuStreamGetDevice is not called, since it would invalidate the capture, and the current
 * context is assumed. vs_capture_began: it did, or not; returns *r*. Any thread; no lock. */
CUcontext vs_capture_begins(CUstream stream);
CUresult vs_capture_began(CUstream stream, bool per_thread, CUcontext context, CUresult r);

/* vs_capture_active: is anything captured in *stream*? *unknown*: the answer if the driver does not
 * say. */
bool vs_capture_active(CUstream stream, bool per_thread, bool unknown);

/* vs_capture_ended: the driver's result *r* for the end of a capture in *stream*. */
CUresult vs_capture_ended(CUstream stream, bool per_thread, CUresult r);

/* vs_capture_taken: removes the capture that began in *stream*, which is about to be destroyed
 * together with it; returns false if there is none. Called before the destruction;
 * vs_capture_given_back, with its *context*, if the driver refused. */
bool vs_capture_taken(CUstream stream, CUcontext *context);
void vs_capture_given_back(CUstream stream, CUcontext context);

/* vs_capture_context_gone: its streams and their captures were destroyed. */
void vs_capture_context_gone(CUcontext context);

#endif
