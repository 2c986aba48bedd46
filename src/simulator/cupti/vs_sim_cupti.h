/* SPDX-License-Identifier: Apache-2.0
 *
 * Internal header of the stand-in CUPTI: activity records and resource callbacks, made from the
 * reports of the stand-in driver (vs_sim_activity.h). */
#ifndef VS_SIM_CUPTI_H
#define VS_SIM_CUPTI_H

#include <cuda.h>
#pragma GCC visibility push(default) /* exports our definitions of these */
#include <cupti.h>
#pragma GCC visibility pop
#include <stdbool.h>
#include <stdint.h>

#include "simulator/driver/vs_sim_activity.h"

/* vs_cupti_attach: finds the stand-in driver. Returns false if libcuda.so.1 is missing or is
 * another driver. Any thread. */
bool vs_cupti_attach(void);

/* vs_cupti_permission: is profiling permitted? Returns CUPTI_SUCCESS, or the error that the spec
 * selects (cupti=...), as cuptiSubscribe (*subscribe*) and cuptiActivityEnable return it. */
CUptiResult vs_cupti_permission(bool subscribe);

/* vs_cupti_identify: the driver's vramscopeSimIdentify. Only after vs_cupti_attach
 * returned true. */
CUresult vs_cupti_identify(CUcontext context, CUstream stream, int per_thread,
                           struct vs_sim_identity *identity);

enum vs_cupti_source { VS_CUPTI_FOR_ACTIVITY, VS_CUPTI_FOR_CALLBACKS, VS_CUPTI_SOURCES };
/* vs_cupti_want: requests the reports *bits* from the driver for *source*, replacing its earlier
 * request. */
void vs_cupti_want(enum vs_cupti_source source, uint32_t bits);

/* Receivers of the driver's reports. */
void vs_cupti_activity_done(const struct vs_sim_activity *activity); /* cupti_record.c */
/* In cupti_memory.c, called by vs_cupti_activity_done: */
void vs_cupti_memory(const struct vs_sim_activity *activity);
void vs_cupti_pool(const struct vs_sim_activity *activity);
uint32_t vs_cupti_memory_kind(unsigned kind); /* converts enum vs_sim_memory_kind to CUPTI's */
/* In cupti_callback.c: */
void vs_cupti_resource(enum vs_sim_resource what, CUcontext context, CUstream stream);
void vs_cupti_call_entered(struct vs_sim_call *call);
void vs_cupti_call_left(struct vs_sim_call *call);
/* vs_cupti_params: writes the arguments of *call*, in the layout of its parameter structure, to
 * *params*; returns NULL if it has none (cupti_params.c). */
union vs_cupti_params {
    uint64_t aligned;
    char bytes[256];
};
const void *vs_cupti_params(const struct vs_sim_call *call, union vs_cupti_params *params);
/* vs_cupti_call_record: writes the records of a call that has returned (cupti_call.c). */
void vs_cupti_call_record(const struct vs_sim_call *call);

/* ---- which records (cupti_activity.c) ---- */

/* vs_cupti_record_bytes: size of a record of *kind*; 0 for a kind that does not exist here. */
size_t vs_cupti_record_bytes(CUpti_ActivityKind kind);
/* vs_cupti_enabled: is *kind* collected? vs_cupti_enabled_in: in the context with this id, which
 * may have its own setting. *kind* must exist here. */
bool vs_cupti_enabled(CUpti_ActivityKind kind);
bool vs_cupti_enabled_in(CUpti_ActivityKind kind, uint32_t context);

/* The functions whose calls are recorded (cupti_call.c). *kind*: CUPTI_ACTIVITY_KIND_DRIVER or
 * _RUNTIME. vs_cupti_calls_wanted: the reports this needs from the driver. */
void vs_cupti_calls_choose_all(CUpti_ActivityKind kind, bool on);
CUptiResult vs_cupti_calls_choose(CUpti_ActivityKind kind, CUpti_CallbackId cbid, bool on);
uint32_t vs_cupti_calls_wanted(void);

/* vs_cupti_wants_source: are allocating libraries to be named (cupti_memory.c)?
 * vs_cupti_source_changed: passes a new setting on to the driver. */
bool vs_cupti_wants_source(void);
void vs_cupti_source_changed(void);

/* ---- buffers (cupti_buffer.c) ---- */

/* vs_cupti_put: copies *record*, whose kind determines its size, into the client's buffer. */
void vs_cupti_put(const void *record);

/* vs_cupti_thread: the id of the calling thread in records (cupti_call.c). */
uint32_t vs_cupti_thread(void);

/* vs_cupti_time: converts a CLOCK_MONOTONIC time to the time of records (cupti_base.c). */
uint64_t vs_cupti_time(uint64_t monotonic_ns);

/* vs_cupti_result: returns *result*; stores it for cuptiGetLastError if it is an error. */
CUptiResult vs_cupti_result(CUptiResult result);
/* A function that returns vs_cupti_result of *call*. */
#define VS_CUPTI_AS(name, params, call) \
    CUptiResult name params { return vs_cupti_result(call); }

/* Called by cuptiFinalize. */
void vs_cupti_buffer_finish(void);
void vs_cupti_activity_finish(void);
void vs_cupti_callback_finish(void);

#endif
