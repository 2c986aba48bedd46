/* SPDX-License-Identifier: Apache-2.0
 *
 * Faults that a spec asks for: allocations that fail or are slow, a device that is lost, a CUPTI
 * that another tool uses. Every allocating entry point calls vs_sim_fault_alloc after checking its
 * arguments and before any other effect, so that a failed call changes nothing. Allocations are
 * counted per family over the whole process; chance depends only on the seed and that count, so a
 * program that allocates in the same order fails at the same place. */
#include "simulator/driver/vs_sim_driver.h"

#include <inttypes.h>
#include <stdio.h>

static atomic_uint_least64_t allocations[VS_SIM_FAMILY_COUNT];
static atomic_uint_least64_t kernels[VS_SIM_DEVICES_MAX];

/* A 64-bit hash (splitmix64). */
static uint64_t mix(uint64_t x)
{
    x += UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return x ^ (x >> 31);
}

static bool rule_hits(const struct vs_sim_fail *rule, unsigned index, enum vs_sim_family family,
                      uint64_t number)
{
    if (!(rule->families >> family & 1))
        return false;
    if (rule->first)
        return rule->onwards ? number >= rule->first : number == rule->first;
    uint64_t draw = mix(vs_sim_spec.seed ^ mix(number * VS_SIM_FAMILY_COUNT + family) ^ index);
    return draw % 1000 < rule->per_mille;
}

CUresult vs_sim_fault_alloc(enum vs_sim_family family)
{
    uint64_t number = atomic_fetch_add(&allocations[family], 1) + 1;
    if (family == VS_SIM_FAMILY_DEVICE && vs_sim_spec.slow_every &&
        number % vs_sim_spec.slow_every == 0)
        vs_sim_delay_us(vs_sim_spec.slow_ms * 1000);
    for (unsigned i = 0; i < vs_sim_spec.fail_count; i++)
        if (rule_hits(&vs_sim_spec.fails[i], i, family, number))
            return CUDA_ERROR_OUT_OF_MEMORY;
    return CUDA_SUCCESS;
}

/* ---- a lost device ---- */

bool vs_sim_fault_kernel(struct vs_sim_device *device)
{
    if (!vs_sim_spec.lost_launches)
        return false;
    if (atomic_fetch_add(&kernels[device->ordinal], 1) < vs_sim_spec.lost_launches)
        return false;
    vs_sim_device_fail(device, CUDA_ERROR_LAUNCH_FAILED);
    return true;
}

CUresult vs_sim_fault_context(const struct vs_sim_device *device)
{
    return vs_sim_spec.lost_launches &&
                   atomic_load(&kernels[device->ordinal]) > vs_sim_spec.lost_launches
               ? CUDA_ERROR_DEVICE_UNAVAILABLE
               : CUDA_SUCCESS;
}

/* ---- functions found by dlsym ---- */

int vramscopeSimCuptiState(void);
VS_SIM_EXPORT int vramscopeSimCuptiState(void)
{
    vs_sim_spec_read();
    return vs_sim_spec.cupti;
}

int vramscopeSimCheckSpec(const char *text, char *why, size_t bytes);
VS_SIM_EXPORT int vramscopeSimCheckSpec(const char *text, char *why, size_t bytes)
{
    struct vs_sim_spec spec;
    char reason[VS_SIM_WHY_MAX];
    if (vs_sim_spec_parse(text, &spec, reason) == VS_OK)
        return 0;
    snprintf(why, bytes, "%s", reason);
    return 1;
}

/* The device that *text* describes, as one line: its name, product, compute capability (89), SMs,
 * total memory, that which NVML reports, size of a context, how that is known, its source, bandwidth
 * in GB/s; between them tabs. false: see vramscopeSimCheckSpec. */
bool vramscopeSimDescribe(const char *text, char *line, size_t bytes);
VS_SIM_EXPORT bool vramscopeSimDescribe(const char *text, char *line, size_t bytes)
{
    struct vs_sim_spec spec;
    char reason[VS_SIM_WHY_MAX];
    if (vs_sim_spec_parse(text, &spec, reason))
        return false;
    const struct vs_sim_preset *p = spec.preset;
    snprintf(line, bytes, "%s\t%s\t%d\t%d\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\t%s\t%s\t%u",
             p->name, p->product, p->major * 10 + p->minor, p->sm_count, spec.capacity_bytes,
             spec.board_bytes, spec.context_bytes, spec.context_kind, spec.context_source,
             p->memory_gbps);
    return true;
}

/* The memory of a device that *text* describes, and what a process with a context finds taken:
 * the context and other processes. false: see vramscopeSimCheckSpec. */
bool vramscopeSimSpecMemory(const char *text, uint64_t *total, uint64_t *taken);
VS_SIM_EXPORT bool vramscopeSimSpecMemory(const char *text, uint64_t *total, uint64_t *taken)
{
    struct vs_sim_spec spec;
    char reason[VS_SIM_WHY_MAX];
    if (vs_sim_spec_parse(text, &spec, reason))
        return false;
    *total = spec.capacity_bytes;
    *taken = spec.context_bytes + spec.others_bytes;
    return true;
}
