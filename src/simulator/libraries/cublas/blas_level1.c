/* SPDX-License-Identifier: Apache-2.0
 *
 * Level 1 of cuBLAS: a row for each function, with the types that it has. */
#include "simulator/libraries/cublas/vs_blas.h"

#define VECTOR(name, ...)                                                                          \
    VS_BLAS_CHECK(h, false);                                                                       \
    return vs_blas_vector(h, #name, &(struct vs_blas_vector){.n = n, __VA_ARGS__})
#define X(t) .x = (void *)x, .x_type = t, .x_step = incx
#define Y(t) .y = (void *)y, .y_type = t, .y_step = incy

/* index of the element of largest or smallest size, from 1 */
#define EXTREME(letter, T, t, kind_, verb, I, R, W)                                                \
    int cublasI##letter##verb##_v2##W(struct cublasContext *h, I n, const T *x, I incx, R *result) \
    {                                                                                              \
        VECTOR(cublas_i##letter##verb, .kind = kind_, X(t), .result = result,                      \
               .wide = sizeof(R) == 8);                                                            \
    }
#define EXTREMES(letter, T, t)                                                                     \
    EXTREME(letter, T, t, VS_BLAS_AMAX, amax, int, int, )                                          \
    EXTREME(letter, T, t, VS_BLAS_AMAX, amax, int64_t, long, _64)                                  \
    EXTREME(letter, T, t, VS_BLAS_AMIN, amin, int, int, )                                          \
    EXTREME(letter, T, t, VS_BLAS_AMIN, amin, int64_t, long, _64)
EXTREMES(s, float, CUDA_R_32F)
EXTREMES(d, double, CUDA_R_64F)
EXTREMES(c, struct float2, CUDA_C_32F)
EXTREMES(z, struct double2, CUDA_C_64F)

/* sums of one vector: a real result */
#define SUM(name, T, t, R, r, kind_, I, W)                                                         \
    int cublas##name##_v2##W(struct cublasContext *h, I n, const T *x, I incx, R *result)          \
    {                                                                                              \
        VECTOR(cublas_##name, .kind = kind_, X(t), .result = result, .result_type = r);            \
    }
#define SUMS(name, T, t, R, r, kind)                                                               \
    SUM(name, T, t, R, r, kind, int, ) SUM(name, T, t, R, r, kind, int64_t, _64)
SUMS(Sasum, float, CUDA_R_32F, float, CUDA_R_32F, VS_BLAS_ASUM)
SUMS(Dasum, double, CUDA_R_64F, double, CUDA_R_64F, VS_BLAS_ASUM)
SUMS(Scasum, struct float2, CUDA_C_32F, float, CUDA_R_32F, VS_BLAS_ASUM)
SUMS(Dzasum, struct double2, CUDA_C_64F, double, CUDA_R_64F, VS_BLAS_ASUM)
SUMS(Snrm2, float, CUDA_R_32F, float, CUDA_R_32F, VS_BLAS_NRM2)
SUMS(Dnrm2, double, CUDA_R_64F, double, CUDA_R_64F, VS_BLAS_NRM2)
SUMS(Scnrm2, struct float2, CUDA_C_32F, float, CUDA_R_32F, VS_BLAS_NRM2)
SUMS(Dznrm2, struct double2, CUDA_C_64F, double, CUDA_R_64F, VS_BLAS_NRM2)

#define DOT_OF(name, T, t, kind_, I, W)                                                            \
    int cublas##name##_v2##W(struct cublasContext *h, I n, const T *x, I incx, const T *y, I incy, \
                             T *result)                                                            \
    {                                                                                              \
        VECTOR(cublas_##name, .kind = kind_, X(t), Y(t), .result = result, .result_type = t);      \
    }
#define DOT(name, T, t, kind) DOT_OF(name, T, t, kind, int, ) DOT_OF(name, T, t, kind, int64_t, _64)
DOT(Sdot, float, CUDA_R_32F, VS_BLAS_DOTU)
DOT(Ddot, double, CUDA_R_64F, VS_BLAS_DOTU)
DOT(Cdotu, struct float2, CUDA_C_32F, VS_BLAS_DOTU)
DOT(Cdotc, struct float2, CUDA_C_32F, VS_BLAS_DOTC)
DOT(Zdotu, struct double2, CUDA_C_64F, VS_BLAS_DOTU)
DOT(Zdotc, struct double2, CUDA_C_64F, VS_BLAS_DOTC)

#define COPY(P, T, t, I, W)                                                                        \
    int cublas##P##copy_v2##W(struct cublasContext *h, I n, const T *x, I incx, T *y, I incy)      \
    {                                                                                              \
        VECTOR(cublas_##P##copy, .kind = VS_BLAS_COPY, X(t), Y(t));                                \
    }
#define SWAP(P, T, t, I, W)                                                                        \
    int cublas##P##swap_v2##W(struct cublasContext *h, I n, T *x, I incx, T *y, I incy)            \
    {                                                                                              \
        VECTOR(cublas_##P##swap, .kind = VS_BLAS_SWAP, X(t), Y(t));                                \
    }
#define AXPY(P, T, t, I, W)                                                                        \
    int cublas##P##axpy_v2##W(struct cublasContext *h, I n, const T *alpha, const T *x, I incx,    \
                              T *y, I incy)                                                        \
    {                                                                                              \
        VS_BLAS_CHECK(h, !alpha);                                                                  \
        VECTOR(cublas_##P##axpy, .kind = VS_BLAS_AXPY, X(t), Y(t), .scalar = alpha,                \
               .scalar_type = t);                                                                  \
    }
VS_BLAS_ALL(COPY)
VS_BLAS_ALL(SWAP)
VS_BLAS_ALL(AXPY)

#define SCAL_OF(name, T, t, R, r, I, W)                                                            \
    int cublas##name##_v2##W(struct cublasContext *h, I n, const R *alpha, T *x, I incx)           \
    {                                                                                              \
        VS_BLAS_CHECK(h, !alpha);                                                                  \
        VECTOR(cublas_##name, .kind = VS_BLAS_SCAL, X(t), .scalar = alpha, .scalar_type = r);      \
    }
#define SCAL(name, T, t, R, r)                                                                     \
    SCAL_OF(name, T, t, R, r, int, ) SCAL_OF(name, T, t, R, r, int64_t, _64)
SCAL(Sscal, float, CUDA_R_32F, float, CUDA_R_32F)
SCAL(Dscal, double, CUDA_R_64F, double, CUDA_R_64F)
SCAL(Cscal, struct float2, CUDA_C_32F, struct float2, CUDA_C_32F)
SCAL(Zscal, struct double2, CUDA_C_64F, struct double2, CUDA_C_64F)
SCAL(Csscal, struct float2, CUDA_C_32F, float, CUDA_R_32F)
SCAL(Zdscal, struct double2, CUDA_C_64F, double, CUDA_R_64F)

/* c is real; s has the type of the elements, or is real as well */
#define ROT_OF(name, T, t, R, r, S, s_, I, W)                                                      \
    int cublas##name##_v2##W(struct cublasContext *h, I n, T *x, I incx, T *y, I incy, const R *c, \
                             const S *s)                                                           \
    {                                                                                              \
        VS_BLAS_CHECK(h, !c || !s);                                                                \
        VECTOR(cublas_##name, .kind = VS_BLAS_ROT, X(t), Y(t), .scalar = c, .scalar_type = r,      \
               .scalar2 = s, .scalar2_type = s_);                                                  \
    }
#define ROT(name, T, t, R, r, S, s)                                                                \
    ROT_OF(name, T, t, R, r, S, s, int, ) ROT_OF(name, T, t, R, r, S, s, int64_t, _64)
ROT(Srot, float, CUDA_R_32F, float, CUDA_R_32F, float, CUDA_R_32F)
ROT(Drot, double, CUDA_R_64F, double, CUDA_R_64F, double, CUDA_R_64F)
ROT(Crot, struct float2, CUDA_C_32F, float, CUDA_R_32F, struct float2, CUDA_C_32F)
ROT(Zrot, struct double2, CUDA_C_64F, double, CUDA_R_64F, struct double2, CUDA_C_64F)
ROT(Csrot, struct float2, CUDA_C_32F, float, CUDA_R_32F, float, CUDA_R_32F)
ROT(Zdrot, struct double2, CUDA_C_64F, double, CUDA_R_64F, double, CUDA_R_64F)

#define ROTM(P, T, t, I, W)                                                                        \
    int cublas##P##rotm_v2##W(struct cublasContext *h, I n, T *x, I incx, T *y, I incy,            \
                              const T *parameters)                                                 \
    {                                                                                              \
        VS_BLAS_CHECK(h, !parameters);                                                             \
        VECTOR(cublas_##P##rotm, .kind = VS_BLAS_ROTM, X(t), Y(t), .scalar = parameters,           \
               .scalar_type = t);                                                                  \
    }
VS_BLAS_REAL(ROTM)

/* ---- types given at run time ---- */

#define REDUCE_EX(name, kind_, I, W)                                                               \
    int cublas##name##Ex##W(struct cublasContext *h, I n, const void *x, int x_type, I incx,       \
                            void *result, int result_type, int execution_type)                     \
    {                                                                                              \
        (void)execution_type;                                                                      \
        VECTOR(cublas##name##Ex, .kind = kind_, X(x_type), .result = result,                      \
               .result_type = result_type);                                                        \
    }
#define EXTREME_EX(name, kind_, I, R, W)                                                           \
    int cublas##name##Ex##W(struct cublasContext *h, I n, const void *x, int x_type, I incx,       \
                            R *result)                                                             \
    {                                                                                              \
        VECTOR(cublas##name##Ex, .kind = kind_, X(x_type), .result = result,                      \
               .wide = sizeof(R) == 8);                                                            \
    }
