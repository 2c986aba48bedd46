/* SPDX-License-Identifier: Apache-2.0
 *
 * The stand-in for cuBLAS, between its files: the handle, types of elements, work on the handle's
 * stream, and the operations that are computed. Most functions of cuBLAS are rows of cublas.calls,
 * which pack their arguments and call one of the runners here. A runner checks the arguments, then hands
 * operations and elements to vs_blas_work, or operands to vs_blas_product, which computes small
 * problems as well. All functions return a status of cuBLAS. A handle belongs to one thread at a
 * time, as NVIDIA's. */
#ifndef VS_BLAS_H
#define VS_BLAS_H

#include <complex.h>

#include "simulator/libraries/common/vs_library_base.h"
#include "simulator/libraries/cublas/vs_cublas_api.h"

VS_CUBLAS_FUNCTIONS(VS_LIBRARY_DECLARE)

struct cublasContext {
    CUstream stream;
    void *workspace; /* the user's, or NULL */
    size_t workspace_bytes;
    CUdeviceptr own; /* the handle's own memory; 0: none */
    int pointer_mode, math_mode, atomics_mode, sm_count_target;
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

/* ---- arguments ---- */

static inline bool vs_blas_is_op(int op)
{
    return op == CUBLAS_OP_N || op == CUBLAS_OP_T || op == CUBLAS_OP_C;
}
/* vs_blas_is_ld: may *ld* be the leading dimension of a matrix of *rows* rows? */
static inline bool vs_blas_is_ld(int64_t ld, int64_t rows)
{
    return ld >= (rows > 1 ? rows : 1);
}
/* vs_blas_rows: rows in memory of a matrix of which op(matrix) is *m* by *n*. */
static inline int64_t vs_blas_rows(int op, int64_t m, int64_t n)
{
    return op == CUBLAS_OP_N ? m : n;
}
/* vs_blas_inner: rows of a square matrix at one side of a matrix of *m* by *n*. */
static inline int64_t vs_blas_inner(int side, int64_t m, int64_t n)
{
    return side == CUBLAS_SIDE_LEFT ? m : n;
}
static inline double vs_blas_square(int64_t n)
{
    return (double)n * (double)n;
}
/* vs_blas_is_math_mode: is *mode* a cublasMath_t, flags included? */
bool vs_blas_is_math_mode(int mode);

/* ---- types (blas_type.c) ---- */

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

/* ---- timed functions (blas_timed.c) ---- */

/* A function whose arguments are checked and which takes its time. Arguments have cuBLAS's names; where a
 * function has none of a name, it is a valid one. */
struct vs_blas_call {
    const char *name;
    int type; /* of the elements */
    int op, opb, uplo, side, diag;
    int64_t m, n, k, rhs, kl, ku, batches;
    int64_t incx, incy, lda, ldb, ldc;
    const void *alpha, *beta;
    int *info;                      /* in host memory */
    int *infos, *pivots;            /* in device memory */
    int64_t rows_a, rows_b, rows_c; /* that the leading dimensions must have room for */
    bool bad;                       /* another rule on the arguments is broken */
    const char *unsupported;        /* the function, where it is not supported so */
    unsigned char position[7];      /* of op, m, n, rhs, lda, ldb or ldc, and batches: 1 is the first */
    double operations;              /* of real numbers */
    double elements;                /* of *type*, read or written */
};
/* vs_blas_timed: checks *call* and submits its work. */
int vs_blas_timed(struct cublasContext *handle, const struct vs_blas_call *call);
/* vs_blas_factor: the same for each of call->batches matrices, with *infos* set to 0, and *pivots* to
 * ones that exchange nothing. */
int vs_blas_factor(struct cublasContext *handle, const struct vs_blas_call *call);
/* vs_blas_solve: the same, with **info* 0, or minus the position of a wrong argument. */
int vs_blas_solve(struct cublasContext *handle, const struct vs_blas_call *call);

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
    const char *name; /* of the kernel: the function's where its types may not be supported */
    enum vs_blas_vector_kind kind;
    bool wide; /* the result of AMAX and AMIN has 64 bits */
    bool scalars_on_host;
    int x_type, y_type, result_type, scalar_type, scalar2_type;
    int64_t n, x_step, y_step;
    void *x, *y, *result;
    const void *scalar, *scalar2;
    double complex values[5]; /* of the scalars, once read */
};
/* vs_blas_vector: checks pointers and types, submits the work of *v*, and computes it: results of host
 * pointer mode before it returns, whatever the size; other operations in the order of the stream up to a
 * size (VS_BLAS_VECTOR_MAX). */
int vs_blas_vector(struct cublasContext *handle, const struct vs_blas_vector *v);
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

/* ---- matrix products (blas_gemm.c, blas_gemv.c) ---- */

struct vs_blas_gemm {
    const char *name; /* of the kernel: the function's where its types may not be supported */
    int opa, opb, a_type, b_type, c_type;
    bool by_type; /* computes as its types do, or else as *compute*, a cublasComputeType_t */
    int compute;
    int64_t m, n, k, batches, lda, ldb, ldc, step_a, step_b, step_c;
    bool pointers; /* a, b and c are arrays of pointers to matrices */
    const void *alpha, *a, *b, *beta, *c;
};
int vs_blas_gemm(struct cublasContext *handle, const struct vs_blas_gemm *g);

struct vs_blas_gemv { /* y = alpha op(a) x + beta y, or for vs_blas_ger a += alpha x y' */
    const char *name;
    int op, matrix_type, result_type, scalar_type;
    bool pointers, conjugated;
    int64_t m, n, lda, incx, incy, batches, step_a, step_x, step_y;
    const void *alpha, *a, *x, *beta, *y;
};
int vs_blas_gemv(struct cublasContext *handle, const struct vs_blas_gemv *g);
int vs_blas_ger(struct cublasContext *handle, const struct vs_blas_gemv *g);

/* ---- rotations, copies (blas_rotation.c, blas_copy.c) ---- */

struct vs_blas_rotation {
    bool modified; /* rotmg: number a, b, c and s are d1, d2, x1 and y1 */
    int type, real_type;
    void *a, *b, *c, *s, *parameters;
};
int vs_blas_rotation(struct cublasContext *handle, const struct vs_blas_rotation *r);

struct vs_blas_copy {
    int64_t rows, columns, element, from_ld, to_ld; /* elements, element in bytes */
    const void *from;
    void *to;
    bool to_device, async;
    CUstream stream;
};
int vs_blas_copy(const struct vs_blas_copy *c);

#endif
