/* SPDX-License-Identifier: Apache-2.0
 *
 * A program with NVIDIA's NVTX v3 headers, whose injection path names the stand-in CUPTI: records
 * of its markers, ranges, domains and names. */
#include "sim_test.h"

#include <cuda_runtime_api.h>
#include <nvtx3/nvToolsExt.h>
#include <nvtx3/nvToolsExtCuda.h>
#include <nvtx3/nvToolsExtCudaRt.h>
#include <nvtx3/nvToolsExtSync.h>

#include "sim_records.h"

#define MARKER CUPTI_ACTIVITY_KIND_MARKER
#define DATA CUPTI_ACTIVITY_KIND_MARKER_DATA
#define NAME CUPTI_ACTIVITY_KIND_NAME
#define START CUPTI_ACTIVITY_FLAG_MARKER_START
#define END CUPTI_ACTIVITY_FLAG_MARKER_END

static const CUpti_ActivityMarker2 *marker(int nth)
{
    const union record *r = records_find(MARKER, nth);
    assert_non_null(r);
    return &r->marker;
}

static void is_marker(int nth, CUpti_ActivityFlag flags, const char *name, const char *domain)
{
    const CUpti_ActivityMarker2 *m = marker(nth);
    assert_int_equal(m->flags, flags);
    assert_int_equal(m->objectKind, CUPTI_ACTIVITY_OBJECT_THREAD);
    assert_int_equal(m->objectId.pt.processId, getpid());
    assert_int_equal(m->objectId.pt.threadId, (uint32_t)pthread_self());
    if (name)
        assert_string_equal(m->name, name);
    else
        assert_null(m->name);
    if (domain)
        assert_string_equal(m->domain, domain);
    else
        assert_null(m->domain);
    if (nth)
        assert_true(marker(nth - 1)->timestamp <= m->timestamp);
}

static nvtxEventAttributes_t attributes(const char *text)
{
    return (nvtxEventAttributes_t){.version = NVTX_VERSION,
                                   .size = NVTX_EVENT_ATTRIB_STRUCT_SIZE,
                                   .messageType = NVTX_MESSAGE_TYPE_ASCII,
                                   .message = {.ascii = text}};
}

TEST(ranges_of_a_thread_nest)
{
    records_forget();
    assert_int_equal(nvtxRangePushA("outer"), 0);
    assert_int_equal(nvtxRangePushA("inner"), 1);
    nvtxMarkA("here");
    assert_int_equal(nvtxRangePop(), 1);
    assert_int_equal(nvtxRangePop(), 0);
    assert_true(nvtxRangePop() < 0); /* nothing is open */
    records_expect(5);
    is_marker(0, START, "outer", NULL);
    is_marker(1, START, "inner", NULL);
    is_marker(2, CUPTI_ACTIVITY_FLAG_MARKER_INSTANTANEOUS, "here", NULL);
    is_marker(3, END, NULL, NULL);
    is_marker(4, END, NULL, NULL);
    assert_int_equal(marker(3)->id, marker(1)->id);
    assert_int_equal(marker(4)->id, marker(0)->id);
    assert_int_not_equal(marker(2)->id, marker(0)->id);
}

TEST(ranges_between_threads_end_by_id)
{
    records_forget();
    nvtxRangeId_t a = nvtxRangeStartA("a"), b = nvtxRangeStartW(L"b \x00e9\x4e2d\x1f600");
    nvtxRangeEnd(a);
    nvtxRangeEnd(b);
    OK(cuptiActivityFlushAll(0));
    is_marker(0, START, "a", NULL);
    is_marker(1, START, "b \xc3\xa9\xe4\xb8\xad\xf0\x9f\x98\x80", NULL);
    assert_int_equal(marker(2)->id, marker(0)->id);
    assert_int_equal(marker(3)->id, marker(1)->id);
    assert_int_equal(marker(2)->flags, END);
}

