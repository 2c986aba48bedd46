/* SPDX-License-Identifier: Apache-2.0
 *
 * Work of a stand-in library (cuBLAS, cuDNN, NCCL, …) on a stream of the simulated device: a kernel
 * that has a name and a cost. It computes nothing unless the library has registered a host function
 * for its name. The libraries find the function in the simulated driver by name
 * (src/simulator/libraries/common). */
#ifndef VS_SIM_WORK_H
#define VS_SIM_WORK_H

#include <cuda.h>
#include <stdbool.h>
#include <stdint.h>

/* What the device computes with; chooses its peak rate. */
enum vs_sim_number {
    VS_SIM_FP64,
    VS_SIM_FP32,
    VS_SIM_TF32,
    VS_SIM_FP16, /* and bfloat16 */
    VS_SIM_FP8,
    VS_SIM_INT8,
    VS_SIM_NUMBER_COUNT
};

struct vs_sim_work {
    const char *name;          /* the kernel's, as profilers show it; copied */
    enum vs_sim_number number;
    double operations;         /* floating-point or integer operations; a multiply-add is two */
    double bytes;              /* read and written in device memory */
    uint64_t blocks;           /* of 256 threads; 0: one */
    double ns;                 /* additional duration, for links between devices */
    void **params;             /* NULL, or the arguments of the host function that the library has
                                  registered for the name (vramscopeSimRegisterKernel) */
    bool only_time;            /* the library computes the results in other work of the stream */
};

/* vramscopeSimLibraryWork: queues *work* on *stream* (or adds a kernel node where the stream is
 * being captured). It takes the longer of the times that its operations and its bytes need at 70 %
 * of the device's peak rates. Returns what cuLaunchKernel would. Any thread. */
typedef CUresult vramscope_sim_library_work_fn(CUstream stream, const struct vs_sim_work *work);

/* vramscopeSimLibraryWorkspace: the key workspace= of VRAMSCOPE_SIMULATE: whether it was given, and
 * its bytes. Any thread. */
typedef bool vramscope_sim_library_workspace_fn(uint64_t *bytes);

#endif
