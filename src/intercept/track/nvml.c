/* SPDX-License-Identifier: Apache-2.0
 *
 * NVML's functions are looked up by name in libnvidia-ml.so.1; their types are declared here after
 * NVIDIA's public reference, so that no header is needed. A device is matched by UUID, then by bus
 * number, never by index, because NVML also counts devices that CUDA hides. This process is matched
 * by its process number; in a container, where the device has another number for it, it is the
 * process that appeared when its context did. */
#define _GNU_SOURCE
#include "intercept/track/nvml.h"

#include <dlfcn.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/vs_log.h"
#include "intercept/route/hook.h"
#include "intercept/track/context.h"
#include "trace/format/event.h"

#define NVML_NO_ATTACH 2u /* nvmlInitWithFlags: attach to a device at the first query */
#define NVML_INSUFFICIENT_SIZE 7
#define NOT_AVAILABLE UINT64_MAX
#define PROCESSES_MAX 128
/* Size of a process list entry. Drivers 530 to 535 had one more field at first, under the same
 * function name. */
#define ENTRY_BYTES 24
#define ENTRY_BYTES_LONG 32

struct nvml_memory {
    unsigned long long total, free, used;
};

typedef int (*list_fn)(void *device, unsigned *count, void *infos);

static struct {
    int (*by_uuid)(const char *, void **);
    int (*by_bus)(const char *, void **);
    int (*memory)(void *, struct nvml_memory *);
    list_fn compute, graphics; /* graphics may be NULL */
    int (*init)(unsigned);     /* one of the two may be NULL */
    int (*init_plain)(void);
} nvml; /* written at begin, by vs_nvml_open; immutable then */

static _Atomic bool loaded;
static atomic_flag asking = ATOMIC_FLAG_INIT;

enum handle_state { UNKNOWN, FOUND, ABSENT };
static struct device {
    _Atomic int state; /* enum handle_state; release pairs with acquire: handle was stored */
    void *handle;
    unsigned before_count; /* the rest is guarded by `asking` */
    uint32_t before[PROCESSES_MAX]; /* processes that used the device before this one */
    uint32_t own; /* this process's number there; 0 = not found */
} devices[VS_DEVICES_MAX];

static bool bind(void *library)
{
    *(void **)&nvml.init = dlsym(library, "nvmlInitWithFlags");
    *(void **)&nvml.init_plain = dlsym(library, "nvmlInit_v2");
    *(void **)&nvml.by_uuid = dlsym(library, "nvmlDeviceGetHandleByUUID");
    *(void **)&nvml.by_bus = dlsym(library, "nvmlDeviceGetHandleByPciBusId_v2");
    *(void **)&nvml.memory = dlsym(library, "nvmlDeviceGetMemoryInfo");
    *(void **)&nvml.compute = dlsym(library, "nvmlDeviceGetComputeRunningProcesses_v3");
    if (!nvml.compute) /* the same entries under an older name */
        *(void **)&nvml.compute = dlsym(library, "nvmlDeviceGetComputeRunningProcesses_v2");
    *(void **)&nvml.graphics = dlsym(library, "nvmlDeviceGetGraphicsRunningProcesses_v3");
    return nvml.by_uuid && nvml.by_bus && nvml.memory && nvml.compute;
}

/* The simulated driver brings its own NVML beside it, found by the same path. */
void vs_nvml_open(void)
{
    void *library = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
    bool complete = library && bind(library);
    int r = -1;
    if (nvml.init)
        r = nvml.init(NVML_NO_ATTACH);
    else if (nvml.init_plain)
        r = nvml.init_plain();
    if (r == 0 && complete)
        atomic_store_explicit(&loaded, true, memory_order_release);
    else if (library)
        vs_log(VS_LOG_DEBUG, "NVML fails with error %d: memory of other processes is not listed", r);
}

