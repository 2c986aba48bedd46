/* SPDX-License-Identifier: Apache-2.0
 *
 * Kernels, copies and memsets through CUPTI's activity interface. CUPTI is loaded
 * at run time, in the CUDA major version of the process; absent or refusing, the
 * recording goes on with memory alone, said once. */
#ifndef VS_COLLECTOR_H
#define VS_COLLECTOR_H

#include <cuda.h>
#include <stdbool.h>
#include <stdint.h>

/* vs_collector_start: load CUPTI and switch the activity kinds on, unless another
 * profiler has it. *subscribed*: we are CUPTI's subscriber ourselves (injected). Once
 * per process, from vs_process_begin. */
void vs_collector_start(bool subscribed);

/* vs_collector_hand_over: another tool in this process begins to use CUPTI: take our
 * records out and leave it alone for good. Called before the tool's own call goes
 * through. Any thread. */
void vs_collector_hand_over(void);

/* vs_collector_flush: deliver finished records into the trace; *forced* also
 * those of buffers in use. Before a context goes away and at exit. Call with
 * vs_thread.inside > 0. */
void vs_collector_flush(bool forced);

/* vs_collector_stream_id: CUPTI's number for a stream; false when the collector
 * is off or CUPTI does not know it. */
bool vs_collector_stream_id(CUcontext context, CUstream stream, bool per_thread, uint32_t *id);

#endif
