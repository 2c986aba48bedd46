/* SPDX-License-Identifier: Apache-2.0
 *
 * When readings are taken and recorded; see the header. A reading of free memory is the last event
 * of its group, so that a replay then has all figures that belong to it. Two threads may read one
 * device at a time: both readings are true, and the later one counts. */
#include "intercept/track/usage.h"

#include <stdatomic.h>

#include "base/vs_clock.h"
#include "base/vs_lock.h"
#include "intercept/track/capture.h"
#include "intercept/route/replayed_call.h"
#include "intercept/process/process.h"
#include "intercept/route/hook.h"
#include "intercept/track/nvml.h"
#include "intercept/track/track_change.h"
#include "intercept/track/tracker.h"

#define MIB (UINT64_C(1) << 20)
#define GROWN_PART 32      /* take a reading when reserved rose by this part of it */
#define NVML_PART 200      /* NVML queries take at most this part of a thread's time */
#define NVML_FAILED_PART 20 /* the same after a failed allocation */
#define ANSWER_NS 100000   /* of each sample_ms, between recorded answers to a polling program */
#define POOLS_MAX 16

static struct device_usage {
    _Atomic uint64_t next_ns;       /* the next reading is due then */
    _Atomic uint64_t due_reserved;  /* or when more than this is reserved */
    _Atomic uint64_t last_reserved; /* at the last reading */
    _Atomic uint64_t answer_ns;     /* until then an answer with as much reserved is not recorded */
    _Atomic uint64_t nvml_last_ns, nvml_cost_ns;
    /* values of the last rows, to skip repeated ones */
    _Atomic uint64_t pools_recorded, own_recorded, others_recorded;
} usage[VS_DEVICES_MAX];

/* Pools the program created. The lock is held while they are queried: a pool that is being
 * destroyed must not be. */
static struct vs_lock pools_lock = VS_LOCK_INIT(VS_RANK_COLLECTOR, "pools");
static struct {
    CUmemoryPool handle; /* NULL: free */
    uint32_t device;
} pools[POOLS_MAX]; /* guarded by pools_lock */

static uint64_t reserved_of(uint32_t device)
{
    return vs_sum_read(&vs_track_sums(device)->now.reserved);
}

/* May the driver be queried now? */
static bool may_read(void)
{
    return vs_process_recorder() && vs_process_state() == VS_PROCESS_ACTIVE &&
           !vs_capture_any();
}

/* When injected, we see a call only after it returned: there is no earlier reading to compare
 * with. */
static bool may_mark(void)
{
    return !vs_thread.inside && !vs_replay_on && may_read();
}

static void record_usage(uint32_t device, enum vs_usage_what what, uint64_t bytes, uint64_t count,
                         uint64_t pid, uint64_t how)
{
    VS_RECORD(device_usage, .device = device,
              .what = what,
              .bytes = bytes,
              .count = count,
              .pid = pid,
              .how = how);
}

static void record_overhead(const struct vs_context *context, enum vs_overhead_what what,
                            int64_t bytes, enum vs_overhead_how how)
{
    VS_RECORD(overhead, .device = context->device,
              .context = context->id,
              .what = what,
              .bytes = (uint64_t)bytes,
              .how = how,
              .stack = vs_process_stack());
}

/* --- what others hold --- */

/* Unchanged rows are not repeated. */
static void record_nvml(uint32_t device, const struct vs_nvml_usage *who)
{
    struct device_usage *u = &usage[device];
    bool attributed = who->how == VS_USAGE_BY_PID || who->how == VS_USAGE_BY_RULE;
    uint64_t others =
        (who->other_bytes ^ (uint64_t)who->others << 48 ^ (uint64_t)who->how << 56) + 1;
    if (attributed && atomic_exchange(&u->own_recorded, who->own_bytes + 1) != who->own_bytes + 1)
        record_usage(device, VS_USAGE_OWN, who->own_bytes, 1, 0, who->how);
    if (atomic_exchange(&u->others_recorded, others) == others)
        return;
    record_usage(device, VS_USAGE_OTHERS, who->other_bytes, who->others, 0, who->how);
    for (unsigned i = 0; i < who->shown; i++)
        record_usage(device, VS_USAGE_PROCESS, who->other[i].bytes, 1, who->other[i].pid, who->how);
}

