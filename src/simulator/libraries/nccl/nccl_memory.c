/* SPDX-License-Identifier: Apache-2.0
 *
 * Device memory: the buffers of a communicator's channels, which lie outside every framework's
 * allocator; ncclMemAlloc; registered buffers and windows, which take none. */
#include "simulator/libraries/nccl/vs_nccl_comm.h"

VS_NCCL_FUNCTIONS(VS_LIBRARY_DECLARE)

#define MIB (UINT64_C(1) << 20)
#define GRANULARITY (2 * MIB) /* of cuMemCreate, from which NCCL allocates */

/* Each channel of a ring has, with the default NCCL_BUFFSIZE, 4 MiB for the protocol Simple, about
 * 4.7 MiB for LL128 and 0.5 MiB for LL. Channels: what public logs of 2.2x show for devices with
 * NVLink (24 on A100, 16 on Hopper and later) and over PCIe (4). Not measured here. */
static uint64_t assumed_bytes(void)
{
    int major = vs_library_attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
    int minor = vs_library_attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
    uint64_t channels = major >= 9 ? 16 : major == 8 && minor == 0 ? 24 : 4;
    uint64_t bytes = channels * (92 * MIB / 10);
    return (bytes + GRANULARITY - 1) / GRANULARITY * GRANULARITY;
}

/* A stream may be in a capture, in which cuMemAlloc is not allowed to others. */
static CUresult allocate(CUdeviceptr *address, size_t bytes)
{
    const struct vs_library_driver *d = vs_library_driver();
    CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;
    d->cuThreadExchangeStreamCaptureMode(&mode);
    CUresult e = d->cuMemAlloc_v2(address, bytes);
    d->cuThreadExchangeStreamCaptureMode(&mode);
    return e;
}

int vs_nccl_buffers_make(struct vs_nccl_member *m)
{
    if (m->buffers || m->count == 1)
        return ncclSuccess;
    size_t bytes = assumed_bytes();
    int e = vs_nccl_cuda(allocate(&m->buffers, bytes), "device memory of a communicator's channels");
    if (e) {
        m->buffers = 0;
        return e;
    }
    m->buffer_bytes = bytes;
    vs_library_assume("communicator", bytes,
                      "buffers of the channels of one communicator, by its default buffer size");
    return ncclSuccess;
}

void vs_nccl_buffers_free(struct vs_nccl_member *m)
{
    const struct vs_library_driver *d = vs_library_driver();
    if (!m->buffers || d->cuCtxPushCurrent_v2(m->context))
        return;
    d->cuMemFree_v2(m->buffers);
    d->cuCtxPopCurrent_v2(&(CUcontext){NULL});
    m->buffers = 0;
    m->buffer_bytes = 0;
}

int ncclMemAlloc(void **address, size_t bytes)
{
    if (!address)
        return vs_nccl_fail(ncclInvalidArgument, "ncclMemAlloc: the pointer for the result is NULL");
    if (!vs_library_driver())
        return vs_nccl_fail(ncclUnhandledCudaError, "ncclMemAlloc: no simulated driver");
    CUdeviceptr made;
    *address = NULL;
    if (!bytes)
        return ncclSuccess;
    size_t rounded = (bytes + GRANULARITY - 1) / GRANULARITY * GRANULARITY;
    int e = rounded < bytes ? vs_nccl_fail(ncclInvalidArgument, "ncclMemAlloc: the size overflows")
                            : vs_nccl_cuda(allocate(&made, rounded), "ncclMemAlloc");
    if (!e)
        *address = (void *)(uintptr_t)made;
    return e;
}

int ncclMemFree(void *address)
{
    if (!address)
        return ncclSuccess;
    if (!vs_library_driver())
        return vs_nccl_fail(ncclUnhandledCudaError, "ncclMemFree: no simulated driver");
    return vs_nccl_cuda(vs_library_driver()->cuMemFree_v2((CUdeviceptr)(uintptr_t)address),
                        "ncclMemFree");
}

/* ---- registered buffers and windows ---- */

struct known_buffer {
    struct vs_nccl_member *member;
    void *address;
    size_t bytes;
};

static int add(struct ncclComm *comm, void *address, size_t bytes, int kind, void **out,
               const char *function)
{
    struct vs_nccl_member *m = vs_nccl_member_of(comm, function);
    if (!m)
        return ncclInvalidArgument;
    if (!out || !address || !bytes)
        return vs_nccl_fail(ncclInvalidArgument, "%s: an address, a size and a place for the handle "
                            "are needed", function);
    struct known_buffer *r = vs_library_new(kind, sizeof *r);
    if (!r)
        return vs_nccl_fail(ncclSystemError, "%s: no memory", function);
    *r = (struct known_buffer){m, address, bytes};
    *out = r;
    return ncclSuccess;
}