#define DOT_EX(name, kind_, I, W)                                                                  \
    int cublas##name##Ex##W(struct cublasContext *h, I n, const void *x, int x_type, I incx,       \
                            const void *y, int y_type, I incy, void *result, int result_type,      \
                            int execution_type)                                                    \
    {                                                                                              \
        (void)execution_type;                                                                      \
        VECTOR(cublas##name##Ex, .kind = kind_, X(x_type), Y(y_type), .result = result,           \
               .result_type = result_type);                                                        \
    }
#define MOVE_EX(name, kind_, CONST, I, W)                                                          \
    int cublas##name##Ex##W(struct cublasContext *h, I n, CONST void *x, int x_type, I incx,       \
                            void *y, int y_type, I incy)                                           \
    {                                                                                              \
        VECTOR(cublas##name##Ex, .kind = kind_, X(x_type), Y(y_type));                            \
    }
#define AXPY_EX(I, W)                                                                              \
    int cublasAxpyEx##W(struct cublasContext *h, I n, const void *alpha, int alpha_type,           \
                        const void *x, int x_type, I incx, void *y, int y_type, I incy,            \
                        int execution_type)                                                        \
    {                                                                                              \
        (void)execution_type;                                                                      \
        VS_BLAS_CHECK(h, !alpha);                                                                  \
        VECTOR(cublasAxpyEx, .kind = VS_BLAS_AXPY, X(x_type), Y(y_type), .scalar = alpha,         \
               .scalar_type = alpha_type);                                                         \
    }
