/* SPDX-License-Identifier: Apache-2.0
 *
 * NVTX as CUPTI collects it: a program with the NVTX v3 headers loads the library that
 * NVTX_INJECTION64_PATH names and calls InitializeInjectionNvtx2, which puts our functions into its
 * tables. Markers and ranges become MARKER records, their attributes MARKER_DATA records, names of
 * objects NAME records. Strings live as long as the process, since records point to them. The stack
 * of a thread's open ranges is maintained even while nothing is recorded, so that a range opened
 * earlier ends correctly. */
#define NVTX_NO_IMPL
#include "simulator/cupti/vs_sim_cupti.h"

#include <nvtx3/nvToolsExt.h>
#include <nvtx3/nvToolsExtSync.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <wchar.h>

#include "base/vs_clock.h"

/* ---- texts ---- */

#define BUCKETS 1024

struct cupti_nvtx_text {
    struct cupti_nvtx_text *next;
    char bytes[];
};

static pthread_mutex_t mu = PTHREAD_MUTEX_INITIALIZER;
static struct cupti_nvtx_text *texts[BUCKETS]; /* guarded by mu */

static unsigned bucket_of(const char *bytes)
{
    unsigned h = 2166136261u; /* FNV-1a */
    for (; *bytes; bytes++)
        h = (h ^ (unsigned char)*bytes) * 16777619u;
    return h % BUCKETS;
}

/* The single copy of this string, or NULL without host memory. NULL stays NULL. */
static const char *keep(const char *bytes)
{
    if (!bytes)
        return NULL;
    struct cupti_nvtx_text **bucket = &texts[bucket_of(bytes)], *t;
    pthread_mutex_lock(&mu);
    for (t = *bucket; t && strcmp(t->bytes, bytes) != 0;)
        t = t->next;
    size_t size = strlen(bytes) + 1;
    if (!t && (t = malloc(sizeof *t + size))) {
        memcpy(t->bytes, bytes, size);
        t->next = *bucket;
        *bucket = t;
    }
    pthread_mutex_unlock(&mu);
    return t ? t->bytes : NULL;
}

static char *put_utf8(char *to, uint32_t c)
{
    if (c < 0x80) {
        *to++ = (char)c;
        return to;
    }
    int more = c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
    *to++ = (char)((0xf0 << (3 - more)) | c >> 6 * more);
    while (more--)
        *to++ = (char)(0x80 | (c >> 6 * more & 0x3f));
    return to;
}

static const char *keep_wide(const wchar_t *wide)
{
    if (!wide)
        return NULL;
    char *bytes = malloc(4 * wcslen(wide) + 1), *end = bytes;
    if (!bytes)
        return NULL;
    for (; *wide; wide++)
        end = put_utf8(end, (uint32_t)*wide);
    *end = 0;
    const char *kept = keep(bytes);
    free(bytes);
    return kept;
}

static const char *keep_message(int32_t type, nvtxMessageValue_t message)
{
    switch (type) {
    case NVTX_MESSAGE_TYPE_ASCII: return keep(message.ascii);
    case NVTX_MESSAGE_TYPE_UNICODE: return keep_wide(message.unicode);
    case NVTX_MESSAGE_TYPE_REGISTERED: return (const char *)message.registered; /* kept already */
    default: return NULL;
    }
}

/* ---- domains: nvtxDomainHandle_t points to one; NULL is the default domain ---- */

struct domain {
    struct domain *next;
    const char *name;
    uint32_t id;
};

static struct domain *domains; /* guarded by mu; never freed */

static nvtxDomainHandle_t domain_named(const char *name)
{
    struct domain *d;
    if (!name)
        return NULL;
    pthread_mutex_lock(&mu);
    for (d = domains; d && d->name != name;) /* interned strings are equal if their pointers are */
        d = d->next;
    if (!d && (d = malloc(sizeof *d))) {
        *d = (struct domain){domains, name, domains ? domains->id + 1 : 1};
        domains = d;
    }
    pthread_mutex_unlock(&mu);
    return (nvtxDomainHandle_t)d;
}

static const struct domain *domain_of(nvtxDomainHandle_t handle)
{
    return (const struct domain *)handle;
}

