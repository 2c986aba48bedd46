/* SPDX-License-Identifier: Apache-2.0
 *
 * The entries of the rows *recorded*: a call that is not recorded is forwarded; the handler of any
 * other runs as our own work, the real function included. And those of the rows *room*, *wait*
 * and *work*. */
#include "intercept/cache/room.h"
#include "intercept/cupti/call_site.h"
#include "intercept/route/hook.h"
#include "intercept/track/wait.h"

#define VS_RECORDED_HOOK(name, params, args, ...) \
    CUresult name params                       \
    {                                          \
        if (!vs_hook_active())                 \
            return VS_REAL_OF(name, args);     \
        vs_thread.inside++;                    \
        CUresult r = vs_on_##name args;        \
        vs_thread.inside--;                    \
        return r;                              \
    }
/* The cache gives way to memory that we do not record. */
#define VS_ROOM_HOOK(name, params, args, ...)       \
    CUresult name params                            \
    {                                               \
        CUresult r;                                 \
        VS_WITH_ROOM(r, VS_REAL_OF(name, args));    \
        return r;                                   \
    }
/* Not by VS_REAL: a thread may be cancelled while it waits, and we hold nothing. */
#define VS_WAIT_HOOK(name, params, args, api, per_thread, kind, of, other)               \
    CUresult name params                                                                 \
    {                                                                                    \
        vs_fn_##name real = (vs_fn_##name)vs_hook_real(VS_HOOK_##name);                  \
        uint64_t began_ns = vs_wait_begins(__builtin_return_address(0)), copy_ns = 0;    \
        if (VS_WAIT_##kind == VS_WAIT_COPY || VS_WAIT_##kind == VS_WAIT_ASYNC_COPY)      \
            copy_ns = vs_call_begins(VS_CALL_COPIES, __builtin_return_address(0));       \
        CUresult r = real ? real args : CUDA_ERROR_NOT_FOUND;                            \
        if (r == CUDA_SUCCESS) {                                                         \
            vs_call_ended(copy_ns, api);                                                 \
            vs_wait_ended(began_ns, VS_WAIT_##kind, api, of, other, per_thread);         \
        }                                                                                \
        return r;                                                                        \
    }
/* What begins work without waiting for it. */
#define VS_WORK_HOOK(name, params, args, api, per_thread, kind)                          \
    CUresult name params                                                                 \
    {                                                                                    \
        uint64_t began_ns = vs_call_begins(VS_CALL_##kind, __builtin_return_address(0)); \
        CUresult r = VS_REAL_OF(name, args);                                             \
        if (r == CUDA_SUCCESS)                                                           \
            vs_call_ended(began_ns, api);                                                \
        return r;                                                                        \
    }
#include "generated/hook_table.h"
