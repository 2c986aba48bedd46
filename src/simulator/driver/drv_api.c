/* SPDX-License-Identifier: Apache-2.0
 *
 * The exported symbols of all entry points, as thunks (vs_sim_thunk.h) over the one table, and the
 * observation of calls: each outermost call gets a correlation number, which all work that it
 * submits carries, and is reported at entry and exit. A driver call inside an observed runtime call
 * is not reported separately. */
#include "simulator/driver/vs_sim_driver.h"

#include <cupti_driver_cbid.h>

#include "base/vs_clock.h"
#include "simulator/driver/vs_sim_thunk.h"

/* ---- the symbols ---- */

#define WANT_DRIVER_CALLS_TEXT "0x40000"
_Static_assert(VS_SIM_WANT_DRIVER_CALLS == 0x40000, "as the assembly has it");

#if defined(__x86_64__)
#define WATCH "testl $" WANT_DRIVER_CALLS_TEXT ", vs_sim_wanted(%rip)\n"
#else
#define WATCH                                                                                      \
    "adrp x16, vs_sim_wanted\n"                                                                    \
    "ldr w17, [x16, :lo12:vs_sim_wanted]\n"                                                        \
    "tst w17, #" WANT_DRIVER_CALLS_TEXT "\n"
#endif

#define ENTRY(symbol)                                                                              \
    extern void vs_sim_target_##symbol(void) __asm__("vs_sim_impl_" #symbol);                      \
    extern const struct vs_thunk vs_sim_thunk_##symbol;                                            \
    const struct vs_thunk vs_sim_thunk_##symbol = {vs_sim_target_##symbol, #symbol,                \
                                                   CUPTI_DRIVER_TRACE_CBID_##symbol};              \
    VS_THUNK(#symbol, "vs_sim_impl_" #symbol, "vs_sim_thunk_" #symbol, WATCH)
#define VS_SIM_FN(name, version, symbol) ENTRY(symbol)
#define VS_SIM_FN_PT(name, version, symbol, pt) ENTRY(symbol) ENTRY(pt)
#include "generated/vs_sim_entry_table.h"
#undef VS_SIM_FN
#undef VS_SIM_FN_PT

VS_THUNK_COMMON

/* ---- entries that are the same for many ---- */

#define VS_LOCKED(...)
#define VS_ENTRY(symbol, parameters, variables, before, after, definition, call)               \
    CUresult symbol parameters                                                                 \
    {                                                                                          \
        CUresult entered;                                                                      \
        variables                                                                              \
        return before || after ? entered : call;                                               \
    }
#include "generated/vs_sim_enter_table.h"

/* ---- observed calls ---- */

/* the outermost call, which also represents calls inside it */
static _Thread_local struct vs_sim_call *current;

struct vs_sim_call *vs_sim_call_current(void) { return current; }

static void note_context(struct vs_sim_call *call)
{
    struct vs_sim_context *ctx = vs_sim_context_current();
    call->context = (CUcontext)ctx;
    call->context_id = ctx ? ctx->id : 0;
}

static void enter(struct vs_sim_call *call)
{
    call->inner = current != NULL;
    call->correlation = current ? current->correlation : vs_sim_correlation_new();
    if (!call->inner) {
        current = call; /* before the observer is called: its own calls are inside */
        note_context(call);
        vs_sim_report_call(call, false);
    }
    call->start_ns = vs_clock_ns();
}

static void leave(struct vs_sim_call *call)
{
    call->end_ns = vs_clock_ns();
    if (call->inner)
        return;
    note_context(call);
    vs_sim_report_call(call, true);
    current = NULL;
}

int vs_thunk_wanted(void)
{
    return !current; /* inside another call: not reported */
}

int vs_thunk_watched(const struct vs_thunk *thunk, const struct vs_thunk_args *args)
{
    struct vs_sim_call call = {
        .domain = VS_SIM_DOMAIN_DRIVER, .cbid = thunk->cbid, .name = thunk->name, .args = args};
    enter(&call);
    call.result = vs_thunk_call(thunk->function, args);
    leave(&call);
    return call.result;
}

VS_SIM_EXPORT vramscope_sim_calls_fn vramscopeSimCalls;

const struct vs_sim_calls *vramscopeSimCalls(void)
{
    static const struct vs_sim_calls calls = {(const volatile uint32_t *)&vs_sim_wanted, enter,
                                              leave};
    return &calls;
}
