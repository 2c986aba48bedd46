/* SPDX-License-Identifier: Apache-2.0
 *
 * The callback interface: one subscriber, which is called at entry and exit of API functions and at
 * creation and destruction of contexts and streams. Callbacks run on the calling thread without our
 * lock; CUDA calls that they make are not reported. */
#include "simulator/cupti/vs_sim_cupti.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#define CBIDS_MAX 1024 /* of any domain */
_Static_assert((int)CUPTI_DRIVER_TRACE_CBID_SIZE <= CBIDS_MAX, "all fit");
_Static_assert((int)CUPTI_RUNTIME_TRACE_CBID_SIZE <= CBIDS_MAX, "all fit");

/* CUpti_SubscriberHandle points to this. */
static struct CUpti_Subscriber_st {
    CUpti_CallbackFunc callback;
    void *data;
    char name[CUPTI_SUBSCRIBER_NAME_MAX_LEN + 1];
} subscriber;           /* guarded by mu */
static bool subscribed; /* guarded by mu */
static pthread_mutex_t mu = PTHREAD_MUTEX_INITIALIZER;

/* ---- available kinds ---- */

static const struct name {
    uint32_t cbid;
    const char *name;
} driver_names[] =
    {
#define VS_SIM_FN(name, version, symbol) {CUPTI_DRIVER_TRACE_CBID_##symbol, #symbol},
#define VS_SIM_FN_PT(name, version, symbol, pt)                                                    \
    VS_SIM_FN(name, version, symbol) VS_SIM_FN(name, version, pt)
#include "generated/vs_sim_entry_table.h"
#undef VS_SIM_FN
#undef VS_SIM_FN_PT
},
  runtime_names[] = {
#define VS_RT_API(symbol, cbid_name) {CUPTI_RUNTIME_TRACE_CBID_##cbid_name, #cbid_name},
#include "generated/vs_sim_runtime_api_table.h"
#undef VS_RT_API
};

static const struct {
    enum vs_sim_resource what;
    uint32_t cbid;
} resources[] = {
    {VS_SIM_CONTEXT_CREATED, CUPTI_CBID_RESOURCE_CONTEXT_CREATED},
    {VS_SIM_CONTEXT_DESTROYING, CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING},
    {VS_SIM_STREAM_CREATED, CUPTI_CBID_RESOURCE_STREAM_CREATED},
    {VS_SIM_STREAM_DESTROYING, CUPTI_CBID_RESOURCE_STREAM_DESTROY_STARTING},
};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

struct bits {
    atomic_uint_least64_t word[CBIDS_MAX / 64];
};

/* A domain's callbacks: those that exist here, and those that the subscriber enabled. */
static struct domain {
    CUpti_CallbackDomain id;
    uint32_t want; /* reports that it needs from the driver */
    struct bits known, enabled;
} domains[] = {
    {.id = CUPTI_CB_DOMAIN_DRIVER_API, .want = VS_SIM_WANT_DRIVER_CALLS},
    {.id = CUPTI_CB_DOMAIN_RUNTIME_API, .want = VS_SIM_WANT_RUNTIME_CALLS},
    {.id = CUPTI_CB_DOMAIN_RESOURCE, .want = VS_SIM_WANT_RESOURCES},
};

static bool has(struct bits *bits, uint32_t i)
{
    return i < CBIDS_MAX &&
           atomic_load_explicit(&bits->word[i / 64], memory_order_relaxed) >> i % 64 & 1;
}

static void set(struct bits *bits, uint32_t i)
{
    atomic_fetch_or(&bits->word[i / 64], UINT64_C(1) << i % 64);
}

static void fill_known(void)
{
    for (size_t i = 0; i < COUNT(driver_names); i++)
        set(&domains[0].known, driver_names[i].cbid);
    for (size_t i = 0; i < COUNT(runtime_names); i++)
        set(&domains[1].known, runtime_names[i].cbid);
    for (size_t i = 0; i < COUNT(resources); i++)
        set(&domains[2].known, resources[i].cbid);
}

/* Returns NULL for a domain without callbacks here. */
static struct domain *domain_of(CUpti_CallbackDomain id)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, fill_known);
    for (size_t i = 0; i < COUNT(domains); i++)
        if (domains[i].id == id)
            return &domains[i];
    return NULL;
}

static bool domain_ok(CUpti_CallbackDomain domain)
{
    return domain > CUPTI_CB_DOMAIN_INVALID && domain < CUPTI_CB_DOMAIN_SIZE;
}

/* ---- the subscriber ---- */

