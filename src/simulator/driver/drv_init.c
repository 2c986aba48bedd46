/* SPDX-License-Identifier: Apache-2.0
 *
 * Process state: VRAMSCOPE_SIMULATE is read once, by cuInit or an earlier call (the driver's
 * version); nothing else happens before cuInit. Also which callers are allowed (not the child of a
 * fork, not a host function), and waiting for simulated time. */
#include "simulator/driver/vs_sim_driver.h"

#include <cudaProfiler.h>
#include <dlfcn.h>
#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/vs_clock.h"

#define SLEEP_EARLY_NS 60000 /* wake this much early, then yield until the time is reached */

struct vs_sim_spec vs_sim_spec;

static pthread_once_t init_once = PTHREAD_ONCE_INIT;
static pthread_once_t spec_once = PTHREAD_ONCE_INIT;
static CUresult spec_result; /* written once under spec_once */
static CUresult init_result = CUDA_ERROR_NOT_INITIALIZED; /* written once under init_once */
static atomic_bool initialised, forked;
static _Thread_local int host_function_depth;

static void forked_child(void)
{
    atomic_store(&forked, true); /* the child has no engine threads: its device is lost */
}

static void read_spec(void)
{
    char why[VS_SIM_WHY_MAX];
    if (vs_sim_spec_parse(getenv("VRAMSCOPE_SIMULATE"), &vs_sim_spec, why) == VS_OK)
        return;
    vs_sim_say("vramscope simulator: %s\n", why);
    spec_result = CUDA_ERROR_NO_DEVICE;
    if (vs_sim_spec_parse("", &vs_sim_spec, why))
        spec_result = CUDA_ERROR_UNKNOWN;
}

CUresult vs_sim_spec_read(void)
{
    pthread_once(&spec_once, read_spec);
    return spec_result;
}

static void init(void)
{
    init_result = vs_sim_spec_read();
    if (init_result)
        return;
    int physical[VS_SIM_DEVICES_MAX];
    vs_sim_spec.devices =
        vs_sim_visible(getenv("CUDA_VISIBLE_DEVICES"), vs_sim_spec.devices, physical);
    if (!vs_sim_spec.devices) {
        init_result = CUDA_ERROR_NO_DEVICE;
        return;
    }
    pthread_atfork(NULL, NULL, forked_child);
    if (vs_sim_spec.check != VS_SIM_CHECK_OFF)
        vs_sim_check_start();
    vs_sim_log_begin();
    init_result = CUDA_SUCCESS;
    for (unsigned i = 0; i < vs_sim_spec.devices; i++) {
        struct vs_sim_device *d = &vs_sim_devices[i];
        d->ordinal = (int)i;
        d->physical = physical[i];
        pthread_mutex_init(&d->mu, NULL);
        d->primary = vs_sim_context_new(d, true);
    }
    atomic_store(&initialised, true);
}

/* CUDA_INJECTION64_PATH: the library that a tool has the driver load in every process that uses it.
 * The first successful cuInit opens it and calls its `int InitializeInjection(void)` on the calling
 * thread, before any other cuInit returns. The library may call the driver and CUPTI there. How
 * NVIDIA's driver handles a missing library, or one that refuses to run (0), is not documented;
 * here a missing library gives one line on standard error, a refusal nothing, and the program
 * continues. */
static pthread_once_t inject_once = PTHREAD_ONCE_INIT;
static _Thread_local bool inside; /* the library's own cuInit must not wait for itself */

static void inject(void)
{
    const char *path = getenv("CUDA_INJECTION64_PATH");
    if (!path || !*path)
        return;
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    void *found = library ? dlsym(library, "InitializeInjection") : NULL;
    int (*initialize)(void);
    memcpy(&initialize, &found, sizeof initialize);
    if (initialize) {
        initialize();
        return;
    }
    vs_sim_say("vramscope simulator: CUDA_INJECTION64_PATH=%.300s: %.300s\n", path,
               library ? "it has no InitializeInjection" : dlerror());
}

CUresult cuInit(unsigned int Flags)
{
    if (Flags)
        return CUDA_ERROR_INVALID_VALUE;
    if (atomic_load(&forked))
        return CUDA_ERROR_NOT_INITIALIZED;
    pthread_once(&init_once, init);
    if (init_result == CUDA_SUCCESS && !inside) {
        inside = true;
        pthread_once(&inject_once, inject);
        inside = false;
    }
    return init_result;
}

CUresult vs_sim_enter(void)
{
    if (!atomic_load_explicit(&initialised, memory_order_acquire) || atomic_load(&forked))
        return CUDA_ERROR_NOT_INITIALIZED;
    return host_function_depth ? CUDA_ERROR_NOT_PERMITTED : CUDA_SUCCESS;
}

void vs_sim_host_function_begin(void) { host_function_depth++; }
void vs_sim_host_function_end(void) { host_function_depth--; }

CUresult cuDriverGetVersion(int *driverVersion)
{
    if (!driverVersion)
        return CUDA_ERROR_INVALID_VALUE;
    vs_sim_spec_read(); /* allowed before cuInit */
    *driverVersion = (int)vs_sim_spec.driver_version;
    return CUDA_SUCCESS;
}

VS_SIM_AS(cuProfilerInitialize,
          (const char *configFile, const char *outputFile, CUoutput_mode outputMode),
          CUDA_ERROR_NOT_SUPPORTED)

/* Only the interposed profiler could listen to these calls, so they do nothing. */
CUresult cuProfilerStart(void) { return vs_sim_enter(); }
CUresult cuProfilerStop(void) { return vs_sim_enter(); }

/* ---- simulated time ---- */

void vs_sim_delay_until(uint64_t time_ns)
{
    uint64_t now = vs_clock_ns();
    if (now + SLEEP_EARLY_NS < time_ns) {
        uint64_t wake = time_ns - SLEEP_EARLY_NS;
        struct timespec ts = {.tv_sec = (time_t)(wake / 1000000000u),
                              .tv_nsec = (long)(wake % 1000000000u)};
        while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &ts, NULL) == EINTR)
            ;
    }
    while (vs_clock_ns() < time_ns)
        sched_yield();
}

void vs_sim_delay_us(unsigned us)
{
    if (us)
        vs_sim_delay_until(vs_clock_ns() + us * UINT64_C(1000));
}
