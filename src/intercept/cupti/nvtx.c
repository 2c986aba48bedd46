/* SPDX-License-Identifier: Apache-2.0
 *
 * The NVTX injection. NVTX requests our functions once per object that uses it and then calls them
 * directly. Ranges never start a recording: a process without CUDA leaves no file. */
#include "intercept/cupti/nvtx.h"

#include <cuda.h>
#include <nvtx3/nvToolsExt.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/vs_arena.h"
#include "base/vs_clock.h"
#include "base/vs_option.h"
#include "intercept/cupti/automatic_steps.h"
#include "intercept/cupti/kernel_switch.h"
#include "intercept/cupti/nvtx_pending.h"
#include "intercept/process/process.h"
#include "intercept/route/hook.h"
#include "intercept/route/loaded.h"
#include "intercept/track/context.h"

#define NAME_MAX_BYTES 64
#define DOMAINS_MAX 256
#define STRINGS_MAX 4096

static _Thread_local int push_depth; /* the return value for NVTX: the range's level */

static _Atomic uint64_t range_count;

/* Handles are indices + 1 into these tables; entries are written before the handle is returned. */
static char domain_names[DOMAINS_MAX][NAME_MAX_BYTES];
static _Atomic unsigned domain_count;
static char registered[STRINGS_MAX][128];
static const char *registered_long[STRINGS_MAX]; /* those that are longer, never freed; NULL: not */
static _Atomic unsigned registered_count;

static bool recording(void)
{
    return !vs_thread.inside && vs_process_records() && vs_process_options()->number[VS_OPT_nvtx];
}

static const char *domain_name(nvtxDomainHandle_t domain)
{
    uintptr_t i = (uintptr_t)domain;
    return i && i <= DOMAINS_MAX ? domain_names[i - 1] : "";
}

static const char *wide_text(const wchar_t *wide, char *buffer, size_t bytes)
{
    snprintf(buffer, bytes, "%ls", wide ? wide : L"");
    return buffer;
}

static const char *message_text(const nvtxEventAttributes_t *e, char *buffer, size_t bytes)
{
    if (!e)
        return "";
    uintptr_t i;
    switch (e->messageType) {
    case NVTX_MESSAGE_TYPE_ASCII:
        return e->message.ascii ? e->message.ascii : "";
    case NVTX_MESSAGE_TYPE_REGISTERED:
        i = (uintptr_t)e->message.registered;
        if (!i || i > STRINGS_MAX)
            return "";
        return registered_long[i - 1] ? registered_long[i - 1] : registered[i - 1];
    case NVTX_MESSAGE_TYPE_UNICODE:
        return wide_text(e->message.unicode, buffer, bytes);
    default:
        return "";
    }
}

/* Before the recording: the range is stored, to be written to it later, unless that has just been
 * done. */
static bool waiting(void)
{
    return vs_process_state() == VS_PROCESS_IDLE && !vs_thread.inside;
}

/* How the program wants a range or mark to be shown. */
struct nvtx_look {
    uint64_t colour, payload_kind, payload;
};

static struct nvtx_look look_of(const nvtxEventAttributes_t *e)
{
    static const uint8_t kinds[] = {
        [NVTX_PAYLOAD_TYPE_UNSIGNED_INT64] = VS_PAYLOAD_UNSIGNED, [NVTX_PAYLOAD_TYPE_UNSIGNED_INT32] = VS_PAYLOAD_UNSIGNED,
        [NVTX_PAYLOAD_TYPE_INT64] = VS_PAYLOAD_SIGNED,            [NVTX_PAYLOAD_TYPE_INT32] = VS_PAYLOAD_SIGNED,
        [NVTX_PAYLOAD_TYPE_DOUBLE] = VS_PAYLOAD_DOUBLE,           [NVTX_PAYLOAD_TYPE_FLOAT] = VS_PAYLOAD_DOUBLE};
    struct nvtx_look look = {.colour = e && e->colorType == NVTX_COLOR_ARGB ? e->color : 0};
    uint32_t type = e ? (uint32_t)e->payloadType : 0;
    if (type >= sizeof kinds || !kinds[type])
        return look;
    double real = type == NVTX_PAYLOAD_TYPE_FLOAT ? (double)e->payload.fValue : 0;
    look.payload_kind = kinds[type];
    look.payload = type == NVTX_PAYLOAD_TYPE_UNSIGNED_INT32 ? e->payload.uiValue
                   : type == NVTX_PAYLOAD_TYPE_INT32        ? (uint64_t)(int64_t)e->payload.iValue
                                                            : e->payload.ullValue; /* also a double's bits */
    if (type == NVTX_PAYLOAD_TYPE_FLOAT)
        memcpy(&look.payload, &real, sizeof real);
    return look;
}

#define NAMED(name_, domain_, look) \
    .name = vs_process_string(name_), .domain = vs_process_string(domain_), .colour = (look).colour, \
    .payload_kind = (look).payload_kind, .payload = (look).payload

