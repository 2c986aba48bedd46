/* SPDX-License-Identifier: Apache-2.0
 *
 * cuGetProcAddress over the one table of entry points: the newest function of the name that is not
 * newer than the requested version, and its per-thread form on request. The result is the exported
 * symbol itself. Functions for the stand-in runtime alone are also found here, and are not in the
 * table. */
#define _GNU_SOURCE /* dladdr */
#include "simulator/driver/vs_sim_driver.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#define PER_THREAD_SINCE 7000 /* the CUDA version that introduced per-thread default streams */

/* The table has symbols of many types; only their addresses are needed. */
#define VS_SIM_FN(name, version, symbol) extern void entry_##symbol(void) __asm__(#symbol);
#define VS_SIM_FN_PT(name, version, symbol, pt)        \
    extern void entry_##symbol(void) __asm__(#symbol); \
    extern void entry_##pt(void) __asm__(#pt);
#include "generated/vs_sim_entry_table.h"
#undef VS_SIM_FN
#undef VS_SIM_FN_PT
extern void entry_declare_global(void) __asm__("vramscopeSimDeclareGlobal");
extern void entry_calls(void) __asm__("vramscopeSimCalls");

struct procaddr_entry {
    const char *name;
    int version;
    void (*function)(void), (*per_thread)(void);
};

#define VS_SIM_FN(name, version, symbol) {#name, version, entry_##symbol, NULL},
#define VS_SIM_FN_PT(name, version, symbol, pt) {#name, version, entry_##symbol, entry_##pt},
static const struct procaddr_entry entries[] = {
    /* ascending by name, then version */
#include "generated/vs_sim_entry_table.h"
};
#undef VS_SIM_FN
#undef VS_SIM_FN_PT

#define ENTRY_COUNT (sizeof entries / sizeof entries[0])

/* *newest*: the version of the driver. */
static void (*lookup(const char *name, int version, int newest, cuuint64_t flags,
                     CUdriverProcAddressQueryResult *status))(void)
{
    if (!strncmp(name, "vramscopeSim", 12)) {
        *status = CU_GET_PROC_ADDRESS_SUCCESS;
        if (!strcmp(name, "vramscopeSimDeclareGlobal"))
            return entry_declare_global;
        if (!strcmp(name, "vramscopeSimCalls"))
            return entry_calls;
    }
    size_t i = 0, high = ENTRY_COUNT; /* the first row of the name */
    while (i < high) {
        size_t mid = (i + high) / 2;
        if (strcmp(entries[mid].name, name) < 0)
            i = mid + 1;
        else
            high = mid;
    }
    const struct procaddr_entry *best = NULL;
    *status = CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
    for (; i < ENTRY_COUNT && !strcmp(entries[i].name, name); i++) {
        if (entries[i].version > newest)
            break; /* an old driver does not know it */
        *status = CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT;
        if (entries[i].version <= version)
            best = &entries[i];
    }
    if (!best)
        return NULL;
    *status = CU_GET_PROC_ADDRESS_SUCCESS;
    bool per_thread =
        (flags & CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM) && version >= PER_THREAD_SINCE;
    return per_thread && best->per_thread ? best->per_thread : best->function;
}

static CUresult get_proc_address(const char *symbol, void **pfn, int version, cuuint64_t flags,
                                 CUdriverProcAddressQueryResult *status)
{
    vs_sim_spec_read(); /* may be called before cuInit */
    if (!symbol || !pfn || version > (int)vs_sim_spec.driver_version ||
        (flags & ~(cuuint64_t)(CU_GET_PROC_ADDRESS_LEGACY_STREAM |
                               CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM)))
        return CUDA_ERROR_INVALID_VALUE;
    void (*found)(void) =
        lookup(symbol, version, (int)vs_sim_spec.driver_version, flags, status);
    memcpy(pfn, &found, sizeof *pfn);
    return CUDA_SUCCESS;
}

/* vramscopeSimLookUp: cuGetProcAddress of the newest driver, whatever the spec says. Only for the
 * stand-in runtime, which needs functions newer than its major version. */
VS_SIM_EXPORT CUresult vramscopeSimLookUp(const char *symbol, void **pfn, int version,
                                          cuuint64_t flags);
CUresult vramscopeSimLookUp(const char *symbol, void **pfn, int version, cuuint64_t flags)
{
    CUdriverProcAddressQueryResult status;
    void (*found)(void) = lookup(symbol, version, VS_SIM_DRIVER_VERSION, flags, &status);
    memcpy(pfn, &found, sizeof *pfn);
    return found ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}

CUresult cuGetProcAddress(const char *symbol, void **pfn, int cudaVersion, cuuint64_t flags)
{
    CUdriverProcAddressQueryResult status;
    CUresult e = get_proc_address(symbol, pfn, cudaVersion, flags, &status);
    return !e && !*pfn ? CUDA_ERROR_NOT_FOUND : e; /* 11.x documented this code */
}

#undef cuGetProcAddress_v2 /* cuda.h maps it to a wrapper for users of per-thread streams */
CUresult cuGetProcAddress_v2(const char *symbol, void **pfn, int cudaVersion, cuuint64_t flags,
                             CUdriverProcAddressQueryResult *symbolStatus)
{
    CUdriverProcAddressQueryResult status;
    return get_proc_address(symbol, pfn, cudaVersion, flags, symbolStatus ? symbolStatus : &status);
}

/* NVIDIA's runtime asks for private tables, and gives up without them. Linked shared, it is replaced
 * (libvramscope_audit.so); the library that *caller* lies in has it inside. */
static void name_runtime(void *caller)
{
    static atomic_flag said = ATOMIC_FLAG_INIT;
    Dl_info info;
    if (!dladdr(caller, &info) || atomic_flag_test_and_set(&said))
        return;
    vs_sim_say("vramscope simulator: %.700s contains NVIDIA's CUDA runtime, which works with NVIDIA's driver only; "
               "to run it on the simulated GPU, build it from source with nvcc -cudart shared, or with the "
               "simulator's static runtime (docs/simulator.md)\n", info.dli_fname);
}

CUresult cuGetExportTable(const void **ppExportTable, const CUuuid *pExportTableId)
{
    if (!ppExportTable || !pExportTableId)
        return CUDA_ERROR_INVALID_VALUE;
    *ppExportTable = NULL;
    name_runtime(__builtin_return_address(0));
    return CUDA_ERROR_NOT_FOUND;
}
