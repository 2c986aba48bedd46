/* SPDX-License-Identifier: Apache-2.0
 *
 * Records of API calls, and the external correlation ids before them. Functions to record are
 * chosen one by one or all at once. */
#define _GNU_SOURCE /* gettid */
#include "simulator/cupti/vs_sim_cupti.h"

#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

#include "base/vs_clock.h"

#define CBIDS_MAX 1024 /* of either domain */
_Static_assert((int)CUPTI_DRIVER_TRACE_CBID_SIZE <= CBIDS_MAX, "all fit");
_Static_assert((int)CUPTI_RUNTIME_TRACE_CBID_SIZE <= CBIDS_MAX, "all fit");

/* ---- choosing functions ---- */

struct cupti_call_chosen {
    atomic_uint_least64_t bits[CBIDS_MAX / 64];
};

static struct cupti_call_chosen driver_calls, runtime_calls;

static struct cupti_call_chosen *chosen_of(CUpti_ActivityKind kind)
{
    return kind == CUPTI_ACTIVITY_KIND_DRIVER ? &driver_calls : &runtime_calls;
}

void vs_cupti_calls_choose_all(CUpti_ActivityKind kind, bool on)
{
    for (unsigned i = 0; i < CBIDS_MAX / 64; i++)
        atomic_store(&chosen_of(kind)->bits[i], on ? UINT64_MAX : 0);
}

CUptiResult vs_cupti_calls_choose(CUpti_ActivityKind kind, CUpti_CallbackId cbid, bool on)
{
    unsigned count = kind == CUPTI_ACTIVITY_KIND_DRIVER ? (unsigned)CUPTI_DRIVER_TRACE_CBID_SIZE
                                                        : (unsigned)CUPTI_RUNTIME_TRACE_CBID_SIZE;
    if (!cbid || cbid >= count)
        return CUPTI_ERROR_INVALID_PARAMETER;
    atomic_uint_least64_t *word = &chosen_of(kind)->bits[cbid / 64];
    if (on)
        atomic_fetch_or(word, UINT64_C(1) << cbid % 64);
    else
        atomic_fetch_and(word, ~(UINT64_C(1) << cbid % 64));
    return CUPTI_SUCCESS;
}

static bool any_chosen(struct cupti_call_chosen *chosen)
{
    for (unsigned i = 0; i < CBIDS_MAX / 64; i++)
        if (atomic_load(&chosen->bits[i]))
            return true;
    return false;
}

uint32_t vs_cupti_calls_wanted(void)
{
    return (any_chosen(&driver_calls) ? VS_SIM_WANT_DRIVER_CALLS : 0) |
           (any_chosen(&runtime_calls) ? VS_SIM_WANT_RUNTIME_CALLS : 0);
}

static bool is_chosen(const struct vs_sim_call *call)
{
    struct cupti_call_chosen *chosen = call->domain == VS_SIM_DOMAIN_DRIVER ? &driver_calls : &runtime_calls;
    return atomic_load_explicit(&chosen->bits[call->cbid / 64], memory_order_relaxed) >>
               call->cbid % 64 &
           1;
}

/* ---- threads ---- */

static atomic_int thread_id_type; /* CUpti_ActivityThreadIdType */

uint32_t vs_cupti_thread(void)
{
    return atomic_load(&thread_id_type) == CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM
               ? (uint32_t)gettid()
               : (uint32_t)pthread_self();
}

CUptiResult cuptiSetThreadIdType(CUpti_ActivityThreadIdType type)
{
    if (type != CUPTI_ACTIVITY_THREAD_ID_TYPE_DEFAULT &&
        type != CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM)
        return vs_cupti_result(CUPTI_ERROR_NOT_SUPPORTED);
    atomic_store(&thread_id_type, (int)type);
    return CUPTI_SUCCESS;
}

CUptiResult cuptiGetThreadIdType(CUpti_ActivityThreadIdType *type)
{
    if (!type)
        return vs_cupti_result(CUPTI_ERROR_INVALID_PARAMETER);
    *type = (CUpti_ActivityThreadIdType)atomic_load(&thread_id_type);
    return CUPTI_SUCCESS;
}

/* ---- external correlation: a stack per kind in each thread ---- */

#define EXTERNAL_DEPTH 64

static _Thread_local struct {
    uint64_t id[EXTERNAL_DEPTH];
    unsigned depth;
} external[CUPTI_EXTERNAL_CORRELATION_KIND_SIZE];

static bool external_kind_ok(CUpti_ExternalCorrelationKind kind)
{
    return kind > CUPTI_EXTERNAL_CORRELATION_KIND_INVALID &&
           kind < CUPTI_EXTERNAL_CORRELATION_KIND_SIZE;
}

CUptiResult cuptiActivityPushExternalCorrelationId(CUpti_ExternalCorrelationKind kind, uint64_t id)
{
    if (!external_kind_ok(kind))
        return vs_cupti_result(CUPTI_ERROR_INVALID_PARAMETER);
    if (external[kind].depth == EXTERNAL_DEPTH)
        return vs_cupti_result(CUPTI_ERROR_MAX_LIMIT_REACHED);
    external[kind].id[external[kind].depth++] = id;
    return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityPopExternalCorrelationId(CUpti_ExternalCorrelationKind kind,
                                                  uint64_t *lastId)
{
    if (!external_kind_ok(kind))
        return vs_cupti_result(CUPTI_ERROR_INVALID_PARAMETER);
    if (!external[kind].depth)
        return vs_cupti_result(CUPTI_ERROR_QUEUE_EMPTY);
    external[kind].depth--;
    if (lastId)
        *lastId = external[kind].id[external[kind].depth];
    return CUPTI_SUCCESS;
}

/* Only calls that have a record have these, whatever work they begin (as on an H200 with CUDA 13.0). */
static void put_external(uint32_t correlation)
{
    if (!vs_cupti_enabled(CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION))
        return;
    for (unsigned k = 0; k < CUPTI_EXTERNAL_CORRELATION_KIND_SIZE; k++) {
        if (!external[k].depth)
            continue;
        CUpti_ActivityExternalCorrelation r = {.kind = CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION,
                                               .externalKind = (CUpti_ExternalCorrelationKind)k,
                                               .externalId = external[k].id[external[k].depth - 1],
                                               .correlationId = correlation};
        vs_cupti_put(&r);
    }
}

/* ---- calls ---- */

void vs_cupti_call_record(const struct vs_sim_call *call)
{
    if (!is_chosen(call))
        return;
    put_external(call->correlation);
    CUpti_ActivityAPI r = {.kind = call->domain == VS_SIM_DOMAIN_DRIVER
                                       ? CUPTI_ACTIVITY_KIND_DRIVER
                                       : CUPTI_ACTIVITY_KIND_RUNTIME,
                           .cbid = call->cbid,
                           .start = vs_cupti_time(call->start_ns),
                           .end = vs_cupti_time(call->end_ns),
                           .processId = (uint32_t)getpid(),
                           .threadId = vs_cupti_thread(),
                           .correlationId = call->correlation,
                           .returnValue = (uint32_t)call->result};
    vs_cupti_put(&r);
}
