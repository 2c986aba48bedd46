/* SPDX-License-Identifier: Apache-2.0
 *
 * Kernels, copies and memsets through CUPTI's activity interface. CUPTI is loaded at run time, in
 * the CUDA major version of the process; if it is missing or refuses, only memory is recorded, with
 * one message. */
#ifndef VS_COLLECTOR_H
#define VS_COLLECTOR_H

#include <cuda.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/steps/vs_schedule.h"
#include "trace/record/recorder.h"

/* vs_collector_start: loads CUPTI and enables the activity kinds, unless another profiler uses it.
 * *subscribed*: we are CUPTI's subscriber ourselves (injected). Once per process, from
 * vs_process_begin. */
void vs_collector_start(bool subscribed);

/* vs_collector_hand_over: another tool in this process starts using CUPTI: collects our records and
 * stops using CUPTI for good. Called before the tool's own call is forwarded. Any thread. */
void vs_collector_hand_over(void);

/* vs_collector_flush: delivers finished records to the trace; *forced*: also those of buffers in
 * use. Called before a context is destroyed and at exit, with vs_thread.inside > 0. */
void vs_collector_flush(bool forced);

/* vs_collector_switch: records from here on as *part* says; *by*, *step* and *range* are those of
 * `activity_switched`. Waits for the work of the current context where recording begins or ends, so that exactly
 * the work of the part is recorded, unless a stream is being captured. Also before the start. Any thread. */
void vs_collector_switch(enum vs_schedule_part part, enum vs_switch by, uint64_t step, const char *range);

/* vs_collector_waited: the program has waited for work: delivers its records, at most once a second. CUPTI itself
 * delivers full buffers only, so a program that is killed would lose more. With vs_thread.inside > 0. */
void vs_collector_waited(void);

/* vs_collector_running: whether it collects kernels and copies. Any thread. */
bool vs_collector_running(void);

/* vs_collector_stream_id: CUPTI's number for a stream; false if the collector is off or CUPTI does
 * not know the stream. */
bool vs_collector_stream_id(CUcontext context, CUstream stream, bool per_thread, uint32_t *id);

/* --- cupti_guard.c: other tools' use of CUPTI in this process, at their first call --- */

/* vs_cupti_guard: the result of dlsym(handle, *name*) for a function of CUPTI; *fn* is the real
 * result: our handler if the call must be intercepted. Any thread. */
void *vs_cupti_guard(const char *name, void *fn);

/* vs_cupti_guard_absent: is *name* a function that we intercept while libcupti is not loaded? */
bool vs_cupti_guard_absent(const char *name);

/* vs_collector_part_on: whether kernels and copies of the present part of the run are recorded. */
bool vs_collector_part_on(void);

#endif
