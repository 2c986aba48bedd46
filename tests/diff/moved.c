/* SPDX-License-Identifier: Apache-2.0
 *
 * A program before and after an edit of its source (EDITED) that moves code but changes no memory: one
 * function has another name, one lives in another file, one both, lines were inserted above the others.
 * check_diff.py compares both runs. Exit status: 0; 1 when memory is refused. */
#include <cuda_runtime_api.h>
#include <stdio.h>
#include <stdlib.h>

#define MIB ((size_t)1 << 20)

/* Inlined, so that the caller's line is the first of the program's on the stack. */
#define ALLOCATE(pointer, bytes)                                     \
    do {                                                             \
        if (cudaMalloc((void **)&(pointer), bytes) != cudaSuccess) { \
            fprintf(stderr, "moved: out of memory\n");               \
            exit(1);                                                 \
        }                                                            \
    } while (0)

static float *weights, *activations, *batch, *history, *scales;

#ifdef EDITED
/* Lines that were inserted. */
#define read_weights load_checkpoint
#define scale_rows scale_rows_by
#endif

static __attribute__((noinline)) void read_weights(void)
{
    ALLOCATE(weights, 24 * MIB);
}

static __attribute__((noinline)) void load_batch(void)
{
    ALLOCATE(batch, 2 * MIB);
}

static __attribute__((noinline)) void keep_history(size_t bytes)
{
    ALLOCATE(history, bytes);
}

#ifdef EDITED
#line 12 "layers.c"
#endif
static __attribute__((noinline)) void forward(void)
{
    ALLOCATE(activations, 16 * MIB);
}
static __attribute__((noinline)) void scale_rows(void)
{
    ALLOCATE(scales, MIB / 2);
}

#ifdef EDITED
#line 80 "moved.c"
#endif

int main(int argc, char **argv)
{
    size_t more = argc > 1 ? (size_t)atoi(argv[1]) * MIB : MIB;
    read_weights();
    load_batch();
    keep_history(more);
    scale_rows();
    forward();
    cudaFree(activations);
    cudaFree(scales);
    cudaFree(history);
    cudaFree(batch);
    cudaFree(weights);
    return 0;
}