TEST(domains_are_named_and_keep_their_own_ranges)
{
    nvtxDomainHandle_t io = nvtxDomainCreateA("io"), net = nvtxDomainCreateW(L"net");
    nvtxStringHandle_t text = nvtxDomainRegisterStringA(io, "registered");
    nvtxEventAttributes_t a = attributes("in net"), b = attributes(NULL);
    b.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
    b.message.registered = text;
    assert_non_null(io);
    assert_ptr_equal(nvtxDomainCreateA("io"), io);
    records_forget();
    assert_int_equal(nvtxDomainRangePushEx(io, &b), 0);
    assert_int_equal(nvtxDomainRangePushEx(net, &a), 0); /* levels are the domain's own */
    assert_int_equal(nvtxRangePushA("default"), 0);
    assert_int_equal(nvtxDomainRangePop(io), 0);
    assert_int_equal(nvtxDomainRangePop(net), 0);
    assert_int_equal(nvtxRangePop(), 0);
    nvtxRangeId_t id = nvtxDomainRangeStartEx(net, &a);
    nvtxDomainRangeEnd(net, id);
    nvtxDomainMarkEx(io, &a);
    OK(cuptiActivityFlushAll(0));
    is_marker(0, START, "registered", "io");
    is_marker(1, START, "in net", "net");
    is_marker(2, START, "default", NULL);
    is_marker(3, END, NULL, "io");
    is_marker(4, END, NULL, "net");
    is_marker(5, END, NULL, NULL);
    for (int i = 0; i < 3; i++)
        assert_int_equal(marker(i)->id, marker(i + 3)->id);
    is_marker(6, START, "in net", "net");
    is_marker(7, END, NULL, "net");
    is_marker(8, CUPTI_ACTIVITY_FLAG_MARKER_INSTANTANEOUS, "in net", "io");
    nvtxDomainDestroy(io);
    nvtxDomainDestroy(net);
}

TEST(attributes_come_as_marker_data)
{
    nvtxEventAttributes_t a = attributes("all of it");
    a.category = 42;
    a.colorType = NVTX_COLOR_ARGB;
    a.color = 0xff112233;
    a.payloadType = NVTX_PAYLOAD_TYPE_INT32;
    a.payload.iValue = -7;
    records_begin(DATA);
    nvtxMarkEx(&a);
    a.colorType = NVTX_COLOR_UNKNOWN;
    a.payloadType = NVTX_PAYLOAD_TYPE_FLOAT;
    a.payload.fValue = 0.5f;
    nvtxMarkEx(&a);
    a.payloadType = NVTX_PAYLOAD_TYPE_UNSIGNED_INT64;
    a.payload.ullValue = UINT64_MAX;
    nvtxMarkEx(&a);
    nvtxMarkA("no attributes");
    OK(cuptiActivityFlushAll(0));
    OK(cuptiActivityDisable(DATA));
    assert_int_equal(records_of(DATA), 3);
    assert_int_equal(records[0].head.kind, MARKER);
    const CUpti_ActivityMarkerData2 *d = &records[1].marker_data;
    assert_int_equal(d->kind, DATA);
    assert_int_equal(d->id, records[0].marker.id);
    assert_int_equal(d->flags, CUPTI_ACTIVITY_FLAG_MARKER_COLOR_ARGB);
    assert_int_equal(d->color, 0xff112233);
    assert_int_equal(d->category, 42);
    assert_int_equal(d->payloadKind, CUPTI_METRIC_VALUE_KIND_INT64);
    assert_int_equal(d->payload.metricValueInt64, -7);
    d = &records[3].marker_data;
    assert_int_equal(d->flags, CUPTI_ACTIVITY_FLAG_MARKER_COLOR_NONE);
    assert_int_equal(d->payloadKind, CUPTI_METRIC_VALUE_KIND_DOUBLE);
    assert_true(d->payload.metricValueDouble == 0.5);
    assert_true(records[5].marker_data.payload.metricValueUint64 == UINT64_MAX);
}

