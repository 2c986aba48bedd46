/* SPDX-License-Identifier: Apache-2.0
 *
 * A tool's library for CUDA_INJECTION64_PATH: counts its starts, and uses the driver during them,
 * as tools do. */
#include <cuda.h>

__attribute__((visibility("default"))) int injected_calls;
__attribute__((visibility("default"))) int InitializeInjection(void);

int InitializeInjection(void)
{
    int version;
    if (cuInit(0) || cuDriverGetVersion(&version))
        return 0;
    injected_calls++;
    return 1;
}
