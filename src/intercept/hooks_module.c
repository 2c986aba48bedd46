/* SPDX-License-Identifier: Apache-2.0
 *
 * Code that programs load. Its memory is the driver's business; but where there is none
 * left for it, the cache gives way first. */
#include "intercept/hooks_module.h"

#include "base/vs_clock.h"
#include "intercept/context.h"
#include "intercept/hook.h"
#include "intercept/process.h"
#include "intercept/room.h"

/* What it took is seen in the device's own figures only. */
void vs_module_loaded(const void *handle, bool loaded, const char *api)
{
    (void)handle, (void)loaded, (void)api;
    struct vs_context *context = vs_context_current();
    if (context && vs_process_state() == VS_PROCESS_ACTIVE)
        vs_device_sample(context, vs_clock_ns());
}

static CUresult noted(CUresult r, const void *handle, bool loaded, const char *api)
{
    if (r == CUDA_SUCCESS && vs_hook_active()) {
        vs_thread.inside++;
        vs_module_loaded(handle, loaded, vs_api(api));
        vs_thread.inside--;
    }
    return r;
}

CUresult cuModuleLoad(CUmodule *module, const char *path)
{
    CUresult r;
    VS_WITH_ROOM(r, VS_REAL(cuModuleLoad, module, path));
    return noted(r, r ? NULL : *module, true, "cuModuleLoad");
}

CUresult cuModuleLoadData(CUmodule *module, const void *image)
{
    CUresult r;
    VS_WITH_ROOM(r, VS_REAL(cuModuleLoadData, module, image));
    return noted(r, r ? NULL : *module, true, "cuModuleLoadData");
}

CUresult cuModuleLoadDataEx(CUmodule *module, const void *image, unsigned count,
                            CUjit_option *options, void **values)
{
    CUresult r;
    VS_WITH_ROOM(r, VS_REAL(cuModuleLoadDataEx, module, image, count, options, values));
    return noted(r, r ? NULL : *module, true, "cuModuleLoadDataEx");
}

CUresult cuModuleLoadFatBinary(CUmodule *module, const void *image)
{
    CUresult r;
    VS_WITH_ROOM(r, VS_REAL(cuModuleLoadFatBinary, module, image));
    return noted(r, r ? NULL : *module, true, "cuModuleLoadFatBinary");
}

CUresult cuModuleUnload(CUmodule module)
{
    return noted(VS_REAL(cuModuleUnload, module), module, false, "cuModuleUnload");
}

CUresult cuLibraryLoadData(CUlibrary *library, const void *image, CUjit_option *jit,
                           void **jit_values, unsigned jit_count, CUlibraryOption *options,
                           void **values, unsigned count)
{
    CUresult r;
    VS_WITH_ROOM(r, VS_REAL(cuLibraryLoadData, library, image, jit, jit_values, jit_count, options,
                            values, count));
    return noted(r, r ? NULL : *library, true, "cuLibraryLoadData");
}

CUresult cuLibraryLoadFromFile(CUlibrary *library, const char *path, CUjit_option *jit,
                               void **jit_values, unsigned jit_count, CUlibraryOption *options,
                               void **values, unsigned count)
{
    CUresult r;
    VS_WITH_ROOM(r, VS_REAL(cuLibraryLoadFromFile, library, path, jit, jit_values, jit_count,
                            options, values, count));
    return noted(r, r ? NULL : *library, true, "cuLibraryLoadFromFile");
}

CUresult cuLibraryUnload(CUlibrary library)
{
    return noted(VS_REAL(cuLibraryUnload, library), library, false, "cuLibraryUnload");
}
