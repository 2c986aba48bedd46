/* SPDX-License-Identifier: Apache-2.0
 *
 * External memory: facts that need no graphics library to import from. */
#include "conf.h"

static CUcontext context;

FIXTURE(begin)
{
    return cuDevicePrimaryCtxRetain(&context, 0) || cuCtxSetCurrent(context) ? -1 : 0;
}

FIXTURE(end)
{
    return cuDevicePrimaryCtxRelease(0) ? -1 : 0;
}

TEST(importing_refuses_what_the_header_excludes)
{
    CUDA_EXTERNAL_MEMORY_HANDLE_DESC desc = {.type = CU_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD,
                                             .handle.fd = -1,
                                             .size = CONF_MIB};
    CUexternalMemory memory;
    FACT(cuImportExternalMemory(&memory, &desc) != CUDA_SUCCESS,
         "cuImportExternalMemory: fd must be a valid file descriptor");
    FACT(cuImportExternalMemory(NULL, &desc) != CUDA_SUCCESS, "cuImportExternalMemory: returns");
    FACT(cuImportExternalMemory(&memory, NULL) != CUDA_SUCCESS, "cuImportExternalMemory: returns");
}

int conf_external(void)
{
    return vs_run_tests_around("external", begin, end, NULL, NULL);
}
