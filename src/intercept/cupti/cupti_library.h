/* SPDX-License-Identifier: Apache-2.0
 *
 * The process's libcupti: its file, and the functions that we use. Loaded at run time, in the CUDA
 * major version of the process; a copy that the program has already loaded is used. */
#ifndef VS_CUPTI_LIBRARY_H
#define VS_CUPTI_LIBRARY_H

#include <cupti.h>
#include <stdbool.h>

#include "intercept/route/hook.h"

/* Since CUDA 13.0; the same bytes under older headers. */
struct vs_cupti_subscriber_params {
    size_t bytes;
    const char *name;
    char *other;
    size_t other_bytes;
};

/* F(field, function, whether it must be there, parameters). All return CUptiResult. */
#define VS_CUPTI_FUNCTIONS(F)                                                                       \
    F(enable, cuptiActivityEnable, true, (CUpti_ActivityKind))                                      \
    F(disable, cuptiActivityDisable, true, (CUpti_ActivityKind))                                    \
    F(register_callbacks, cuptiActivityRegisterCallbacks, true,                                     \
      (CUpti_BuffersCallbackRequestFunc, CUpti_BuffersCallbackCompleteFunc))                        \
    F(next_record, cuptiActivityGetNextRecord, true, (uint8_t *, size_t, CUpti_Activity **))        \
    F(flush_all, cuptiActivityFlushAll, true, (uint32_t))                                           \
    F(timestamp, cuptiGetTimestamp, true, (uint64_t *))                                             \
    F(subscribe, cuptiSubscribe, true, (CUpti_SubscriberHandle *, CUpti_CallbackFunc, void *))      \
    F(unsubscribe, cuptiUnsubscribe, true, (CUpti_SubscriberHandle))                                \
    F(enable_callback, cuptiEnableCallback, true,                                                   \
      (uint32_t, CUpti_SubscriberHandle, CUpti_CallbackDomain, CUpti_CallbackId))                   \
    F(subscribe_v2, cuptiSubscribe_v2, false,                                                       \
      (CUpti_SubscriberHandle *, CUpti_CallbackFunc, void *, struct vs_cupti_subscriber_params *))  \
    F(dropped, cuptiActivityGetNumDroppedRecords, false, (CUcontext, uint32_t, size_t *))           \
    F(flush_period, cuptiActivityFlushPeriod, false, (uint32_t))                                    \
    F(stream_id, cuptiGetStreamIdEx, false, (CUcontext, CUstream, uint8_t, uint32_t *))             \
    F(callback_name, cuptiGetCallbackName, false, (CUpti_CallbackDomain, uint32_t, const char **))  \
    F(get_thread_ids, cuptiGetThreadIdType, false, (CUpti_ActivityThreadIdType *))                  \
    F(set_thread_ids, cuptiSetThreadIdType, false, (CUpti_ActivityThreadIdType))                    \
    F(enable_driver_call, cuptiActivityEnableDriverApi, false, (CUpti_CallbackId, uint8_t))         \
    F(enable_runtime_call, cuptiActivityEnableRuntimeApi, false, (CUpti_CallbackId, uint8_t))       \
    F(result_string, cuptiGetResultString, false, (CUptiResult, const char **))

struct vs_cupti {
#define VS_CUPTI_FIELD(field, function, needed, parameters) CUptiResult(*field) parameters;
    VS_CUPTI_FUNCTIONS(VS_CUPTI_FIELD)
};

/* vs_cupti_load: finds and loads it, once per process; NULL if there is none at present. Any thread; the
 * driver is loaded. */
const struct vs_cupti *vs_cupti_load(void);

/* vs_cupti_trouble: why it exists but could not be loaded; empty if it does not exist. */
const char *vs_cupti_trouble(void);

/* vs_cupti_symbol: a function of a libcupti that is already loaded; NULL if none is. Loads
 * nothing. */
void *vs_cupti_symbol(const char *name);

/* vs_cupti_subscribe: becomes the one subscriber under our name. *other* (64 bytes) receives the
 * name of the present subscriber, if CUPTI reports it, else "". */
#define VS_CUPTI_NAME_MAX 64
CUptiResult vs_cupti_subscribe(const struct vs_cupti *cupti, CUpti_SubscriberHandle *handle,
                               CUpti_CallbackFunc callback, char other[VS_CUPTI_NAME_MAX]);

/* vs_cupti_reason: why CUPTI refused, as text for the user; *other* as above. *text* has *max*
 * bytes; returns it. */
const char *vs_cupti_reason(const struct vs_cupti *cupti, CUptiResult result, const char *other,
                            char *text, size_t max);

#endif
