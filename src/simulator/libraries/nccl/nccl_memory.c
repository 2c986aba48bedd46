/* SPDX-License-Identifier: Apache-2.0
 *
 * Device memory: the buffers of a communicator's channels, which lie outside every framework's
 * allocator; ncclMemAlloc; registered buffers and windows, which take none. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "simulator/libraries/nccl/vs_nccl_comm.h"
#include "simulator/libraries/sizes/vs_library_sizes.h"

#define MIB (UINT64_C(1) << 20)
#define GRANULARITY (2 * MIB) /* of cuMemCreate, from which NCCL allocates */
#define HEADER 4096           /* heads and tails before a connection's buffers */
#define CHANNELS_MAX 32
/* For sends and for receives, each channel's buffers for all peers on other nodes: 16 steps of 128 KiB
 * (NCCL_SHARED_STEPS and NCCL_P2P_NET_CHUNKSIZE, transport/net.cc). */
#define FAR_BYTES (16 * (UINT64_C(128) << 10))

/* What NCCL takes is the sum of its connections: each channel has one to each peer, with a buffer at
 * the sender and one at the receiver, both rounded up to 2 MiB (NCCL's transport/p2p.cc). The sizes of
 * the protocols' buffers are those of its init.cc; NCCL_BUFFSIZE and its likes replace them. An A100
 * reads the buffer of the protocol Simple from the sender (graph/paths.cc), others have it at
 * the receiver. So a ring takes 12 MiB for each channel: 10 MiB and 2 MiB are the two sizes in the
 * log of https://github.com/NVIDIA/nccl/issues/1685. */
struct connection {
    uint64_t send, receive;
};

/* The device's links: by compute capability, whether or not the host connects them. Channels of
 * collectives: public logs of 2.2x (24 on A100 and H100 with NVSwitch, 12 on V100, 4 over PCIe). To
 * one peer a send has twice as many as there are links, as a power of two (graph/paths.cc). */
static const struct link {
    int major, minor; /* minor -1: every one */
    uint64_t channels, peer_channels;
    bool reads;
} links[] = {
    {7, 0, 12, 4, false}, {8, 0, 24, 32, true}, {9, -1, 24, 32, false}, {10, -1, 24, 32, false},
    {0, -1, 4, 2, false}, /* PCIe */
};

static const struct link *link_of_device(void)
{
    int major = vs_library_attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
    int minor = vs_library_attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
    const struct link *link = links;
    while (link->major && (link->major != major || (link->minor >= 0 && link->minor != minor)))
        link++;
    return link;
}

/* The number in the variable *name*; *otherwise* where it is not set or not a positive number. */
static uint64_t setting(const char *name, uint64_t otherwise)
{
    const char *text = getenv(name);
    long long value = text ? strtoll(text, NULL, 0) : 0;
    return value > 0 ? (uint64_t)value : otherwise;
}

/* *channels*, within the limits that the user sets. */
static uint64_t within(uint64_t channels, const char *least, const char *most)
{
    uint64_t low = setting(least, 1), high = setting(most, CHANNELS_MAX);
    channels = channels > high ? high : channels;
    return channels < low && low <= CHANNELS_MAX ? low : channels;
}

static uint64_t rounded(uint64_t bytes)
{
    return (bytes + GRANULARITY - 1) / GRANULARITY * GRANULARITY;
}

static struct connection connection_of(const struct link *link)
{
    uint64_t simple = setting("NCCL_BUFFSIZE", 4 * MIB);
    uint64_t others = setting("NCCL_LL_BUFFSIZE", 8 * 512 * 8 * 16) +
                      setting("NCCL_LL128_BUFFSIZE", 120 * 640 * 8 * 8);
    uint64_t send = HEADER + (link->reads ? simple : 0);
    return (struct connection){rounded(send), rounded(HEADER + others + (link->reads ? 0 : simple))};
}

/* The first collective connects the ring, and the tree where it needs more: the chain of the ranks
 * goes both ways, the ring one. Which ranks are its ends is assumed to follow their numbers. */
static uint64_t collective_bytes(const struct vs_nccl_member *m, const struct link *link)
{
    struct connection c = connection_of(link);
    uint64_t channels = within(link->channels, "NCCL_MIN_NCHANNELS", "NCCL_MAX_NCHANNELS");
    uint64_t bytes = c.send + c.receive;
    if (m->count > 2)
        bytes += (m->rank > 0 ? c.send : 0) + (m->rank < m->count - 1 ? c.receive : 0);
    return channels * bytes;
}

