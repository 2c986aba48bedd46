/* SPDX-License-Identifier: Apache-2.0
 *
 * Communicators: made from a unique id or from another communicator, asked, and ended. */
#define _GNU_SOURCE
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "simulator/libraries/nccl/vs_nccl_comm.h"

#define ID_MAGIC "vramscope-nccl"

struct id_content { /* of a unique id */
    char magic[16];
    struct vs_nccl_key key;
};

int ncclGetVersion(int *version)
{
    return version ? vs_library_get_version(version, 10000, 100)
                   : vs_nccl_fail(ncclInvalidArgument, "ncclGetVersion: the result is NULL");
}

/* ---- handles ---- */

struct vs_nccl_member *vs_nccl_member_of(const struct ncclComm *comm, const char *function)
{
    struct ncclComm *live = vs_library_object(comm, VS_NCCL_HANDLE);
    if (live)
        return live->member;
    vs_nccl_fail(ncclInvalidArgument, "%s: %p is not a communicator", function, (const void *)comm);
    return NULL;
}

int vs_nccl_ready(struct vs_nccl_member *m, const char *function)
{
    int e = atomic_load(&m->error);
    if (e == ncclInProgress)
        return vs_nccl_fail(ncclInvalidArgument, "%s: the communicator is not ready yet; wait until "
                            "ncclCommGetAsyncError answers ncclSuccess", function);
    if (e) /* the text of the error stays */
        return e;
    if (atomic_load(&m->stopped))
        return vs_nccl_fail(ncclInvalidUsage, "%s: the communicator was revoked or finalized",
                            function);
    return ncclSuccess;
}

void vs_nccl_keep(struct vs_nccl_member *m)
{
    atomic_fetch_add(&m->references, 1);
}

void vs_nccl_release(struct vs_nccl_member *m)
{
    if (atomic_fetch_sub(&m->references, 1) != 1)
        return;
    vs_nccl_segment_shut(&m->door);
    if (m->segment)
        vs_nccl_segment_leave(m->segment);
    pthread_mutex_destroy(&m->mu);
    pthread_mutex_destroy(&m->order);
    pthread_cond_destroy(&m->idle);
    free(m->buffers);
    free(m->connected);
    free(m);
}

/* ---- unique ids ---- */

static int new_key(struct vs_nccl_key *key)
{
    return getrandom(key->bytes, sizeof key->bytes, 0) == (ssize_t)sizeof key->bytes
               ? ncclSuccess
               : vs_nccl_fail(ncclSystemError, "no random numbers for a unique id");
}

static int read_id(const ncclUniqueId *id, struct vs_nccl_key *key, const char *function)
{
    struct id_content content;
    if (!id)
        return vs_nccl_fail(ncclInvalidArgument, "%s: the unique id is NULL", function);
    memcpy(&content, id->internal, sizeof content);
    if (!vs_nccl_options()->alone && strncmp(content.magic, ID_MAGIC, sizeof content.magic))
        return vs_nccl_fail(ncclInvalidArgument, "%s: the unique id was not made by ncclGetUniqueId of "
                            "the simulated GPU's NCCL", function);
    *key = content.key;
    return ncclSuccess;
}

int ncclGetUniqueId(ncclUniqueId *id)
{
    struct id_content content = {.magic = ID_MAGIC};
    if (!id)
        return vs_nccl_fail(ncclInvalidArgument, "ncclGetUniqueId: the result is NULL");
    int e = new_key(&content.key);
    if (e)
        return e;
    memset(id, 0, sizeof *id);
    memcpy(id->internal, &content, sizeof content);
    return ncclSuccess;
}

int ncclCommGetUniqueId(struct ncclComm *comm, ncclUniqueId *id)
{
    struct vs_nccl_member *m = vs_nccl_member_of(comm, "ncclCommGetUniqueId");
    return m ? ncclGetUniqueId(id) : ncclInvalidArgument;
}

/* ---- making ---- */

static bool is_count(int count) /* of a communicator; the ranks that exist share memory */
{
    return count >= 1 && (count <= VS_NCCL_RANKS_MAX || vs_nccl_options()->alone);
}

static int refuse_alone(const char *function)
{
    return vs_nccl_options()->alone
               ? vs_nccl_fail(ncclInvalidUsage, "%s: a rank alone does not know which other ranks take "
                              "part; make the communicator from a unique id", function)
               : ncclSuccess;
}

