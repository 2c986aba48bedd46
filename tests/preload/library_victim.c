/* SPDX-License-Identifier: Apache-2.0
 *
 * A library that holds device memory until its own destructor, which runs after
 * those of the libraries loaded before it. */
#include <cuda.h>
#include <stdio.h>

__attribute__((visibility("default"))) void library_victim_start(void);

static CUdeviceptr first, second;

void library_victim_start(void)
{
    CUdevice device;
    CUcontext context;
    int ok = !cuInit(0) && !cuDeviceGet(&device, 0) && !cuDevicePrimaryCtxRetain(&context, device) &&
             !cuCtxSetCurrent(context) && !cuMemAlloc(&first, 1000) && !cuMemAlloc(&second, 1000) &&
             !cuMemsetD8(second, 7, 1000) && !cuCtxSynchronize();
    printf("library started: %d\n", ok);
}

__attribute__((destructor)) static void library_victim_end(void)
{
    unsigned char bytes[1000] = {0};
    if (!first)
        return;
    CUresult one = cuMemFree(first), copy = cuMemcpyDtoH(bytes, second, sizeof bytes);
    CUresult two = cuMemFree(second);
    printf("library ended: %d %d %d byte %d\n", (int)one, (int)copy, (int)two, bytes[999]);
    fflush(stdout);
}
