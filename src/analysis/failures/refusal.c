/* SPDX-License-Identifier: Apache-2.0
 *
 * See the header. */
#include "analysis/failures/refusal.h"

#include <stdio.h>

#include "trace/format/event.h"

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