/* ---- records ---- */

static atomic_uint next_id = 1;

static void put_marker(CUpti_ActivityFlag flags, uint32_t id, const char *name,
                       nvtxDomainHandle_t domain)
{
    if (!vs_cupti_enabled(CUPTI_ACTIVITY_KIND_MARKER))
        return;
    CUpti_ActivityMarker2 r = {
        .kind = CUPTI_ACTIVITY_KIND_MARKER,
        .flags = flags,
        .timestamp = vs_cupti_time(vs_clock_ns()),
        .id = id,
        .objectKind = CUPTI_ACTIVITY_OBJECT_THREAD,
        .objectId = {.pt = {.processId = (uint32_t)getpid(), .threadId = vs_cupti_thread()}},
        .name = name,
        .domain = domain ? domain_of(domain)->name : NULL};
    vs_cupti_put(&r);
}

static void fill_payload(CUpti_ActivityMarkerData2 *r, const nvtxEventAttributes_t *a)
{
    r->payloadKind = CUPTI_METRIC_VALUE_KIND_UINT64; /* of value 0 if there is none */
    switch (a->payloadType) {
    case NVTX_PAYLOAD_TYPE_UNSIGNED_INT64:
        r->payload.metricValueUint64 = a->payload.ullValue;
        return;
    case NVTX_PAYLOAD_TYPE_UNSIGNED_INT32:
        r->payload.metricValueUint64 = a->payload.uiValue;
        return;
    case NVTX_PAYLOAD_TYPE_INT64:
    case NVTX_PAYLOAD_TYPE_INT32:
        r->payloadKind = CUPTI_METRIC_VALUE_KIND_INT64;
        r->payload.metricValueInt64 =
            a->payloadType == NVTX_PAYLOAD_TYPE_INT64 ? a->payload.llValue : a->payload.iValue;
        return;
    case NVTX_PAYLOAD_TYPE_DOUBLE:
    case NVTX_PAYLOAD_TYPE_FLOAT:
        r->payloadKind = CUPTI_METRIC_VALUE_KIND_DOUBLE;
        r->payload.metricValueDouble = a->payloadType == NVTX_PAYLOAD_TYPE_DOUBLE
                                           ? a->payload.dValue
                                           : (double)a->payload.fValue;
        return;
    default: return;
    }
}

static void put_data(uint32_t id, const nvtxEventAttributes_t *a, nvtxDomainHandle_t domain)
{
    if (!vs_cupti_enabled(CUPTI_ACTIVITY_KIND_MARKER) ||
        !vs_cupti_enabled(CUPTI_ACTIVITY_KIND_MARKER_DATA))
        return;
    bool colored = a->colorType == NVTX_COLOR_ARGB;
    CUpti_ActivityMarkerData2 r = {.kind = CUPTI_ACTIVITY_KIND_MARKER_DATA,
                                   .flags = colored ? CUPTI_ACTIVITY_FLAG_MARKER_COLOR_ARGB
                                                    : CUPTI_ACTIVITY_FLAG_MARKER_COLOR_NONE,
                                   .id = id,
                                   .color = colored ? a->color : 0,
                                   .category = a->category,
                                   .cuptiDomainId = domain ? domain_of(domain)->id : 0};
    fill_payload(&r, a);
    vs_cupti_put(&r);
}

/* Records a marker or the start of a range. *a* may be NULL: then there is only the text. */
static uint32_t begin(CUpti_ActivityFlag flags, nvtxDomainHandle_t domain, const char *text,
                      const nvtxEventAttributes_t *a)
{
    uint32_t id = atomic_fetch_add(&next_id, 1);
    put_marker(flags, id, a ? keep_message(a->messageType, a->message) : text, domain);
    if (a)
        put_data(id, a, domain);
    return id;
}

/* ---- a thread's open ranges ---- */

struct open_ranges {
    unsigned count, max;
    struct {
        nvtxDomainHandle_t domain;
        uint32_t id;
    } range[];
};

static pthread_once_t key_once = PTHREAD_ONCE_INIT;
static pthread_key_t key;
static void make_key(void) { pthread_key_create(&key, free); }

