/* SPDX-License-Identifier: Apache-2.0
 *
 * A program whose allocations all go through one function of its own, so that only the callers of it
 * tell the call sites apart. EDITED: all is in another file, one function has another name, a part of
 * one is a function now, and a recursion goes one call deeper. check_diff.py compares both runs. Exit
 * status: 0; 1 when memory is refused. */
#include <cuda_runtime_api.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MIB ((size_t)1 << 20)
#define FUNCTION static __attribute__((noinline)) void

#ifdef EDITED
#define forward forward_pass
#define DEPTH 3
#line 15 "edited.c"
#else
#define DEPTH 2
#endif

FUNCTION make_buffer(size_t bytes)
{
    void *pointer;
    if (cudaMalloc(&pointer, bytes) != cudaSuccess) {
        fprintf(stderr, "wrapped: out of memory\n");
        exit(1);
    }
}

FUNCTION forward(void)
{
    make_buffer(16 * MIB);
    make_buffer(16 * MIB);
}

FUNCTION keep_gradients(void)
{
    make_buffer(24 * MIB);
}

FUNCTION backward(void)
{
#ifdef EDITED
    keep_gradients();
#else
    make_buffer(24 * MIB);
#endif
}

FUNCTION visit(int depth)
{
    make_buffer(4 * MIB);
    if (depth)
        visit(depth - 1);
}

FUNCTION work(void)
{
    make_buffer(48 * MIB);
    forward();
    backward();
    visit(DEPTH);
    if (DEPTH < 0)
        keep_gradients();
}

/* Arguments: the devices to work on; none: the first one. refused: an allocation fails first, and the
 * program goes on. */
int main(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "refused") == 0) {
        void *none;
        if (cudaMalloc(&none, (size_t)1 << 40) == cudaSuccess)
            return 1;
        argc = 1;
    }
    for (int i = 1; i < argc; i++) {
        if (cudaSetDevice(atoi(argv[i])) != cudaSuccess)
            return 1;
        work();
    }
    if (argc == 1)
        work();
    return 0;
}