/* Marks what *task* sends and receives, and returns the bytes of connections that are new. */
static uint64_t peer_bytes(struct vs_nccl_member *m, const struct vs_nccl_task *task,
                           const struct link *link, unsigned *peers)
{
    enum { SENDS = 1, RECEIVES = 2 };
    if (task->kind < VS_NCCL_ALL_TO_ALL)
        return 0;
    struct connection c = connection_of(link);
    uint64_t bytes = 0, most = within(link->channels, "NCCL_MIN_NCHANNELS", "NCCL_MAX_NCHANNELS");
    while (most & (most - 1)) /* the next power of two */
        most += most & -most;
    most = within(most, "NCCL_MIN_P2P_NCHANNELS", "NCCL_MAX_P2P_NCHANNELS");
    uint64_t channels = link->peer_channels < most ? link->peer_channels : most;
    for (int peer = 0; peer < m->count; peer++) {
        bool root = m->rank == task->root, to_root = peer == task->root;
        bool all = task->kind == VS_NCCL_ALL_TO_ALL;
        bool sends = all || (task->kind == VS_NCCL_SEND && to_root) ||
                     (task->kind == VS_NCCL_GATHER && to_root) || (task->kind == VS_NCCL_SCATTER && root);
        bool receives = all || (task->kind == VS_NCCL_RECV && to_root) ||
                        (task->kind == VS_NCCL_SCATTER && to_root) ||
                        (task->kind == VS_NCCL_GATHER && root);
        unsigned wanted = (sends ? SENDS : 0) | (receives ? RECEIVES : 0);
        unsigned added = peer == m->rank ? 0 : wanted & ~(unsigned)m->connected[peer];
        m->connected[peer] |= (unsigned char)added;
        *peers += added != 0;
        if (peer >= m->near_low && peer < m->near_end) {
            bytes += channels * ((added & SENDS ? c.send : 0) + (added & RECEIVES ? c.receive : 0));
        } else {
            added &= ~m->far;
            m->far |= added;
            bytes += most * ((added & SENDS ? FAR_BYTES : 0) + (added & RECEIVES ? FAR_BYTES : 0));
        }
    }
    return bytes;
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

/* One more piece of device memory of *m*. */
static int hold(struct vs_nccl_member *m, uint64_t bytes)
{
    m->buffers = vs_sim_need(realloc(m->buffers, (m->buffer_count + 1) * sizeof *m->buffers));
    int e = vs_nccl_cuda(allocate(&m->buffers[m->buffer_count], bytes),
                         "device memory of a communicator's channels");
    if (e)
        return e;
    m->buffer_count++;
    m->buffer_bytes += bytes;
    return ncclSuccess;
}

static int hold_assumed(struct vs_nccl_member *m, const char *name, unsigned peers, uint64_t bytes)
{
    char text[64];
    int e = bytes ? hold(m, bytes) : ncclSuccess;
    snprintf(text, sizeof text, name, peers);
    if (bytes && !e)
        vs_library_assume(text, bytes, "channels and buffers as in NCCL's own source (transport/p2p.cc); "
                          "the number of channels as in public logs");
    return e;
}

int vs_nccl_buffers_make(struct vs_nccl_member *m, const struct vs_nccl_task *tasks, size_t count)
{
    const struct link *link = link_of_device();
    uint64_t peers_bytes = 0;
    unsigned peers = 0;
    bool collective = false;
    int e = ncclSuccess;
    if (m->count == 1)
        return ncclSuccess;
    if (!m->initialised)
        e = hold(m, vs_library_size("communicator", "", 256 * MIB, "no row for this device"));
    m->initialised |= !e;
    for (size_t i = 0; i < count && !e; i++) {
        collective |= tasks[i].kind < VS_NCCL_ALL_TO_ALL;
        peers_bytes += peer_bytes(m, &tasks[i], link, &peers);
    }
    if (!e && collective && !m->collective) {
        e = hold_assumed(m, "connections of %u ranks", (unsigned)m->count, collective_bytes(m, link));
        m->collective = !e;
    }
    return e ? e : hold_assumed(m, "connections for sends to %u ranks", peers, peers_bytes);
}

void vs_nccl_buffers_free(struct vs_nccl_member *m)
{
    const struct vs_library_driver *d = vs_library_driver();
    if (!m->buffer_count || d->cuCtxPushCurrent_v2(m->context))
        return;
    for (size_t i = 0; i < m->buffer_count; i++)
        d->cuMemFree_v2(m->buffers[i]);
    d->cuCtxPopCurrent_v2(&(CUcontext){NULL});
    free(m->buffers);
    m->buffers = NULL;
    m->buffer_count = 0;
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
    int e = rounded(bytes) < bytes
                ? vs_nccl_fail(ncclInvalidArgument, "ncclMemAlloc: the size overflows")
                : vs_nccl_cuda(allocate(&made, rounded(bytes)), "ncclMemAlloc");
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

int vs_nccl_register(struct ncclComm *comm, void *address, size_t bytes, int kind, void *out,
                     const char *function)
{
    struct vs_nccl_member *m = vs_nccl_member_of(comm, function);
    if (!m)
        return ncclInvalidArgument;
    if (!out || !address || !bytes)
        return vs_nccl_fail(ncclInvalidArgument, "%s: an address, a size and a place for the handle "
                            "are needed", function);
    struct known_buffer *r = vs_library_new(kind, sizeof *r);
    *r = (struct known_buffer){m, address, bytes};
    memcpy(out, &r, sizeof r);
    return ncclSuccess;
}

int vs_nccl_deregister(struct ncclComm *comm, void *handle, int kind, const char *function)
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
        e = hold(m, m->suspended_bytes);
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
