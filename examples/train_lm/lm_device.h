/* SPDX-License-Identifier: Apache-2.0
 *
 * The device as the program uses it: checked calls, streams, memory, copies and
 * launches. All device memory passes through device_alloc() and device_free(),
 * which keep the program's own tally of it; nothing else in the program calls
 * cudaMalloc or cudaFree. One thread only. Errors end the program: this is a
 * sample, and a CUDA error here leaves nothing to carry on with. */
#ifndef LM_DEVICE_H
#define LM_DEVICE_H

#include "lm_kernels.h"

#include <cuda_runtime_api.h>
#include <stddef.h>

/* Ends the program with "train_lm: CALL: error" on stderr unless *call* is
 * cudaSuccess. */
#define LM_CUDA(call) lm_cuda_check((call), #call)
void lm_cuda_check(cudaError_t error, const char *call);

/* What the program is doing, for its error messages. *step*: 1 … steps, or 0
 * before and after training; *phase*: a literal, kept by reference. */
void lm_device_set_phase(long step, const char *phase);

/* Opens device 0, gives the simulated GPU its kernels, makes the two streams. A
 * build without device code ends the program on a real GPU. */
void lm_device_open(void);

/* Destroys the streams. Device memory must have been freed before; what was
 * leaked on purpose stays with the driver. */
void lm_device_close(void);

/* The stream that all kernels run on, and the one that brings the batches. */
cudaStream_t lm_compute_stream(void);
cudaStream_t lm_copy_stream(void);

/* *bytes* > 0 of device memory, never NULL. *name*, a literal or a string that
 * lives as long, is what an out-of-memory message calls it; that message is one
 * line on stderr and the program exits with status 1. Contents are undefined. */
void *device_alloc(const char *name, size_t bytes);

/* Gives back what device_alloc() returned. NULL does nothing. Waits for the
 * kernels that use it, as cudaFree does. */
void device_free(void *pointer);

/* The tally of device_alloc() and device_free(): bytes as requested. */
struct lm_tally {
    size_t live_bytes, peak_bytes;
    unsigned long allocations, frees;
};
struct lm_tally lm_device_tally(void);

/* Pinned host memory, for copies that run beside the kernels. As device_alloc
 * and device_free, but not part of the tally. */
void *pinned_alloc(const char *name, size_t bytes);
void pinned_free(void *pointer);

/* *count* elements of *size* bytes of ordinary host memory, all zero, never NULL;
 * for free(). */
void *host_alloc(size_t count, size_t size);

/* Copies that have ended when the call returns. */
void copy_to_device(void *device, const void *host, size_t bytes);
void copy_to_host(void *host, const void *device, size_t bytes);

/* Writes zeros, in the order of the compute stream. */
void device_zero(void *pointer, size_t bytes);

/* Launches kernel *id* on the compute stream. *args*: its argument struct,
 * copied by the call. *blocks* > 0; *block*: threads. */
void lm_launch(enum lm_kernel_id id, const void *args, unsigned long blocks, dim3 block);

/* "12.0 MiB" and the like in *text*, which holds *size* bytes; returns text. */
const char *lm_format_bytes(size_t bytes, char *text, size_t size);

#endif
