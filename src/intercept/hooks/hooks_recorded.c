/* SPDX-License-Identifier: Apache-2.0
 *
 * The entries of the rows VS_RECORDED_HOOK: a call that is not recorded is forwarded; the handler of
 * any other runs as our own work, the real function included. */
#include "intercept/route/hook.h"

#define VS_DRIVER_HOOK(name, params, args)
#define VS_RUNTIME_HOOK(name, params, args)
#define VS_RECORDED_HOOK(name, params, args)   \
    CUresult name params                       \
    {                                          \
        if (!vs_hook_active())                 \
            return VS_REAL_OF(name, args);     \
        vs_thread.inside++;                    \
        CUresult r = vs_on_##name args;        \
        vs_thread.inside--;                    \
        return r;                              \
    }
#include "intercept/route/hook_table.h"