void vs_uuid_text(char text[VS_UUID_TEXT_MAX], const char *prefix, const CUuuid *id)
{
    const unsigned char *b = (const unsigned char *)id->bytes;
    snprintf(text, VS_UUID_TEXT_MAX,
             "%s-%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x", prefix,
             b[0], b[1], b[2], b[3], b[4], b[5], b[6], b[7], b[8], b[9], b[10], b[11], b[12], b[13],
             b[14], b[15]);
}

static void *by_uuid(CUdevice device)
{
    CUuuid id;
    char text[VS_UUID_TEXT_MAX];
    void *handle = NULL;
    if (VS_CALL(cuDeviceGetUuid_v2, &id, device) != CUDA_SUCCESS)
        return NULL;
    vs_uuid_text(text, "GPU", &id);
    if (nvml.by_uuid(text, &handle) == 0)
        return handle;
    vs_uuid_text(text, "MIG", &id); /* a part of a device */
    return nvml.by_uuid(text, &handle) == 0 ? handle : NULL;
}

static void *by_bus(CUdevice device)
{
    char text[64];
    void *handle = NULL;
    if (VS_CALL(cuDeviceGetPCIBusId, text, sizeof text, device) != CUDA_SUCCESS ||
        nvml.by_bus(text, &handle) != 0)
        return NULL;
    return handle;
}

static struct device *device_of(uint32_t ordinal)
{
    struct device *device = ordinal < VS_DEVICES_MAX ? &devices[ordinal] : NULL;
    if (!device || !atomic_load_explicit(&loaded, memory_order_acquire) ||
        atomic_load_explicit(&device->state, memory_order_acquire) != FOUND)
        return NULL;
    return device;
}

void vs_nvml_load(uint32_t ordinal)
{
    if (!atomic_load_explicit(&loaded, memory_order_acquire) || ordinal >= VS_DEVICES_MAX ||
        atomic_load(&devices[ordinal].state) != UNKNOWN || atomic_flag_test_and_set(&asking))
        return;
    void *handle = by_uuid((CUdevice)ordinal);
    if (!handle)
        handle = by_bus((CUdevice)ordinal);
    size_t total = 0;
    struct nvml_memory memory;
    /* is it the device that CUDA shows, or the larger device that contains it? */
    bool found = handle &&
                 VS_CALL(cuDeviceTotalMem_v2, &total, (CUdevice)ordinal) == CUDA_SUCCESS &&
                 nvml.memory(handle, &memory) == 0 && memory.total - memory.total / 5 <= total;
    devices[ordinal].handle = handle;
    atomic_store_explicit(&devices[ordinal].state, found ? FOUND : ABSENT, memory_order_release);
    atomic_flag_clear(&asking);
}

bool vs_nvml_memory(uint32_t ordinal, uint64_t *free_bytes, uint64_t *total_bytes)
{
    struct nvml_memory memory;
    struct device *device = device_of(ordinal);
    if (!device || nvml.memory(device->handle, &memory) != 0)
        return false;
    *free_bytes = memory.free;
    *total_bytes = memory.total;
    return true;
}

/* One list, each process once. */
struct nvml_list {
    unsigned count;
    bool no_bytes;
    struct vs_nvml_process items[PROCESSES_MAX];
};

static void add(struct nvml_list *list, uint32_t pid, uint64_t bytes)
{
    if (bytes == NOT_AVAILABLE) {
        list->no_bytes = true;
        bytes = 0;
    }
    for (unsigned i = 0; i < list->count; i++) {
        if (list->items[i].pid != pid)
            continue;
        if (list->items[i].bytes < bytes) /* compute and graphics: the figure covers both */
            list->items[i].bytes = bytes;
        return;
    }
    if (list->count < PROCESSES_MAX)
        list->items[list->count++] = (struct vs_nvml_process){pid, bytes};
}

