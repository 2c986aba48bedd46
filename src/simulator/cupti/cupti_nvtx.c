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
#include "simulator/driver/vs_sim_host.h"

/* ---- texts ---- */

#define BUCKETS 1024

struct cupti_nvtx_text {
    struct cupti_nvtx_text *next;
    char bytes[];
};

static pthread_mutex_t mu = PTHREAD_MUTEX_INITIALIZER;
static struct cupti_nvtx_text *texts[BUCKETS]; /* guarded by mu */

/* The single copy of this string. NULL stays NULL. */
static const char *keep(const char *bytes)
{
    if (!bytes)
        return NULL;
    unsigned hash = 2166136261u; /* FNV-1a */
    for (const char *c = bytes; *c; c++)
        hash = (hash ^ (unsigned char)*c) * 16777619u;
    struct cupti_nvtx_text **bucket = &texts[hash % BUCKETS], *t;
    pthread_mutex_lock(&mu);
    for (t = *bucket; t && strcmp(t->bytes, bytes) != 0;)
        t = t->next;
    size_t size = strlen(bytes) + 1;
    if (!t) {
        t = vs_sim_need(malloc(sizeof *t + size));
        memcpy(t->bytes, bytes, size);
        t->next = *bucket;
        *bucket = t;
    }
    pthread_mutex_unlock(&mu);
    return t->bytes;
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
    char *bytes = vs_sim_need(malloc(4 * wcslen(wide) + 1)), *end = bytes;
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
    if (!d) {
        d = vs_sim_need(malloc(sizeof *d));
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

/* Makes room for one more. */
static struct open_ranges *open_ranges(void)
{
    pthread_once(&key_once, make_key);
    struct open_ranges *o = pthread_getspecific(key);
    if (o && o->count < o->max)
        return o;
    unsigned max = o ? 2 * o->max : 32;
    struct open_ranges *larger = vs_sim_need(realloc(o, sizeof *o + max * sizeof o->range[0]));
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
    int level = depth_of(o, domain);
    o->range[o->count].domain = domain;
    o->range[o->count].id = begin(CUPTI_ACTIVITY_FLAG_MARKER_START, domain, text, a);
    o->count++;
    return level;
}

static int pop(nvtxDomainHandle_t domain)
{
    struct open_ranges *o = open_ranges();
    unsigned i = o->count;
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

/* ---- module SYNC: events of a program's own locks ---- */

struct lock {
    nvtxDomainHandle_t domain;
    const char *name;
    uint32_t id;
};

static nvtxSyncUser_t lock_create(nvtxDomainHandle_t domain, const nvtxSyncUserAttributes_t *a)
{
    struct lock l = {domain, a ? keep_message(a->messageType, a->message) : NULL,
                     atomic_fetch_add(&next_id, 1)};
    return (nvtxSyncUser_t)vs_sim_dup(&l, sizeof l);
}

static void lock_note(nvtxSyncUser_t handle, CUpti_ActivityFlag flag)
{
    const struct lock *l = (const struct lock *)handle;
    if (l)
        put_marker(flag, l->id, l->name, l->domain);
}

/* ---- attaching ---- */

#define INSTANT CUPTI_ACTIVITY_FLAG_MARKER_INSTANTANEOUS
#define START CUPTI_ACTIVITY_FLAG_MARKER_START
#define END CUPTI_ACTIVITY_FLAG_MARKER_END
#define SYNC(what) CUPTI_ACTIVITY_FLAG_MARKER_SYNC_##what

/* A row is a function of NVTX that is one call: its module and name, its result, its parameters,
 * the call. */
#define FUNCTIONS(F)                                                                               \
    F(CORE, MarkEx, uint32_t, (const nvtxEventAttributes_t *a), begin(INSTANT, NULL, NULL, a))     \
    F(CORE, MarkA, uint32_t, (const char *text), begin(INSTANT, NULL, keep(text), NULL))           \
    F(CORE, MarkW, uint32_t, (const wchar_t *text), begin(INSTANT, NULL, keep_wide(text), NULL))   \
    F(CORE, RangeStartEx, nvtxRangeId_t, (const nvtxEventAttributes_t *a),                         \
      begin(START, NULL, NULL, a))                                                                 \
    F(CORE, RangeStartA, nvtxRangeId_t, (const char *text), begin(START, NULL, keep(text), NULL))  \
    F(CORE, RangeStartW, nvtxRangeId_t, (const wchar_t *text),                                     \
      begin(START, NULL, keep_wide(text), NULL))                                                   \
    F(CORE, RangeEnd, void, (nvtxRangeId_t id), put_marker(END, (uint32_t)id, NULL, NULL))         \
    F(CORE, RangePushEx, int, (const nvtxEventAttributes_t *a), push(NULL, NULL, a))               \
    F(CORE, RangePushA, int, (const char *text), push(NULL, keep(text), NULL))                     \
    F(CORE, RangePushW, int, (const wchar_t *text), push(NULL, keep_wide(text), NULL))             \
    F(CORE, RangePop, int, (void), pop(NULL))                                                      \
    F(CORE, NameOsThreadA, void, (uint32_t t, const char *name), name_thread(t, keep(name)))       \
    F(CORE, NameOsThreadW, void, (uint32_t t, const wchar_t *name),                                \
      name_thread(t, keep_wide(name)))                                                             \
    F(CORE2, DomainMarkEx, uint32_t, (nvtxDomainHandle_t d, const nvtxEventAttributes_t *a),       \
      begin(INSTANT, d, NULL, a))                                                                  \
    F(CORE2, DomainRangeStartEx, nvtxRangeId_t,                                                    \
      (nvtxDomainHandle_t d, const nvtxEventAttributes_t *a), begin(START, d, NULL, a))            \
    F(CORE2, DomainRangeEnd, void, (nvtxDomainHandle_t d, nvtxRangeId_t id),                       \
      put_marker(END, (uint32_t)id, NULL, d))                                                      \
    F(CORE2, DomainRangePushEx, int, (nvtxDomainHandle_t d, const nvtxEventAttributes_t *a),       \
      push(d, NULL, a))                                                                            \
    F(CORE2, DomainRangePop, int, (nvtxDomainHandle_t d), pop(d))                                  \
    F(CORE2, DomainRegisterStringA, const void *, (nvtxDomainHandle_t d, const char *text),        \
      keep(text))                                                                                  \
    F(CORE2, DomainRegisterStringW, const void *, (nvtxDomainHandle_t d, const wchar_t *text),     \
      keep_wide(text))                                                                             \
    F(CORE2, DomainCreateA, nvtxDomainHandle_t, (const char *name), domain_named(keep(name)))      \
    F(CORE2, DomainCreateW, nvtxDomainHandle_t, (const wchar_t *name),                             \
      domain_named(keep_wide(name)))                                                               \
    F(CUDA, NameCuDeviceA, void, (int device, const char *name), name_device(device, keep(name)))  \
    F(CUDA, NameCuDeviceW, void, (int device, const wchar_t *name),                                \
      name_device(device, keep_wide(name)))                                                        \
    F(CUDA, NameCuContextA, void, (CUcontext c, const char *name),                                 \
      name_in_context(c, CU_STREAM_LEGACY, false, keep(name)))                                     \
    F(CUDA, NameCuContextW, void, (CUcontext c, const wchar_t *name),                              \
      name_in_context(c, CU_STREAM_LEGACY, false, keep_wide(name)))                                \
    F(CUDA, NameCuStreamA, void, (CUstream s, const char *name),                                   \
      name_in_context(NULL, s, true, keep(name)))                                                  \
    F(CUDA, NameCuStreamW, void, (CUstream s, const wchar_t *name),                                \
      name_in_context(NULL, s, true, keep_wide(name)))                                             \
    F(SYNC, DomainSyncUserAcquireStart, void, (nvtxSyncUser_t l), lock_note(l, SYNC(ACQUIRE)))     \
    F(SYNC, DomainSyncUserAcquireFailed, void, (nvtxSyncUser_t l),                                 \
      lock_note(l, SYNC(ACQUIRE_FAILED)))                                                          \
    F(SYNC, DomainSyncUserAcquireSuccess, void, (nvtxSyncUser_t l),                                \
      lock_note(l, SYNC(ACQUIRE_SUCCESS)))                                                         \
    F(SYNC, DomainSyncUserReleasing, void, (nvtxSyncUser_t l), lock_note(l, SYNC(RELEASE)))        \
    F(SYNC, DomainSyncUserDestroy, void, (nvtxSyncUser_t l), free(l))

#define DEFINE(module, id, result, params, call)                                                   \
    static result on_##id params { return call; }
FUNCTIONS(DEFINE)

static const struct {
    NvtxCallbackModule module;
    unsigned id;
    NvtxFunctionPointer function;
} functions[] = {
#define SLOT(module, id, function)                                                                 \
    {NVTX_CB_MODULE_##module, NVTX_CBID_##module##_##id, (NvtxFunctionPointer)function},
#define ROW(module, id, result, params, call) SLOT(module, id, on_##id)
    FUNCTIONS(ROW)
    SLOT(CUDART, NameCudaDeviceA, on_NameCuDeviceA) SLOT(CUDART, NameCudaDeviceW, on_NameCuDeviceW)
    SLOT(CUDART, NameCudaStreamA, on_NameCuStreamA) SLOT(CUDART, NameCudaStreamW, on_NameCuStreamW)
    SLOT(SYNC, DomainSyncUserCreate, lock_create)
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
