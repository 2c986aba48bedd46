/* SPDX-License-Identifier: Apache-2.0
 *
 * What the files of the stand-in for cuSOLVER share: the handle, work on its stream, and workspace
 * sizes. Matrices are not factorised: the work takes time on the stream, and the outputs that a
 * program reads back to decide (info, pivots) are set in stream order. */
#ifndef VS_SOLVER_H
#define VS_SOLVER_H

#include "simulator/libraries/common/vs_library_base.h"
#include "simulator/libraries/cusolver/vs_cusolver_api.h"

VS_CUSOLVER_FUNCTIONS(VS_LIBRARY_DECLARE)

enum { VS_SOLVER_HANDLE = 1, VS_SOLVER_PARAMS, VS_SOLVER_SYEVJ, VS_SOLVER_GESVDJ };

struct cusolverDnContext {
    CUstream stream;
    int deterministic;
};

/* Rows of cusolver.calls: a function hands one of these structures to its runner. */

/* One call: its dimensions are checked, its operations and bytes become its duration. */
struct vs_solver_call {
    const char *name;
    int type;          /* a cudaDataType */
    bool bad;          /* an argument is wrong */
    int64_t smallest;  /* the smallest of the dimensions: not negative */
    double operations; /* of real numbers: four times as many for complex types */
    double elements;   /* read and written */
    int *info;         /* on the device: set to 0; NULL: none */
    int64_t info_count;
    void *pivots;      /* on the device: *smallest* of *pivot_bytes* each (4 or 8) are set to 1; NULL: none */
    unsigned pivot_bytes;
    double *residuals; /* on the host: *info_count* are set to 0; NULL: none */
};
/* vs_solver_run: checks the call, queues its work and sets its outputs. Returns a status. */
int vs_solver_run(struct cusolverDnContext *handle, const struct vs_solver_call *call);

/* One …_bufferSize function. */
struct vs_solver_size {
    const char *name;
    int type;
    bool bad;
    int64_t smallest, elements;
    const char *key; /* the problem, as in the table of sizes */
    int *lwork;      /* receives a number of elements */
};
/* vs_solver_size: stores the size: that of a measured row of the table of sizes, or else *elements*, at
 * least one, which is noted as assumed. */
int vs_solver_size(struct cusolverDnContext *handle, const struct vs_solver_size *size);

/* The same for a 64-bit function: *device* and *host* receive bytes. The key is *m* by *n*, and *more*: how
 * many matrices, or what else its size depends on. */
struct vs_solver_sizes {
    const char *name;
    int type;
    int64_t smallest, elements, m, n, more;
    unsigned long *device, *host;
};
int vs_solver_sizes(struct cusolverDnContext *handle, const struct vs_solver_sizes *sizes);

struct vs_solver_setting {
    const void *info;
    int kind; /* of *info* */
    double *residual;
    int *sweeps;
};
int vs_solver_result(struct cusolverDnContext *handle, const struct vs_solver_setting *setting);

#define VS_SOLVER_BLOCK INT64_C(64)
/* For each matrix of a batch: 4,452 MiB for 16,384 matrices of 3 x 3 in FP32, the peak in
 * https://github.com/mujocolab/mjlab/pull/754. That batches of more than about 30,000 are refused
 * (https://github.com/mujocolab/mjlab/pull/732) fits: they would have more than 2^31 elements. */
#define VS_SOLVER_BATCHED_ELEMENTS 71232

static inline int64_t vs_solver_least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}
static inline int64_t vs_solver_most(int64_t a, int64_t b)
{
    return a > b ? a : b;
}
static inline int64_t vs_solver_area(int64_t m, int64_t n)
{
    return m * n;
}
/* vs_solver_jacobi: elements of the workspace of Jacobi's method for *batch* matrices. As many as
 * https://github.com/cupy/cupy/issues/7261 prints for batches of 1 to 512 matrices of 4 x 4, and for
 * large batches of 2 x 2: a tile of 32 x 32 for each matrix, and one more. */
static inline int64_t vs_solver_jacobi(int64_t n, int64_t batch)
{
    int64_t tile = n > 32 ? n * n : 32 * 32;
    return batch * (tile + (n + 1) * (n + 1)) + tile + n;
}
/* vs_solver_lu: operations of the LU factorisation of an *m* by *n* matrix of real numbers. */
double vs_solver_lu(int64_t m, int64_t n);

#define VS_SOLVER_KEY_MAX 96
/* vs_solver_key: *format* and its arguments in *to*, which it returns. VS_SOLVER_KEY: the same, in memory of
 * the calling block. */
__attribute__((format(printf, 2, 3))) const char *vs_solver_key(char to[VS_SOLVER_KEY_MAX],
                                                                const char *format, ...);
#define VS_SOLVER_KEY(...) vs_solver_key((char[VS_SOLVER_KEY_MAX]){0}, __VA_ARGS__)

#endif
