/* SPDX-License-Identifier: Apache-2.0
 *
 * The CUPTI collector. CUPTI's worker fills buffers that we map; completed ones
 * are turned into events on CUPTI's thread. Times are in our clock: CUPTI is
 * given a timestamp callback where it has one, else a measured offset is added.
 * Buffers come from mmap; a bounded number is kept for reuse. */
#define _GNU_SOURCE
#include "intercept/collector.h"

#include <cupti.h>
#include <dlfcn.h>
#include <limits.h>
#include <link.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/vs_arena.h"
#include "base/vs_clock.h"
#include "base/vs_lock.h"
#include "base/vs_log.h"
#include "base/vs_option.h"
#include "intercept/hook.h"
#include "intercept/process.h"

#define BUFFER_BYTES ((size_t)2 << 20)
#define BUFFERS_KEPT 4
#define BUFFERS_MAX 64
#define FLUSH_PERIOD_MS 1000

/* CUPTI functions used; resolved by name from the loaded library. */
static struct {
    CUptiResult (*enable)(CUpti_ActivityKind);
    CUptiResult (*register_callbacks)(CUpti_BuffersCallbackRequestFunc,
                                      CUpti_BuffersCallbackCompleteFunc);
    CUptiResult (*next_record)(uint8_t *, size_t, CUpti_Activity **);
    CUptiResult (*dropped)(CUcontext, uint32_t, size_t *);
    CUptiResult (*flush_all)(uint32_t);
    CUptiResult (*flush_period)(uint32_t);                          /* may be absent */
    CUptiResult (*register_clock)(CUpti_TimestampCallbackFunc);     /* may be absent */
    CUptiResult (*timestamp)(uint64_t *);
    CUptiResult (*stream_id)(CUcontext, CUstream, uint8_t, uint32_t *); /* may be absent */
    CUptiResult (*result_string)(CUptiResult, const char **);
} cupti;

static _Atomic bool running;
static int64_t clock_offset_ns; /* immutable after start: ours - CUPTI's */

static struct vs_lock lock = VS_LOCK_INIT(VS_RANK_COLLECTOR, "collector");
static uint8_t *kept[BUFFERS_KEPT]; /* guarded by lock */
static unsigned kept_count;         /* guarded by lock */
static unsigned buffer_count;       /* guarded by lock: mapped and not returned */

static uint64_t our_clock(void)
{
    return vs_clock_ns();
}

static void on_request(uint8_t **buffer, size_t *bytes, size_t *records_max)
{
    *records_max = 0;
    *bytes = BUFFER_BYTES;
    vs_lock_acquire(&lock);
    if (kept_count)
        *buffer = kept[--kept_count];
    else if (buffer_count < BUFFERS_MAX && (*buffer = vs_pages_map(BUFFER_BYTES)))
        buffer_count++;
    else {
        *buffer = NULL; /* CUPTI counts what it then drops */
        *bytes = 0;
    }
    vs_lock_release(&lock);
}

static void buffer_return(uint8_t *buffer)
{
    vs_lock_acquire(&lock);
    bool keep = kept_count < BUFFERS_KEPT;
    if (keep)
        kept[kept_count++] = buffer;
    else
        buffer_count--;
    vs_lock_release(&lock);
    if (!keep)
        vs_pages_unmap(buffer, BUFFER_BYTES);
}

static uint64_t in_our_time(uint64_t t)
{
    return t ? t + (uint64_t)clock_offset_ns : 0;
}

static void record_kernel(const CUpti_Activity *activity)
{
    const CUpti_ActivityKernel9 *k = (const CUpti_ActivityKernel9 *)activity;
    struct vs_event event = {.kind = VS_EVENT_kernel,
                             .kernel = {.start_ns = in_our_time(k->start),
                                        .end_ns = in_our_time(k->end),
                                        .device = k->deviceId,
                                        .context = k->contextId,
                                        .stream = k->streamId,
                                        .name = vs_process_string(k->name ? k->name : "kernel"),
                                        .correlation = k->correlationId,
                                        .grid_x = (uint64_t)(uint32_t)k->gridX,
                                        .grid_y = (uint64_t)(uint32_t)k->gridY,
                                        .grid_z = (uint64_t)(uint32_t)k->gridZ,
                                        .block_x = (uint64_t)(uint32_t)k->blockX,
                                        .block_y = (uint64_t)(uint32_t)k->blockY,
                                        .block_z = (uint64_t)(uint32_t)k->blockZ,
                                        .shared_bytes = (uint64_t)(uint32_t)k->staticSharedMemory +
                                                        (uint64_t)(uint32_t)k->dynamicSharedMemory}};
    vs_recorder_event(vs_process_recorder(), &event);
}

