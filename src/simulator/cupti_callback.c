/* SPDX-License-Identifier: Apache-2.0
 *
 * The callback interface: one subscriber, and the resource domain's contexts and
 * streams. Callbacks of API calls are not simulated; enabling them says so. */
#include "simulator/vs_sim_cupti.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

/* CUpti_SubscriberHandle points to this. */
static struct CUpti_Subscriber_st {
    CUpti_CallbackFunc callback;
    void *data;
    char name[CUPTI_SUBSCRIBER_NAME_MAX_LEN + 1];
    uint32_t resources; /* bit cbid */
} subscriber;           /* guarded by mu */
static bool subscribed; /* guarded by mu */
static pthread_mutex_t mu = PTHREAD_MUTEX_INITIALIZER;

static const struct {
    enum vs_sim_resource what;
    CUpti_CallbackIdResource cbid;
} resources[] = {
    {VS_SIM_CONTEXT_CREATED, CUPTI_CBID_RESOURCE_CONTEXT_CREATED},
    {VS_SIM_CONTEXT_DESTROYING, CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING},
    {VS_SIM_STREAM_CREATED, CUPTI_CBID_RESOURCE_STREAM_CREATED},
    {VS_SIM_STREAM_DESTROYING, CUPTI_CBID_RESOURCE_STREAM_DESTROY_STARTING},
};

#define RESOURCE_COUNT (sizeof resources / sizeof resources[0])

CUptiResult cuptiSubscribe_v2(CUpti_SubscriberHandle *handle, CUpti_CallbackFunc callback,
                              void *userdata, CUpti_SubscriberParams *params)
{
    if (!handle || !callback || (params && params->structSize < CUpti_SubscriberParams_STRUCT_SIZE))
        return vs_cupti_result(CUPTI_ERROR_INVALID_PARAMETER);
    CUptiResult r = vs_cupti_permission();
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

CUptiResult cuptiSubscribe(CUpti_SubscriberHandle *handle, CUpti_CallbackFunc callback,
                           void *userdata)
{
    return cuptiSubscribe_v2(handle, callback, userdata, NULL);
}

CUptiResult cuptiUnsubscribe(CUpti_SubscriberHandle handle)
{
    pthread_mutex_lock(&mu);
    bool ok = subscribed && handle == &subscriber;
    if (ok)
        subscribed = false;
    pthread_mutex_unlock(&mu);
    if (ok)
        vs_cupti_want(VS_SIM_WANT_RESOURCES, false);
    return vs_cupti_result(ok ? CUPTI_SUCCESS : CUPTI_ERROR_INVALID_PARAMETER);
}

/* Bits of the resource callbacks that exist here. */
static uint32_t known_resources(void)
{
    uint32_t bits = 0;
    for (size_t i = 0; i < RESOURCE_COUNT; i++)
        bits |= 1u << resources[i].cbid;
    return bits;
}

static CUptiResult enable_resources(bool on, CUpti_SubscriberHandle handle, uint32_t bits)
{
    pthread_mutex_lock(&mu);
    bool ok = subscribed && handle == &subscriber;
    uint32_t left = 0;
    if (ok) {
        subscriber.resources = on ? subscriber.resources | bits : subscriber.resources & ~bits;
        left = subscriber.resources;
    }
    pthread_mutex_unlock(&mu);
    if (ok)
        vs_cupti_want(VS_SIM_WANT_RESOURCES, left != 0);
    return ok ? CUPTI_SUCCESS : CUPTI_ERROR_INVALID_PARAMETER;
}

static bool domain_ok(CUpti_CallbackDomain domain)
{
    return domain > CUPTI_CB_DOMAIN_INVALID && domain < CUPTI_CB_DOMAIN_SIZE;
}

CUptiResult cuptiEnableCallback(uint32_t enable, CUpti_SubscriberHandle handle,
                                CUpti_CallbackDomain domain, CUpti_CallbackId cbid)
{
    if (!domain_ok(domain))
        return vs_cupti_result(CUPTI_ERROR_INVALID_PARAMETER);
    if (domain != CUPTI_CB_DOMAIN_RESOURCE || cbid > 31 || !(known_resources() >> cbid & 1))
        return vs_cupti_result(CUPTI_ERROR_NOT_SUPPORTED);
    return vs_cupti_result(enable_resources(enable, handle, 1u << cbid));
}

CUptiResult cuptiEnableDomain(uint32_t enable, CUpti_SubscriberHandle handle,
                              CUpti_CallbackDomain domain)
{
    if (!domain_ok(domain))
        return vs_cupti_result(CUPTI_ERROR_INVALID_PARAMETER);
    if (domain != CUPTI_CB_DOMAIN_RESOURCE)
        return vs_cupti_result(CUPTI_ERROR_NOT_SUPPORTED);
    return vs_cupti_result(enable_resources(enable, handle, known_resources()));
}

CUptiResult cuptiGetCallbackState(uint32_t *enable, CUpti_SubscriberHandle handle,
                                  CUpti_CallbackDomain domain, CUpti_CallbackId cbid)
{
    pthread_mutex_lock(&mu);
    bool ok = enable && subscribed && handle == &subscriber && domain_ok(domain);
    if (ok)
        *enable =
            domain == CUPTI_CB_DOMAIN_RESOURCE && cbid <= 31 && (subscriber.resources >> cbid & 1);
    pthread_mutex_unlock(&mu);
    return vs_cupti_result(ok ? CUPTI_SUCCESS : CUPTI_ERROR_INVALID_PARAMETER);
}

CUptiResult cuptiSupportedDomains(size_t *domainCount, CUpti_DomainTable *domainTable)
{
    static CUpti_CallbackDomain table[] = {CUPTI_CB_DOMAIN_RESOURCE};
    if (!domainCount || !domainTable)
        return vs_cupti_result(CUPTI_ERROR_INVALID_PARAMETER);
    *domainCount = sizeof table / sizeof table[0];
    *domainTable = table;
    return CUPTI_SUCCESS;
}

void vs_cupti_resource(enum vs_sim_resource what, CUcontext context, CUstream stream)
{
    CUpti_ResourceData data = {.context = context, .resourceHandle = {.stream = stream}};
    CUpti_CallbackId cbid = 0;
    for (size_t i = 0; i < RESOURCE_COUNT; i++)
        if (resources[i].what == what)
            cbid = resources[i].cbid;
    pthread_mutex_lock(&mu);
    bool wanted = subscribed && (subscriber.resources >> cbid & 1);
    CUpti_CallbackFunc callback = subscriber.callback;
    void *user = subscriber.data;
    pthread_mutex_unlock(&mu);
    if (wanted)
        callback(user, CUPTI_CB_DOMAIN_RESOURCE, cbid, &data);
}

void vs_cupti_callback_finish(void)
{
    pthread_mutex_lock(&mu);
    subscribed = false;
    pthread_mutex_unlock(&mu);
}