/* *part*: query when the time since the last answer is at least this many times the duration of
 * that query. */
static bool query_nvml(uint32_t device, uint64_t part, struct vs_nvml_usage *who)
{
    struct device_usage *u = &usage[device];
    uint64_t before = vs_clock_ns();
    if (before - atomic_load_explicit(&u->nvml_last_ns, memory_order_relaxed) <
        part * atomic_load_explicit(&u->nvml_cost_ns, memory_order_relaxed))
        return false;
    if (!vs_nvml_query(device, who))
        return false;
    uint64_t after = vs_clock_ns();
    atomic_store_explicit(&u->nvml_last_ns, after, memory_order_relaxed);
    atomic_store_explicit(&u->nvml_cost_ns, after - before, memory_order_relaxed);
    record_nvml(device, who);
    return true;
}

/* --- what pools keep --- */

static uint64_t pool_reserved(CUmemoryPool pool)
{
    cuuint64_t bytes = 0;
    CUresult r = VS_CALL(cuMemPoolGetAttribute, pool, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT, &bytes);
    return r == CUDA_SUCCESS ? bytes : 0;
}

static void query_pools(uint32_t device)
{
    CUmemoryPool pool = NULL;
    uint64_t bytes = 0, count = 1;
    if (!vs_sum_read(&vs_track_sums(device)->family[VS_FAMILY_ASYNC].allocs))
        return;
    if (VS_CALL(cuDeviceGetDefaultMemPool, &pool, (CUdevice)device) == CUDA_SUCCESS)
        bytes = pool_reserved(pool);
    vs_lock_acquire(&pools_lock);
    for (int i = 0; i < POOLS_MAX; i++) {
        if (!pools[i].handle || pools[i].device != device)
            continue;
        bytes += pool_reserved(pools[i].handle);
        count++;
    }
    vs_lock_release(&pools_lock);
    if (atomic_exchange(&usage[device].pools_recorded, bytes + 1) != bytes + 1)
        record_usage(device, VS_USAGE_POOLS, bytes, count, 0, 0);
}

/* Used bytes that are not the context's: allocations made before the first reading, in whole driver
 * pages; for pools, their reserved bytes, live or not. */
static uint64_t known_bytes(uint32_t device, uint64_t reserved)
{
    uint64_t attributed = atomic_load(&usage[device].pools_recorded);
    uint64_t used = vs_sum_read(&vs_track_sums(device)->now.family[VS_FAMILY_ASYNC]);
    uint64_t pooled = attributed && used <= reserved && attributed - 1 >= used ? attributed - 1 : 0;
    uint64_t paged = pooled ? reserved - used : reserved;
    return (paged + VS_PAGE_BYTES - 1) / VS_PAGE_BYTES * VS_PAGE_BYTES + pooled;
}

void vs_usage_pool_replace(CUmemoryPool before, CUmemoryPool pool, uint32_t device)
{
    VS_LOCK_SCOPE(&pools_lock);
    for (int i = 0; i < POOLS_MAX; i++) {
        if (pools[i].handle != before)
            continue;
        pools[i].handle = pool;
        pools[i].device = device;
        break;
    }
}

/* --- readings --- */

static void note_reading(uint32_t device, uint64_t reserved)
{
    struct device_usage *u = &usage[device];
    uint64_t step = reserved / GROWN_PART > MIB ? reserved / GROWN_PART : MIB;
    atomic_store_explicit(&u->last_reserved, reserved, memory_order_relaxed);
    if (reserved + step > atomic_load_explicit(&u->due_reserved, memory_order_relaxed))
        atomic_store_explicit(&u->due_reserved, reserved + step, memory_order_relaxed);
}

