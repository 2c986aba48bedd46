/* SPDX-License-Identifier: Apache-2.0
 *
 * Code that programs load. The driver allocates its memory: the amount is measured, and if there is
 * none left the cache releases some first. If that was not enough, the failure is recorded. */
#include "intercept/cache/room.h"
#include "intercept/track/first_use.h"
#include "intercept/route/hook.h"
#include "intercept/track/tracker.h"
#include "intercept/track/usage.h"

static CUresult took(CUresult r, const struct vs_usage_mark *mark, const char *api)
{
    if (r == CUDA_SUCCESS)
        vs_usage_took(mark, VS_OVERHEAD_MODULE);
    vs_track_overhead_failed(r, VS_OVERHEAD_MODULE, -1, api);
    return r;
}

CUresult cuModuleLoad(CUmodule *module, const char *path)
{
    struct vs_usage_mark mark;
    CUresult r;
    vs_usage_begins(&mark);
    VS_WITH_ROOM(r, VS_REAL(cuModuleLoad, module, path));
    return took(r, &mark, "cuModuleLoad");
}

CUresult cuModuleLoadData(CUmodule *module, const void *image)
{
    struct vs_usage_mark mark;
    CUresult r;
    vs_usage_begins(&mark);
    VS_WITH_ROOM(r, VS_REAL(cuModuleLoadData, module, image));
    return took(r, &mark, "cuModuleLoadData");
}

CUresult cuModuleLoadDataEx(CUmodule *module, const void *image, unsigned count,
                            CUjit_option *options, void **values)
{
    struct vs_usage_mark mark;
    CUresult r;
    vs_usage_begins(&mark);
    VS_WITH_ROOM(r, VS_REAL(cuModuleLoadDataEx, module, image, count, options, values));
    return took(r, &mark, "cuModuleLoadDataEx");
}

CUresult cuModuleLoadFatBinary(CUmodule *module, const void *image)
{
    struct vs_usage_mark mark;
    CUresult r;
    vs_usage_begins(&mark);
    VS_WITH_ROOM(r, VS_REAL(cuModuleLoadFatBinary, module, image));
    return took(r, &mark, "cuModuleLoadFatBinary");
}

CUresult cuModuleUnload(CUmodule module)
{
    struct vs_usage_mark mark;
    vs_first_use_gone(module);
    vs_usage_begins(&mark);
    return took(VS_REAL(cuModuleUnload, module), &mark, "cuModuleUnload");
}

CUresult cuLibraryLoadData(CUlibrary *library, const void *image, CUjit_option *jit,
                           void **jit_values, unsigned jit_count, CUlibraryOption *options,
                           void **values, unsigned count)
{
    struct vs_usage_mark mark;
    CUresult r;
    vs_usage_begins(&mark);
    VS_WITH_ROOM(r, VS_REAL(cuLibraryLoadData, library, image, jit, jit_values, jit_count, options,
                            values, count));
    return took(r, &mark, "cuLibraryLoadData");
}

CUresult cuLibraryLoadFromFile(CUlibrary *library, const char *path, CUjit_option *jit,
                               void **jit_values, unsigned jit_count, CUlibraryOption *options,
                               void **values, unsigned count)
{
    struct vs_usage_mark mark;
    CUresult r;
    vs_usage_begins(&mark);
    VS_WITH_ROOM(r, VS_REAL(cuLibraryLoadFromFile, library, path, jit, jit_values, jit_count,
                            options, values, count));
    return took(r, &mark, "cuLibraryLoadFromFile");
}

CUresult cuLibraryUnload(CUlibrary library)
{
    struct vs_usage_mark mark;
    vs_first_use_gone(library);
    vs_usage_begins(&mark);
    return took(VS_REAL(cuLibraryUnload, library), &mark, "cuLibraryUnload");
}
