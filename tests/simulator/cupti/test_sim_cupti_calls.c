/* SPDX-License-Identifier: Apache-2.0
 *
 * API calls in CUPTI: a record and a pair of callbacks for each outermost call, and its correlation
 * id in all records that the call caused. */
#define _GNU_SOURCE
#include "sim_test.h"

#include <cuda_runtime_api.h>
#include <execinfo.h>
#include <stdio.h>

#include "sim_records.h"

#define DRIVER CUPTI_ACTIVITY_KIND_DRIVER
#define RUNTIME CUPTI_ACTIVITY_KIND_RUNTIME
#define DRIVER_ID(name) CUPTI_DRIVER_TRACE_CBID_##name
#define RUNTIME_ID(name) CUPTI_RUNTIME_TRACE_CBID_##name

TEST(driver_calls_of_the_runtime_show_when_runtime_calls_do_not)
{
    void *p;
    OK(cudaFree(NULL)); /* the first call has more of the driver's */
    OK(cuptiActivityEnable(DRIVER));
    records_begin(RUNTIME);
    OK(cudaMalloc(&p, 100));
    records_expect(1);
    OK(cuptiActivityDisable(RUNTIME));
    records_forget();
    OK(cudaFree(p));
    OK(cuptiActivityFlushAll(0));
    assert_int_equal(records_of(RUNTIME), 0);
    assert_non_null(records_call(DRIVER, DRIVER_ID(cuMemFree_v2), 0));
}

/* Arguments on the stack are delivered: cuLaunchKernel has eleven. */
TEST(watched_calls_get_all_their_arguments)
{
    CUdeviceptr p;
    int host[512], count = 512, what = 5;
    void *args[] = {&p, &count, &what};
    OK(cuptiActivityEnable(DRIVER));
    OK(cuptiActivityEnable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL));
    OK(cuMemAlloc(&p, sizeof host));
    OK(cuMemsetD32(p, 1, 512));
    records_forget();
    OK(cuLaunchKernel(sim_function("add"), 4, 1, 1, 128, 1, 1, 24, NULL, args, NULL));
    OK(cuMemcpyDtoH(host, p, sizeof host));
    OK(cuptiActivityFlushAll(0));
    assert_int_equal(host[0], 6);
    assert_int_equal(host[511], 6);
    const CUpti_ActivityKernel10 *k =
        &records_find(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, 0)->kernel;
    const CUpti_ActivityAPI *launch = records_call(DRIVER, DRIVER_ID(cuLaunchKernel), 0);
    assert_int_equal(k->dynamicSharedMemory, 24);
    assert_int_equal(k->correlationId, launch->correlationId);
    assert_true(k->start >= launch->start);
}

/* Nodes of a clone are separate nodes. */
TEST(work_of_a_graph_names_graph_and_node)
{
    CUDA_MEMSET_NODE_PARAMS set = {.value = 3, .elementSize = 1, .width = 4096, .height = 1};
    CUgraph clone, graph = sim_graph();
    CUgraphNode node, copy;
    uint64_t copy_id;
    OK(cuMemAlloc(&set.dst, 4096));
    OK(cuGraphAddMemsetNode(&node, graph, NULL, 0, &set, sim_context()));
    OK(cuGraphClone(&clone, graph));
    OK(cuGraphNodeFindInClone(&copy, node, clone));
    CUgraphExec exec = sim_exec(clone);
    OK(cuptiGetGraphNodeId(copy, &copy_id));
    FAILS(cuptiGetGraphNodeId(NULL, &copy_id), CUPTI_ERROR_INVALID_PARAMETER);
    assert_true(GOT(uint64_t, cuptiGetGraphNodeId(node, &got)) != copy_id);
    OK(cuptiActivityEnable(DRIVER));
    records_begin(CUPTI_ACTIVITY_KIND_MEMSET);
    sim_run(exec, NULL);
    OK(cuptiActivityFlushAll(0));
    const union record *r = records_find(CUPTI_ACTIVITY_KIND_MEMSET, 0);
    assert_non_null(r);
    assert_int_equal(r->set.graphNodeId, copy_id);
    assert_int_equal(r->set.graphId, GOT(uint32_t, cuptiGetGraphExecId(exec, &got)));
    assert_int_equal(r->set.correlationId,
                     records_call(DRIVER, DRIVER_ID(cuGraphLaunch), 0)->correlationId);
}