CUptiResult cuptiSubscribe_v2(CUpti_SubscriberHandle *handle, CUpti_CallbackFunc callback,
                              void *userdata, CUpti_SubscriberParams *params)
{
    if (!handle || (params && params->structSize < CUpti_SubscriberParams_STRUCT_SIZE))
        return vs_cupti_result(CUPTI_ERROR_INVALID_PARAMETER);
    CUptiResult r = vs_cupti_permission(true);
    if (r)
        return vs_cupti_result(r);
    pthread_mutex_lock(&mu);
    r = subscribed ? CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED : CUPTI_SUCCESS;
    if (r == CUPTI_SUCCESS) {
        memset(&subscriber, 0, sizeof subscriber);
        subscriber.callback = callback;
        subscriber.data = userdata;
        if (params && params->subscriberName)
            snprintf(subscriber.name, sizeof subscriber.name, "%s", params->subscriberName);
        subscribed = true;
        *handle = &subscriber;
    } else if (params && params->oldSubscriberName && params->oldSubscriberSize) {
        snprintf(params->oldSubscriberName, params->oldSubscriberSize, "CUPTI for %s",
                 subscriber.name);
    }
    pthread_mutex_unlock(&mu);
    return vs_cupti_result(r);
}

VS_CUPTI_AS(cuptiSubscribe,
            (CUpti_SubscriberHandle *handle, CUpti_CallbackFunc callback, void *userdata),
            cuptiSubscribe_v2(handle, callback, userdata, NULL))

static void update_wants_locked(void)
{
    uint32_t want = 0;
    for (size_t d = 0; d < COUNT(domains); d++)
        for (size_t i = 0; i < CBIDS_MAX / 64; i++)
            if (subscribed && atomic_load(&domains[d].enabled.word[i]))
                want |= domains[d].want;
    vs_cupti_want(VS_CUPTI_FOR_CALLBACKS, want);
}

static void unsubscribe_locked(void)
{
    for (size_t d = 0; d < COUNT(domains); d++)
        for (size_t i = 0; i < CBIDS_MAX / 64; i++)
            atomic_store(&domains[d].enabled.word[i], 0);
    subscribed = false;
    update_wants_locked();
}

CUptiResult cuptiUnsubscribe(CUpti_SubscriberHandle handle)
{
    pthread_mutex_lock(&mu);
    bool ok = subscribed && handle == &subscriber;
    if (ok)
        unsubscribe_locked();
    pthread_mutex_unlock(&mu);
    return vs_cupti_result(ok ? CUPTI_SUCCESS : CUPTI_ERROR_INVALID_PARAMETER);
}

/* ---- choosing callbacks ---- */

/* Turns a callback of a domain, or all (NULL), on or off; those that do not exist stay off. */
static CUptiResult choose(bool on, CUpti_SubscriberHandle handle, CUpti_CallbackDomain id,
                          const uint32_t *cbid)
{
    struct domain *domain = domain_of(id);
    CUptiResult r = CUPTI_SUCCESS;
    pthread_mutex_lock(&mu);
    if (!subscribed || handle != &subscriber || !domain_ok(id))
        r = CUPTI_ERROR_INVALID_PARAMETER;
    else if (!domain || (cbid && !has(&domain->known, *cbid)))
        r = CUPTI_ERROR_NOT_SUPPORTED;
    for (size_t i = 0; i < CBIDS_MAX / 64 && r == CUPTI_SUCCESS; i++) {
        uint64_t mask = !cbid ? UINT64_MAX : *cbid / 64 == i ? UINT64_C(1) << *cbid % 64 : 0;
        if (on)
            atomic_fetch_or(&domain->enabled.word[i], mask & atomic_load(&domain->known.word[i]));
        else
            atomic_fetch_and(&domain->enabled.word[i], ~mask);
    }
    if (r == CUPTI_SUCCESS)
        update_wants_locked();
    pthread_mutex_unlock(&mu);
    return r;
}

VS_CUPTI_AS(cuptiEnableCallback,
            (uint32_t enable, CUpti_SubscriberHandle handle, CUpti_CallbackDomain id,
             CUpti_CallbackId cbid),
            choose(enable, handle, id, &cbid))
VS_CUPTI_AS(cuptiEnableDomain,
            (uint32_t enable, CUpti_SubscriberHandle handle, CUpti_CallbackDomain id),
            choose(enable, handle, id, NULL))

CUptiResult cuptiEnableAllDomains(uint32_t enable, CUpti_SubscriberHandle handle)
{
    CUptiResult r = CUPTI_SUCCESS;
    for (size_t d = 0; d < COUNT(domains) && r == CUPTI_SUCCESS; d++)
        r = cuptiEnableDomain(enable, handle, domains[d].id);
    return r;
}