static void record_reading(uint32_t device, uint64_t free_bytes, uint64_t total_bytes)
{
    VS_RECORD(device_sample, .device = device,
              .free_bytes = free_bytes,
              .total_bytes = total_bytes);
}

/* Device memory taken by a context: from the change in free memory if another context could read it
 * before, else from the device's figure for this process, else at most all used memory. */
static void measure(struct vs_context *context, const struct vs_usage_mark *mark,
                    const struct vs_nvml_usage *who, uint64_t free_bytes, uint64_t total_bytes)
{
    uint64_t reserved = reserved_of(context->device);
    if (atomic_exchange(&context->measured, true))
        return;
    uint64_t known = known_bytes(context->device, reserved);
    for (const struct vs_context *c = vs_context_next(NULL); c; c = vs_context_next(c)) {
        if (c->device == context->device && atomic_load(&c->alive))
            known += atomic_load(&c->overhead);
    }
    uint64_t bytes = 0;
    enum vs_overhead_how how = VS_OVERHEAD_AT_MOST;
    bool attributed = who && (who->how == VS_USAGE_BY_PID || who->how == VS_USAGE_BY_RULE);
    if (mark && mark->free_known && mark->reserved == reserved) {
        how = VS_OVERHEAD_MEASURED;
        bytes = mark->free_bytes > free_bytes ? mark->free_bytes - free_bytes : 0;
    } else if (attributed) {
        how = vs_process_attached() ? VS_OVERHEAD_AT_MOST : VS_OVERHEAD_REPORTED;
        bytes = who->own_bytes > known ? who->own_bytes - known : 0;
    } else {
        bytes = total_bytes - free_bytes > known ? total_bytes - free_bytes - known : 0;
    }
    atomic_store(&context->overhead, bytes);
    record_overhead(context, VS_OVERHEAD_CONTEXT, (int64_t)bytes, how);
}

/* *context* is current. */
static void read_device(struct vs_context *context, const struct vs_usage_mark *mark)
{
    struct vs_nvml_usage who;
    size_t free_bytes, total_bytes;
    bool fresh = !atomic_load(&context->measured);
    if (!may_read())
        return;
    uint64_t reserved = reserved_of(context->device);
    if (fresh && vs_process_options()->number[VS_OPT_nvml])
        vs_nvml_load(context->device); /* already done if the context's creation was seen */
    bool attributed = query_nvml(context->device, fresh ? 0 : NVML_PART, &who);
    query_pools(context->device);
    if (VS_REAL(cuMemGetInfo_v2, &free_bytes, &total_bytes) != CUDA_SUCCESS)
        return;
    if (fresh)
        measure(context, mark, attributed ? &who : NULL, free_bytes, total_bytes);
    record_reading(context->device, free_bytes, total_bytes);
    note_reading(context->device, reserved);
}

void vs_device_sample(struct vs_context *context, uint64_t now_ns)
{
    if (!vs_process_recorder())
        return;
    _Atomic uint64_t *next = &usage[context->device].next_ns;
    uint64_t due = atomic_load_explicit(next, memory_order_relaxed);
    uint64_t period = vs_process_options()->number[VS_OPT_sample_ms] * 1000000;
    if (now_ns < due || !atomic_compare_exchange_strong(next, &due, now_ns + period))
        return;
    read_device(context, NULL);
}

void vs_usage_reserved(uint32_t device, uint64_t reserved)
{
    struct device_usage *u = &usage[device];
    if (reserved > atomic_load_explicit(&u->due_reserved, memory_order_relaxed))
        atomic_store_explicit(&u->next_ns, 0, memory_order_relaxed);
}

void vs_usage_freed(uint32_t device)
{
    if (device >= VS_DEVICES_MAX)
        return;
    uint64_t reserved = reserved_of(device);
    uint64_t last = atomic_load_explicit(&usage[device].last_reserved, memory_order_relaxed);
    if (reserved > last / 2 || last - reserved < MIB || !may_read())
        return;
    struct vs_context *context = vs_context_current();
    if (context && context->device == device)
        read_device(context, NULL);
}

