/* SPDX-License-Identifier: Apache-2.0
 *
 * dlclose: reports unloads to the recorder, since the next library may get the same addresses, and
 * stacks are identified by addresses. The call itself is the program's, but an interpreter that we
 * call stays loaded. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>

#include "base/vs_cancel.h"
#include "intercept/process/process.h"
#include "intercept/route/real_symbols.h"

static void keep(const char *path)
{
    VS_KEEP_ERRNO();
    void *handle = dlopen(path, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
    if (handle)
        vs_real_dlclose(handle); /* it stays loaded */
    vs_recorder_kept(handle != NULL);
}

static void report_unload(void)
{
    enum vs_process_state state = vs_process_state();
    if (state != VS_PROCESS_ACTIVE && state != VS_PROCESS_EXITING)
        return;
    VS_KEEP_ERRNO();
    vs_recorder_unloaded(vs_process_recorder());
}

VS_EXPORT int dlclose(void *handle)
{
    const char *to_keep = vs_recorder_unloading();
    if (to_keep)
        keep(to_keep);
    int r = vs_real_dlclose(handle);
    vs_recorder_unloading_done();
    report_unload();
    return r;
}
