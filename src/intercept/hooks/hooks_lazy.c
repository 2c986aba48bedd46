/* SPDX-License-Identifier: Apache-2.0
 *
 * Lazy loading of code: a module or library takes device memory when one of its functions or
 * variables is first requested or launched. At a request this memory is measured; if there is none
 * left, the cache releases some. A refused launch has not begun, so it can be repeated; one that
 * succeeds costs a comparison. */
#include "intercept/cache/room.h"
#include "intercept/track/first_use.h"
#include "intercept/route/hook.h"
#include "intercept/track/tracker.h"

static inline CUresult ended(CUresult r, enum vs_overhead_what what, const char *api)
{
    if (r == CUDA_ERROR_OUT_OF_MEMORY)
        vs_track_overhead_failed(r, what, -1, api);
    return r;
}

static CUresult took(CUresult r, const struct vs_usage_mark *mark, const char *api)
{
    if (r == CUDA_SUCCESS)
        vs_usage_took(mark, VS_OVERHEAD_MODULE);
    return ended(r, VS_OVERHEAD_MODULE, api);
}

CUresult cuModuleGetFunction(CUfunction *function, CUmodule module, const char *name)
{
    struct vs_usage_mark mark;
    CUresult r;
    vs_first_use_begins(&mark, module);
    VS_WITH_ROOM(r, VS_REAL(cuModuleGetFunction, function, module, name));
    return took(r, &mark, "cuModuleGetFunction");
}

CUresult cuModuleGetGlobal_v2(CUdeviceptr *ptr, size_t *bytes, CUmodule module, const char *name)
{
    struct vs_usage_mark mark;
    CUresult r;
    vs_first_use_begins(&mark, module);
    VS_WITH_ROOM(r, VS_REAL(cuModuleGetGlobal_v2, ptr, bytes, module, name));
    return took(r, &mark, "cuModuleGetGlobal");
}

CUresult cuLibraryGetModule(CUmodule *module, CUlibrary library)
{
    struct vs_usage_mark mark;
    CUresult r;
    vs_first_use_begins(&mark, library);
    VS_WITH_ROOM(r, VS_REAL(cuLibraryGetModule, module, library));
    return took(r, &mark, "cuLibraryGetModule");
}

CUresult cuLibraryGetGlobal(CUdeviceptr *ptr, size_t *bytes, CUlibrary library, const char *name)
{
    struct vs_usage_mark mark;
    CUresult r;
    vs_first_use_begins(&mark, library);
    VS_WITH_ROOM(r, VS_REAL(cuLibraryGetGlobal, ptr, bytes, library, name));
    return took(r, &mark, "cuLibraryGetGlobal");
}

CUresult cuLibraryGetManaged(CUdeviceptr *ptr, size_t *bytes, CUlibrary library, const char *name)
{
    CUresult r;
    VS_WITH_ROOM(r, VS_REAL(cuLibraryGetManaged, ptr, bytes, library, name));
    return ended(r, VS_OVERHEAD_MODULE, "cuLibraryGetManaged");
}

CUresult cuKernelGetFunction(CUfunction *function, CUkernel kernel)
{
    struct vs_usage_mark mark;
    CUresult r;
    vs_first_use_begins(&mark, NULL);
    VS_WITH_ROOM(r, VS_REAL(cuKernelGetFunction, function, kernel));
    return took(r, &mark, "cuKernelGetFunction");
}

CUresult cuFuncLoad(CUfunction function)
{
    struct vs_usage_mark mark;
    CUresult r;
    vs_first_use_begins(&mark, NULL);
    VS_WITH_ROOM(r, VS_REAL(cuFuncLoad, function));
    return took(r, &mark, "cuFuncLoad");
}

CUresult cuLaunchKernel(CUfunction f, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
                        unsigned by, unsigned bz, unsigned shared, CUstream stream, void **params,
                        void **extra)
{
    CUresult r;
    VS_WITH_ROOM(r, VS_REAL(cuLaunchKernel, f, gx, gy, gz, bx, by, bz, shared, stream, params,
                            extra));
    return ended(r, VS_OVERHEAD_LAUNCH, "cuLaunchKernel");
}

CUresult cuLaunchKernel_ptsz(CUfunction f, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
                             unsigned by, unsigned bz, unsigned shared, CUstream stream,
                             void **params, void **extra)
{
    CUresult r;
    VS_WITH_ROOM(r, VS_REAL(cuLaunchKernel_ptsz, f, gx, gy, gz, bx, by, bz, shared, stream, params,
                            extra));
    return ended(r, VS_OVERHEAD_LAUNCH, "cuLaunchKernel");
}

CUresult cuLaunchKernelEx(const CUlaunchConfig *config, CUfunction f, void **params, void **extra)
{
    CUresult r;
    VS_WITH_ROOM(r, VS_REAL(cuLaunchKernelEx, config, f, params, extra));
    return ended(r, VS_OVERHEAD_LAUNCH, "cuLaunchKernelEx");
}

CUresult cuLaunchKernelEx_ptsz(const CUlaunchConfig *config, CUfunction f, void **params,
                               void **extra)
{
    CUresult r;
    VS_WITH_ROOM(r, VS_REAL(cuLaunchKernelEx_ptsz, config, f, params, extra));
    return ended(r, VS_OVERHEAD_LAUNCH, "cuLaunchKernelEx");
}

CUresult cuLaunchCooperativeKernel(CUfunction f, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
                                   unsigned by, unsigned bz, unsigned shared, CUstream stream,
                                   void **params)
{
    CUresult r;
    VS_WITH_ROOM(r, VS_REAL(cuLaunchCooperativeKernel, f, gx, gy, gz, bx, by, bz, shared, stream,
                            params));
    return ended(r, VS_OVERHEAD_LAUNCH, "cuLaunchCooperativeKernel");
}

CUresult cuLaunchCooperativeKernel_ptsz(CUfunction f, unsigned gx, unsigned gy, unsigned gz,
                                        unsigned bx, unsigned by, unsigned bz, unsigned shared,
                                        CUstream stream, void **params)
{
    CUresult r;
    VS_WITH_ROOM(r, VS_REAL(cuLaunchCooperativeKernel_ptsz, f, gx, gy, gz, bx, by, bz, shared,
                            stream, params));
    return ended(r, VS_OVERHEAD_LAUNCH, "cuLaunchCooperativeKernel");
}