/* Makes room for one more; NULL without host memory. */
static struct open_ranges *open_ranges(void)
{
    pthread_once(&key_once, make_key);
    struct open_ranges *o = pthread_getspecific(key);
    if (o && o->count < o->max)
        return o;
    unsigned max = o ? 2 * o->max : 32;
    struct open_ranges *larger = realloc(o, sizeof *o + max * sizeof o->range[0]);
    if (!larger)
        return NULL;
    if (!o)
        larger->count = 0;
    larger->max = max;
    pthread_setspecific(key, larger);
    return larger;
}

static int depth_of(const struct open_ranges *o, nvtxDomainHandle_t domain)
{
    int depth = 0;
    for (unsigned i = 0; i < o->count; i++)
        depth += o->range[i].domain == domain;
    return depth;
}

static int push(nvtxDomainHandle_t domain, const char *text, const nvtxEventAttributes_t *a)
{
    struct open_ranges *o = open_ranges();
    if (!o)
        return -1;
    int level = depth_of(o, domain);
    o->range[o->count].domain = domain;
    o->range[o->count].id = begin(CUPTI_ACTIVITY_FLAG_MARKER_START, domain, text, a);
    o->count++;
    return level;
}

static int pop(nvtxDomainHandle_t domain)
{
    struct open_ranges *o = open_ranges();
    unsigned i = o ? o->count : 0;
    while (i && o->range[i - 1].domain != domain)
        i--;
    if (!i)
        return -1; /* no range is open */
    uint32_t id = o->range[i - 1].id;
    memmove(&o->range[i - 1], &o->range[i], (o->count - i) * sizeof o->range[0]);
    o->count--;
    put_marker(CUPTI_ACTIVITY_FLAG_MARKER_END, id, NULL, domain);
    return depth_of(o, domain);
}

/* ---- the functions of module CORE ---- */

#define INSTANT CUPTI_ACTIVITY_FLAG_MARKER_INSTANTANEOUS
#define START CUPTI_ACTIVITY_FLAG_MARKER_START

static void mark_ex(const nvtxEventAttributes_t *a) { begin(INSTANT, NULL, NULL, a); }
static void mark_a(const char *text) { begin(INSTANT, NULL, keep(text), NULL); }
static void mark_w(const wchar_t *text) { begin(INSTANT, NULL, keep_wide(text), NULL); }
static nvtxRangeId_t start_ex(const nvtxEventAttributes_t *a)
{
    return begin(START, NULL, NULL, a);
}
static nvtxRangeId_t start_a(const char *text) { return begin(START, NULL, keep(text), NULL); }
static nvtxRangeId_t start_w(const wchar_t *text)
{
    return begin(START, NULL, keep_wide(text), NULL);
}
static void end(nvtxRangeId_t id)
{
    put_marker(CUPTI_ACTIVITY_FLAG_MARKER_END, (uint32_t)id, NULL, NULL);
}
static int push_ex(const nvtxEventAttributes_t *a) { return push(NULL, NULL, a); }
static int push_a(const char *text) { return push(NULL, keep(text), NULL); }
static int push_w(const wchar_t *text) { return push(NULL, keep_wide(text), NULL); }
static int pop_default(void) { return pop(NULL); }

/* ---- names ---- */

static void put_name(CUpti_ActivityObjectKind kind, CUpti_ActivityObjectKindId id, const char *name)
{
    CUpti_ActivityName r = {
        .kind = CUPTI_ACTIVITY_KIND_NAME, .objectKind = kind, .objectId = id, .name = name};
    if (vs_cupti_enabled(CUPTI_ACTIVITY_KIND_NAME))
        vs_cupti_put(&r);
}

static void name_thread(uint32_t thread, const char *name)
{
    put_name(
        CUPTI_ACTIVITY_OBJECT_THREAD,
        (CUpti_ActivityObjectKindId){.pt = {.processId = (uint32_t)getpid(), .threadId = thread}},
        name);
}

static void name_device(int device, const char *name)
{
    put_name(CUPTI_ACTIVITY_OBJECT_DEVICE,
             (CUpti_ActivityObjectKindId){.dcs = {.deviceId = (uint32_t)device}}, name);
}

