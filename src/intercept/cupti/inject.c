/* SPDX-License-Identifier: Apache-2.0
 *
 * The second way to record: the driver loads the library that CUDA_INJECTION64_PATH names and calls
 * InitializeInjection from cuInit. Nothing is interposed in front of the driver then; we become
 * CUPTI's subscriber and are called on the program's own thread at entry and exit of each driver
 * function, with its arguments, which are replayed through the hooks (replayed_call.h). Only driver
 * functions are enabled: the runtime calls them, so that each allocation is reported once. Without
 * CUPTI nothing can be recorded; this is reported, and no trace is written, since it would look
 * like a program without memory. */
#define _GNU_SOURCE
#include <cupti.h>

#include <dlfcn.h>
#include <stdatomic.h>
#include <stdio.h>

#include "base/vs_log.h"
#include "intercept/cupti/collector.h"
#include "intercept/cupti/cupti_library.h"
#include "intercept/route/replayed_call.h"
#include "intercept/process/process.h"
#include "intercept/route/hook.h"
#include "intercept/route/route.h"
#include "intercept/track/tracker.h"

/* --- the calls --- */

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations" /* programs call these nevertheless */
#define VS_INJECT(symbol, when, arguments)             \
    static void replay_##symbol(const void *params)    \
    {                                                  \
        const symbol##_params *p = params;             \
        symbol arguments;                              \
    }
#include "generated/inject_table.h"
#pragma GCC diagnostic pop

enum when { NEVER, BEFORE, FREES, AFTER, ENDING };

static const struct call {
    enum when when;
    enum vs_hook_id hook;
    void (*replay)(const void *params);
} calls[CUPTI_DRIVER_TRACE_CBID_SIZE] = {
#define VS_INJECT(symbol, when, arguments) \
    [CUPTI_DRIVER_TRACE_CBID_##symbol] = {when, VS_HOOK_##symbol, replay_##symbol},
#include "generated/inject_table.h"
};

static void replay(const struct call *call, const void *params, CUresult result)
{
    vs_replay.hook = (int)call->hook;
    vs_replay.result = result;
    call->replay(params);
    vs_replay.hook = -1; /* a handler that did not need the real function */
}

static void call_begins(const struct call *call, const CUpti_CallbackData *data)
{
    if (!vs_hook_active() || call->when == AFTER)
        return;
    if (call->when == ENDING) {
        VS_OWN_WORK();
        vs_collector_flush(false);
        return;
    }
    vs_replayed_free.watched = true;
    vs_replayed_free.leaving = false;
    replay(call, data->functionParams, CUDA_SUCCESS);
    vs_replayed_free.watched = false;
}

static void call_ends(const struct call *call, const CUpti_CallbackData *data)
{
    CUresult result = *(const CUresult *)data->functionReturnValue;
    if (call->when != BEFORE && call->when != FREES) {
        replay(call, data->functionParams, result);
        return;
    }
    struct vs_replayed_free *given_up = &vs_replayed_free;
    if (given_up->leaving) {
        VS_OWN_WORK();
        vs_track_left(&given_up->live, given_up->stream, given_up->api, result == CUDA_SUCCESS);
        given_up->leaving = false;
    }
    if (call->when == FREES && result != CUDA_SUCCESS)
        replay(call, data->functionParams, result);
}

static void CUPTIAPI on_call(void *user, CUpti_CallbackDomain domain, CUpti_CallbackId id,
                             const void *cbdata)
{
    (void)user;
    const CUpti_CallbackData *data = cbdata;
    if (domain != CUPTI_CB_DOMAIN_DRIVER_API || id >= CUPTI_DRIVER_TRACE_CBID_SIZE ||
        calls[id].when == NEVER || vs_thread.inside || vs_process_state() == VS_PROCESS_SILENT)
        return;
    if (data->callbackSite == CUPTI_API_ENTER)
        call_begins(&calls[id], data);
    else
        call_ends(&calls[id], data);
}

/* --- the start --- */

static bool start(void)
{
    CUpti_SubscriberHandle handle;
    const struct vs_cupti *cupti = vs_cupti_load();
    if (!cupti) {
        vs_process_refuse("CUPTI, which was not found beside the CUDA runtime, in CUDA_PATH or the library path");
        return false;
    }
    char other[VS_CUPTI_NAME_MAX], why[256], line[512];
    vs_process_inject();
    vs_replay_on = true;
    CUptiResult r = vs_cupti_subscribe(cupti, &handle, on_call, other);
    unsigned enabled = 0; /* older drivers lack newer functions; so does their CUPTI */
    for (unsigned id = 0; r == CUPTI_SUCCESS && id < CUPTI_DRIVER_TRACE_CBID_SIZE; id++) {
        if (calls[id].when != NEVER)
            enabled +=
                cupti->enable_callback(1, handle, CUPTI_CB_DOMAIN_DRIVER_API, id) == CUPTI_SUCCESS;
    }
    if (r == CUPTI_SUCCESS && !enabled) {
        cupti->unsubscribe(handle);
        r = CUPTI_ERROR_NOT_SUPPORTED;
    }
    if (r == CUPTI_SUCCESS)
        return true;
    snprintf(line, sizeof line, "CUPTI, which failed (%s)", vs_cupti_reason(cupti, r, other, why, sizeof why));
    vs_process_refuse(line);
    return false;
}

/* Called by the driver; returns 1 for success. A preloaded or linked library sees more, and records
 * once. */
VS_EXPORT int InitializeInjection(void);
int InitializeInjection(void)
{
    static atomic_flag called = ATOMIC_FLAG_INIT;
    if (atomic_flag_test_and_set(&called))
        return 1;
    void *program = dlopen(NULL, RTLD_LAZY);
    /* is this library, or another copy of it, interposed already? */
    bool interposed = program && vs_route_symbol(program, "vramscope_version");
    if (program)
        dlclose(program);
    if (interposed || vs_process_state() != VS_PROCESS_IDLE)
        return 1;
    VS_OWN_WORK();
    if (!start())
        atomic_flag_clear(&called); /* attach may try again */
    return 1;
}