#define SCAL_EX(I, W)                                                                              \
    int cublasScalEx##W(struct cublasContext *h, I n, const void *alpha, int alpha_type, void *x,  \
                        int x_type, I incx, int execution_type)                                    \
    {                                                                                              \
        (void)execution_type;                                                                      \
        VS_BLAS_CHECK(h, !alpha);                                                                  \
        VECTOR(cublasScalEx, .kind = VS_BLAS_SCAL, X(x_type), .scalar = alpha,                    \
               .scalar_type = alpha_type);                                                         \
    }
#define ROT_EX(I, W)                                                                               \
    int cublasRotEx##W(struct cublasContext *h, I n, void *x, int x_type, I incx, void *y,         \
                       int y_type, I incy, const void *c, const void *s, int scalar_type,          \
                       int execution_type)                                                         \
    {                                                                                              \
        (void)execution_type;                                                                      \
        VS_BLAS_CHECK(h, !c || !s);                                                                \
        VECTOR(cublasRotEx, .kind = VS_BLAS_ROT, X(x_type), Y(y_type), .scalar = c,               \
               .scalar_type = scalar_type, .scalar2 = s, .scalar2_type = scalar_type);             \
    }                                                                                              \
    int cublasRotmEx##W(struct cublasContext *h, I n, void *x, int x_type, I incx, void *y,        \
                        int y_type, I incy, const void *parameters, int scalar_type,               \
                        int execution_type)                                                        \
    {                                                                                              \
        (void)execution_type;                                                                      \
        VS_BLAS_CHECK(h, !parameters);                                                             \
        VECTOR(cublasRotmEx, .kind = VS_BLAS_ROTM, X(x_type), Y(y_type), .scalar = parameters,    \
               .scalar_type = scalar_type);                                                        \
    }
#define EX_OF(I, R, W)                                                                             \
    REDUCE_EX(Asum, VS_BLAS_ASUM, I, W)                                                            \
    REDUCE_EX(Nrm2, VS_BLAS_NRM2, I, W)                                                            \
    EXTREME_EX(Iamax, VS_BLAS_AMAX, I, R, W)                                                       \
    EXTREME_EX(Iamin, VS_BLAS_AMIN, I, R, W)                                                       \
    DOT_EX(Dot, VS_BLAS_DOTU, I, W)                                                                \
    DOT_EX(Dotc, VS_BLAS_DOTC, I, W)                                                               \
    MOVE_EX(Copy, VS_BLAS_COPY, const, I, W)                                                       \
    MOVE_EX(Swap, VS_BLAS_SWAP, , I, W)                                                            \
    AXPY_EX(I, W) SCAL_EX(I, W) ROT_EX(I, W)
EX_OF(int, int, )
EX_OF(int64_t, long, _64)