static int drop(struct ncclComm *comm, void *handle, int kind, const char *function)
{
    struct vs_nccl_member *m = vs_nccl_member_of(comm, function);
    struct known_buffer *r = vs_library_object(handle, kind);
    if (!m)
        return ncclInvalidArgument;
    if (!handle)
        return ncclSuccess;
    if (!r || r->member != m)
        return vs_nccl_fail(ncclInvalidArgument, "%s: %p is not a handle of this communicator",
                            function, handle);
    vs_library_delete(handle, kind);
    return ncclSuccess;
}

int ncclCommRegister(struct ncclComm *const comm, void *address, size_t bytes, void **handle)
{
    return add(comm, address, bytes, VS_NCCL_REGISTRATION, handle, "ncclCommRegister");
}

int ncclCommDeregister(struct ncclComm *const comm, void *handle)
{
    return drop(comm, handle, VS_NCCL_REGISTRATION, "ncclCommDeregister");
}

int ncclCommWindowRegister(struct ncclComm *comm, void *address, size_t bytes,
                           struct ncclWindow_vidmem **window, int flags)
{
    (void)flags;
    return add(comm, address, bytes, VS_NCCL_WINDOW, (void **)window, "ncclCommWindowRegister");
}

int ncclCommWindowDeregister(struct ncclComm *comm, struct ncclWindow_vidmem *window)
{
    return drop(comm, window, VS_NCCL_WINDOW, "ncclCommWindowDeregister");
}

int ncclWinGetUserPtr(struct ncclComm *comm, struct ncclWindow_vidmem *window, void **address)
{
    struct vs_nccl_member *m = vs_nccl_member_of(comm, "ncclWinGetUserPtr");
    struct known_buffer *r = vs_library_object(window, VS_NCCL_WINDOW);
    if (!m || !r || r->member != m || !address)
        return vs_nccl_fail(ncclInvalidArgument, "ncclWinGetUserPtr: not a window of this communicator");
    *address = r->address;
    return ncclSuccess;
}

/* ---- memory of an idle communicator ---- */

int ncclCommSuspend(struct ncclComm *comm, int flags)
{
    struct vs_nccl_member *m = vs_nccl_member_of(comm, "ncclCommSuspend");
    if (!m || !(flags & NCCL_SUSPEND_MEM))
        return m ? vs_nccl_fail(ncclInvalidArgument, "ncclCommSuspend: unknown flags 0x%x", flags)
                 : ncclInvalidArgument;
    vs_nccl_drain(m);
    pthread_mutex_lock(&m->order);
    m->suspended_bytes += m->buffer_bytes;
    vs_nccl_buffers_free(m);
    pthread_mutex_unlock(&m->order);
    return ncclSuccess;
}

int ncclCommResume(struct ncclComm *comm)
{
    struct vs_nccl_member *m = vs_nccl_member_of(comm, "ncclCommResume");
    if (!m)
        return ncclInvalidArgument;
    int e = vs_nccl_cuda(vs_library_driver()->cuCtxPushCurrent_v2(m->context), "ncclCommResume");
    if (e)
        return e;
    pthread_mutex_lock(&m->order);
    if (m->suspended_bytes)
        e = vs_nccl_buffers_make(m);
    if (!e)
        m->suspended_bytes = 0;
    pthread_mutex_unlock(&m->order);
    vs_library_driver()->cuCtxPopCurrent_v2(&(CUcontext){NULL});
    return e;
}

int ncclCommMemStats(struct ncclComm *comm, int what, unsigned long *value)
{
    struct vs_nccl_member *m = vs_nccl_member_of(comm, "ncclCommMemStats");
    if (!m || !value || what < ncclStatGpuMemSuspend || what > ncclStatGpuMemTotal)
        return vs_nccl_fail(ncclInvalidArgument, "ncclCommMemStats: bad communicator, statistic or "
                            "result");
    pthread_mutex_lock(&m->order);
    unsigned long now = m->buffer_bytes, suspended = m->suspended_bytes;
    pthread_mutex_unlock(&m->order);
    *value = what == ncclStatGpuMemSuspended ? suspended != 0
             : what == ncclStatGpuMemPersist ? 0
                                             : now + suspended;
    return ncclSuccess;
}