static void push_in(const char *name, const char *domain, const nvtxEventAttributes_t *attributes)
{
    if (!recording() && !(waiting() && !vs_nvtx_pending_begin(0, name, domain)))
        return;
    struct nvtx_look look = look_of(attributes);
    vs_switch_pushed(name, domain);
    VS_RECORD(range_push, NAMED(name, domain, look));
}

void vs_nvtx_push_in(const char *name, const char *domain)
{
    push_in(name, domain, NULL);
}

static void record_pop(const char *domain)
{
    VS_RECORD(range_pop, .domain = vs_process_string(domain));
    vs_switch_popped(domain);
}

void vs_nvtx_pop_in(const char *domain)
{
    if (recording() || (waiting() && !vs_nvtx_pending_end(0, domain)))
        record_pop(domain);
}

static int push(const char *name, nvtxDomainHandle_t domain, const nvtxEventAttributes_t *attributes)
{
    push_in(name, domain_name(domain), attributes);
    return push_depth++;
}

static int pop(nvtxDomainHandle_t domain)
{
    vs_nvtx_pop_in(domain_name(domain));
    return push_depth > 0 ? --push_depth : -1;
}

static nvtxRangeId_t start(const char *name, nvtxDomainHandle_t domain, const nvtxEventAttributes_t *attributes)
{
    struct nvtx_look look = look_of(attributes);
    uint64_t id = atomic_fetch_add_explicit(&range_count, 1, memory_order_relaxed) + 1;
    if (recording() || (waiting() && !vs_nvtx_pending_begin(id, name, domain_name(domain)))) {
        VS_RECORD(range_start, .range = id, NAMED(name, domain_name(domain), look));
    }
    return id;
}

static void mark_in(const char *name, const char *domain, const nvtxEventAttributes_t *attributes)
{
    if (!recording())
        return;
    struct nvtx_look look = look_of(attributes);
    VS_RECORD(mark, NAMED(name, domain, look));
}

void vs_nvtx_mark_in(const char *name, const char *domain)
{
    mark_in(name, domain, NULL);
}

void vs_nvtx_push(const char *name)
{
    vs_automatic_give_way(strncmp(name, VS_TEST_PREFIX, strlen(VS_TEST_PREFIX)) == 0);
    push(name, NULL, NULL);
}

void vs_nvtx_pop(void)
{
    vs_automatic_range_ends();
    pop(NULL);
}

#define STEP_DOMAIN "vramscope.step"

static _Thread_local bool step_open;

void vs_nvtx_step_end(void)
{
    if (step_open)
        vs_nvtx_pop_in(STEP_DOMAIN);
    step_open = false;
}

void vs_nvtx_step(uint64_t number)
{
    char name[32];
    vs_automatic_give_way(false);
    vs_nvtx_step_end();
    snprintf(name, sizeof name, "step %llu", (unsigned long long)number);
    vs_nvtx_push_in(name, STEP_DOMAIN);
    step_open = true;
}

void vs_nvtx_annotate(const char *name)
{
    if (vs_thread.annotated)
        vs_nvtx_pop_in(VS_ANNOTATION_DOMAIN);
    vs_thread.annotated = 0;
    if (!name || !(recording() || waiting()))
        return;
    vs_nvtx_push_in(name, VS_ANNOTATION_DOMAIN);
    vs_thread.annotated =
        vs_loaded_find("libc10_cuda.so", NULL) ? VS_ANNOTATED_TENSOR : VS_ANNOTATED_DEVICE;
}

/* A name given before the first CUDA call has no range when the options turn ranges off. */
void vs_nvtx_end_annotation(void)
{
    vs_thread.annotated = 0;
    if (vs_process_options()->number[VS_OPT_nvtx])
        record_pop(VS_ANNOTATION_DOMAIN);
}

static void end(nvtxRangeId_t id)
{
    if (!recording() && !(waiting() && !vs_nvtx_pending_end(id, NULL)))
        return;
    VS_RECORD(range_end, .range = id);
}

static nvtxDomainHandle_t create_domain(const char *name)
{
    unsigned i = atomic_fetch_add(&domain_count, 1);
    if (i >= DOMAINS_MAX)
        return NULL; /* shown in the default domain */
    snprintf(domain_names[i], NAME_MAX_BYTES, "%s", name ? name : "");
    return (nvtxDomainHandle_t)(uintptr_t)(i + 1);
}

static nvtxStringHandle_t register_text(const char *text)
{
    unsigned i = atomic_fetch_add(&registered_count, 1);
    if (i >= STRINGS_MAX)
        return NULL;
    size_t length = text ? strnlen(text, VS_NVTX_NAME_MAX) : 0;
    char *whole = length >= sizeof registered[i] ? vs_pages_map(length + 1) : NULL;
    if (whole)
        registered_long[i] = memcpy(whole, text, length);
    snprintf(registered[i], sizeof registered[i], "%s", text ? text : "");
    return (nvtxStringHandle_t)(uintptr_t)(i + 1);
}

