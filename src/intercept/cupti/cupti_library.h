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

struct vs_cupti {
    CUptiResult (*enable)(CUpti_ActivityKind);
    CUptiResult (*disable)(CUpti_ActivityKind);
    CUptiResult (*register_callbacks)(CUpti_BuffersCallbackRequestFunc,
                                      CUpti_BuffersCallbackCompleteFunc);
    CUptiResult (*next_record)(uint8_t *, size_t, CUpti_Activity **);
    CUptiResult (*flush_all)(uint32_t);
    CUptiResult (*timestamp)(uint64_t *);
    CUptiResult (*subscribe)(CUpti_SubscriberHandle *, CUpti_CallbackFunc, void *);
    CUptiResult (*unsubscribe)(CUpti_SubscriberHandle);
    CUptiResult (*enable_callback)(uint32_t, CUpti_SubscriberHandle, CUpti_CallbackDomain,
                                   CUpti_CallbackId);
    /* these may be absent */
    CUptiResult (*subscribe_v2)(CUpti_SubscriberHandle *, CUpti_CallbackFunc, void *,
                                struct vs_cupti_subscriber_params *);
    CUptiResult (*dropped)(CUcontext, uint32_t, size_t *);
    CUptiResult (*flush_period)(uint32_t);
    CUptiResult (*stream_id)(CUcontext, CUstream, uint8_t, uint32_t *);
    CUptiResult (*callback_name)(CUpti_CallbackDomain, uint32_t, const char **);
    CUptiResult (*get_thread_ids)(CUpti_ActivityThreadIdType *);
    CUptiResult (*set_thread_ids)(CUpti_ActivityThreadIdType);
    CUptiResult (*enable_driver_call)(CUpti_CallbackId, uint8_t);
    CUptiResult (*enable_runtime_call)(CUpti_CallbackId, uint8_t);
    CUptiResult (*result_string)(CUptiResult, const char **);
};

/* vs_cupti_load: finds and loads it, once per process; NULL if there is none. Any thread; the
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
