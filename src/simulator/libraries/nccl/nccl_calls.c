/* SPDX-License-Identifier: Apache-2.0
 *
 * The calls that move data (nccl.calls): arguments are checked, then they join the group of the thread. */
#include <string.h>

#include "simulator/libraries/common/vs_library_fallback.h"
#include "simulator/libraries/nccl/vs_nccl_comm.h"

/* ---- user-defined operations ---- */

int ncclRedOpCreatePreMulSum(int *op, void *scalar, int type, int residence, struct ncclComm *comm)
{
    struct vs_nccl_member *m = vs_nccl_member_of(comm, "ncclRedOpCreatePreMulSum");
    size_t bytes = vs_nccl_type_bytes(type);
    if (!m)
        return ncclInvalidArgument;
    if (!op || !scalar || !bytes ||
        (residence != ncclScalarDevice && residence != ncclScalarHostImmediate))
        return vs_nccl_fail(ncclInvalidArgument, "ncclRedOpCreatePreMulSum: bad result, scalar, data "
                            "type %d or residence %d", type, residence);
    int slot = 0;
    pthread_mutex_lock(&m->mu);
    while (slot < VS_NCCL_USER_OPS && m->user_ops[slot].live)
        slot++;
    if (slot < VS_NCCL_USER_OPS) {
        struct vs_nccl_user_op *u = &m->user_ops[slot];
        *u = (struct vs_nccl_user_op){.live = true, .type = type, .address = scalar};
        u->on_device = residence == ncclScalarDevice;
        if (!u->on_device)
            memcpy(u->value, scalar, bytes);
        *op = ncclNumOps + slot;
    }
    pthread_mutex_unlock(&m->mu);
    return slot < VS_NCCL_USER_OPS ? ncclSuccess
                                   : vs_nccl_fail(ncclSystemError, "more than %d user-defined "
                                                  "operations of one communicator", VS_NCCL_USER_OPS);
}

int ncclRedOpDestroy(int op, struct ncclComm *comm)
{
    struct vs_nccl_member *m = vs_nccl_member_of(comm, "ncclRedOpDestroy");
    if (!m)
        return ncclInvalidArgument;
    int slot = op - ncclNumOps;
    pthread_mutex_lock(&m->mu);
    bool live = slot >= 0 && slot < VS_NCCL_USER_OPS && m->user_ops[slot].live;
    if (live)
        m->user_ops[slot].live = false;
    pthread_mutex_unlock(&m->mu);
    return live ? ncclSuccess
                : vs_nccl_fail(ncclInvalidArgument, "ncclRedOpDestroy: operation %d is not a "
                               "user-defined operation of this communicator", op);
}

/* Copies what a user-defined operation needs into the task: it may be destroyed at once. */
static bool take_user_op(struct vs_nccl_member *m, struct vs_nccl_task *t)
{
    int slot = t->op - ncclNumOps;
    pthread_mutex_lock(&m->mu);
    bool good = slot >= 0 && slot < VS_NCCL_USER_OPS && m->user_ops[slot].live &&
                m->user_ops[slot].type == t->type;
    if (good) {
        memcpy(t->scalar, m->user_ops[slot].value, sizeof t->scalar);
        t->scalar_address = m->user_ops[slot].on_device ? m->user_ops[slot].address : NULL;
        t->op = VS_NCCL_SCALED;
    }
    pthread_mutex_unlock(&m->mu);
    return good;
}

/* ---- checks ---- */

static int check_pointer(const void *pointer, const char *what, const char *function)
{
    CUmemorytype type;
    if (!pointer)
        return vs_nccl_fail(ncclInvalidArgument, "%s: %s is NULL", function, what);
    if (vs_library_driver()->cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
                                                   (CUdeviceptr)(uintptr_t)pointer))
        return vs_nccl_fail(ncclInvalidArgument, "%s: %s is %p, which is not memory of the device",
                            function, what, pointer);
    return ncclSuccess;
}

static int check(struct vs_nccl_member *m, struct vs_nccl_task *t, const char *function)
{
    int e = vs_nccl_ready(m, function);
    if (e)
        return e;
    size_t bytes = vs_nccl_type_bytes(t->type);
    if (!bytes)
        return vs_nccl_fail(ncclInvalidArgument, "%s: unknown data type %d", function, t->type);
    if (t->root < 0 || t->root >= m->count)
        return vs_nccl_fail(ncclInvalidArgument, "%s: invalid %s %d, ranks are 0 to %d", function,
                            t->kind >= VS_NCCL_SEND ? "peer" : "root", t->root, m->count - 1);
    if (t->count > SIZE_MAX / bytes / (size_t)m->count)
        return vs_nccl_fail(ncclInvalidArgument, "%s: %zu elements are too many", function, t->count);
    bool user = t->op >= ncclNumOps;
    if (t->op < 0 || (user && !take_user_op(m, t)))
        return vs_nccl_fail(ncclInvalidArgument, "%s: operation %d is not an operation of this "
                            "communicator for %s", function, t->op, vs_nccl_type_name(t->type));
    bool root_only = t->kind == VS_NCCL_BROADCAST || t->kind == VS_NCCL_SCATTER;
    bool to_root = t->kind == VS_NCCL_REDUCE || t->kind == VS_NCCL_GATHER;
    if (t->count && t->kind != VS_NCCL_RECV && (!root_only || m->rank == t->root))
        e = check_pointer(t->send, "the send buffer", function);
    if (!e && t->count && t->kind != VS_NCCL_SEND && (!to_root || m->rank == t->root))
        e = check_pointer(t->recv, "the receive buffer", function);
    return e;
}

int vs_nccl_call(const struct vs_nccl_call *c)
{
    struct vs_nccl_member *m = vs_nccl_member_of(c->comm, c->name);
    struct vs_nccl_task t = c->task;
    if (!m)
        return vs_nccl_group_note(ncclInvalidArgument);
    int e = vs_nccl_group_note(check(m, &t, c->name));
    if (e || (!t.count && t.kind < VS_NCCL_SEND))
        return e;
    return vs_nccl_enqueue(m, &t, c->stream);
}

/* Those of nccl_device.h, for kernels that communicate, are listed here, because that header is C++. */
VS_LIBRARY_FALLBACK_STATUS(ncclDevCommCreate)
VS_LIBRARY_FALLBACK_STATUS(ncclDevCommDestroy)
VS_LIBRARY_FALLBACK_STATUS(ncclGetLsaDevicePointer)
VS_LIBRARY_FALLBACK_STATUS(ncclGetLsaMultimemDevicePointer)
VS_LIBRARY_FALLBACK_STATUS(ncclGetMultimemDevicePointer)
VS_LIBRARY_FALLBACK_STATUS(ncclGetPeerDevicePointer)
