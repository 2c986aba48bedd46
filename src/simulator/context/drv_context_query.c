/* SPDX-License-Identifier: Apache-2.0
 *
 * Queries and settings of the current context, and waiting for it. */
#include "simulator/driver/vs_sim_driver.h"
#include "simulator/memory/vs_sim_memory.h"

#include "base/vs_clock.h"

VS_SIM_STORES(cuCtxGetDevice_in, (struct vs_sim_context *ctx, CUdevice device[static 1]),
              *device = ctx->device->ordinal)

CUresult vs_sim_context_given(CUcontext handle, struct vs_sim_context **ctx)
{
    if (!handle)
        return vs_sim_enter_context(ctx);
    *ctx = vs_sim_context_of(handle);
    if (!*ctx)
        return CUDA_ERROR_INVALID_CONTEXT;
    return atomic_load(&(*ctx)->alive) ? CUDA_SUCCESS : CUDA_ERROR_CONTEXT_IS_DESTROYED;
}

VS_SIM_STORES(cuCtxGetDevice_v2_entered, (CUdevice device[static 1], struct vs_sim_context *ctx),
              *device = ctx->device->ordinal)

CUresult cuCtxSynchronize_v2_entered(struct vs_sim_context *ctx)
{
    CUresult e = vs_sim_capturing() ? vs_sim_capture_refuse_context(ctx) : CUDA_SUCCESS;
    if (e)
        return e;
    uint64_t begin = vs_clock_ns();
    e = vs_sim_context_sync(ctx);
    vs_sim_waited(ctx, VS_SIM_SYNC_CONTEXT, 0, 0, begin);
    return e;
}

VS_SIM_AS(cuCtxSynchronize_in, (struct vs_sim_context *ctx), cuCtxSynchronize_v2_entered(ctx))
VS_SIM_STORES(cuCtxGetFlags_in, (struct vs_sim_context *ctx, unsigned int flags[static 1]),
              *flags = ctx->flags)

CUresult cuCtxSetFlags_in(struct vs_sim_context *ctx, unsigned int flags)
{
    if (flags & ~(unsigned)CU_CTX_FLAGS_MASK)
        return CUDA_ERROR_INVALID_VALUE;
    ctx->flags = flags;
    return CUDA_SUCCESS;
}

VS_SIM_STORES(cuCtxGetId_entered, (struct vs_sim_context *ctx, unsigned long long ctxId[static 1]),
              *ctxId = ctx->id)
VS_SIM_STORES(cuCtxGetApiVersion_entered,
              (struct vs_sim_context *ctx, unsigned int version[static 1]),
              *version = 3020)

CUresult cuCtxGetLimit_in(struct vs_sim_context *ctx, size_t pvalue[static 1], CUlimit limit)
{
    if ((unsigned)limit > CU_LIMIT_MAX_L2_FETCH_GRANULARITY)
        return CUDA_ERROR_UNSUPPORTED_LIMIT;
    pthread_mutex_lock(&ctx->submit_mu);
    *pvalue = ctx->limits[limit];
    pthread_mutex_unlock(&ctx->submit_mu);
    return CUDA_SUCCESS;
}

CUresult cuCtxSetLimit_in(struct vs_sim_context *ctx, CUlimit limit, size_t value)
{
    if ((unsigned)limit > CU_LIMIT_MAX_L2_FETCH_GRANULARITY)
        return CUDA_ERROR_UNSUPPORTED_LIMIT;
    pthread_mutex_lock(&ctx->submit_mu);
    ctx->limits[limit] = value;
    pthread_mutex_unlock(&ctx->submit_mu);
    return CUDA_SUCCESS;
}

CUresult cuCtxGetCacheConfig_in(struct vs_sim_context *ctx, CUfunc_cache pconfig[static 1])
{
    pthread_mutex_lock(&ctx->submit_mu);
    *pconfig = ctx->cache_config;
    pthread_mutex_unlock(&ctx->submit_mu);
    return CUDA_SUCCESS;
}

CUresult cuCtxSetCacheConfig_in(struct vs_sim_context *ctx, CUfunc_cache config)
{
    if ((unsigned)config > CU_FUNC_CACHE_PREFER_EQUAL)
        return CUDA_ERROR_INVALID_VALUE;
    pthread_mutex_lock(&ctx->submit_mu);
    ctx->cache_config = config;
    pthread_mutex_unlock(&ctx->submit_mu);
    return CUDA_SUCCESS;
}

CUresult cuCtxGetStreamPriorityRange_in(int *leastPriority, int *greatestPriority)
{
    if (leastPriority)
        *leastPriority = 0;
    if (greatestPriority)
        *greatestPriority = -5;
    return CUDA_SUCCESS;
}