static void name_thread(uint32_t tid, const char *name)
{
    if (!recording())
        return;
    VS_RECORD(thread, .tid = tid, .name = vs_process_string(name));
}

static void name_stream(void *stream, const char *name)
{
    if (!recording())
        return;
    VS_OWN_WORK();
    vs_stream_name(stream, name);
}

#define TEXT(a) message_text(a, (char[256]){""}, 256)
#define WIDE(w) wide_text(w, (char[256]){""}, 256)
#define PLAIN(t) ((t) ? (t) : "")
typedef const nvtxEventAttributes_t *look;

/* Functions of NVTX: their module and name, result, parameters, and what they do. */
#define FUNCTIONS(F)                                                                             \
    F(CORE, MarkEx, void, (look a), mark_in(TEXT(a), "", a))                                     \
    F(CORE, MarkA, void, (const char *t), mark_in(PLAIN(t), "", NULL))                           \
    F(CORE, MarkW, void, (const wchar_t *w), mark_in(WIDE(w), "", NULL))                         \
    F(CORE, RangeStartEx, nvtxRangeId_t, (look a), start(TEXT(a), NULL, a))                      \
    F(CORE, RangeStartA, nvtxRangeId_t, (const char *t), start(PLAIN(t), NULL, NULL))            \
    F(CORE, RangeStartW, nvtxRangeId_t, (const wchar_t *w), start(WIDE(w), NULL, NULL))          \
    F(CORE, RangeEnd, void, (nvtxRangeId_t id), end(id))                                         \
    F(CORE, RangePushEx, int, (look a), push(TEXT(a), NULL, a))                                  \
    F(CORE, RangePushA, int, (const char *t), push(PLAIN(t), NULL, NULL))                        \
    F(CORE, RangePushW, int, (const wchar_t *w), push(WIDE(w), NULL, NULL))                      \
    F(CORE, RangePop, int, (void), pop(NULL))                                                    \
    F(CORE, NameOsThreadA, void, (uint32_t tid, const char *t), name_thread(tid, t))             \
    F(CUDA, NameCuStreamA, void, (void *stream, const char *t), name_stream(stream, t))          \
    F(CUDART, NameCudaStreamA, void, (void *stream, const char *t), name_stream(stream, t))      \
    F(CORE2, DomainMarkEx, void, (nvtxDomainHandle_t d, look a), mark_in(TEXT(a), domain_name(d), a)) \
    F(CORE2, DomainRangeStartEx, nvtxRangeId_t, (nvtxDomainHandle_t d, look a), start(TEXT(a), d, a)) \
    F(CORE2, DomainRangeEnd, void, (nvtxDomainHandle_t d, nvtxRangeId_t id), ((void)d, end(id)))     \
    F(CORE2, DomainRangePushEx, int, (nvtxDomainHandle_t d, look a), push(TEXT(a), d, a))        \
    F(CORE2, DomainRangePop, int, (nvtxDomainHandle_t d), pop(d))                                \
    F(CORE2, DomainRegisterStringA, nvtxStringHandle_t, (nvtxDomainHandle_t d, const char *t), \
      ((void)d, register_text(t)))                                                               \
    F(CORE2, DomainCreateA, nvtxDomainHandle_t, (const char *t), create_domain(t))

#define DEFINE(module, name, result, parameters, call) static result on_##name parameters { return call; }
FUNCTIONS(DEFINE)

static const struct {
    NvtxCallbackModule module;
    unsigned id;
    NvtxFunctionPointer fn;
} entries[] = {
#define ROW(module, name, result, parameters, call) \
    {NVTX_CB_MODULE_##module, NVTX_CBID_##module##_##name, (NvtxFunctionPointer)on_##name},
    FUNCTIONS(ROW)
};

VS_EXPORT int InitializeInjectionNvtx2(NvtxGetExportTableFunc_t get_table);
int InitializeInjectionNvtx2(NvtxGetExportTableFunc_t get_table)
{
    const NvtxExportTableCallbacks *callbacks = get_table(NVTX_ETID_CALLBACKS);
    if (!callbacks || callbacks->struct_size < sizeof *callbacks)
        return 0;
    for (size_t i = 0; i < sizeof entries / sizeof *entries; i++) {
        NvtxFunctionTable table = NULL;
        unsigned size = 0;
        if (callbacks->GetModuleFunctionTable(entries[i].module, &table, &size) &&
            entries[i].id < size && table && table[entries[i].id])
            *table[entries[i].id] = entries[i].fn;
    }
    return 1;
}

VS_EXPORT int InitializeInjectionNvtx2Preinject(NvtxGetExportTableFunc_t get_table)
    __attribute__((alias("InitializeInjectionNvtx2")));
