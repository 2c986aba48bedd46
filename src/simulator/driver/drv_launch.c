/* SPDX-License-Identifier: Apache-2.0
 *
 * Kernel launches: checks the shape, copies the arguments if a host function will read them, and
 * queues the kernel. */
#include "simulator/driver/vs_sim_driver.h"

#include <stdlib.h>
#include <string.h>

struct shape {
    unsigned grid[3], block[3], shared;
    bool cooperative;
    uint64_t model_ns;
    bool only_time;
    const CUlaunchAttribute *attributes;
    unsigned attribute_count;
};

static bool shape_ok(const unsigned grid[3], const unsigned block[3], unsigned shared,
                     struct vs_sim_function *f)
{
    uint64_t threads = (uint64_t)block[0] * block[1] * block[2];
    for (int i = 0; i < 3; i++)
        if (!grid[i] || !block[i])
            return false;
    return grid[0] <= 2147483647u && grid[1] <= 65535 && grid[2] <= 65535 && block[2] <= 64 &&
           threads <= 1024 && shared <= (unsigned)atomic_load(&f->dynamic_shared_max);
}

CUresult vs_sim_launch_describe(struct vs_sim_launch_op *op, struct vs_sim_function *f,
                                const unsigned grid[3], const unsigned block[3], unsigned shared,
                                void **params, void **extra)
{
    op->args = NULL;
    op->model_ns = 0;
    op->only_time = false;
    op->attributes = vs_sim_attributes_default(0);
    if (!shape_ok(grid, block, shared, f) || (params && extra))
        return CUDA_ERROR_INVALID_VALUE;
    op->function = f;
    op->host = vs_sim_function_host(f);
    memcpy(op->grid, grid, sizeof op->grid);
    memcpy(op->block, block, sizeof op->block);
    op->shared_bytes = shared;
    struct vs_sim_host_kernel *host = op->host;
    if (!host || !host->arg_count)
        return CUDA_SUCCESS;
    if (!params) /* a packed buffer: only device code knows the layout */
        return extra ? CUDA_ERROR_NOT_SUPPORTED : CUDA_ERROR_INVALID_VALUE;
    op->args = host->arg_total > sizeof op->args_inline ? vs_sim_need(malloc(host->arg_total))
                                                        : op->args_inline;
    for (unsigned i = 0; i < host->arg_count; i++)
        memcpy(op->args + host->offset[i], params[i], host->bytes[i]);
    return CUDA_SUCCESS;
}

/* cuda.h, cuLaunchCooperativeKernel: all blocks must run at the same time. */
CUresult vs_sim_launch_fits(const struct vs_sim_launch_op *op)
{
    CUresult e = vs_sim_cluster_fits(op);
    if (e || !op->attributes.cooperative)
        return e;
    const unsigned *g = op->grid, *b = op->block;
    uint64_t blocks = (uint64_t)g[0] * g[1];
    uint64_t most = (uint64_t)vs_sim_blocks_per_sm((int)(b[0] * b[1] * b[2]), op->shared_bytes) *
                    (unsigned)vs_sim_spec.preset->sm_count;
    return blocks > most || blocks * g[2] > most ? CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE
                                                 : CUDA_SUCCESS;
}

/* The stream's attributes, then those of the launch. */
static CUresult set_attributes(struct vs_sim_launch_op *op, struct vs_sim_stream *stream,
                               const struct shape *shape)
{
    CUresult e = CUDA_SUCCESS;
    pthread_mutex_lock(&stream->ctx->submit_mu);
    op->attributes = stream->attributes;
    pthread_mutex_unlock(&stream->ctx->submit_mu);
    op->attributes.cooperative = shape->cooperative;
    for (unsigned i = 0; i < shape->attribute_count && !e; i++)
        e = vs_sim_attribute_of_launch(&op->attributes, &shape->attributes[i]);
    return e ? e : vs_sim_launch_fits(op);
}

/* torch.cuda._sleep(cycles), with which programs keep a stream busy: its kernel, in an unnamed
 * namespace of at::cuda, waits for the number of clock cycles in its argument. Returns 0 for another
 * kernel. */