static int read_config(const ncclConfig_t *config, bool *blocking, const char *function)
{
    *blocking = true;
    if (!config)
        return ncclSuccess;
    if (config->magic != NCCL_API_MAGIC)
        return vs_nccl_fail(ncclInvalidArgument, "%s: the configuration was not initialised by "
                            "NCCL_CONFIG_INITIALIZER", function);
    if (config->blocking != INT_MIN && config->blocking != 0 && config->blocking != 1)
        return vs_nccl_fail(ncclInvalidArgument, "%s: blocking is %d, allowed are 0 and 1", function,
                            config->blocking);
    *blocking = config->blocking != 0;
    return ncclSuccess;
}

/* The ranks on this rank's node, which a rank alone is told as the name of the network:
 * "vramscope-node:LOW:END:COUNT". Where the count is another one, of two ranks of that group, both are on
 * one node if this rank is not the only one of the group there. */
static void read_node(const ncclConfig_t *config, struct vs_nccl_join *j)
{
    int low, end, count;
    if (!vs_nccl_options()->alone || !config || !config->netName ||
        sscanf(config->netName, "vramscope-node:%d:%d:%d", &low, &end, &count) != 3)
        return;
    if (count == j->count) {
        j->near_low = low;
        j->near_end = end;
    } else if (end - low == 1) {
        j->near_low = j->rank;
        j->near_end = j->rank + 1;
    }
}

static int current_device(struct vs_nccl_join *j)
{
    const struct vs_library_driver *d = vs_library_driver();
    if (!d)
        return vs_nccl_fail(ncclUnhandledCudaError, "the simulated driver is not in this process");
    CUresult e = d->cuCtxGetCurrent(&j->context);
    if (!e && !j->context) { /* no CUDA call of the runtime yet: device 0, as there */
        e = d->cuDevicePrimaryCtxRetain(&j->context, 0);
        if (!e)
            e = d->cuCtxSetCurrent(j->context);
    }
    return vs_nccl_cuda(e ? e : d->cuCtxGetDevice(&j->device), "the current device");
}

int vs_nccl_init(struct ncclComm **out, int count, const ncclUniqueId *id, int rank,
                 const ncclConfig_t *config, const char *function)
{
    struct vs_nccl_join j = {.out = out, .count = count, .rank = rank, .how = VS_NCCL_INIT};
    if (!out)
        return vs_nccl_group_note(vs_nccl_fail(ncclInvalidArgument, "%s: the result is NULL", function));
    *out = NULL;
    int e = ncclSuccess;
    if (!is_count(count) || rank < 0 || rank >= count)
        e = vs_nccl_fail(ncclInvalidArgument, "%s: invalid rank %d of %d (1 to %d ranks)", function, rank,
                         count, VS_NCCL_RANKS_MAX);
    if (!e)
        e = read_id(id, &j.key, function);
    if (!e)
        e = read_config(config, &j.blocking, function);
    if (!e)
        read_node(config, &j);
    if (!e)
        e = current_device(&j);
    return vs_nccl_group_note(e ? e : vs_nccl_join(&j));
}

int ncclCommInitRankScalable(struct ncclComm **out, int count, int rank, int id_count,
                             ncclUniqueId *ids, ncclConfig_t *config)
{
    if (id_count < 1 || id_count > count)
        return vs_nccl_fail(ncclInvalidArgument, "ncclCommInitRankScalable: %d unique ids for %d ranks",
                            id_count, count);
    return vs_nccl_init(out, count, ids, rank, config, "ncclCommInitRankScalable");
}

int ncclCommInitAll(struct ncclComm **out, int count, const int *devices)
{
    const struct vs_library_driver *d = vs_library_driver();
    struct vs_nccl_key key;
    if (!d)
        return vs_nccl_fail(ncclUnhandledCudaError, "the simulated driver is not in this process");
    if (!out || !is_count(count))
        return vs_nccl_fail(ncclInvalidArgument, "ncclCommInitAll: %d devices", count);
    struct vs_nccl_join *joins = vs_sim_need(calloc((size_t)count, sizeof *joins));
    int e = new_key(&key);
    for (int i = 0; i < count && !e; i++) {
        int device = devices ? devices[i] : i;
        joins[i] = (struct vs_nccl_join){.out = &out[i], .count = count, .rank = i, .key = key,
                                         .how = VS_NCCL_INIT, .blocking = true, .device = device};
        for (int k = 0; k < i && !e; k++)
            if (joins[k].device == device)
                e = vs_nccl_fail(ncclInvalidUsage, "ncclCommInitAll: device %d is listed twice", device);
        if (!e)
            e = vs_nccl_cuda(d->cuDevicePrimaryCtxRetain(&joins[i].context, device),
                             "ncclCommInitAll: a device of the list");
    }
    if (!e)
        e = vs_nccl_joins_run(joins, (size_t)count);
    free(joins);
    return e;
}