/* *stream* NULL: names the context itself. Invalid handles are ignored. */
static void name_in_context(CUcontext context, CUstream stream, bool is_stream, const char *name)
{
    struct vs_sim_identity id;
    if (!vs_cupti_attach() || vs_cupti_identify(context, stream, 0, &id) != CUDA_SUCCESS)
        return;
    CUpti_ActivityObjectKindId object = {
        .dcs = {.deviceId = id.device, .contextId = id.context, .streamId = id.stream}};
    if (!is_stream)
        object.dcs.streamId = 0;
    put_name(is_stream ? CUPTI_ACTIVITY_OBJECT_STREAM : CUPTI_ACTIVITY_OBJECT_CONTEXT, object,
             name);
}

static void name_thread_a(uint32_t thread, const char *name) { name_thread(thread, keep(name)); }
static void name_thread_w(uint32_t thread, const wchar_t *name)
{
    name_thread(thread, keep_wide(name));
}
static void name_device_a(int device, const char *name) { name_device(device, keep(name)); }
static void name_device_w(int device, const wchar_t *name) { name_device(device, keep_wide(name)); }
static void name_context_a(void *context, const char *name)
{
    name_in_context(context, CU_STREAM_LEGACY, false, keep(name));
}
static void name_context_w(void *context, const wchar_t *name)
{
    name_in_context(context, CU_STREAM_LEGACY, false, keep_wide(name));
}
static void name_stream_a(void *stream, const char *name)
{
    name_in_context(NULL, stream, true, keep(name));
}
static void name_stream_w(void *stream, const wchar_t *name)
{
    name_in_context(NULL, stream, true, keep_wide(name));
}

/* ---- module CORE2 ---- */

static void domain_mark(nvtxDomainHandle_t d, const nvtxEventAttributes_t *a)
{
    begin(INSTANT, d, NULL, a);
}
static nvtxRangeId_t domain_start(nvtxDomainHandle_t d, const nvtxEventAttributes_t *a)
{
    return begin(START, d, NULL, a);
}
static void domain_end(nvtxDomainHandle_t d, nvtxRangeId_t id)
{
    put_marker(CUPTI_ACTIVITY_FLAG_MARKER_END, (uint32_t)id, NULL, d);
}
static int domain_push(nvtxDomainHandle_t d, const nvtxEventAttributes_t *a)
{
    return push(d, NULL, a);
}
static int domain_pop(nvtxDomainHandle_t d) { return pop(d); }
static nvtxStringHandle_t domain_string_a(nvtxDomainHandle_t d, const char *text)
{
    return (nvtxStringHandle_t)keep(text);
}
static nvtxStringHandle_t domain_string_w(nvtxDomainHandle_t d, const wchar_t *text)
{
    return (nvtxStringHandle_t)keep_wide(text);
}
static nvtxDomainHandle_t domain_create_a(const char *name) { return domain_named(keep(name)); }
static nvtxDomainHandle_t domain_create_w(const wchar_t *name)
{
    return domain_named(keep_wide(name));
}

/* ---- module SYNC: events of a program's own locks ---- */

struct lock {
    nvtxDomainHandle_t domain;
    const char *name;
    uint32_t id;
};

static nvtxSyncUser_t lock_create(nvtxDomainHandle_t domain, const nvtxSyncUserAttributes_t *a)
{
    struct lock *l = malloc(sizeof *l);
    if (l)
        *l = (struct lock){domain, a ? keep_message(a->messageType, a->message) : NULL,
                           atomic_fetch_add(&next_id, 1)};
    return (nvtxSyncUser_t)l;
}

static void lock_note(nvtxSyncUser_t handle, CUpti_ActivityFlag flag)
{
    const struct lock *l = (const struct lock *)handle;
    if (l)
        put_marker(flag, l->id, l->name, l->domain);
}