CUptiResult cuptiGetCallbackState(uint32_t *enable, CUpti_SubscriberHandle handle,
                                  CUpti_CallbackDomain id, CUpti_CallbackId cbid)
{
    struct domain *domain = domain_of(id);
    pthread_mutex_lock(&mu);
    bool ok = enable && subscribed && handle == &subscriber && domain_ok(id);
    if (ok)
        *enable = domain && has(&domain->enabled, cbid);
    pthread_mutex_unlock(&mu);
    return vs_cupti_result(ok ? CUPTI_SUCCESS : CUPTI_ERROR_INVALID_PARAMETER);
}

CUptiResult cuptiSupportedDomains(size_t *domainCount, CUpti_DomainTable *domainTable)
{
    static CUpti_CallbackDomain table[COUNT(domains)];
    if (!domainCount || !domainTable)
        return vs_cupti_result(CUPTI_ERROR_INVALID_PARAMETER);
    for (size_t d = 0; d < COUNT(domains); d++)
        table[d] = domains[d].id;
    *domainCount = COUNT(domains);
    *domainTable = table;
    return CUPTI_SUCCESS;
}

CUptiResult cuptiGetCallbackName(CUpti_CallbackDomain domain, uint32_t cbid, const char **name)
{
    const struct name *names = domain == CUPTI_CB_DOMAIN_DRIVER_API ? driver_names : runtime_names;
    size_t count = domain == CUPTI_CB_DOMAIN_DRIVER_API    ? COUNT(driver_names)
                   : domain == CUPTI_CB_DOMAIN_RUNTIME_API ? COUNT(runtime_names)
                                                           : 0;
    for (size_t i = 0; i < count && name; i++)
        if (names[i].cbid == cbid) {
            *name = names[i].name;
            return CUPTI_SUCCESS;
        }
    if (name)
        *name = NULL;
    return vs_cupti_result(CUPTI_ERROR_INVALID_PARAMETER);
}

/* ---- callbacks to the client ---- */

/* The callback to call, or NULL. */
static CUpti_CallbackFunc callback_for(CUpti_CallbackDomain id, uint32_t cbid, void **user)
{
    struct domain *domain = domain_of(id);
    if (!has(&domain->enabled, cbid))
        return NULL;
    pthread_mutex_lock(&mu);
    CUpti_CallbackFunc callback = subscribed ? subscriber.callback : NULL;
    *user = subscriber.data;
    pthread_mutex_unlock(&mu);
    return callback;
}

void vs_cupti_resource(enum vs_sim_resource what, CUcontext context, CUstream stream)
{
    CUpti_ResourceData data = {.context = context, .resourceHandle = {.stream = stream}};
    for (size_t i = 0; i < COUNT(resources); i++) {
        void *user;
        CUpti_CallbackFunc callback =
            resources[i].what == what
                ? callback_for(CUPTI_CB_DOMAIN_RESOURCE, resources[i].cbid, &user)
                : NULL;
        if (callback)
            callback(user, CUPTI_CB_DOMAIN_RESOURCE, resources[i].cbid, &data);
    }
}

static void call_back(struct vs_sim_call *call, CUpti_ApiCallbackSite site)
{
    CUpti_CallbackDomain id = call->domain == VS_SIM_DOMAIN_DRIVER ? CUPTI_CB_DOMAIN_DRIVER_API
                                                                   : CUPTI_CB_DOMAIN_RUNTIME_API;
    void *user;
    CUpti_CallbackFunc callback = callback_for(id, call->cbid, &user);
    if (!callback)
        return;
    union vs_cupti_params params;
    CUpti_CallbackData data = {.callbackSite = site,
                               .functionName = call->name,
                               .functionParams = vs_cupti_params(call, &params),
                               .functionReturnValue = site == CUPTI_API_EXIT ? &call->result : NULL,
                               .context = call->context,
                               .contextUid = call->context_id,
                               .correlationData = &call->observer_data,
                               .correlationId = call->correlation};
    callback(user, id, call->cbid, &data);
}

void vs_cupti_call_entered(struct vs_sim_call *call) { call_back(call, CUPTI_API_ENTER); }

void vs_cupti_call_left(struct vs_sim_call *call)
{
    vs_cupti_call_record(call);
    call_back(call, CUPTI_API_EXIT);
}

void vs_cupti_callback_finish(void)
{
    pthread_mutex_lock(&mu);
    unsubscribe_locked();
    pthread_mutex_unlock(&mu);
}
