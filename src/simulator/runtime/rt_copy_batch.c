/* SPDX-License-Identifier: Apache-2.0
 *
 * Batches of copies in the runtime. Its structures have the driver's layout. */
#include "simulator/runtime/vs_sim_runtime.h"

_Static_assert(sizeof(struct cudaMemcpyAttributes) == sizeof(CUmemcpyAttributes), "");
_Static_assert(sizeof(struct cudaMemcpy3DBatchOp) == sizeof(CUDA_MEMCPY3D_BATCH_OP), "");
_Static_assert(offsetof(struct cudaMemcpy3DBatchOp, extent) ==
                   offsetof(CUDA_MEMCPY3D_BATCH_OP, extent),
               "");

static cudaError_t batch(void *const *to, const void *const *from, const size_t *sizes,
                         size_t count, struct cudaMemcpyAttributes *attrs, size_t *first,
                         size_t attr_count, CUstream stream)
{
    cudaError_t e = vs_rt_enter_context();
    if (e)
        return e;
    return vs_rt_error(vs_rt.MemcpyBatchAsync((CUdeviceptr *)to, (CUdeviceptr *)from,
                                              (size_t *)sizes, count, (CUmemcpyAttributes *)attrs,
                                              first, attr_count, stream));
}

static cudaError_t batch_3d(size_t count, struct cudaMemcpy3DBatchOp *ops, unsigned long long flags,
                            CUstream stream)
{
    cudaError_t e = vs_rt_enter_context();
    if (e)
        return e;
    return vs_rt_error(
        vs_rt.Memcpy3DBatchAsync(count, (CUDA_MEMCPY3D_BATCH_OP *)ops, flags, stream));
}

cudaError_t cudaMemcpyBatchAsync(void *const *dsts, const void *const *srcs, const size_t *sizes,
                                 size_t count, struct cudaMemcpyAttributes *attrs,
                                 size_t *attrsIdxs, size_t numAttrs, cudaStream_t stream)
{
    return vs_rt_result(batch(dsts, srcs, sizes, count, attrs, attrsIdxs, numAttrs,
                              stream));
}

cudaError_t cudaMemcpy3DBatchAsync(size_t numOps, struct cudaMemcpy3DBatchOp *opList,
                                   unsigned long long flags, cudaStream_t stream)
{
    return vs_rt_result(batch_3d(numOps, opList, flags, stream));
}
