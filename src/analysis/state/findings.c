/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/state/findings.h"

#include <stdio.h>

static bool same_kind(const struct vs_event_finding *a, const struct vs_event_finding *b)
{
    return a->what == b->what && a->error == b->error && a->stack == b->stack && a->api == b->api &&
           (a->what == VS_FINDING_FAILED_FREE || a->what >= VS_FINDING_HIDDEN_FAILURE ||
            (a->earlier_stack == b->earlier_stack && a->text == b->text));
}

void vs_findings_add(struct vs_finding_groups *groups, const struct vs_event *event, uint64_t number)
{
    const struct vs_event_finding *finding = &event->finding;
    size_t i = 0;
    if (finding->what >= VS_FINDING_COUNT)
        return; /* of a later version */
    while (i < groups->count && !same_kind(&groups->items[i].first, finding))
        i++;
    if (i == VS_FINDINGS_MAX) {
        groups->left_out++;
        return;
    }
    struct vs_finding_group *group = &groups->items[i];
    if (i == groups->count) {
        groups->count++;
        *group = (struct vs_finding_group){.first = *finding, .event = number, .addrs = 1,
                                           .first_ns = event->time_ns, .tid = event->tid};
    }
    group->count++;
    group->last_ns = event->time_ns;
    if (group->first.addr != finding->addr)
        group->addrs = 2;
}

static bool is_open(const struct vs_finding_group *group, uint64_t number)
{
    return group->first.what == VS_FINDING_FAILED_FREE && number < group->event;
}

static void see(struct vs_finding_group *group, const struct vs_event *event)
{
    uint64_t addr = group->first.addr;
    if (event->kind == VS_EVENT_alloc) {
        uint64_t begin = event->alloc.addr;
        if (addr != begin && (addr < begin || addr - begin >= event->alloc.size))
            return;
        group->freed = addr == begin ? VS_FREED_LIVE : VS_FREED_INSIDE;
        group->alloc = event->alloc;
        group->alloc_ns = event->time_ns;
    } else if (group->freed != VS_FREED_UNKNOWN && event->free.addr == group->alloc.addr) {
        /* of memory around it nothing is left */
        group->freed = group->freed == VS_FREED_INSIDE ? VS_FREED_UNKNOWN : VS_FREED_TWICE;
        group->freed_ns = event->time_ns;
        group->freed_api = event->free.api;
    }
}

void vs_findings_explain(struct vs_finding_groups *groups, struct vs_reader *reader)
{
    struct vs_event event;
    uint64_t last = 0;
    for (size_t i = 0; i < groups->count; i++)
        if (groups->items[i].first.what == VS_FINDING_FAILED_FREE)
            last = groups->items[i].event;
    if (last)
        vs_reader_rewind(reader);
    for (uint64_t number = 1; number < last && vs_reader_next(reader, &event) == VS_OK; number++) {
        if (event.kind != VS_EVENT_alloc && event.kind != VS_EVENT_free)
            continue;
        for (size_t i = 0; i < groups->count; i++)
            if (is_open(&groups->items[i], number))
                see(&groups->items[i], &event);
    }
}

/* The CUresult values that an allocating call can return. */
static const struct {
    unsigned code;
    const char *name;
} errors[] = {
    {1, "INVALID_VALUE"}, {2, "OUT_OF_MEMORY"}, {3, "NOT_INITIALIZED"}, {4, "DEINITIALIZED"},
    {34, "STUB_LIBRARY"}, {46, "DEVICE_UNAVAILABLE"}, {100, "NO_DEVICE"}, {101, "INVALID_DEVICE"},
    {102, "DEVICE_NOT_LICENSED"}, {201, "INVALID_CONTEXT"}, {205, "MAP_FAILED"},
    {206, "UNMAP_FAILED"}, {208, "ALREADY_MAPPED"}, {210, "ALREADY_ACQUIRED"}, {211, "NOT_MAPPED"},
    {214, "ECC_UNCORRECTABLE"}, {215, "UNSUPPORTED_LIMIT"}, {217, "PEER_ACCESS_UNSUPPORTED"},
    {220, "NVLINK_UNCORRECTABLE"}, {226, "CONTAINED"}, {304, "OPERATING_SYSTEM"},
    {400, "INVALID_HANDLE"}, {401, "ILLEGAL_STATE"}, {500, "NOT_FOUND"}, {600, "NOT_READY"},
    {700, "ILLEGAL_ADDRESS"}, {701, "LAUNCH_OUT_OF_RESOURCES"}, {702, "LAUNCH_TIMEOUT"},
    {709, "CONTEXT_IS_DESTROYED"}, {710, "ASSERT"}, {711, "TOO_MANY_PEERS"},
    {712, "HOST_MEMORY_ALREADY_REGISTERED"}, {713, "HOST_MEMORY_NOT_REGISTERED"},
    {714, "HARDWARE_STACK_ERROR"}, {715, "ILLEGAL_INSTRUCTION"}, {716, "MISALIGNED_ADDRESS"},
    {717, "INVALID_ADDRESS_SPACE"}, {718, "INVALID_PC"}, {719, "LAUNCH_FAILED"},
    {800, "NOT_PERMITTED"}, {801, "NOT_SUPPORTED"}, {802, "SYSTEM_NOT_READY"},
    {803, "SYSTEM_DRIVER_MISMATCH"}, {805, "MPS_CONNECTION_FAILED"}, {806, "MPS_RPC_FAILURE"},
    {807, "MPS_SERVER_NOT_READY"}, {808, "MPS_MAX_CLIENTS_REACHED"},
    {809, "MPS_MAX_CONNECTIONS_REACHED"}, {810, "MPS_CLIENT_TERMINATED"},
    {900, "STREAM_CAPTURE_UNSUPPORTED"}, {901, "STREAM_CAPTURE_INVALIDATED"},
    {902, "STREAM_CAPTURE_MERGE"}, {903, "STREAM_CAPTURE_UNMATCHED"},
    {904, "STREAM_CAPTURE_UNJOINED"}, {905, "STREAM_CAPTURE_ISOLATION"},
    {906, "STREAM_CAPTURE_IMPLICIT"}, {907, "CAPTURED_EVENT"}, {908, "STREAM_CAPTURE_WRONG_THREAD"},
    {909, "TIMEOUT"}, {911, "EXTERNAL_DEVICE"}, {999, "UNKNOWN"},
};

char *vs_cuda_error_name(char *out, uint64_t error)
{
    snprintf(out, VS_CUDA_ERROR_TEXT_MAX, "CUDA error %llu", (unsigned long long)error);
    for (size_t i = 0; i < sizeof errors / sizeof *errors; i++)
        if (errors[i].code == error)
            snprintf(out, VS_CUDA_ERROR_TEXT_MAX, "CUDA_ERROR_%s", errors[i].name);
    return out;
}

void vs_refusal_add(struct vs_refusals *refusals, uint64_t device, uint64_t family, uint64_t error)
{
    if (family >= VS_FAMILY_COUNT)
        family = VS_FAMILY_DEVICE;
    bool host = family == VS_FAMILY_PINNED || family == VS_FAMILY_REGISTERED;
    struct vs_refusal wanted = {host, host ? 0 : device, (unsigned)family, error, 1};
    for (size_t i = 0; i < refusals->count; i++) {
        struct vs_refusal *r = &refusals->items[i];
        if (r->host == host && r->device == wanted.device && r->family == wanted.family &&
            r->error == error) {
            r->count++;
            return;
        }
    }
    if (refusals->count < VS_REFUSALS_MAX)
        refusals->items[refusals->count++] = wanted;
}
