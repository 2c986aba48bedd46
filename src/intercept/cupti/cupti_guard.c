/* SPDX-License-Identifier: Apache-2.0
 *
 * Intercepts the calls by which a profiler starts using CUPTI: the first one stops our collector
 * before it is forwarded, so that it returns the same result as without us. The calls arrive as
 * symbols (a program or library linked with libcupti) or by dlsym. A CUPTI linked statically into a
 * tool is not visible; then CUPTI itself refuses one of the two. */
#define _GNU_SOURCE

#include <cupti.h>
#include <dlfcn.h>
#include <stdatomic.h>
#include <string.h>

#include "intercept/cupti/collector.h"
#include "intercept/cupti/cupti_library.h"
#include "intercept/route/definitions.h"
#include "intercept/route/hook.h"
#include "intercept/route/route.h"

/* VS_CUPTI_CALL(name, parameters, arguments): all return CUptiResult. Types of newer headers are
 * passed by pointer, whatever they contain. */
#define VS_CUPTI_CALLS                                                                           \
    VS_CUPTI_CALL(cuptiSubscribe,                                                                \
                  (CUpti_SubscriberHandle * handle, CUpti_CallbackFunc callback, void *user),    \
                  (handle, callback, user))                                                      \
    VS_CUPTI_CALL(cuptiSubscribe_v2,                                                             \
                  (CUpti_SubscriberHandle * handle, CUpti_CallbackFunc callback, void *user,     \
                   void *params),                                                                \
                  (handle, callback, user, params))                                              \
    VS_CUPTI_CALL(cuptiActivityRegisterCallbacks,                                                \
                  (CUpti_BuffersCallbackRequestFunc request,                                     \
                   CUpti_BuffersCallbackCompleteFunc complete),                                  \
                  (request, complete))                                                           \
    VS_CUPTI_CALL(cuptiActivityRegisterTimestampCallback, (void *callback), (callback))          \
    VS_CUPTI_CALL(cuptiActivityEnable, (CUpti_ActivityKind kind), (kind))                        \
    VS_CUPTI_CALL(cuptiActivityEnableAndDump, (CUpti_ActivityKind kind), (kind))                 \
    VS_CUPTI_CALL(cuptiActivityEnableContext, (CUcontext context, CUpti_ActivityKind kind),      \
                  (context, kind))                                                               \
    VS_CUPTI_CALL(cuptiActivityEnableDriverApi, (CUpti_CallbackId id, uint8_t enable),           \
                  (id, enable))                                                                  \
    VS_CUPTI_CALL(cuptiActivityEnableRuntimeApi, (CUpti_CallbackId id, uint8_t enable),          \
                  (id, enable))                                                                  \
    VS_CUPTI_CALL(cuptiActivityFlushPeriod, (uint32_t ms), (ms))                                 \
    VS_CUPTI_CALL(cuptiProfilerInitialize, (void *params), (params))                             \
    VS_CUPTI_CALL(cuptiPCSamplingEnable, (void *params), (params))                               \
    VS_CUPTI_CALL(cuptiFinalize, (void), ())

/* Handlers have assembler names of their own, since their prototypes differ from those of some
 * versions of the header. */
#define VS_CUPTI_CALL(name, params, args)              \
    VS_EXPORT CUptiResult vs_guard_##name params __asm__(#name); \
    static _Atomic(void *) real_##name;
VS_CUPTI_CALLS
#undef VS_CUPTI_CALL

static void *find(_Atomic(void *) *real, const char *name, void *handler)
{
    void *fn = atomic_load_explicit(real, memory_order_acquire);
    if (fn)
        return fn;
    fn = vs_next_symbol_of("libcupti.so", name);
    if (!fn || fn == handler)
        fn = vs_cupti_symbol(name); /* loaded into a local scope */
    if (fn == handler)
        fn = NULL;
    atomic_store_explicit(real, fn, memory_order_release);
    return fn;
}

#define VS_CUPTI_CALL(name, params, args)                                                      \
    CUptiResult vs_guard_##name params                                                         \
    {                                                                                          \
        CUptiResult(*fn) params =                                                              \
            (CUptiResult(*) params)find(&real_##name, #name, (void *)vs_guard_##name);         \
        if (!fn)                                                                               \
            return CUPTI_ERROR_NOT_INITIALIZED;                                                \
        vs_collector_hand_over();                                                              \
        return fn args;                                                                        \
    }
VS_CUPTI_CALLS
#undef VS_CUPTI_CALL

static const struct {
    const char *name;
    void *handler;
    _Atomic(void *) *real;
} calls[] = {
#define VS_CUPTI_CALL(name, params, args) {#name, (void *)vs_guard_##name, &real_##name},
    VS_CUPTI_CALLS
#undef VS_CUPTI_CALL
};

void *vs_cupti_guard(const char *name, void *fn)
{
    for (size_t i = 0; fn && i < sizeof calls / sizeof *calls; i++) {
        if (strcmp(calls[i].name, name) != 0)
            continue;
        if (fn != calls[i].handler)
            atomic_store_explicit(calls[i].real, fn, memory_order_release);
        return calls[i].handler;
    }
    return fn;
}

bool vs_cupti_guard_absent(const char *name)
{
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        if (strcmp(calls[i].name, name) == 0)
            return !find(calls[i].real, name, calls[i].handler);
    }
    return false;
}