static uint64_t spin_ns(const struct vs_sim_function *f, void **params)
{
    static const char begin[] = "_ZN2at4cuda", end[] = "11spin_kernelEl";
    size_t length = strlen(f->name);
    int64_t cycles = 0;
    if (params && length >= sizeof begin + sizeof end && !strncmp(f->name, begin, strlen(begin)) &&
        !strcmp(f->name + length - strlen(end), end))
        memcpy(&cycles, params[0], sizeof cycles);
    double ns = (double)cycles * 1e6 / vs_sim_spec.preset->clock_khz;
    return ns > 0 ? (uint64_t)ns : 0;
}

static CUresult launch(const void *function, const struct shape *shape, CUstream handle,
                       void **params, void **extra)
{
    struct vs_sim_context *ctx;
    struct vs_sim_stream *stream;
    CUresult e = vs_sim_enter_context(&ctx);
    if (!e)
        e = vs_sim_stream_of(ctx, handle, &stream);
    if (e)
        return e;
    struct vs_sim_function *f = vs_sim_function_of(function);
    if (!f || stream->ctx != ctx)
        return CUDA_ERROR_INVALID_HANDLE;
    struct vs_sim_op *op = vs_sim_op_new(stream, VS_SIM_OP_KERNEL);
    e = vs_sim_launch_describe(&op->u.launch, f, shape->grid, shape->block, shape->shared, params,
                               extra);
    op->u.launch.model_ns = shape->model_ns ? shape->model_ns : spin_ns(f, params);
    op->u.launch.only_time = shape->model_ns ? shape->only_time : op->u.launch.model_ns != 0;
    if (!e)
        e = set_attributes(&op->u.launch, stream, shape);
    if (!e && op->u.launch.host)
        e = vs_sim_function_variables(f, ctx, NULL, NULL);
    if (e) {
        vs_sim_op_drop(stream, op);
        return e;
    }
    op->correlation = vs_sim_correlate(VS_SIM_ACTIVITY_KERNEL);
    return vs_sim_submit(stream, op, NULL);
}

CUresult cuLaunchKernel(CUfunction f, unsigned int gridDimX, unsigned int gridDimY,
                        unsigned int gridDimZ, unsigned int blockDimX, unsigned int blockDimY,
                        unsigned int blockDimZ, unsigned int sharedMemBytes, CUstream hStream,
                        void **kernelParams, void **extra)
{
    struct shape s = {.grid = {gridDimX, gridDimY, gridDimZ},
                      .block = {blockDimX, blockDimY, blockDimZ},
                      .shared = sharedMemBytes};
    return launch(f, &s, hStream, kernelParams, extra);
}

CUresult cuLaunchKernelEx(const CUlaunchConfig *config, CUfunction f, void **kernelParams,
                          void **extra)
{
    if (!config || (config->numAttrs && !config->attrs))
        return CUDA_ERROR_INVALID_VALUE;
    struct shape s = {.grid = {config->gridDimX, config->gridDimY, config->gridDimZ},
                      .block = {config->blockDimX, config->blockDimY, config->blockDimZ},
                      .shared = config->sharedMemBytes,
                      .attributes = config->attrs,
                      .attribute_count = config->numAttrs};
    return launch(f, &s, config->hStream, kernelParams, extra);
}

CUresult cuLaunchCooperativeKernel(CUfunction f, unsigned int gridDimX, unsigned int gridDimY,
                                   unsigned int gridDimZ, unsigned int blockDimX,
                                   unsigned int blockDimY, unsigned int blockDimZ,
                                   unsigned int sharedMemBytes, CUstream hStream,
                                   void **kernelParams)
{
    struct shape s = {.grid = {gridDimX, gridDimY, gridDimZ},
                      .block = {blockDimX, blockDimY, blockDimZ},
                      .shared = sharedMemBytes,
                      .cooperative = true};
    return launch(f, &s, hStream, kernelParams, NULL);
}

CUresult vs_sim_launch_timed(struct vs_sim_function *function, unsigned grid, unsigned threads,
                             CUstream stream, void **params, uint64_t ns, bool only_time)
{
    struct shape s = {.grid = {grid, 1, 1}, .block = {threads, 1, 1}, .model_ns = ns,
                      .only_time = only_time};
    return launch(function, &s, stream, params, NULL);
}
