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

/* All have at most four parameters, each of which fits in a register whatever its type, and return CUptiResult:
 * the handlers pass on four registers. So types of newer headers need not be known. */
#define VS_CUPTI_CALLS(F)                                                                              \
    F(cuptiSubscribe) F(cuptiSubscribe_v2) F(cuptiActivityRegisterCallbacks)                           \
    F(cuptiActivityRegisterTimestampCallback) F(cuptiActivityEnable) F(cuptiActivityEnableAndDump)     \
    F(cuptiActivityEnableContext) F(cuptiActivityEnableDriverApi) F(cuptiActivityEnableRuntimeApi)     \
    F(cuptiActivityFlushPeriod) F(cuptiProfilerInitialize) F(cuptiPCSamplingEnable) F(cuptiFinalize)

typedef CUptiResult guarded(uintptr_t a, uintptr_t b, uintptr_t c, uintptr_t d);

/* Handlers have assembler names of their own, since their prototypes differ from those of the header. */
#define VS_DECLARE(name) VS_EXPORT guarded vs_guard_##name __asm__(#name);
VS_CUPTI_CALLS(VS_DECLARE)

static struct guarded_call {
    const char *name;
    guarded *handler;
    _Atomic(guarded *) real;
} calls[] = {
#define VS_ROW(name) {#name, vs_guard_##name, NULL},
    VS_CUPTI_CALLS(VS_ROW)
};

static guarded *find(struct guarded_call *call)
{
    guarded *fn = atomic_load_explicit(&call->real, memory_order_acquire);
    if (fn)
        return fn;
    fn = (guarded *)vs_next_symbol_of("libcupti.so", call->name);
    if (!fn || fn == call->handler)
        fn = (guarded *)vs_cupti_symbol(call->name); /* loaded into a local scope */
    if (fn == call->handler)
        fn = NULL;
    atomic_store_explicit(&call->real, fn, memory_order_release);
    return fn;
}

enum {
#define VS_NUMBER(name) NUMBER_##name,
    VS_CUPTI_CALLS(VS_NUMBER)
};

#define VS_DEFINE(name)                                                               \
    CUptiResult vs_guard_##name(uintptr_t a, uintptr_t b, uintptr_t c, uintptr_t d)   \
    {                                                                                 \
        guarded *fn = find(&calls[NUMBER_##name]);                                    \
        if (!fn)                                                                      \
            return CUPTI_ERROR_NOT_INITIALIZED;                                       \
        vs_collector_hand_over();                                                     \
        return fn(a, b, c, d);                                                        \
    }
VS_CUPTI_CALLS(VS_DEFINE)

static struct guarded_call *guarded_named(const char *name)
{
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
        if (strcmp(calls[i].name, name) == 0)
            return &calls[i];
    return NULL;
}

void *vs_cupti_guard(const char *name, void *fn)
{
    struct guarded_call *call = fn ? guarded_named(name) : NULL;
    if (call && fn != (void *)call->handler)
        atomic_store_explicit(&call->real, (guarded *)fn, memory_order_release);
    return call ? (void *)call->handler : fn;
}

bool vs_cupti_guard_absent(const char *name)
{
    struct guarded_call *call = guarded_named(name);
    return call && !find(call);
}
