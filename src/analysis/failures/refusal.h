/* SPDX-License-Identifier: Apache-2.0
 *
 * Failed allocations counted by device, family and CUDA error code: not every failure is out of
 * memory. Also the names of the codes, because traces store numbers. */
#ifndef VS_REFUSAL_H
#define VS_REFUSAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define VS_CUDA_OUT_OF_MEMORY 2
#define VS_CUDA_ERROR_TEXT_MAX 64
#define VS_REFUSALS_MAX 64 /* kinds of failure that are counted; others are ignored */

struct vs_refusal {
    bool host; /* host memory; device is 0 then */
    uint64_t device;
    unsigned family;
    uint64_t error, count;
};

struct vs_refusals {
    struct vs_refusal items[VS_REFUSALS_MAX];
    size_t count;
};

/* vs_refusal_add: counts one failure. *family*: as in the trace, any number. */
void vs_refusal_add(struct vs_refusals *refusals, uint64_t device, uint64_t family, uint64_t error);

/* vs_cuda_error_name: writes "CUDA_ERROR_INVALID_VALUE" for 1, "CUDA error 12345" for an unknown
 * code, to *out*, which has VS_CUDA_ERROR_TEXT_MAX bytes. Returns *out*. */
char *vs_cuda_error_name(char *out, uint64_t error);

#endif
