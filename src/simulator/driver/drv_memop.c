/* SPDX-License-Identifier: Apache-2.0
 *
 * Stream memory operations: a stream writes a value, or waits until a value is present. The waiting
 * stream's thread polls, as the device does; a value that never comes blocks it, and everything
 * that waits for it, forever. The older forms (before CUDA 11.7) need a driver option and are not
 * supported, as their device attributes say. */
#include "simulator/driver/vs_sim_driver.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define POLL_NS 20000
#define BATCH_MAX 255
#define CONDITIONS 3 /* bits of the flags */

static bool reached(const struct vs_sim_value *v)
{
    uint64_t now = v->bytes == 4 ? __atomic_load_n((uint32_t *)v->at.base, __ATOMIC_SEQ_CST)
                                 : __atomic_load_n((uint64_t *)v->at.base, __ATOMIC_SEQ_CST);
    uint64_t mask = v->bytes == 4 ? UINT32_MAX : UINT64_MAX;
    switch (v->condition) {
    case CU_STREAM_WAIT_VALUE_GEQ: /* cyclic */
        return v->bytes == 4 ? (int32_t)((uint32_t)now - (uint32_t)v->value) >= 0
                             : (int64_t)(now - v->value) >= 0;
    case CU_STREAM_WAIT_VALUE_EQ: return now == v->value;
    case CU_STREAM_WAIT_VALUE_AND: return (now & v->value) != 0;
    default: return (~(now | v->value) & mask) != 0;
    }
}

/* One poll or the write: 1 done, 0 not yet, -1 the memory is gone. The memory can be gone because a
 * free in another context does not wait for this stream. */
static int attempt(const struct vs_sim_value *v)
{
    struct vs_sim_hold hold;
    if (!vs_sim_end_hold(&v->at, v->write, &hold))
        return -1;
    bool done = v->write || reached(v);
    if (v->write) {
        if (v->bytes == 4)
            __atomic_store_n((uint32_t *)v->at.base, (uint32_t)v->value, __ATOMIC_SEQ_CST);
        else
            __atomic_store_n((uint64_t *)v->at.base, v->value, __ATOMIC_SEQ_CST);
    }
    vs_sim_end_release(&hold);
    return done;
}

bool vs_sim_values_run(struct vs_sim_context *ctx, const struct vs_sim_values *values)
{
    struct timespec pause = {.tv_nsec = POLL_NS};
    int result = 1;
    for (unsigned i = 0; i < values->count && result >= 0 && !atomic_load(&ctx->fault); i++)
        for (int turn = 0; values->list[i].bytes && !(result = attempt(&values->list[i])) &&
                           !atomic_load(&ctx->fault);
             turn++)
            if (turn < 50)
                sched_yield();
            else
                nanosleep(&pause, NULL);
    return result >= 0;
}

/* ---- checking ---- */

/* A wait, or a *write*. */
static CUresult value_at(CUdeviceptr address, uint64_t value, unsigned bytes, unsigned flags,
                         bool write, struct vs_sim_value *out)
{
    unsigned known = write ? CU_STREAM_WRITE_VALUE_NO_MEMORY_BARRIER
                           : CONDITIONS | CU_STREAM_WAIT_VALUE_FLUSH;
    if (flags & ~known)
        return CUDA_ERROR_INVALID_VALUE;
    if (!write && flags & CU_STREAM_WAIT_VALUE_FLUSH) /* CAN_FLUSH_REMOTE_WRITES is 0 */
        return CUDA_ERROR_NOT_SUPPORTED;
    *out = (struct vs_sim_value){.value = value,
                                 .bytes = bytes,
                                 .condition = write ? 0 : flags & CONDITIONS,
                                 .write = write};
    return address % bytes || vs_sim_end_device(address, bytes, &out->at) ||
                   out->at.memory == VS_SIM_MEMORY_MANAGED
               ? CUDA_ERROR_INVALID_VALUE
               : CUDA_SUCCESS;
}

static CUresult value_of(const CUstreamBatchMemOpParams *p, struct vs_sim_value *out)
{
    switch (p->operation) {
    case CU_STREAM_MEM_OP_WAIT_VALUE_32:
        return value_at(p->waitValue.address, p->waitValue.value, 4, p->waitValue.flags, false,
                        out);
    case CU_STREAM_MEM_OP_WAIT_VALUE_64:
        return value_at(p->waitValue.address, p->waitValue.value64, 8, p->waitValue.flags, false,
                        out);
    case CU_STREAM_MEM_OP_WRITE_VALUE_32:
        return value_at(p->writeValue.address, p->writeValue.value, 4, p->writeValue.flags, true,
                        out);
    case CU_STREAM_MEM_OP_WRITE_VALUE_64:
        return value_at(p->writeValue.address, p->writeValue.value64, 8, p->writeValue.flags, true,
                        out);
    case CU_STREAM_MEM_OP_BARRIER: /* work of a stream is in order anyway */
        *out = (struct vs_sim_value){0};
        return p->memoryBarrier.flags > CU_STREAM_MEMORY_BARRIER_TYPE_GPU ? CUDA_ERROR_INVALID_VALUE
                                                                          : CUDA_SUCCESS;
    case CU_STREAM_MEM_OP_FLUSH_REMOTE_WRITES: return CUDA_ERROR_NOT_SUPPORTED;
    default: return CUDA_ERROR_INVALID_VALUE;
    }
}

CUresult vs_sim_values_describe(const CUstreamBatchMemOpParams *params, unsigned count,
                                unsigned flags, struct vs_sim_values *values)
{
    CUresult e = CUDA_SUCCESS;
    *values = (struct vs_sim_values){0};
    if (flags || count > BATCH_MAX || (count && !params))
        return CUDA_ERROR_INVALID_VALUE;
    values->list = vs_sim_need(malloc(count * sizeof *values->list));
    values->count = count;
    for (unsigned i = 0; i < count && !e; i++) {
        e = value_of(&params[i], &values->list[i]);
        values->list[i].params = params[i];
    }
    if (e) {
        free(values->list);
        *values = (struct vs_sim_values){0};
    }
    return e;
}

/* ---- queueing ---- */

CUresult cuStreamBatchMemOp_v2_in(struct vs_sim_stream *stream, unsigned int count,
                                  CUstreamBatchMemOpParams *paramArray, unsigned int flags)
{
    struct vs_sim_op *op = vs_sim_op_new(stream, VS_SIM_OP_VALUES);
    CUresult e = vs_sim_values_describe(paramArray, count, flags, &op->u.values);
    if (!e && count)
        return vs_sim_submit(stream, op, NULL);
    vs_sim_op_drop(stream, op);
    return e;
}

/* Both structures have the 32-bit value in the low half of the other. */
#define VALUE(name, bits, which, given)                                                        \
    CUresult name(CUstream stream, CUdeviceptr addr, cuuint##bits##_t value, unsigned int flags) \
    {                                                                                          \
        CUstreamBatchMemOpParams p = {                                                         \
            .given = {.operation = CU_STREAM_MEM_OP_##which##_VALUE_##bits,                    \
                      .address = addr,                                                         \
                      .value64 = value,                                                        \
                      .flags = flags}};                                                        \
        return cuStreamBatchMemOp_v2(stream, 1, &p, 0);                                        \
    }

VALUE(cuStreamWaitValue32_v2, 32, WAIT, waitValue)
VALUE(cuStreamWaitValue64_v2, 64, WAIT, waitValue)
VALUE(cuStreamWriteValue32_v2, 32, WRITE, writeValue)
VALUE(cuStreamWriteValue64_v2, 64, WRITE, writeValue)
