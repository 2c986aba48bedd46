/* SPDX-License-Identifier: Apache-2.0
 *
 * The stand-in for cuBLAS, between its files: the handle, types of elements, work on the handle's
 * stream, and the operations that are computed. A function of cuBLAS checks its arguments in the
 * order that NVIDIA documents, then hands its operations and elements to vs_blas_work, or its
 * operands to vs_blas_vector or vs_blas_product, which compute small problems as well. All functions
 * return a status of cuBLAS. A handle belongs to one thread at a time, as NVIDIA's. */
#ifndef VS_BLAS_H
#define VS_BLAS_H

#include <complex.h>

#include "simulator/libraries/common/vs_library_base.h"
#include "simulator/libraries/cublas/vs_cublas_api.h"

VS_CUBLAS_FUNCTIONS(VS_LIBRARY_DECLARE)
#undef I /* of complex.h: a type of integers in the macros of this folder */

struct cublasContext {
    CUstream stream;
    void *workspace; /* the user's, or NULL */
    size_t workspace_bytes;
    int pointer_mode, math_mode, atomics_mode, sm_count_target;
    int emulation_strategy, special_values, mantissa_control, mantissa_bits_max, mantissa_offset;
    int *mantissa_bits;
};
enum { VS_BLAS_HANDLE = 1 };

/* A function returns if its handle is not one, or if a condition on its arguments holds. */
#define VS_BLAS_CHECK(handle, bad)                                                                 \
    do {                                                                                           \
        if (!vs_library_object(handle, VS_BLAS_HANDLE))                                            \
            return CUBLAS_STATUS_NOT_INITIALIZED;                                                  \
        if (bad)                                                                                   \
            return CUBLAS_STATUS_INVALID_VALUE;                                                    \
    } while (0)

/* The four types of the classic functions, and both widths of their integers: for each function
 * F(letter, element, type of element, integer, suffix of the name). */
#define VS_BLAS_WIDTHS(F, P, T, t) F(P, T, t, int, ) F(P, T, t, int64_t, _64)
#define VS_BLAS_REAL(F) VS_BLAS_WIDTHS(F, S, float, CUDA_R_32F) VS_BLAS_WIDTHS(F, D, double, CUDA_R_64F)
#define VS_BLAS_COMPLEX(F)                                                                         \
    VS_BLAS_WIDTHS(F, C, struct float2, CUDA_C_32F) VS_BLAS_WIDTHS(F, Z, struct double2, CUDA_C_64F)
#define VS_BLAS_ALL(F) VS_BLAS_REAL(F) VS_BLAS_COMPLEX(F)

/* ---- arguments ---- */

static inline bool vs_blas_is_op(int op)
{
    return op == CUBLAS_OP_N || op == CUBLAS_OP_T || op == CUBLAS_OP_C;
}
static inline bool vs_blas_is_uplo(int uplo)
{
    return uplo == CUBLAS_FILL_MODE_LOWER || uplo == CUBLAS_FILL_MODE_UPPER;
}
static inline bool vs_blas_is_side(int side)
{
    return side == CUBLAS_SIDE_LEFT || side == CUBLAS_SIDE_RIGHT;
}
static inline bool vs_blas_is_diag(int diag)
{
    return diag == CUBLAS_DIAG_UNIT || diag == CUBLAS_DIAG_NON_UNIT;
}
/* vs_blas_is_ld: may *ld* be the leading dimension of a matrix of *rows* rows? */
static inline bool vs_blas_is_ld(int64_t ld, int64_t rows)
{
    return ld >= (rows > 1 ? rows : 1);
}

/* ---- types (blas_type.c) ---- */

bool vs_blas_is_complex(int type);
/* vs_blas_is_computed: can elements of *type* be read and written on the CPU here? */
bool vs_blas_is_computed(int type);
double complex vs_blas_load(const void *base, int type, int64_t index);
void vs_blas_store(void *base, int type, int64_t index, double complex value);
/* vs_blas_number: the arithmetic that multiplies elements of *type* in *math* mode. */
enum vs_sim_number vs_blas_number(int type, int math);

/* ---- work (blas_work.c) ---- */

/* vs_blas_status: the status for an error of the driver. */
int vs_blas_status(CUresult result);
/* vs_blas_work: *operations* (of real numbers; four times as many are counted for complex types) on
 * *elements* of *type*, read or written, as kernel *name*. */
int vs_blas_work(struct cublasContext *handle, const char *name, int type, double operations,
                 double elements);
/* vs_blas_wait: waits for the work on the stream of the handle. */
int vs_blas_wait(struct cublasContext *handle);

/* ---- vectors (blas_vector.c) ---- */

enum vs_blas_vector_kind {
    VS_BLAS_AMAX,
    VS_BLAS_AMIN,
    VS_BLAS_ASUM,
    VS_BLAS_NRM2,
    VS_BLAS_DOTU,
    VS_BLAS_DOTC,
    VS_BLAS_COPY,
    VS_BLAS_SWAP,
    VS_BLAS_AXPY, /* y += scalar x */
    VS_BLAS_SCAL, /* x *= scalar */
    VS_BLAS_ROT,  /* scalar c, scalar2 s */
    VS_BLAS_ROTM  /* scalar: the five parameters */
};
struct vs_blas_vector {
    enum vs_blas_vector_kind kind;
    bool wide; /* the result of AMAX and AMIN has 64 bits */
    bool scalars_on_host;
    int x_type, y_type, result_type, scalar_type, scalar2_type;
    int64_t n, x_step, y_step;
    void *x, *y, *result;
    const void *scalar, *scalar2;
    double complex values[5]; /* of the scalars, once read */
};
/* vs_blas_vector: checks pointers and types, submits the work of *v* as kernel *name* (the function's
 * name where the types may not be supported), and computes
 * it: results of host pointer mode before it returns, whatever the size; other operations in the
 * order of the stream up to a size (VS_BLAS_VECTOR_MAX). */
int vs_blas_vector(struct cublasContext *handle, const char *name, const struct vs_blas_vector *v);
#define VS_BLAS_VECTOR_MAX ((int64_t)1 << 20) /* elements */

/* ---- products (blas_product.c) ---- */

/* An operand: element (i, j) of matrix b is base[offset + b * batch_step + i * row_step + j *
 * column_step], or without the batch's step of the matrix at base[b], where base is an array of
 * pointers in device memory. */
struct vs_blas_operand {
    void *base;
    bool pointers, conjugated;
    int type;
    int64_t row_step, column_step, batch_step, offset; /* of element (0, 0) in each matrix */
};
struct vs_blas_product { /* c = alpha a b + beta c; c is m x n, a is m x k */
    int64_t m, n, k, batches;
    struct vs_blas_operand a, b, c;
    enum vs_sim_number number;
    int scalar_type;
    bool scalars_on_host;
    const void *alpha, *beta;       /* beta NULL: 1 */
    double complex alpha_value, beta_value; /* once read */
};
/* vs_blas_product: submits *p* as kernel *name*, and computes it in the order of the stream where it
 * has at most VS_BLAS_PRODUCT_MAX operations and its types can be computed. */
int vs_blas_product(struct cublasContext *handle, const char *name,
                    const struct vs_blas_product *p);
#define VS_BLAS_PRODUCT_MAX 2e6
/* vs_blas_matrix: op(matrix) at *base* with leading dimension *ld*. */
struct vs_blas_operand vs_blas_matrix(const void *base, int type, int op, int64_t ld);

#endif
