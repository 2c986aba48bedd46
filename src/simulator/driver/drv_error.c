/* SPDX-License-Identifier: Apache-2.0
 *
 * Names and texts of driver errors: every code of cuda.h has both, whether the
 * simulated driver returns it or not. */
#include "simulator/driver/vs_sim_driver.h"

struct error_text {
    CUresult error;
    const char *name, *text;
};

static const struct error_text errors[] = {
#define VS_SIM_ERROR(code, text) {code, #code, text},
#define VS_SIM_ERROR_OF_BOTH(code, text) VS_SIM_ERROR(code, text)
#include "simulator/driver/vs_sim_error_text_table.h"
};

static const struct error_text *error_find(CUresult error)
{
    for (size_t i = 0; i < sizeof errors / sizeof errors[0]; i++)
        if (errors[i].error == error)
            return &errors[i];
    return NULL;
}

CUresult cuGetErrorName(CUresult error, const char **pStr)
{
    if (!pStr)
        return CUDA_ERROR_INVALID_VALUE;
    const struct error_text *e = error_find(error);
    *pStr = e ? e->name : NULL;
    return e ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuGetErrorString(CUresult error, const char **pStr)
{
    if (!pStr)
        return CUDA_ERROR_INVALID_VALUE;
    const struct error_text *e = error_find(error);
    *pStr = e ? e->text : NULL;
    return e ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}