TEST(a_driver_record_has_thread_result_and_all_external_ids)
{
    uint64_t last;
    OK(cuptiActivityEnable(DRIVER));
    OK(cuptiActivityEnable(CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION));
    OK(cuptiActivityPushExternalCorrelationId(CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0, 11));
    OK(cuptiActivityPushExternalCorrelationId(CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM1, 22));
    records_forget();
    FAILS(cuMemFree(1), CUDA_ERROR_INVALID_VALUE);
    records_expect(3);
    assert_int_equal(records[0].external.externalId, 11);
    assert_int_equal(records[1].external.externalId, 22);
    assert_int_equal(records[2].api.threadId, (uint32_t)pthread_self());
    assert_int_equal(records[2].api.returnValue, CUDA_ERROR_INVALID_VALUE);
    OK(cuptiActivityPopExternalCorrelationId(CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM1, &last));
    OK(cuptiActivityPopExternalCorrelationId(CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0, &last));
    OK(cuptiActivityDisable(CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION));
    OK(cuptiActivityDisable(DRIVER));
}

TEST(functions_are_chosen_one_by_one)
{
    FAILS(cuptiActivityEnableDriverApi(CUPTI_DRIVER_TRACE_CBID_SIZE, 1),
          CUPTI_ERROR_INVALID_PARAMETER);
    OK(cuptiActivityEnableDriverApi(DRIVER_ID(cuMemFree_v2), 1));
    records_forget();
    sim_alloc_and_free(64);
    records_expect(1);
    assert_int_equal(records[0].api.cbid, DRIVER_ID(cuMemFree_v2));
    OK(cuptiActivityEnable(DRIVER)); /* overrides: all enabled again */
    OK(cuptiActivityEnableDriverApi(DRIVER_ID(cuMemAlloc_v2), 0));
    records_forget();
    sim_alloc_and_free(64);
    records_expect(1);
    assert_int_equal(records[0].api.cbid, DRIVER_ID(cuMemFree_v2));
    OK(cuptiActivityDisable(DRIVER));
    records_forget();
    sim_alloc_and_free(64);
    records_expect(0);
}

enum { THREADS = 4, CALLS = 500 };

static void *call_often(void *context)
{
    CUdeviceptr p;
    intptr_t failed = cuCtxSetCurrent(context);
    for (int i = 0; i < CALLS; i++) {
        failed |= cuMemAlloc(&p, 64);
        failed |= cuMemsetD8Async(p, 1, 64, CU_STREAM_PER_THREAD);
        failed |= cuStreamSynchronize(CU_STREAM_PER_THREAD);
        failed |= cuMemFree(p);
    }
    return (void *)failed;
}

TEST(records_of_many_threads_all_arrive)
{
    pthread_t threads[THREADS];
    void *failed;
    CUcontext ctx = sim_context();
    records_forget();
    records_buffer_bytes = 4096;
    OK(cuptiActivityEnable(DRIVER));
    OK(cuptiActivityEnable(CUPTI_ACTIVITY_KIND_MEMSET));
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, call_often, ctx), 0);
    for (int i = 0; i < 50; i++)
        OK(cuptiActivityFlushAll(0));
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], &failed);
        assert_null(failed);
    }
    OK(cuptiActivityDisable(DRIVER));
    OK(cuptiActivityDisable(CUPTI_ACTIVITY_KIND_MEMSET));
    OK(cuptiActivityFlushAll(0));
    records_buffer_bytes = 1 << 16;
    assert_int_equal(records_of(CUPTI_ACTIVITY_KIND_MEMSET), THREADS * CALLS);
    assert_int_equal(records_of(DRIVER), THREADS * (4 * CALLS + 1));
    assert_int_equal(buffers_out, 0);
}

/* ---- callbacks ---- */

static struct {
    int entered, left;
    char name[64];
    uint32_t cbid, correlation, context;
    CUresult result;
    uint64_t kept;
} seen;

