/* SPDX-License-Identifier: Apache-2.0
 *
 * Regression: every free left a separate mapping in a large device's window, and after about 30,000
 * of them the kernel refused the next allocation. */
#include <cuda.h>
#include <stdio.h>

#define PAIRS 50000

int main(void)
{
    CUdevice device;
    CUcontext context;
    CUdeviceptr p;
    if (cuInit(0) || cuDeviceGet(&device, 0) || cuDevicePrimaryCtxRetain(&context, device) ||
        cuCtxSetCurrent(context))
        return 1;
    for (int i = 0; i < PAIRS; i++) {
        CUresult r = cuMemAlloc(&p, 2 << 20);
        if (r == CUDA_SUCCESS)
            r = cuMemFree(p);
        if (r != CUDA_SUCCESS) {
            printf("pair %d of %d: error %d\n", i, PAIRS, (int)r);
            return 1;
        }
    }
    return 0;
}