static void lock_destroy(nvtxSyncUser_t handle) { free(handle); }
static void lock_acquire(nvtxSyncUser_t l)
{
    lock_note(l, CUPTI_ACTIVITY_FLAG_MARKER_SYNC_ACQUIRE);
}
static void lock_failed(nvtxSyncUser_t l)
{
    lock_note(l, CUPTI_ACTIVITY_FLAG_MARKER_SYNC_ACQUIRE_FAILED);
}
static void lock_acquired(nvtxSyncUser_t l)
{
    lock_note(l, CUPTI_ACTIVITY_FLAG_MARKER_SYNC_ACQUIRE_SUCCESS);
}
static void lock_release(nvtxSyncUser_t l)
{
    lock_note(l, CUPTI_ACTIVITY_FLAG_MARKER_SYNC_RELEASE);
}

/* ---- attaching ---- */

static const struct {
    NvtxCallbackModule module;
    unsigned id;
    NvtxFunctionPointer function;
} functions[] = {
#define F(module, id, function)                                                                    \
    {                                                                                              \
        NVTX_CB_MODULE_##module, NVTX_CBID_##module##_##id, (NvtxFunctionPointer)function          \
    }
    F(CORE, MarkEx, mark_ex),
    F(CORE, MarkA, mark_a),
    F(CORE, MarkW, mark_w),
    F(CORE, RangeStartEx, start_ex),
    F(CORE, RangeStartA, start_a),
    F(CORE, RangeStartW, start_w),
    F(CORE, RangeEnd, end),
    F(CORE, RangePushEx, push_ex),
    F(CORE, RangePushA, push_a),
    F(CORE, RangePushW, push_w),
    F(CORE, RangePop, pop_default),
    F(CORE, NameOsThreadA, name_thread_a),
    F(CORE, NameOsThreadW, name_thread_w),
    F(CORE2, DomainMarkEx, domain_mark),
    F(CORE2, DomainRangeStartEx, domain_start),
    F(CORE2, DomainRangeEnd, domain_end),
    F(CORE2, DomainRangePushEx, domain_push),
    F(CORE2, DomainRangePop, domain_pop),
    F(CORE2, DomainRegisterStringA, domain_string_a),
    F(CORE2, DomainRegisterStringW, domain_string_w),
    F(CORE2, DomainCreateA, domain_create_a),
    F(CORE2, DomainCreateW, domain_create_w),
    F(CUDA, NameCuDeviceA, name_device_a),
    F(CUDA, NameCuDeviceW, name_device_w),
    F(CUDA, NameCuContextA, name_context_a),
    F(CUDA, NameCuContextW, name_context_w),
    F(CUDA, NameCuStreamA, name_stream_a),
    F(CUDA, NameCuStreamW, name_stream_w),
    F(CUDART, NameCudaDeviceA, name_device_a),
    F(CUDART, NameCudaDeviceW, name_device_w),
    F(CUDART, NameCudaStreamA, name_stream_a),
    F(CUDART, NameCudaStreamW, name_stream_w),
    F(SYNC, DomainSyncUserCreate, lock_create),
    F(SYNC, DomainSyncUserDestroy, lock_destroy),
    F(SYNC, DomainSyncUserAcquireStart, lock_acquire),
    F(SYNC, DomainSyncUserAcquireFailed, lock_failed),
    F(SYNC, DomainSyncUserAcquireSuccess, lock_acquired),
    F(SYNC, DomainSyncUserReleasing, lock_release),
#undef F
};

__attribute__((visibility("default"))) int InitializeInjectionNvtx2(NvtxGetExportTableFunc_t table);

/* InitializeInjectionNvtx2: the entry point of nvtxInit.h. Returns 1, or 0 if *table* has no
 * functions to replace. Each copy of NVTX in a process calls it once. */
int InitializeInjectionNvtx2(NvtxGetExportTableFunc_t table)
{
    const NvtxExportTableCallbacks *callbacks = table ? table(NVTX_ETID_CALLBACKS) : NULL;
    if (!callbacks || callbacks->struct_size < sizeof *callbacks ||
        !callbacks->GetModuleFunctionTable)
        return 0;
    for (size_t i = 0; i < sizeof functions / sizeof functions[0]; i++) {
        NvtxFunctionTable slots = NULL;
        unsigned count = 0;
        if (callbacks->GetModuleFunctionTable(functions[i].module, &slots, &count) && slots &&
            functions[i].id < count)
            *slots[functions[i].id] = functions[i].function;
    }
    return 1;
}