static void CUPTIAPI on_call(void *data, CUpti_CallbackDomain domain, CUpti_CallbackId id,
                             const void *about)
{
    const CUpti_CallbackData *call = about;
    CUdevice device;
    assert_ptr_equal(data, &seen);
    assert_true(domain == CUPTI_CB_DOMAIN_DRIVER_API || domain == CUPTI_CB_DOMAIN_RUNTIME_API);
    cuCtxGetDevice(&device); /* inside the call: must cause no callback */
    seen.cbid = id;
    if (call->callbackSite == CUPTI_API_ENTER) {
        seen.entered++;
        snprintf(seen.name, sizeof seen.name, "%s", call->functionName);
        seen.correlation = call->correlationId;
        *call->correlationData = 0x1234567890;
        return;
    }
    seen.left++;
    assert_int_equal(call->correlationId, seen.correlation);
    seen.kept = *call->correlationData;
    seen.result = *(CUresult *)call->functionReturnValue;
    seen.context = call->contextUid;
}

TEST(callbacks_come_around_each_call)
{
    CUpti_SubscriberHandle sub;
    uint32_t on;
    OK(cuptiSubscribe(&sub, on_call, &seen));
    OK(cuptiEnableDomain(1, sub, CUPTI_CB_DOMAIN_DRIVER_API));
    CUdeviceptr p = sim_alloc(4096);
    assert_int_equal(seen.entered, 1);
    assert_int_equal(seen.left, 1);
    assert_string_equal(seen.name, "cuMemAlloc_v2");
    assert_int_equal(seen.cbid, DRIVER_ID(cuMemAlloc_v2));
    assert_int_equal(seen.kept, 0x1234567890);
    FAILS(cuMemFree(p + 8), CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(seen.result, CUDA_ERROR_INVALID_VALUE);
    OK(cuptiEnableCallback(0, sub, CUPTI_CB_DOMAIN_DRIVER_API, DRIVER_ID(cuMemFree_v2)));
    OK(cuptiGetCallbackState(&on, sub, CUPTI_CB_DOMAIN_DRIVER_API, DRIVER_ID(cuMemFree_v2)));
    assert_int_equal(on, 0);
    OK(cuMemFree(p));
    assert_int_equal(seen.entered, 2);
    OK(cuptiEnableDomain(0, sub, CUPTI_CB_DOMAIN_DRIVER_API));
    OK(cuptiEnableCallback(1, sub, CUPTI_CB_DOMAIN_RUNTIME_API, RUNTIME_ID(cudaFree_v3020)));
    OK(cudaFree(NULL));
    OK(cudaDeviceSynchronize());
    assert_int_equal(seen.entered, 3);
    assert_string_equal(seen.name, "cudaFree");
    assert_int_equal(seen.context, GOT(uint32_t, cuptiGetContextId(sim_context(), &got)));
    OK(cuptiUnsubscribe(sub));
    OK(cudaFree(NULL));
    assert_int_equal(seen.entered, 3);
}

TEST(callbacks_have_names)
{
    const char *name;
    OK(cuptiGetCallbackName(CUPTI_CB_DOMAIN_DRIVER_API, DRIVER_ID(cuMemAlloc_v2), &name));
    assert_string_equal(name, "cuMemAlloc_v2");
    OK(cuptiGetCallbackName(CUPTI_CB_DOMAIN_RUNTIME_API, RUNTIME_ID(cudaMalloc_v3020), &name));
    assert_string_equal(name, "cudaMalloc_v3020");
    FAILS(cuptiGetCallbackName(CUPTI_CB_DOMAIN_DRIVER_API, 100000, &name),
          CUPTI_ERROR_INVALID_PARAMETER);
    assert_null(name);
}

static struct {
    cuLaunchKernel_params launch;
    cudaMemcpy_v3020_params copy;
    cudaMalloc3D_v3020_params box;
    cuMemAdvise_v2_params advise;
    cuMemsetD8Async_params set;
    void *allocated;
} given;

static void CUPTIAPI on_params(void *data, CUpti_CallbackDomain domain, CUpti_CallbackId id,
                               const void *about)
{
    const CUpti_CallbackData *call = about;
    (void)data;
    if (domain == CUPTI_CB_DOMAIN_DRIVER_API) {
        if (id == DRIVER_ID(cuLaunchKernel))
            given.launch = *(const cuLaunchKernel_params *)call->functionParams;
        if (id == DRIVER_ID(cuMemAdvise_v2))
            given.advise = *(const cuMemAdvise_v2_params *)call->functionParams;
        if (id == DRIVER_ID(cuMemsetD8Async))
            given.set = *(const cuMemsetD8Async_params *)call->functionParams;
        return;
    }
    if (id == RUNTIME_ID(cudaMemcpy_v3020))
        given.copy = *(const cudaMemcpy_v3020_params *)call->functionParams;
    if (id == RUNTIME_ID(cudaMalloc3D_v3020))
        given.box = *(const cudaMalloc3D_v3020_params *)call->functionParams;
    if (id == RUNTIME_ID(cudaMalloc_v3020) && call->callbackSite == CUPTI_API_EXIT)
        given.allocated = *((const cudaMalloc_v3020_params *)call->functionParams)->devPtr;
    if (id == RUNTIME_ID(cudaDeviceSynchronize_v3020))
        assert_null(call->functionParams);
}

TEST(callbacks_show_the_arguments)
{
    CUpti_SubscriberHandle sub;
    struct cudaPitchedPtr box;
    struct cudaExtent extent = {100, 20, 3};
    void *p;
    char host[64] = {0};
    OK(cuptiSubscribe(&sub, on_params, NULL));
    OK(cuptiEnableAllDomains(1, sub));
    OK(cudaMalloc(&p, 4096));
    assert_ptr_equal(given.allocated, p);
    OK(cudaMemcpy(p, host, sizeof host, cudaMemcpyHostToDevice));
    assert_ptr_equal(given.copy.dst, p);
    assert_ptr_equal(given.copy.src, host);
    assert_int_equal(given.copy.count, sizeof host);
    assert_int_equal(given.copy.kind, cudaMemcpyHostToDevice);
    OK(cudaMalloc3D(&box, extent));
    assert_ptr_equal(given.box.pitchedDevPtr, &box);
    assert_memory_equal(&given.box.extent, &extent, sizeof extent);
    OK(cudaDeviceSynchronize());
    OK(cuLaunchKernel(sim_function("unknown"), 4, 3, 2, 32, 5, 6, 48, CU_STREAM_LEGACY, NULL,
                      NULL));
    assert_int_equal(given.launch.gridDimX, 4);
    assert_int_equal(given.launch.blockDimZ, 6);
    assert_int_equal(given.launch.sharedMemBytes, 48);
    assert_ptr_equal(given.launch.hStream, CU_STREAM_LEGACY);
    assert_null(given.launch.extra);
    OK(cuMemsetD8Async((CUdeviceptr)p, 0x5a, 4096, NULL));
    assert_int_equal(given.set.uc, 0x5a);
    assert_int_equal(given.set.N, 4096);
    cuMemAdvise_v2((CUdeviceptr)p, 4096, CU_MEM_ADVISE_SET_PREFERRED_LOCATION,
                   (CUmemLocation){CU_MEM_LOCATION_TYPE_DEVICE, 77});
    assert_int_equal(given.advise.location.type, CU_MEM_LOCATION_TYPE_DEVICE);
    assert_int_equal(given.advise.location.id, 77);
    OK(cuptiUnsubscribe(sub));
}

/* ---- stacks ---- */

static int depth_seen;
static bool main_seen;

static void CUPTIAPI on_stack(void *data, CUpti_CallbackDomain domain, CUpti_CallbackId id,
                              const void *about)
{
    void *frames[64];
    (void)domain, (void)id, (void)about;
    depth_seen = backtrace(frames, 64);
    for (int i = 0; i < depth_seen; i++)
        main_seen |= frames[i] >= data && (char *)frames[i] < (char *)data + 4096;
}

TEST(a_watched_call_can_be_unwound)
{
    CUpti_SubscriberHandle sub;
    OK(cuptiSubscribe(&sub, on_stack, (void *)(uintptr_t)a_watched_call_can_be_unwound));
    OK(cuptiEnableDomain(1, sub, CUPTI_CB_DOMAIN_RUNTIME_API));
    OK(cudaFree(NULL));
    OK(cuptiUnsubscribe(sub));
    assert_true(main_seen);
}

/* ---- */

AFTER(stop_recording)
{
    return records_end();
}

SETUP(setup)
{
    sim_start();
    sim_register_kernels();
    return cuptiActivityRegisterCallbacks(records_give, records_take);
}