static void record_memcpy(const CUpti_Activity *activity)
{
    const CUpti_ActivityMemcpy5 *m = (const CUpti_ActivityMemcpy5 *)activity;
    struct vs_event event = {.kind = VS_EVENT_memcpy,
                             .memcpy = {.start_ns = in_our_time(m->start),
                                        .end_ns = in_our_time(m->end),
                                        .device = m->deviceId,
                                        .context = m->contextId,
                                        .stream = m->streamId,
                                        .bytes = m->bytes,
                                        .copy_kind = m->copyKind,
                                        .async = (m->flags & CUPTI_ACTIVITY_FLAG_MEMCPY_ASYNC) != 0,
                                        .correlation = m->correlationId}};
    vs_recorder_event(vs_process_recorder(), &event);
}

static void record_memset(const CUpti_Activity *activity)
{
    const CUpti_ActivityMemset4 *m = (const CUpti_ActivityMemset4 *)activity;
    struct vs_event event = {.kind = VS_EVENT_memset,
                             .memset = {.start_ns = in_our_time(m->start),
                                        .end_ns = in_our_time(m->end),
                                        .device = m->deviceId,
                                        .context = m->contextId,
                                        .stream = m->streamId,
                                        .bytes = m->bytes,
                                        .value = m->value,
                                        .correlation = m->correlationId}};
    vs_recorder_event(vs_process_recorder(), &event);
}

static void record_activity(const CUpti_Activity *activity)
{
    switch (activity->kind) {
    case CUPTI_ACTIVITY_KIND_KERNEL:
    case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL:
        record_kernel(activity);
        break;
    case CUPTI_ACTIVITY_KIND_MEMCPY:
        record_memcpy(activity);
        break;
    case CUPTI_ACTIVITY_KIND_MEMSET:
        record_memset(activity);
        break;
    default:
        break;
    }
}

static void on_complete(CUcontext context, uint32_t stream, uint8_t *buffer, size_t bytes,
                        size_t valid)
{
    (void)bytes;
    CUpti_Activity *activity = NULL;
    vs_thread.inside++;
    enum vs_process_state state = vs_process_state();
    bool record = state == VS_PROCESS_ACTIVE || state == VS_PROCESS_EXITING;
    while (record && valid && cupti.next_record(buffer, valid, &activity) == CUPTI_SUCCESS)
        record_activity(activity);
    size_t lost = 0;
    if (record && cupti.dropped && cupti.dropped(context, stream, &lost) == CUPTI_SUCCESS && lost) {
        struct vs_event event = {
            .kind = VS_EVENT_dropped,
            .dropped = {.what = vs_process_string("activity records"), .count = lost}};
        vs_recorder_event(vs_process_recorder(), &event);
    }
    if (buffer)
        buffer_return(buffer);
    vs_thread.inside--;
}

struct runtime_place {
    int major; /* of a loaded libcudart, 0 when none */
    char folder[PATH_MAX];
};

static int find_runtime(struct dl_phdr_info *info, size_t size, void *arg)
{
    (void)size;
    struct runtime_place *place = arg;
    const char *slash = strrchr(info->dlpi_name, '/');
    const char *base = slash ? slash + 1 : info->dlpi_name;
    int major;
    if (sscanf(base, "libcudart.so.%d", &major) != 1)
        return 0;
    place->major = major;
    if (slash)
        snprintf(place->folder, sizeof place->folder, "%.*s", (int)(slash - info->dlpi_name),
                 info->dlpi_name);
    return 1;
}

static int driver_major(void)
{
    CUresult (*version)(int *);
    int v = 0;
    *(void **)&version = vs_driver_symbol("cuDriverGetVersion");
    return version && version(&v) == CUDA_SUCCESS ? v / 1000 : 0;
}

/* CUPTI 11 has the minor number in its name. */
static void *open_in(const char *folder, int major)
{
    char path[PATH_MAX + 64];
    const char *separator = *folder ? "/" : "";
    snprintf(path, sizeof path, "%s%slibcupti.so.%d", folder, separator, major);
    void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    for (int minor = 8; !handle && major == 11 && minor >= 0; minor--) {
        snprintf(path, sizeof path, "%s%slibcupti.so.11.%d", folder, separator, minor);
        handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    }
    return handle;
}

/* The simulated driver has a CUPTI of its own beside it; NVIDIA's would not know
 * what to do with it. */
static void *open_simulated(const void *driver_symbol, int major)
{
    Dl_info info;
    char folder[PATH_MAX];
    if (!dladdr(driver_symbol, &info) || !info.dli_fname)
        return NULL;
    const char *slash = strrchr(info.dli_fname, '/');
    snprintf(folder, sizeof folder, "%.*s", slash ? (int)(slash - info.dli_fname) : 1,
             slash ? info.dli_fname : ".");
    return open_in(folder, major);
}

