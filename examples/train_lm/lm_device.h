/* SPDX-License-Identifier: Apache-2.0
 *
 * The program's use of the device: checked calls, streams, memory, copies and
 * launches. device_alloc() and device_free() allocate and free all device memory and
 * count it; nothing else in the program calls cudaMalloc or cudaFree. One thread only.
 * A CUDA error ends the program. */
#ifndef LM_DEVICE_H
#define LM_DEVICE_H

#include "lm_kernels.h"

#include <cuda_runtime_api.h>
#include <stddef.h>

/* Ends the program with "train_lm: CALL: error" on stderr unless *call* is
 * cudaSuccess. */
#define LM_CUDA(call) lm_cuda_check((call), #call)
void lm_cuda_check(cudaError_t error, const char *call);

/* Sets the current position for error messages. *step*: 1 … steps, or 0 before and after
 * training; *phase*: a literal, kept by reference. */
void lm_device_set_phase(long step, const char *phase);

/* Opens device 0, registers the kernels with the simulated GPU and creates the two streams.
 * A build without device code ends the program on a real GPU. */
void lm_device_open(void);

/* Destroys the streams. Device memory must have been freed before, except intentional
 * leaks. */
void lm_device_close(void);

/* The stream of all kernels, and the stream that copies batches to the device. */
cudaStream_t lm_compute_stream(void);
cudaStream_t lm_copy_stream(void);

/* Allocates *bytes* > 0 of device memory; never NULL. *name*, a literal or a string that
 * lives as long, identifies it in the out-of-memory message, after which the program
 * exits with status 1. Contents are undefined. */
void *device_alloc(const char *name, size_t bytes);

/* Frees memory of device_alloc(). NULL does nothing. Waits for the kernels that use it,
 * like cudaFree. */
void device_free(void *pointer);

/* The counts of device_alloc() and device_free(), in requested bytes. */
struct lm_tally {
    size_t live_bytes, peak_bytes;
    unsigned long allocations, frees;
};
struct lm_tally lm_device_tally(void);

/* Pinned host memory, for copies in parallel with kernels. Like device_alloc and
 * device_free, but not counted. */
void *pinned_alloc(const char *name, size_t bytes);
void pinned_free(void *pointer);

/* Allocates *count* elements of *size* bytes of host memory, all zero, never NULL. The
 * caller calls free(). */
void *host_alloc(size_t count, size_t size);

/* Synchronous copies. */
void copy_to_device(void *device, const void *host, size_t bytes);
void copy_to_host(void *host, const void *device, size_t bytes);

/* Writes zeros, ordered on the compute stream. */
void device_zero(void *pointer, size_t bytes);

/* Launches kernel *id* on the compute stream. *args*: its argument struct,
 * copied by the call. *blocks* > 0; *block*: threads. */
void lm_launch(enum lm_kernel_id id, const void *args, unsigned long blocks, dim3 block);

/* Formats bytes as "12.0 MiB" into *text* of *size* bytes; returns text. */
const char *lm_format_bytes(size_t bytes, char *text, size_t size);

#endif
