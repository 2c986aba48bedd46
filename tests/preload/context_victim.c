/* SPDX-License-Identifier: Apache-2.0
 *
 * A program of the driver API that creates contexts until the device has no memory for another. With
 * "physical" it first creates memory with cuMemCreate, which needs no context: then already the first
 * context fails. Exits with 1 when a context could not be created. */
#include <cuda.h>
#include <stdio.h>
#include <string.h>

int main(int argc, char **argv)
{
    CUmemAllocationProp prop = {.type = CU_MEM_ALLOCATION_TYPE_PINNED,
                                .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = 0}};
    CUmemGenericAllocationHandle handle;
    CUcontext context;
    if (cuInit(0) != CUDA_SUCCESS)
        return 3;
    for (int i = 0; argc > 1 && strcmp(argv[1], "physical") == 0 && i < 3; i++)
        if (cuMemCreate(&handle, (size_t)512 << 20, &prop, 0) != CUDA_SUCCESS)
            return 3;
    for (int i = 0; i < 1000; i++) {
        CUresult r = cuCtxCreate(&context, NULL, 0, 0);
        if (r != CUDA_SUCCESS) {
            printf("context %d: error %d\n", i, (int)r);
            return 1;
        }
    }
    return 0;
}