/* ---- making from another one ---- */

/* What a communicator that is made from *parent* has in common with it. */
static int from_parent(struct ncclComm *comm, struct ncclComm **out, const ncclConfig_t *config,
                       struct vs_nccl_join *j, const char *function)
{
    struct vs_nccl_member *m = vs_nccl_member_of(comm, function);
    if (!m)
        return ncclInvalidArgument;
    if (!out)
        return vs_nccl_fail(ncclInvalidArgument, "%s: the result is NULL", function);
    *out = NULL;
    *j = (struct vs_nccl_join){.out = out, .device = m->device, .context = m->context};
    int e = read_config(config, &j->blocking, function);
    if (!config)
        j->blocking = m->blocking;
    return e;
}

int ncclCommSplit(struct ncclComm *comm, int color, int key, struct ncclComm **out,
                  ncclConfig_t *config)
{
    struct vs_nccl_join j;
    int e = from_parent(comm, out, config, &j, "ncclCommSplit");
    if (!e)
        e = vs_nccl_ready(comm->member, "ncclCommSplit");
    if (!e)
        e = refuse_alone("ncclCommSplit");
    if (!e && color < -1)
        e = vs_nccl_fail(ncclInvalidArgument, "ncclCommSplit: color %d; use a number from 0 on, or "
                         "NCCL_SPLIT_NOCOLOR", color);
    if (e)
        return vs_nccl_group_note(e);
    j.how = VS_NCCL_SPLIT;
    j.color = color;
    j.sort = key;
    j.parent = comm->member;
    vs_nccl_keep(j.parent);
    return vs_nccl_group_note(vs_nccl_join(&j));
}

static struct vs_nccl_key key_of_shrink(const struct vs_nccl_member *m, const unsigned char *gone)
{
    struct vs_nccl_key key = m->key;
    uint64_t h = UINT64_C(14695981039346656037) ^ m->shrinks;
    for (int r = 0; r < m->count; r++)
        h = (h ^ gone[r]) * UINT64_C(1099511628211);
    for (size_t i = 0; i < sizeof h; i++)
        key.bytes[i] ^= (unsigned char)(h >> 8 * i);
    return key;
}

int ncclCommShrink(struct ncclComm *comm, int *excluded, int excluded_count, struct ncclComm **out,
                   ncclConfig_t *config, int flags)
{
    struct vs_nccl_join j;
    unsigned char gone[VS_NCCL_RANKS_MAX] = {0};
    int e = from_parent(comm, out, config, &j, "ncclCommShrink");
    if (e)
        return vs_nccl_group_note(e);
    struct vs_nccl_member *m = comm->member;
    if (m->count > VS_NCCL_RANKS_MAX)
        e = refuse_alone("ncclCommShrink");
    else if (!excluded || excluded_count < 1 || excluded_count >= m->count)
        e = vs_nccl_fail(ncclInvalidArgument, "ncclCommShrink: %d of %d ranks are to leave",
                         excluded_count, m->count);
    for (int i = 0; i < excluded_count && !e; i++) {
        if (excluded[i] < 0 || excluded[i] >= m->count || gone[excluded[i]] || excluded[i] == m->rank)
            e = vs_nccl_fail(ncclInvalidArgument, "ncclCommShrink: rank %d cannot be left out by rank %d",
                             excluded[i], m->rank);
        else
            gone[excluded[i]] = 1;
    }
    if (!e && flags == NCCL_SHRINK_ABORT) /* the work of the old one ends, whatever its state is */
        ncclCommRevoke(comm, NCCL_REVOKE_DEFAULT);
    else if (!e)
        e = vs_nccl_ready(m, "ncclCommShrink");
    if (e)
        return vs_nccl_group_note(e);
    j.how = VS_NCCL_INIT;
    m->shrinks++;
    j.key = key_of_shrink(m, gone);
    j.count = m->count - excluded_count;
    for (int r = 0; r < m->rank; r++)
        j.rank += !gone[r];
    return vs_nccl_group_note(vs_nccl_join(&j));
}