static bool append(struct nvml_list *list, void *handle, list_fn get)
{
    unsigned char entries[PROCESSES_MAX * ENTRY_BYTES_LONG] = {0};
    unsigned count = PROCESSES_MAX;
    int r = get(handle, &count, entries);
    if (r != 0 || count > PROCESSES_MAX)
        return false;
    size_t step = ENTRY_BYTES;
    uint32_t pid;
    for (unsigned i = 0; i < count; i++) { /* longer if one would have number 0 otherwise */
        memcpy(&pid, entries + i * ENTRY_BYTES, sizeof pid);
        step = pid ? step : ENTRY_BYTES_LONG;
    }
    for (unsigned i = 0; i < count; i++) {
        unsigned long long bytes;
        memcpy(&pid, entries + i * step, sizeof pid);
        memcpy(&bytes, entries + i * step + 8, sizeof bytes);
        if (pid)
            add(list, pid, bytes);
    }
    return true;
}

static bool read_list(const struct device *device, struct nvml_list *list)
{
    list->count = 0;
    list->no_bytes = false;
    if (!append(list, device->handle, nvml.compute))
        return false;
    if (nvml.graphics)
        (void)append(list, device->handle, nvml.graphics); /* not every device supports them */
    return true;
}

void vs_nvml_note_others(uint32_t ordinal)
{
    struct nvml_list list;
    struct device *device = device_of(ordinal);
    if (!device || atomic_flag_test_and_set(&asking))
        return;
    if (!device->own && read_list(device, &list)) {
        device->before_count = list.count;
        for (unsigned i = 0; i < list.count; i++)
            device->before[i] = list.items[i].pid;
    }
    atomic_flag_clear(&asking);
}

/* This process's number in *list*: its own, else that of the only new process; 0 when neither is
 * there. */
static uint32_t find_own(struct device *device, const struct nvml_list *list, unsigned *how)
{
    uint32_t newcomer = 0;
    unsigned newcomers = 0;
    *how = VS_USAGE_BY_PID;
    for (unsigned i = 0; i < list->count; i++) {
        if (list->items[i].pid == (uint32_t)getpid())
            return list->items[i].pid;
        if (list->items[i].pid == device->own)
            newcomers = 2; /* already found: do not look for another one */
        unsigned j = 0;
        while (j < device->before_count && device->before[j] != list->items[i].pid)
            j++;
        if (newcomers < 2 && j == device->before_count) {
            newcomer = list->items[i].pid;
            newcomers++;
        }
    }
    *how = VS_USAGE_BY_RULE;
    if (!device->own && newcomers == 1)
        device->own = newcomer;
    return device->own;
}

static void show(struct vs_nvml_usage *out, struct vs_nvml_process process)
{
    unsigned i = out->shown < VS_NVML_SHOWN ? out->shown++ : VS_NVML_SHOWN;
    for (; i > 0 && out->other[i - 1].bytes < process.bytes; i--) {
        if (i < VS_NVML_SHOWN)
            out->other[i] = out->other[i - 1];
    }
    if (i < VS_NVML_SHOWN)
        out->other[i] = process;
}

static void attribute(struct device *device, const struct nvml_list *list,
                      struct vs_nvml_usage *out)
{
    *out = (struct vs_nvml_usage){0};
    uint32_t own = find_own(device, list, &out->how);
    bool found = false;
    for (unsigned i = 0; i < list->count; i++) {
        if (own && list->items[i].pid == own) {
            out->own_bytes = list->items[i].bytes;
            found = true;
            continue;
        }
        out->other_bytes += list->items[i].bytes;
        out->others++;
        show(out, list->items[i]);
    }
    if (list->no_bytes)
        out->how = VS_USAGE_NO_BYTES;
    else if (!found)
        out->how = VS_USAGE_UNATTRIBUTED;
}

bool vs_nvml_query(uint32_t ordinal, struct vs_nvml_usage *out)
{
    struct nvml_list list;
    struct device *device = device_of(ordinal);
    if (!device || atomic_flag_test_and_set(&asking))
        return false;
    bool listed = read_list(device, &list);
    if (listed)
        attribute(device, &list, out);
    atomic_flag_clear(&asking);
    return listed;
}