TEST(names_of_things_are_records)
{
    cudaStream_t s;
    uint32_t context, stream;
    OK(cudaStreamCreate(&s));
    CUcontext ctx = sim_context();
    OK(cuptiGetContextId(ctx, &context));
    OK(cuptiGetStreamIdEx(NULL, (CUstream)s, 0, &stream));
    records_begin(NAME);
    nvtxNameOsThreadA(77, "worker");
    nvtxNameCuDeviceA(0, "the device");
    nvtxNameCuContextA(ctx, "the context");
    nvtxNameCudaStreamA(s, "the stream");
    nvtxNameCuStreamW((CUstream)s, L"the same stream");
    OK(cuptiActivityFlushAll(0));
    assert_int_equal(records_of(NAME), 5);
    assert_int_equal(records[0].name.objectKind, CUPTI_ACTIVITY_OBJECT_THREAD);
    assert_int_equal(records[0].name.objectId.pt.threadId, 77);
    assert_string_equal(records[0].name.name, "worker");
    assert_int_equal(records[1].name.objectKind, CUPTI_ACTIVITY_OBJECT_DEVICE);
    assert_int_equal(records[2].name.objectKind, CUPTI_ACTIVITY_OBJECT_CONTEXT);
    assert_int_equal(records[2].name.objectId.dcs.contextId, context);
    assert_int_equal(records[3].name.objectKind, CUPTI_ACTIVITY_OBJECT_STREAM);
    assert_int_equal(records[3].name.objectId.dcs.streamId, stream);
    assert_string_equal(records[4].name.name, "the same stream");
}

TEST(a_programs_own_locks_are_markers)
{
    nvtxDomainHandle_t d = nvtxDomainCreateA("locks");
    nvtxSyncUserAttributes_t a = {.version = NVTX_VERSION,
                                  .size = NVTX_SYNCUSER_ATTRIB_STRUCT_SIZE,
                                  .messageType = NVTX_MESSAGE_TYPE_ASCII,
                                  .message = {.ascii = "queue"}};
    records_forget();
    nvtxSyncUser_t lock = nvtxDomainSyncUserCreate(d, &a);
    nvtxDomainSyncUserAcquireStart(lock);
    nvtxDomainSyncUserAcquireSuccess(lock);
    nvtxDomainSyncUserReleasing(lock);
    nvtxDomainSyncUserDestroy(lock);
    OK(cuptiActivityFlushAll(0));
    is_marker(0, CUPTI_ACTIVITY_FLAG_MARKER_SYNC_ACQUIRE, "queue", "locks");
    is_marker(1, CUPTI_ACTIVITY_FLAG_MARKER_SYNC_ACQUIRE_SUCCESS, "queue", "locks");
    is_marker(2, CUPTI_ACTIVITY_FLAG_MARKER_SYNC_RELEASE, "queue", "locks");
}

TEST(texts_outlive_what_they_were_copied_from)
{
    char text[32] = "first";
    records_forget();
    nvtxMarkA(text);
    strcpy(text, "second");
    OK(cuptiActivityFlushAll(0));
    is_marker(0, CUPTI_ACTIVITY_FLAG_MARKER_INSTANTANEOUS, "first", NULL);
}

TEST(ranges_opened_before_recording_end_as_they_should)
{
    OK(cuptiActivityDisable(MARKER));
    assert_int_equal(nvtxRangePushA("unseen"), 0);
    records_begin(MARKER);
    for (int i = 0; i < 100; i++)
        assert_int_equal(nvtxRangePushA("deep"), i + 1);
    for (int i = 100; i >= 0; i--)
        assert_int_equal(nvtxRangePop(), i);
    records_expect(201);
}

AFTER(stop_recording)
{
    return records_end();
}

SETUP(setup)
{
    sim_start();
    return cuptiActivityRegisterCallbacks(records_give, records_take);
}

BEFORE(record_markers)
{
    return cuptiActivityEnable(MARKER);
}