void vs_usage_answered(const struct vs_context *context, const uint64_t *free_bytes,
                       const uint64_t *total_bytes)
{
    if (!free_bytes || !total_bytes || !vs_process_recorder())
        return;
    uint64_t reserved = reserved_of(context->device);
    struct device_usage *u = &usage[context->device];
    uint64_t now_ns = vs_clock_ns();
    if (reserved == atomic_load_explicit(&u->last_reserved, memory_order_relaxed) &&
        now_ns < atomic_load_explicit(&u->answer_ns, memory_order_relaxed))
        return;
    u->answer_ns = now_ns + vs_process_options()->number[VS_OPT_sample_ms] * ANSWER_NS;
    if (!vs_capture_any())
        query_pools(context->device);
    record_reading(context->device, *free_bytes, *total_bytes);
    note_reading(context->device, reserved);
}

void vs_usage_failed(uint32_t device)
{
    struct vs_nvml_usage who;
    if (!may_read() || device >= VS_DEVICES_MAX)
        return;
    query_nvml(device, NVML_FAILED_PART, &who);
    query_pools(device);
}

/* --- memory without an allocation --- */

static bool mark_counts(struct vs_usage_mark *mark, uint32_t device)
{
    struct vs_device_counters now;
    if (vs_track_device(device, &now) != VS_OK)
        return false;
    mark->device = device;
    mark->reserved = now.reserved;
    mark->allocations = now.allocations + now.frees;
    return true;
}

void vs_usage_context_begins(struct vs_usage_mark *mark, CUdevice device, bool primary)
{
    uint64_t total;
    *mark = (struct vs_usage_mark){0};
    if (!may_mark() || device < 0 || (primary && vs_primary_active(device)) ||
        !mark_counts(mark, (uint32_t)device))
        return;
    VS_OWN_WORK();
    if (vs_process_options()->number[VS_OPT_nvml]) {
        vs_nvml_load(mark->device);
        vs_nvml_note_others(mark->device);
    }
    struct vs_context *other = vs_context_alive_on(mark->device);
    mark->free_known =
        other && vs_device_memory_info(other, &mark->free_bytes, &total) == VS_OK;
    mark->wanted = true;
}

void vs_usage_context_made(const struct vs_usage_mark *mark, CUcontext handle)
{
    CUcontext was;
    if (!mark->wanted)
        return;
    VS_OWN_WORK();
    if (VS_CALL(cuCtxPushCurrent_v2, handle) == CUDA_SUCCESS) {
        struct vs_context *context = vs_context_current();
        if (context && context->device == mark->device)
            read_device(context, mark);
        VS_CALL(cuCtxPopCurrent_v2, &was);
    }
}

void vs_usage_begins(struct vs_usage_mark *mark)
{
    uint64_t total;
    *mark = (struct vs_usage_mark){0};
    if (!may_mark())
        return;
    VS_OWN_WORK();
    struct vs_context *context = vs_context_current();
    if (context && mark_counts(mark, context->device))
        mark->wanted = mark->free_known =
            vs_device_memory_info(context, &mark->free_bytes, &total) == VS_OK;
}

void vs_usage_took(const struct vs_usage_mark *mark, enum vs_overhead_what what)
{
    struct vs_usage_mark after;
    if (!mark->wanted)
        return;
    vs_usage_begins(&after);
    if (!after.wanted || after.device != mark->device || after.reserved != mark->reserved ||
        after.allocations != mark->allocations || after.free_bytes == mark->free_bytes)
        return;
    VS_OWN_WORK();
    struct vs_context *context = vs_context_current();
    int64_t bytes = (int64_t)(mark->free_bytes - after.free_bytes);
    if (context) {
        atomic_fetch_add(&context->overhead, (uint64_t)bytes);
        record_overhead(context, what, bytes, VS_OVERHEAD_MEASURED);
    }
}
