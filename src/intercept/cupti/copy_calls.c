/* SPDX-License-Identifier: Apache-2.0
 *
 * See the header. Called on the program's own thread at the entry of each function that copies. A
 * runtime function and the driver function below it usually share their number; where they do not,
 * both are recorded, and the copy's record selects one. */
#include "intercept/cupti/copy_calls.h"

#include "intercept/process/process.h"
#include "trace/record/selection.h"

/* Functions of the driver, each also for the per-thread default stream. */
#define DRIVER_COPIES(ROW)                                                                        \
    ROW(cuMemcpy) ROW(cuMemcpy_ptds) ROW(cuMemcpyAsync) ROW(cuMemcpyAsync_ptsz)                   \
    ROW(cuMemcpyHtoD_v2) ROW(cuMemcpyHtoD_v2_ptds) ROW(cuMemcpyHtoDAsync_v2)                      \
    ROW(cuMemcpyHtoDAsync_v2_ptsz) ROW(cuMemcpyDtoH_v2) ROW(cuMemcpyDtoH_v2_ptds)                 \
    ROW(cuMemcpyDtoHAsync_v2) ROW(cuMemcpyDtoHAsync_v2_ptsz) ROW(cuMemcpyDtoD_v2)                 \
    ROW(cuMemcpyDtoD_v2_ptds) ROW(cuMemcpyDtoDAsync_v2) ROW(cuMemcpyDtoDAsync_v2_ptsz)            \
    ROW(cuMemcpy2D_v2) ROW(cuMemcpy2D_v2_ptds) ROW(cuMemcpy2DUnaligned_v2)                        \
    ROW(cuMemcpy2DUnaligned_v2_ptds) ROW(cuMemcpy2DAsync_v2) ROW(cuMemcpy2DAsync_v2_ptsz)         \
    ROW(cuMemcpy3D_v2) ROW(cuMemcpy3D_v2_ptds) ROW(cuMemcpy3DAsync_v2)                            \
    ROW(cuMemcpy3DAsync_v2_ptsz) ROW(cuMemcpyPeer) ROW(cuMemcpyPeer_ptds) ROW(cuMemcpyPeerAsync)  \
    ROW(cuMemcpyPeerAsync_ptsz) ROW(cuMemcpyHtoA_v2) ROW(cuMemcpyAtoH_v2) ROW(cuMemcpyDtoA_v2)    \
    ROW(cuMemcpyAtoD_v2) ROW(cuMemcpyAtoA_v2) ROW(cuMemcpyHtoAAsync_v2) ROW(cuMemcpyAtoHAsync_v2)

#define RUNTIME_COPIES(ROW)                                                                       \
    ROW(cudaMemcpy_v3020) ROW(cudaMemcpy_ptds_v7000) ROW(cudaMemcpyAsync_v3020)                   \
    ROW(cudaMemcpyAsync_ptsz_v7000) ROW(cudaMemcpy2D_v3020) ROW(cudaMemcpy2D_ptds_v7000)          \
    ROW(cudaMemcpy2DAsync_v3020) ROW(cudaMemcpy2DAsync_ptsz_v7000) ROW(cudaMemcpy3D_v3020)        \
    ROW(cudaMemcpy3DAsync_v3020) ROW(cudaMemcpyPeer_v4000) ROW(cudaMemcpyPeerAsync_v4000)         \
    ROW(cudaMemcpyToSymbol_v3020) ROW(cudaMemcpyToSymbolAsync_v3020)                              \
    ROW(cudaMemcpyFromSymbol_v3020) ROW(cudaMemcpyFromSymbolAsync_v3020)                          \
    ROW(cudaMemcpyToArray_v3020) ROW(cudaMemcpyFromArray_v3020)

static CUpti_SubscriberHandle handle; /* guarded by the collector's lock */
static bool started;                  /* likewise */

static void CUPTIAPI on_copy(void *user, CUpti_CallbackDomain domain, CUpti_CallbackId id,
                             const void *cbdata)
{
    static _Thread_local uint32_t last __attribute__((tls_model("initial-exec")));
    const CUpti_CallbackData *data = cbdata;
    (void)user;
    (void)domain;
    (void)id;
    if (data->callbackSite != CUPTI_API_ENTER || vs_thread.inside || data->correlationId == last ||
        vs_process_state() != VS_PROCESS_ACTIVE ||
        !vs_recorder_wants_activity(vs_process_recorder()))
        return;
    last = data->correlationId;
    VS_OWN_WORK();
    struct vs_event event = {.kind = VS_EVENT_copy_call,
                             .copy_call = {.correlation = data->correlationId,
                                           .api = vs_process_api(data->functionName),
                                           .stack = vs_process_stack()}};
    vs_recorder_event(vs_process_recorder(), &event);
}

CUptiResult vs_copy_calls_start(const struct vs_cupti *cupti, char other[VS_CUPTI_NAME_MAX])
{
    static const CUpti_CallbackId driver[] = {
#define ROW(name) CUPTI_DRIVER_TRACE_CBID_##name,
        DRIVER_COPIES(ROW)
#undef ROW
    };
    static const CUpti_CallbackId runtime[] = {
#define ROW(name) CUPTI_RUNTIME_TRACE_CBID_##name,
        RUNTIME_COPIES(ROW)
#undef ROW
    };
    CUptiResult r = vs_cupti_subscribe(cupti, &handle, on_copy, other);
    if (r != CUPTI_SUCCESS)
        return r;
    started = true;
    /* a function that this driver lacks is not called either */
    for (size_t i = 0; i < sizeof driver / sizeof *driver; i++)
        (void)cupti->enable_callback(1, handle, CUPTI_CB_DOMAIN_DRIVER_API, driver[i]);
    for (size_t i = 0; i < sizeof runtime / sizeof *runtime; i++)
        (void)cupti->enable_callback(1, handle, CUPTI_CB_DOMAIN_RUNTIME_API, runtime[i]);
    return CUPTI_SUCCESS;
}

void vs_copy_calls_stop(const struct vs_cupti *cupti)
{
    if (started)
        (void)cupti->unsubscribe(handle);
    started = false;
}
