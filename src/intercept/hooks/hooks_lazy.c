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

/* Ends a call that returned *r*. */
#define RETURN(r, what, api)                        \
    if ((r) == CUDA_ERROR_OUT_OF_MEMORY)            \
        vs_track_overhead_failed(r, what, -1, api); \
    return r;

#define WITH_ROOM(what, api, call) \
    CUresult r;                    \
    VS_WITH_ROOM(r, (call));       \
    RETURN(r, what, api)

#define MEASURED(api, handle, call)                 \
    struct vs_usage_mark mark;                      \
    CUresult r;                                     \
    vs_first_use_begins(&mark, handle);             \
    VS_WITH_ROOM(r, (call));                        \
    if (r == CUDA_SUCCESS)                          \
        vs_usage_took(&mark, VS_OVERHEAD_MODULE);   \
    RETURN(r, VS_OVERHEAD_MODULE, api)

CUresult cuModuleGetFunction(CUfunction *function, CUmodule module, const char *name)
{
    MEASURED("cuModuleGetFunction", module, VS_REAL(cuModuleGetFunction, function, module, name))
}

CUresult cuModuleGetGlobal_v2(CUdeviceptr *ptr, size_t *bytes, CUmodule module, const char *name)
{
    MEASURED("cuModuleGetGlobal", module, VS_REAL(cuModuleGetGlobal_v2, ptr, bytes, module, name))
}

CUresult cuLibraryGetModule(CUmodule *module, CUlibrary library)
{
    MEASURED("cuLibraryGetModule", library, VS_REAL(cuLibraryGetModule, module, library))
}

CUresult cuLibraryGetGlobal(CUdeviceptr *ptr, size_t *bytes, CUlibrary library, const char *name)
{
    MEASURED("cuLibraryGetGlobal", library, VS_REAL(cuLibraryGetGlobal, ptr, bytes, library, name))
}

CUresult cuLibraryGetManaged(CUdeviceptr *ptr, size_t *bytes, CUlibrary library, const char *name)
{
    WITH_ROOM(VS_OVERHEAD_MODULE, "cuLibraryGetManaged",
              VS_REAL(cuLibraryGetManaged, ptr, bytes, library, name))
}

CUresult cuKernelGetFunction(CUfunction *function, CUkernel kernel)
{
    MEASURED("cuKernelGetFunction", NULL, VS_REAL(cuKernelGetFunction, function, kernel))
}

CUresult cuFuncLoad(CUfunction function)
{
    MEASURED("cuFuncLoad", NULL, VS_REAL(cuFuncLoad, function))
}

CUresult cuLaunchKernel(CUfunction f, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
                        unsigned by, unsigned bz, unsigned shared, CUstream stream, void **params,
                        void **extra)
{
    WITH_ROOM(VS_OVERHEAD_LAUNCH, "cuLaunchKernel",
              VS_REAL(cuLaunchKernel, f, gx, gy, gz, bx, by, bz, shared, stream, params, extra))
}

CUresult cuLaunchKernel_ptsz(CUfunction f, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
                             unsigned by, unsigned bz, unsigned shared, CUstream stream,
                             void **params, void **extra)
{
    WITH_ROOM(VS_OVERHEAD_LAUNCH, "cuLaunchKernel",
        VS_REAL(cuLaunchKernel_ptsz, f, gx, gy, gz, bx, by, bz, shared, stream, params, extra))
}

CUresult cuLaunchKernelEx(const CUlaunchConfig *config, CUfunction f, void **params, void **extra)
{
    WITH_ROOM(VS_OVERHEAD_LAUNCH, "cuLaunchKernelEx",
              VS_REAL(cuLaunchKernelEx, config, f, params, extra))
}

CUresult cuLaunchKernelEx_ptsz(const CUlaunchConfig *config, CUfunction f, void **params,
                               void **extra)
{
    WITH_ROOM(VS_OVERHEAD_LAUNCH, "cuLaunchKernelEx",
              VS_REAL(cuLaunchKernelEx_ptsz, config, f, params, extra))
}

CUresult cuLaunchCooperativeKernel(CUfunction f, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
                                   unsigned by, unsigned bz, unsigned shared, CUstream stream,
                                   void **params)
{
    WITH_ROOM(VS_OVERHEAD_LAUNCH, "cuLaunchCooperativeKernel",
        VS_REAL(cuLaunchCooperativeKernel, f, gx, gy, gz, bx, by, bz, shared, stream, params))
}

CUresult cuLaunchCooperativeKernel_ptsz(CUfunction f, unsigned gx, unsigned gy, unsigned gz,
                                        unsigned bx, unsigned by, unsigned bz, unsigned shared,
                                        CUstream stream, void **params)
{
    WITH_ROOM(VS_OVERHEAD_LAUNCH, "cuLaunchCooperativeKernel",
        VS_REAL(cuLaunchCooperativeKernel_ptsz, f, gx, gy, gz, bx, by, bz, shared, stream, params))
}
