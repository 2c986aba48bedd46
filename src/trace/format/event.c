/* SPDX-License-Identifier: Apache-2.0
 *
 * The event table as data, for the recorder and the reader, and the names of the small enumerations
 * stored in a trace. */
#include "trace/format/event.h"

#include "trace/format/format.h"

#define F(field, codec) {#field, VS_CODEC_##codec},
#define VS_EVENT(code, name, properties, list) \
    static const struct vs_event_field fields_##name[] = {list};
#include "trace/format/event_table.h"
#undef VS_EVENT
#undef F

#define VS_EVENT(code, name, properties, list)                                                 \
    _Static_assert((code) > 0 && (code) < 64 && ((code) < VS_DEFINE_STRING ||                  \
                                                 (code) > VS_DEFINE_RESERVED),                 \
                   "code of " #name " is reserved");                                           \
    _Static_assert(sizeof fields_##name / sizeof fields_##name[0] <= VS_EVENT_FIELDS_MAX,      \
                   #name " has too many fields");
#include "trace/format/event_table.h"
#undef VS_EVENT

static const struct vs_event_info table[VS_EVENT_CODE_MAX + 1] = {
#define VS_EVENT(code, name, properties, list) \
    [code] = {#name, sizeof fields_##name / sizeof fields_##name[0], fields_##name},
#include "trace/format/event_table.h"
#undef VS_EVENT
};

const uint16_t vs_event_properties[VS_EVENT_CODE_MAX + 1] = {
#define P(property) VS_PROPERTY_##property |
#define VS_EVENT(code, name, properties, list) [code] = properties 0,
#include "trace/format/event_table.h"
#undef VS_EVENT
#undef P
};

uint64_t vs_event_kinds(unsigned properties)
{
    uint64_t kinds = 0;
    for (unsigned kind = 0; kind <= VS_EVENT_CODE_MAX; kind++)
        kinds |= vs_event_properties[kind] & properties ? UINT64_C(1) << kind : 0;
    return kinds;
}

const struct vs_event_info *vs_event_describe(uint32_t kind)
{
    if (kind > VS_EVENT_CODE_MAX || !table[kind].name)
        return NULL;
    return &table[kind];
}

const char *vs_family_name(uint64_t family)
{
    static const char *const names[VS_FAMILY_COUNT] = {
        [VS_FAMILY_DEVICE] = "device",   [VS_FAMILY_ASYNC] = "async",
        [VS_FAMILY_MANAGED] = "managed", [VS_FAMILY_PINNED] = "pinned",
        [VS_FAMILY_ARRAY] = "array",     [VS_FAMILY_VMM] = "vmm",
        [VS_FAMILY_IPC] = "ipc",         [VS_FAMILY_GRAPH] = "graph",
        [VS_FAMILY_REGISTERED] = "registered",
    };
    return family < VS_FAMILY_COUNT ? names[family] : "other";
}

struct vs_change vs_event_change(const struct vs_event_unrecorded *u)
{
    return (struct vs_change){.level = (enum vs_level)u->level,
                              .family = (enum vs_family)u->family,
                              .device = (uint32_t)u->device,
                              .summed = true,
                              .allocs = u->allocs,
                              .requested = u->requested,
                              .size = u->size,
                              .frees = u->frees,
                              .freed_requested = u->freed_requested,
                              .freed_size = u->freed_size,
                              .reserved = (int64_t)u->reserved};
}

struct vs_levels vs_event_height(const struct vs_event_unrecorded *u, const struct vs_levels *now)
{
    struct vs_levels height = {.allocated = 0};
    if (u->family_peak)
        height.family[u->family] = now->family[u->family] + u->family_peak;
    if (u->peak_allocated || u->peak_requested || u->peak_reserved) {
        height.allocated = now->allocated + u->peak_allocated;
        height.requested = now->requested + u->peak_requested;
        height.reserved = now->reserved + u->peak_reserved;
    }
    return height;
}

const char *vs_copy_kind_name(uint64_t kind)
{
    static const char *const names[VS_COPY_KIND_COUNT] = {
        [VS_COPY_UNKNOWN] = "unknown", [VS_COPY_HTOD] = "HtoD", [VS_COPY_DTOH] = "DtoH",
        [VS_COPY_HTOA] = "HtoA",       [VS_COPY_ATOH] = "AtoH", [VS_COPY_ATOA] = "AtoA",
        [VS_COPY_ATOD] = "AtoD",       [VS_COPY_DTOA] = "DtoA", [VS_COPY_DTOD] = "DtoD",
        [VS_COPY_HTOH] = "HtoH",       [VS_COPY_PTOP] = "PtoP",
    };
    return kind < VS_COPY_KIND_COUNT ? names[kind] : "other";
}

const char *vs_memory_kind_name(uint64_t kind)
{
    static const char *const names[VS_MEMORY_KIND_COUNT] = {
        "unknown", "pageable", "pinned", "device", "array", "managed", "static", "managed static",
    };
    return names[kind < VS_MEMORY_KIND_COUNT ? kind : VS_MEMORY_UNKNOWN];
}

const char *vs_cupti_overhead_name(uint64_t kind)
{
    static const char *const names[] = {
        "", "flush of records", "instrumentation", "resources", "loading of modules",
        "loading of functions", "full command buffer", "request of a buffer",
        "start of managed memory's records",
    };
    if (kind == 1)
        return "compiler";
    return kind >> 16 && kind >> 16 < sizeof names / sizeof *names ? names[kind >> 16] : "other";
}
