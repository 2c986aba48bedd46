/* SPDX-License-Identifier: Apache-2.0
 *
 * CUPTI's subscriber, its resource callbacks, ids and error texts. One subscriber
 * at a time, as in the real library; the API domains are refused, since the
 * stand-in driver does not call back around every function. */
#include "simulator/cupti_callbacks.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>

#include "simulator/cupti_records.h"

struct CUpti_Subscriber_st {
    CUpti_CallbackFunc callback;
    void *data;
};

static pthread_mutex_t mu = PTHREAD_MUTEX_INITIALIZER;
static struct CUpti_Subscriber_st subscriber; /* guarded by mu */
static atomic_bool subscribed;
static atomic_uint resource_callbacks; /* 1 << CUPTI_CBID_RESOURCE_* */

#define RESOURCES_KNOWN                                            \
    (1u << CUPTI_CBID_RESOURCE_CONTEXT_CREATED |                   \
     1u << CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING |          \
     1u << CUPTI_CBID_RESOURCE_STREAM_CREATED |                    \
     1u << CUPTI_CBID_RESOURCE_STREAM_DESTROY_STARTING)

void vs_sim_callback_resource(enum vs_sim_resource what, CUcontext context, CUstream stream)
{
    static const CUpti_CallbackIdResource ids[] = {
        [VS_SIM_CONTEXT_CREATED] = CUPTI_CBID_RESOURCE_CONTEXT_CREATED,
        [VS_SIM_CONTEXT_DESTROYING] = CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING,
        [VS_SIM_STREAM_CREATED] = CUPTI_CBID_RESOURCE_STREAM_CREATED,
        [VS_SIM_STREAM_DESTROYING] = CUPTI_CBID_RESOURCE_STREAM_DESTROY_STARTING,
    };
    CUpti_CallbackIdResource id = ids[what];
    if (!atomic_load(&subscribed) || !(atomic_load(&resource_callbacks) & 1u << id))
        return;
    CUpti_ResourceData data;
    memset(&data, 0, sizeof data);
    data.context = context;
    data.resourceHandle.stream = stream;
    pthread_mutex_lock(&mu);
    struct CUpti_Subscriber_st who = subscriber;
    pthread_mutex_unlock(&mu);
    if (who.callback)
        who.callback(who.data, CUPTI_CB_DOMAIN_RESOURCE, id, &data);
}

VS_SIM_EXPORT CUptiResult cuptiSubscribe(CUpti_SubscriberHandle *handle,
                                         CUpti_CallbackFunc callback, void *data)
{
    if (!handle || !callback)
        return CUPTI_ERROR_INVALID_PARAMETER;
    pthread_mutex_lock(&mu);
    bool taken = atomic_exchange(&subscribed, true);
    if (!taken) {
        subscriber.callback = callback;
        subscriber.data = data;
        *handle = &subscriber;
    }
    pthread_mutex_unlock(&mu);
    return taken ? CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED : CUPTI_SUCCESS;
}

VS_SIM_EXPORT CUptiResult cuptiUnsubscribe(CUpti_SubscriberHandle handle)
{
    if (handle != &subscriber || !atomic_load(&subscribed))
        return CUPTI_ERROR_INVALID_PARAMETER;
    atomic_store(&resource_callbacks, 0);
    pthread_mutex_lock(&mu);
    subscriber.callback = NULL;
    atomic_store(&subscribed, false);
    pthread_mutex_unlock(&mu);
    return CUPTI_SUCCESS;
}

VS_SIM_EXPORT CUptiResult cuptiEnableCallback(uint32_t enable, CUpti_SubscriberHandle handle,
                                              CUpti_CallbackDomain domain, CUpti_CallbackId id)
{
    if (handle != &subscriber || !atomic_load(&subscribed))
        return CUPTI_ERROR_INVALID_PARAMETER;
    if (domain != CUPTI_CB_DOMAIN_RESOURCE || id >= 32 || !(RESOURCES_KNOWN & 1u << id))
        return CUPTI_ERROR_NOT_SUPPORTED;
    if (enable)
        atomic_fetch_or(&resource_callbacks, 1u << id);
    else
        atomic_fetch_and(&resource_callbacks, ~(1u << id));
    return vs_sim_want(VS_SIM_WANT_RESOURCES, atomic_load(&resource_callbacks) != 0);
}

