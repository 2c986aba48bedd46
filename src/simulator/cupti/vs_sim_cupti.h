/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside the stand-in CUPTI: activity records and resource callbacks, made from
 * what the stand-in driver reports (vs_sim_activity.h). */
#ifndef VS_SIM_CUPTI_H
#define VS_SIM_CUPTI_H

#include <cuda.h>
#pragma GCC visibility push(default) /* exports what we define of these */
#include <cupti.h>
#pragma GCC visibility pop
#include <stdbool.h>
#include <stdint.h>

#include "simulator/driver/vs_sim_activity.h"

/* vs_cupti_attach: find the stand-in driver. False when libcuda.so.1 is missing or
 * another one. Any thread. */
bool vs_cupti_attach(void);

/* vs_cupti_permission: may anybody profile? CUPTI_SUCCESS, or the refusal that the
 * spec asks for (cupti=...), as cuptiSubscribe and cuptiActivityEnable return it. */
CUptiResult vs_cupti_permission(void);

/* vs_cupti_identify: the driver's vramscopeSimIdentify. Only after vs_cupti_attach
 * returned true. */
CUresult vs_cupti_identify(CUcontext context, CUstream stream, int per_thread,
                           struct vs_sim_identity *identity);

enum vs_cupti_source { VS_CUPTI_FOR_ACTIVITY, VS_CUPTI_FOR_CALLBACKS, VS_CUPTI_SOURCES };
/* vs_cupti_want: have the driver report *bits* for *source* from now on, instead of
 * what it asked for before. */
void vs_cupti_want(enum vs_cupti_source source, uint32_t bits);

/* Where the driver's reports arrive. */
void vs_cupti_activity_done(const struct vs_sim_activity *activity); /* cupti_record.c */
void vs_cupti_submitted(uint32_t correlation);                       /* cupti_call.c */
/* In cupti_memory.c, called by vs_cupti_activity_done: */
void vs_cupti_memory(const struct vs_sim_activity *activity);
void vs_cupti_pool(const struct vs_sim_activity *activity);
uint32_t vs_cupti_memory_kind(unsigned kind); /* enum vs_sim_memory_kind as CUPTI says it */
/* In cupti_callback.c: */
void vs_cupti_resource(enum vs_sim_resource what, CUcontext context, CUstream stream);
void vs_cupti_call_entered(struct vs_sim_call *call);
void vs_cupti_call_left(struct vs_sim_call *call);
/* vs_cupti_params: the arguments of *call* in the layout of its parameter structure,
 * in *params*; NULL when it has none (cupti_params.c). */
union vs_cupti_params {
    uint64_t aligned;
    char bytes[256];
};
const void *vs_cupti_params(const struct vs_sim_call *call, union vs_cupti_params *params);
/* vs_cupti_call_record: write the records of a call that has been left (cupti_call.c). */
void vs_cupti_call_record(const struct vs_sim_call *call);

/* ---- which records (cupti_activity.c) ---- */

/* vs_cupti_record_bytes: of a record of *kind*; 0 for a kind that does not exist here. */
size_t vs_cupti_record_bytes(CUpti_ActivityKind kind);
/* vs_cupti_enabled: is *kind* collected? vs_cupti_enabled_in: in the context with
 * this id, which may have a setting of its own. *kind* must exist here. */
bool vs_cupti_enabled(CUpti_ActivityKind kind);
bool vs_cupti_enabled_in(CUpti_ActivityKind kind, uint32_t context);

/* Which functions' calls are recorded (cupti_call.c). *kind*: CUPTI_ACTIVITY_KIND_DRIVER
 * or _RUNTIME. vs_cupti_calls_wanted: what the driver must report for it. */
void vs_cupti_calls_choose_all(CUpti_ActivityKind kind, bool on);
CUptiResult vs_cupti_calls_choose(CUpti_ActivityKind kind, CUpti_CallbackId cbid, bool on);
uint32_t vs_cupti_calls_wanted(void);

/* vs_cupti_wants_source: are libraries that allocate to be named (cupti_memory.c)?
 * vs_cupti_source_changed: say so again to the driver. */
bool vs_cupti_wants_source(void);
void vs_cupti_source_changed(void);

/* ---- buffers (cupti_buffer.c) ---- */

/* vs_cupti_put: copy *record*, whose kind tells its size, into the client's buffer. */
void vs_cupti_put(const void *record);
/* vs_cupti_has_buffers: has the client registered its callbacks? */
bool vs_cupti_has_buffers(void);

/* vs_cupti_thread: the calling thread as records name it (cupti_call.c). */
uint32_t vs_cupti_thread(void);

/* vs_cupti_time: a CLOCK_MONOTONIC instant as records show it (cupti_base.c). */
uint64_t vs_cupti_time(uint64_t monotonic_ns);

/* vs_cupti_result: *result*, remembered for cuptiGetLastError when it is an error. */
CUptiResult vs_cupti_result(CUptiResult result);

/* Their parts of cuptiFinalize. */
void vs_cupti_buffer_finish(void);
void vs_cupti_activity_finish(void);
void vs_cupti_callback_finish(void);

#endif