static void *open_library(void)
{
    struct runtime_place place = {0, ""};
    dl_iterate_phdr(find_runtime, &place);
    int major = place.major ? place.major : driver_major();
    if (!major)
        return NULL;
    const void *simulated = vs_driver_symbol("vramscopeSimRegisterKernel");
    if (simulated)
        return open_simulated(simulated, major);
    char folder[PATH_MAX + 32];
    void *handle = open_in("", major);
    if (!handle && *place.folder) {
        handle = open_in(place.folder, major);
        static const char *const beside[] = {"../../cuda_cupti/lib", "../extras/CUPTI/lib64"};
        for (size_t i = 0; !handle && i < sizeof beside / sizeof *beside; i++) {
            snprintf(folder, sizeof folder, "%s/%s", place.folder, beside[i]);
            handle = open_in(folder, major);
        }
    }
    const char *roots[] = {vs_environment("CUDA_PATH"), vs_environment("CUDA_HOME"),
                           "/usr/local/cuda"};
    static const char *const inside[] = {"extras/CUPTI/lib64", "lib64", "lib"};
    for (size_t r = 0; !handle && r < sizeof roots / sizeof *roots; r++) {
        for (size_t i = 0; !handle && roots[r] && i < sizeof inside / sizeof *inside; i++) {
            snprintf(folder, sizeof folder, "%.*s/%s", PATH_MAX - 1, roots[r], inside[i]);
            handle = open_in(folder, major);
        }
    }
    return handle;
}

static bool load(void)
{
    void *library = open_library();
    if (!library)
        return false;
    const struct {
        const char *name;
        void *slot;
        bool needed;
    } wanted[] = {
        {"cuptiActivityEnable", &cupti.enable, true},
        {"cuptiActivityRegisterCallbacks", &cupti.register_callbacks, true},
        {"cuptiActivityGetNextRecord", &cupti.next_record, true},
        {"cuptiActivityGetNumDroppedRecords", &cupti.dropped, false},
        {"cuptiActivityFlushAll", &cupti.flush_all, true},
        {"cuptiActivityFlushPeriod", &cupti.flush_period, false},
        {"cuptiActivityRegisterTimestampCallback", &cupti.register_clock, false},
        {"cuptiGetTimestamp", &cupti.timestamp, true},
        {"cuptiGetStreamIdEx", &cupti.stream_id, false},
        {"cuptiGetResultString", &cupti.result_string, false},
    };
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        void *fn = dlsym(library, wanted[i].name);
        if (!fn && wanted[i].needed)
            return false;
        memcpy(wanted[i].slot, &fn, sizeof fn);
    }
    return true;
}

static void align_clocks(void)
{
    if (cupti.register_clock && cupti.register_clock(our_clock) == CUPTI_SUCCESS)
        return;
    uint64_t theirs, before = vs_clock_ns();
    if (cupti.timestamp(&theirs) == CUPTI_SUCCESS)
        clock_offset_ns = (int64_t)(before + (vs_clock_ns() - before) / 2 - theirs);
}

static void refused(CUptiResult r)
{
    const char *text = NULL;
    char line[256];
    if (cupti.result_string && cupti.result_string(r, &text) != CUPTI_SUCCESS)
        text = NULL;
    if (r == CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED || r == CUPTI_ERROR_HARDWARE_BUSY)
        text = "another profiler is using it";
    else if (r == CUPTI_ERROR_INSUFFICIENT_PRIVILEGES)
        text = "the driver allows profiling to root only (NVreg_RestrictProfilingToAdminUsers)";
    snprintf(line, sizeof line, "no kernels or copies: CUPTI refused (%s); memory is recorded",
             text ? text : "unknown error");
    vs_log(VS_LOG_WARN, "%s", line);
    vs_process_note(VS_LOG_WARN, line);
}

void vs_collector_start(void)
{
    static const CUpti_ActivityKind kinds[] = {CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL,
                                               CUPTI_ACTIVITY_KIND_MEMCPY,
                                               CUPTI_ACTIVITY_KIND_MEMSET};
    if (!load()) {
        const char *line = "no kernels or copies: libcupti was not found beside the CUDA runtime, in "
                           "CUDA_PATH or the library path; memory is recorded";
        vs_log(VS_LOG_WARN, "%s", line);
        vs_process_note(VS_LOG_WARN, line);
        return;
    }
    align_clocks();
    CUptiResult r = cupti.register_callbacks(on_request, on_complete);
    for (size_t i = 0; r == CUPTI_SUCCESS && i < sizeof kinds / sizeof *kinds; i++)
        r = cupti.enable(kinds[i]);
    if (r != CUPTI_SUCCESS) {
        refused(r);
        return;
    }
    if (cupti.flush_period && cupti.flush_period(FLUSH_PERIOD_MS) != CUPTI_SUCCESS)
        vs_log(VS_LOG_DEBUG, "CUPTI has no periodic flush");
    atomic_store_explicit(&running, true, memory_order_release);
}

void vs_collector_flush(bool forced)
{
    if (atomic_load_explicit(&running, memory_order_acquire))
        cupti.flush_all(forced ? CUPTI_ACTIVITY_FLAG_FLUSH_FORCED : 0);
}

bool vs_collector_stream_id(CUcontext context, CUstream stream, bool per_thread, uint32_t *id)
{
    return atomic_load_explicit(&running, memory_order_acquire) && cupti.stream_id &&
           cupti.stream_id(context, stream, per_thread, id) == CUPTI_SUCCESS;
}