VS_SIM_EXPORT CUptiResult cuptiEnableDomain(uint32_t enable, CUpti_SubscriberHandle handle,
                                            CUpti_CallbackDomain domain)
{
    CUptiResult result = CUPTI_ERROR_NOT_SUPPORTED;
    for (CUpti_CallbackId id = 0; domain == CUPTI_CB_DOMAIN_RESOURCE && id < 32; id++) {
        if (RESOURCES_KNOWN & 1u << id)
            result = cuptiEnableCallback(enable, handle, domain, id);
    }
    return result;
}

static CUptiResult identify(CUcontext context, CUstream stream, int per_thread,
                            struct vs_sim_identity *identity)
{
    vramscope_sim_identify_fn *fn;
    *(void **)&fn = vs_sim_driver_symbol("vramscopeSimIdentify");
    if (!fn)
        return CUPTI_ERROR_NOT_INITIALIZED;
    switch (fn(context, stream, per_thread, identity)) {
    case CUDA_SUCCESS: return CUPTI_SUCCESS;
    case CUDA_ERROR_INVALID_CONTEXT: return CUPTI_ERROR_INVALID_CONTEXT;
    case CUDA_ERROR_INVALID_HANDLE: return CUPTI_ERROR_INVALID_STREAM;
    case CUDA_ERROR_NOT_INITIALIZED: return CUPTI_ERROR_NOT_INITIALIZED;
    default: return CUPTI_ERROR_UNKNOWN;
    }
}

VS_SIM_EXPORT CUptiResult cuptiGetContextId(CUcontext context, uint32_t *id)
{
    struct vs_sim_identity identity;
    if (!id)
        return CUPTI_ERROR_INVALID_PARAMETER;
    CUptiResult r = identify(context, NULL, 0, &identity);
    if (r == CUPTI_SUCCESS)
        *id = identity.context;
    return r;
}

VS_SIM_EXPORT CUptiResult cuptiGetDeviceId(CUcontext context, uint32_t *id)
{
    struct vs_sim_identity identity;
    if (!id)
        return CUPTI_ERROR_INVALID_PARAMETER;
    CUptiResult r = identify(context, NULL, 0, &identity);
    if (r == CUPTI_SUCCESS)
        *id = identity.device;
    return r;
}

VS_SIM_EXPORT CUptiResult cuptiGetStreamIdEx(CUcontext context, CUstream stream, uint8_t per_thread,
                                             uint32_t *id)
{
    struct vs_sim_identity identity;
    if (!id)
        return CUPTI_ERROR_INVALID_PARAMETER;
    CUptiResult r = identify(context, stream, per_thread, &identity);
    if (r == CUPTI_SUCCESS)
        *id = identity.stream;
    return r;
}

VS_SIM_EXPORT CUptiResult cuptiGetStreamId(CUcontext context, CUstream stream, uint32_t *id)
{
    return cuptiGetStreamIdEx(context, stream, 0, id);
}

VS_SIM_EXPORT CUptiResult cuptiGetVersion(uint32_t *version)
{
    if (!version)
        return CUPTI_ERROR_INVALID_PARAMETER;
    *version = CUPTI_API_VERSION;
    return CUPTI_SUCCESS;
}

VS_SIM_EXPORT CUptiResult cuptiGetResultString(CUptiResult result, const char **text)
{
    static const struct {
        CUptiResult code;
        const char *name;
    } names[] = {
#define NAME(code) {code, #code}
        NAME(CUPTI_SUCCESS), NAME(CUPTI_ERROR_INVALID_PARAMETER), NAME(CUPTI_ERROR_INVALID_DEVICE),
        NAME(CUPTI_ERROR_INVALID_CONTEXT), NAME(CUPTI_ERROR_NOT_INITIALIZED),
        NAME(CUPTI_ERROR_INVALID_STREAM), NAME(CUPTI_ERROR_INVALID_KIND),
        NAME(CUPTI_ERROR_OUT_OF_MEMORY), NAME(CUPTI_ERROR_MAX_LIMIT_REACHED),
        NAME(CUPTI_ERROR_NOT_COMPATIBLE), NAME(CUPTI_ERROR_NOT_SUPPORTED),
        NAME(CUPTI_ERROR_QUEUE_EMPTY), NAME(CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED),
        NAME(CUPTI_ERROR_UNKNOWN),
#undef NAME
    };
    if (!text)
        return CUPTI_ERROR_INVALID_PARAMETER;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (names[i].code == result) {
            *text = names[i].name;
            return CUPTI_SUCCESS;
        }
    }
    return CUPTI_ERROR_INVALID_PARAMETER;
}
