/* SPDX-License-Identifier: Apache-2.0
 *
 * The exported symbols of the runtime, as thunks (vs_sim_thunk.h), and the observation of calls,
 * which the driver controls: it is found when the runtime loads the driver, or earlier, in the
 * first call, if another library has loaded it. */
#include "simulator/runtime/vs_sim_runtime.h"

#include <cupti_runtime_cbid.h>
#include <dlfcn.h>
#include <stdatomic.h>
#include <string.h>

#include "simulator/driver/vs_sim_activity.h"
#include "simulator/driver/vs_sim_thunk.h"

#define WANT_RUNTIME_CALLS_TEXT "0x80000"
_Static_assert(VS_SIM_WANT_RUNTIME_CALLS == 0x80000, "as the assembly has it");

/* The word that thunks test: the driver's, or until it is found one that sends every call here. */
static const volatile uint32_t look_first = VS_SIM_WANT_RUNTIME_CALLS, nothing = 0;
extern _Atomic(const volatile uint32_t *) vs_rt_wanted;
_Atomic(const volatile uint32_t *) vs_rt_wanted = &look_first;

static _Atomic(const struct vs_sim_calls *) calls;

#if defined(__x86_64__)
#define WATCH                                                                                      \
    "movq vs_rt_wanted(%rip), %r11\n"                                                              \
    "testl $" WANT_RUNTIME_CALLS_TEXT ", (%r11)\n"
#else
#define WATCH                                                                                      \
    "adrp x16, vs_rt_wanted\n"                                                                     \
    "ldr x16, [x16, :lo12:vs_rt_wanted]\n"                                                         \
    "ldr w17, [x16]\n"                                                                             \
    "tst w17, #" WANT_RUNTIME_CALLS_TEXT "\n"
#endif

#ifdef VS_SIM_RT_STATIC
#define HIDE(symbol) __asm__(".hidden " #symbol);
#else
#define HIDE(symbol)
#endif

#define EXPORT(symbol, impl, cbid_name)                                                            \
    extern void vs_rt_target_##symbol(void) __asm__(impl);                                         \
    extern const struct vs_thunk vs_rt_thunk_##symbol;                                             \
    const struct vs_thunk vs_rt_thunk_##symbol = {vs_rt_target_##symbol, #symbol,                  \
                                                  CUPTI_RUNTIME_TRACE_CBID_##cbid_name};           \
    HIDE(symbol)                                                                                   \
    VS_THUNK(#symbol, impl, "vs_rt_thunk_" #symbol, WATCH)

/* Forms that only an older major version has. */
#define VS_RT_OLD(symbol, cbid_name) EXPORT(symbol, "vs_rt_old_" #symbol, cbid_name)
#include "generated/vs_sim_runtime_old_table.h"

/* The functions of CUDA 13; an older major version may have them under another name, defined by a
 * macro between these two. */
#define EXPORT_NAMED(name, impl, cbid_name) EXPORT(name, impl, cbid_name)
#define VS_RT_API(symbol, cbid_name) EXPORT_NAMED(symbol, "vs_rt_impl_" #symbol, cbid_name)
#include "generated/vs_sim_runtime_major_names.h"
#include "generated/vs_sim_runtime_api_table.h"
#undef VS_RT_API

VS_THUNK_COMMON

/* ---- observed calls ---- */

void vs_rt_watch_by(vs_rt_calls_fn get)
{
    const struct vs_sim_calls *found = get ? get() : NULL;
    atomic_store(&calls, found);
    atomic_store(&vs_rt_wanted, found ? found->wanted : &nothing); /* after the pointer's target */
}

/* A tool may have loaded the driver before the program's first call. */
static void look_for_driver(void)
{
    void *driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
    void *symbol = driver ? dlsym(driver, "cuGetProcAddress_v2") : NULL;
    PFN_cuGetProcAddress_v12000 get_address;
    CUdriverProcAddressQueryResult status;
    void *found = NULL;
    vs_rt_calls_fn get;
    if (symbol) {
        memcpy(&get_address, &symbol, sizeof symbol);
        if (get_address("vramscopeSimCalls", &found, CUDA_VERSION, 0, &status) == CUDA_SUCCESS &&
            found) {
            memcpy(&get, &found, sizeof found);
            vs_rt_watch_by(get);
        }
    }
    if (driver)
        dlclose(driver);
}

static bool watched(const struct vs_sim_calls *with)
{
    return with && __atomic_load_n(with->wanted, __ATOMIC_RELAXED) & VS_SIM_WANT_RUNTIME_CALLS;
}

int vs_thunk_wanted(void)
{
    if (atomic_load(&vs_rt_wanted) == &look_first)
        look_for_driver();
    return watched(atomic_load(&calls));
}

int vs_thunk_watched(const struct vs_thunk *thunk, const struct vs_thunk_args *args)
{
    const struct vs_sim_calls *with = atomic_load(&calls);
    if (!watched(with))
        return vs_thunk_call(thunk->function, args);
    struct vs_sim_call call = {
        .domain = VS_SIM_DOMAIN_RUNTIME, .cbid = thunk->cbid, .name = thunk->name, .args = args};
    with->enter(&call);
    call.result = vs_thunk_call(thunk->function, args);
    with->leave(&call);
    return call.result;
}
