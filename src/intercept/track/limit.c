/* SPDX-License-Identifier: Apache-2.0
 *
 * The process's memory use per device and its limit; see the header. Bytes are counted without a
 * limit too, since one may be set at any time (the memory fraction): one atomic addition beside a
 * driver call that costs thousands.
 *
 * No lock and no recorder state: the first caller reads the limit from the environment, and every
 * thread computes the same value. */
#include "intercept/track/limit.h"

#include <stdatomic.h>

#include "base/vs_log.h"
#include "base/vs_option.h"
#include "intercept/route/replayed_call.h"
#include "intercept/process/process.h"
#include "intercept/route/hook.h"
#include "intercept/track/context.h"

_Static_assert(VS_LIMIT_DEVICES_MAX == VS_DEVICES_MAX, "every device can have its limit");

static _Atomic uint64_t used[VS_DEVICES_MAX];   /* atomic */
static _Atomic uint64_t bounds[VS_DEVICES_MAX]; /* atomic; 0: not computed yet */

static uint64_t device_total(uint32_t device)
{
    size_t bytes = 0;
    return VS_CALL(cuDeviceTotalMem_v2, &bytes, (CUdevice)device) == CUDA_SUCCESS ? bytes : 0;
}

/* A share of a device whose size is still unavailable (CUDA is not initialised) is not a limit yet,
 * and is computed again later. */
static uint64_t work_out(uint32_t device)
{
    struct vs_limit_spec spec;
    char name[VS_OPTION_ENV_MAX];
    const char *text = vs_environment(vs_option_env_name(VS_OPT_limit, name));
    uint64_t bytes = VS_LIMIT_NONE;
    /* an invalid value is ignored; the option parser reports it */
    if (text && *text && vs_replay_on) {
        vs_log_once(VS_LOG_WARN, "the option limit needs LD_PRELOAD or `vramscope run`: with injection "
                                 "memory is only recorded, not limited");
    } else if (text && *text && vs_limit_parse(text, &spec) == VS_OK) {
        uint64_t total = device_total(device);
        int count = 0; /* otherwise a mistyped device number would set no limit and go unnoticed */
        if (VS_CALL(cuDeviceGetCount, &count) != CUDA_SUCCESS)
            count = VS_LIMIT_DEVICES_MAX;
        for (int i = count; i < VS_LIMIT_DEVICES_MAX; i++) {
            if (spec.own[i].bytes || spec.own[i].percent > 0)
                vs_log_once(VS_LOG_WARN, "limit: no device %d; this machine has %d", i, count);
        }
        bytes = vs_limit_bytes(&spec, device, total);
        if (!total && bytes == VS_LIMIT_NONE)
            return bytes;
    }
    atomic_store_explicit(&bounds[device], bytes, memory_order_relaxed);
    return bytes;
}

static uint64_t bound(uint32_t device)
{
    uint64_t bytes = atomic_load_explicit(&bounds[device], memory_order_relaxed);
    return bytes ? bytes : work_out(device);
}

bool vs_limit_take(uint32_t device, uint64_t bytes, uint64_t most)
{
    if (device >= VS_DEVICES_MAX)
        return true;
    uint64_t own = bound(device);
    if (own < most)
        most = own;
    uint64_t now = atomic_load_explicit(&used[device], memory_order_relaxed);
    do {
        if (most != VS_LIMIT_NONE && (bytes > most || now > most - bytes))
            return false;
    } while (!atomic_compare_exchange_weak_explicit(&used[device], &now, now + bytes,
                                                    memory_order_relaxed, memory_order_relaxed));
    return true;
}

void vs_limit_give(uint32_t device, uint64_t bytes)
{
    if (device >= VS_DEVICES_MAX)
        return;
    /* memory that was never counted must not make the total wrap around */
    uint64_t now = atomic_load_explicit(&used[device], memory_order_relaxed);
    while (!atomic_compare_exchange_weak_explicit(&used[device], &now, now > bytes ? now - bytes : 0,
                                                  memory_order_relaxed, memory_order_relaxed))
        ;
}

void vs_limit_add(uint32_t device, uint64_t bytes)
{
    if (device < VS_DEVICES_MAX)
        atomic_fetch_add_explicit(&used[device], bytes, memory_order_relaxed);
}

void vs_limit_gone(const struct vs_tracked *live)
{
    /* graph memory is counted as the driver holds it, not by allocation */
    if (live->context && vs_family_is_limited(live->family))
        vs_limit_give(live->device, live->size);
}

bool vs_limit_of(uint32_t device, uint64_t *bytes)
{
    uint64_t most = device < VS_DEVICES_MAX ? bound(device) : VS_LIMIT_NONE;
    if (most == VS_LIMIT_NONE)
        return false;
    *bytes = most;
    return true;
}

uint64_t vs_limit_total(uint32_t device)
{
    uint64_t total = device_total(device);
    vs_limit_view(device, 0, NULL, &total);
    return total;
}

void vs_limit_view(uint32_t device, uint64_t cached_bytes, uint64_t *free_bytes,
                   uint64_t *total_bytes)
{
    uint64_t most;
    if (free_bytes)
        *free_bytes += cached_bytes;
    if (!vs_limit_of(device, &most))
        return;
    /* the cache may have changed since it was read: clamp at 0 */
    uint64_t taken = atomic_load_explicit(&used[device], memory_order_relaxed);
    uint64_t held = taken > cached_bytes ? taken - cached_bytes : 0;
    uint64_t left = most > held ? most - held : 0;
    if (free_bytes && *free_bytes > left)
        *free_bytes = left;
    if (total_bytes && *total_bytes > most)
        *total_bytes = most;
}
