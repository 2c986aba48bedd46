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

VS_EXPORT int dlclose(void *handle)
{
    const char *to_keep = vs_recorder_unloading();
    if (to_keep) {
        VS_KEEP_ERRNO();
        void *interpreter = dlopen(to_keep, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
        if (interpreter)
            vs_real_dlclose(interpreter); /* it stays loaded */
        vs_recorder_kept(interpreter != NULL);
    }
    int r = vs_real_dlclose(handle);
    vs_recorder_unloading_done();
    VS_KEEP_ERRNO();
    if (vs_process_records())
        vs_recorder_unloaded(vs_process_recorder());
    return r;
}