int ncclCommGrow(struct ncclComm *comm, int count, const ncclUniqueId *id, int rank,
                 struct ncclComm **out, ncclConfig_t *config)
{
    struct vs_nccl_join j;
    if (!comm)
        return vs_nccl_init(out, count, id, rank, config, "ncclCommGrow");
    int e = from_parent(comm, out, config, &j, "ncclCommGrow");
    if (!e)
        e = vs_nccl_ready(comm->member, "ncclCommGrow");
    if (!e)
        e = refuse_alone("ncclCommGrow");
    if (!e && (rank != -1 || count <= comm->member->count || count > VS_NCCL_RANKS_MAX))
        e = vs_nccl_fail(ncclInvalidArgument, "ncclCommGrow: a present rank gives rank -1 and more ranks "
                         "than there are, not rank %d of %d", rank, count);
    if (!e && id)
        e = read_id(id, &j.key, "ncclCommGrow");
    if (e)
        return vs_nccl_group_note(e);
    j.has_key = id != NULL;
    j.how = VS_NCCL_GROW;
    j.rank = comm->member->rank;
    j.count = count;
    j.parent = comm->member;
    vs_nccl_keep(j.parent);
    return vs_nccl_group_note(vs_nccl_join(&j));
}

/* ---- asking ---- */

int vs_nccl_answer(const struct ncclComm *comm, int *out, size_t at, const char *function)
{
    struct vs_nccl_member *m = vs_nccl_member_of(comm, function);
    if (!m)
        return ncclInvalidArgument;
    if (!out)
        return vs_nccl_fail(ncclInvalidArgument, "%s: the result is NULL", function);
    if (atomic_load(&m->error) == ncclInProgress)
        return vs_nccl_ready(m, function);
    memcpy(out, (const char *)m + at, sizeof *out);
    return ncclSuccess;
}

int ncclCommGetAsyncError(struct ncclComm *comm, int *error)
{
    struct vs_nccl_member *m = vs_nccl_member_of(comm, "ncclCommGetAsyncError");
    if (!m || !error)
        return m ? vs_nccl_fail(ncclInvalidArgument, "ncclCommGetAsyncError: the result is NULL")
                 : ncclInvalidArgument;
    *error = atomic_load(&m->error);
    return ncclSuccess;
}

/* ---- ending ---- */

static void leave(struct vs_nccl_member *m, enum vs_nccl_left how)
{
    atomic_store(&m->stopped, true);
    if (!m->segment)
        return;
    uint32_t present = VS_NCCL_PRESENT;
    atomic_compare_exchange_strong(&m->segment->ranks[m->rank].left, &present, how);
    for (int r = 0; r < m->count; r++)
        vs_nccl_bell_ring(&m->segment->ranks[r]);
}

int ncclCommFinalize(struct ncclComm *comm)
{
    struct vs_nccl_member *m = vs_nccl_member_of(comm, "ncclCommFinalize");
    if (!m)
        return ncclInvalidArgument;
    int e = vs_nccl_ready(m, "ncclCommFinalize");
    if (!e)
        vs_nccl_drain(m);
    return e ? e : atomic_load(&m->error);
}

int vs_nccl_end(struct ncclComm *comm, enum vs_nccl_left how, const char *function)
{
    if (!comm)
        return ncclSuccess;
    struct vs_nccl_member *m = vs_nccl_member_of(comm, function);
    if (!m)
        return ncclInvalidArgument;
    const struct vs_library_driver *d = vs_library_driver();
    if (how == VS_NCCL_DESTROYED && atomic_load(&m->error) == ncclSuccess)
        vs_nccl_drain(m);
    leave(m, how);
    vs_nccl_buffers_free(m);
    for (int i = 0; i < 2; i++) {
        if (m->last[i].event && !d->cuCtxPushCurrent_v2(m->context)) {
            d->cuEventDestroy_v2(m->last[i].event);
            d->cuCtxPopCurrent_v2(&(CUcontext){NULL});
        }
        m->last[i].event = NULL;
    }
    vs_library_delete(comm, VS_NCCL_HANDLE);
    vs_nccl_release(m);
    return ncclSuccess;
}

int ncclCommRevoke(struct ncclComm *comm, int flags)
{
    struct vs_nccl_member *m = vs_nccl_member_of(comm, "ncclCommRevoke");
    if (!m || flags != NCCL_REVOKE_DEFAULT)
        return m ? vs_nccl_fail(ncclInvalidArgument, "ncclCommRevoke: unknown flags 0x%x", flags)
                 : ncclInvalidArgument;
    leave(m, VS_NCCL_ABORTED);
    vs_nccl_drain(m);
    return ncclSuccess;
}
