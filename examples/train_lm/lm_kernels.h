/* SPDX-License-Identifier: Apache-2.0
 *
 * The kernels as the rest of the program sees them: a handle for
 * cudaLaunchKernel and a host function for the simulated GPU. Two files provide
 * the handles: lm_kernels.cu (nvcc: real device code) and lm_kernels_plain.c
 * (the C compiler alone: names without code, which only the simulated GPU can
 * run). */
#ifndef LM_KERNELS_H
#define LM_KERNELS_H

#include "lm_kernel_args.h"

#ifdef __cplusplus
extern "C" {
#endif

/* 1 if the program has device code, 0 in a build without nvcc. */
extern const int lm_kernels_have_device_code;

/* The handle of kernel *id* for cudaLaunchKernel. Any thread. */
const void *lm_kernel_symbol(enum lm_kernel_id id);

/* Registers the host function of every kernel with the simulated GPU. Must be called once,
 * after the first CUDA call. Returns 1 on the simulated GPU, 0 on a real one. */
int lm_kernels_register_host(void);

#ifdef __cplusplus
}
#endif
#endif
