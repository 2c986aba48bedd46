/* SPDX-License-Identifier: Apache-2.0
 *
 * A loop of kernels with a planted reason to be slow; check_slow_loop.py finds the lines by their marks. */
#include <cuda_runtime_api.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "preload/check_line.h"
#include "simulator/sim_stub.h"

#define BYTES (64 * MIB)

static void work_stub(void) {}

static void launch(void)
{
    void *args[] = {NULL};
    CHECK(!cudaLaunchKernel((void *)work_stub, (dim3){1, 1, 1}, (dim3){1, 1, 1}, args, 0, NULL)); /* launch */
}

int main(int argc, char **argv)
{
    const char *mode = argc > 1 ? argv[1] : "";
    char *pageable = calloc(1, BYTES), *pinned, *device, *scratch;
    void **handle = __cudaRegisterFatBinary(sim_stub_fat_binary());
    sim_stub_kernel(handle, work_stub, "work");
    __cudaRegisterFatBinaryEnd(handle);
    CHECK(!cudaMalloc((void **)&device, BYTES) && !cudaMallocHost((void **)&pinned, BYTES));
    memset(pinned, 1, BYTES);
    CHECK(!cudaMemcpyAsync(device, pinned, BYTES, cudaMemcpyHostToDevice, NULL) && !cudaDeviceSynchronize());
    for (int i = 0; i < 5; i++) {
        launch();
        if (!strcmp(mode, "free")) {
            CHECK(!cudaMalloc((void **)&scratch, MIB));
            CHECK(!cudaFree(scratch)); /* free */
        } else if (!strcmp(mode, "pageable")) {
            CHECK(!cudaMemcpyAsync(device, pageable, BYTES, cudaMemcpyHostToDevice, NULL)); /* pageable */
        } else {
            CHECK(!cudaStreamSynchronize(NULL)); /* idle */
            usleep(500000);
        }
    }
    CHECK(!cudaDeviceSynchronize());
    free(pageable);
    return 0;
}
