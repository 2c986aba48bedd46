/* SPDX-License-Identifier: Apache-2.0
 *
 * cuSOLVER's dense functions for each of the four number types: one macro row per function and
 * type. Operation counts are LAPACK's (LAPACK Working Note 41), times four for complex numbers. The
 * sizes of workspaces are assumptions: those that LAPACK documents for a block of 64 columns, and
 * for the Jacobi and batched methods one copy of the matrix. */
#include <stdarg.h>
#include <stdio.h>

#include "simulator/libraries/cusolver/vs_solver.h"

VS_CUSOLVER_FUNCTIONS(VS_LIBRARY_DECLARE)

#define BLOCK 64
#define HANDLE struct cusolverDnContext *handle

static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }
static int64_t most(int64_t a, int64_t b) { return a > b ? a : b; }

/* Stores the assumed size. *format*: the problem, the key of a measured one. */
__attribute__((format(printf, 7, 8))) static int size_of(HANDLE, const char *name, int64_t smallest,
                                                         int64_t elements, unsigned bytes,
                                                         int *lwork, const char *format, ...)
{
    char key[VS_SOLVER_KEY_MAX];
    va_list args;
    if (!vs_library_object(handle, VS_SOLVER_HANDLE))
        return CUSOLVER_STATUS_NOT_INITIALIZED;
    if (smallest < 0 || !lwork)
        return CUSOLVER_STATUS_INVALID_VALUE;
    va_start(args, format);
    vsnprintf(key, sizeof key, format, args);
    va_end(args);
    int64_t size = vs_solver_workspace(name, key, elements, bytes);
    if (size < 0)
        return CUSOLVER_STATUS_INVALID_VALUE;
    *lwork = (int)size;
    return CUSOLVER_STATUS_SUCCESS;
}

#define RUN(function, T, low, ops, touched, devinfo, infos)                                        \
    vs_solver_run(handle, &(struct vs_solver_call){.name = #function,                              \
                                                   .number = NUMBER_##T,                           \
                                                   .operations = FACTOR_##T * (ops),               \
                                                   .elements = (touched),                          \
                                                   .element_bytes = sizeof(TYPE_##T),              \
                                                   .smallest = (low),                              \
                                                   .info = (devinfo),                              \
                                                   .info_count = (infos)})
#define SIZE(function, T, low, elements, ...)                                                      \
    size_of(handle, #function, low, elements, sizeof(TYPE_##T), lwork, __VA_ARGS__)

#define TYPE_S float
#define TYPE_D double
#define TYPE_C struct float2
#define TYPE_Z struct double2
#define REAL_S float
#define REAL_D double
#define REAL_C float
#define REAL_Z double
#define NUMBER_S VS_SIM_FP32
#define NUMBER_D VS_SIM_FP64
#define NUMBER_C VS_SIM_FP32
#define NUMBER_Z VS_SIM_FP64
#define FACTOR_S 1
#define FACTOR_D 1
#define FACTOR_C 4
#define FACTOR_Z 4

#define D(x) ((double)(x))
#define CUBE(n) (D(n) * D(n) * D(n))

/* ---- LU, Cholesky, LDL ---- */

#define FACTORISATIONS(T)                                                                          \
    int cusolverDn##T##getrf_bufferSize(HANDLE, int m, int n, TYPE_##T *a, int lda, int *lwork)    \
    {                                                                                              \
        (void)a, (void)lda;                                                                        \
        return SIZE(cusolverDn##T##getrf, T, least(m, n), (int64_t)BLOCK * most(m, n),             \
                    "%dx%d", m, n);                                                                \
    }                                                                                              \
    int cusolverDn##T##getrf(HANDLE, int m, int n, TYPE_##T *a, int lda, TYPE_##T *work,           \
                             int *pivots, int *info)                                               \
    {                                                                                              \
        (void)a, (void)work;                                                                       \
        if (lda < most(1, m))                                                                      \
            return CUSOLVER_STATUS_INVALID_VALUE;                                                  \
        int s = RUN(cusolverDn##T##getrf, T, least(m, n), vs_solver_lu(m, n), 2 * D(m) * n, info, 1); \
        return s ? s : vs_solver_pivots(handle, pivots, least(m, n), sizeof(int));                 \
    }                                                                                              \
    int cusolverDn##T##getrs(HANDLE, int trans, int n, int nrhs, const TYPE_##T *a, int lda,       \
                             const int *pivots, TYPE_##T *b, int ldb, int *info)                   \
    {                                                                                              \
        (void)trans, (void)a, (void)pivots, (void)b;                                               \
        if (lda < most(1, n) || ldb < most(1, n))                                                  \
            return CUSOLVER_STATUS_INVALID_VALUE;                                                  \
        return RUN(cusolverDn##T##getrs, T, least(n, nrhs), 2 * D(n) * n * nrhs,                   \
                   D(n) * n + 2 * D(n) * nrhs, info, 1);                                           \
    }                                                                                              \
    int cusolverDn##T##potrf_bufferSize(HANDLE, int uplo, int n, TYPE_##T *a, int lda, int *lwork) \
    {                                                                                              \
        (void)uplo, (void)a, (void)lda;                                                            \
        return SIZE(cusolverDn##T##potrf, T, n, (int64_t)BLOCK * n, "%dx%d", n, n);                \
    }                                                                                              \
    int cusolverDn##T##potrf(HANDLE, int uplo, int n, TYPE_##T *a, int lda, TYPE_##T *work,        \
                             int lwork, int *info)                                                 \
    {                                                                                              \
        (void)uplo, (void)a, (void)work, (void)lwork;                                              \
        if (lda < most(1, n))                                                                      \
            return CUSOLVER_STATUS_INVALID_VALUE;                                                  \
        return RUN(cusolverDn##T##potrf, T, n, CUBE(n) / 3, D(n) * n, info, 1);                    \
    }                                                                                              \
    int cusolverDn##T##potrs(HANDLE, int uplo, int n, int nrhs, const TYPE_##T *a, int lda,        \
                             TYPE_##T *b, int ldb, int *info)                                      \
    {                                                                                              \
        (void)uplo, (void)a, (void)b;                                                              \
        if (lda < most(1, n) || ldb < most(1, n))                                                  \
            return CUSOLVER_STATUS_INVALID_VALUE;                                                  \
        return RUN(cusolverDn##T##potrs, T, least(n, nrhs), 2 * D(n) * n * nrhs,                   \
                   D(n) * n + 2 * D(n) * nrhs, info, 1);                                           \
    }                                                                                              \
    int cusolverDn##T##potrfBatched(HANDLE, int uplo, int n, TYPE_##T **a, int lda, int *infos,    \
                                    int batch)                                                     \
    {                                                                                              \
        (void)uplo, (void)a;                                                                       \
        if (lda < most(1, n))                                                                      \
            return CUSOLVER_STATUS_INVALID_VALUE;                                                  \
        return RUN(cusolverDn##T##potrfBatched, T, least(n, batch), CUBE(n) / 3 * batch,           \
                   D(n) * n * batch, infos, batch);                                                \
    }                                                                                              \
    int cusolverDn##T##potrsBatched(HANDLE, int uplo, int n, int nrhs, TYPE_##T **a, int lda,      \
                                    TYPE_##T **b, int ldb, int *info, int batch)                   \
    {                                                                                              \
        (void)uplo, (void)a, (void)b;                                                              \
        if (lda < most(1, n) || ldb < most(1, n))                                                  \
            return CUSOLVER_STATUS_INVALID_VALUE;                                                  \
        return RUN(cusolverDn##T##potrsBatched, T, least(least(n, nrhs), batch),                   \
                   2 * D(n) * n * nrhs * batch, (D(n) * n + 2 * D(n) * nrhs) * batch, info, 1);    \
    }                                                                                              \
    int cusolverDn##T##sytrf_bufferSize(HANDLE, int n, TYPE_##T *a, int lda, int *lwork)           \
    {                                                                                              \
        (void)a, (void)lda;                                                                        \
        return SIZE(cusolverDn##T##sytrf, T, n, (int64_t)BLOCK * n, "%dx%d", n, n);                \
    }                                                                                              \
    int cusolverDn##T##sytrf(HANDLE, int uplo, int n, TYPE_##T *a, int lda, int *pivots,           \
                             TYPE_##T *work, int lwork, int *info)                                 \
    {                                                                                              \
        (void)uplo, (void)a, (void)work, (void)lwork;                                              \
        if (lda < most(1, n))                                                                      \
            return CUSOLVER_STATUS_INVALID_VALUE;                                                  \
        int s = RUN(cusolverDn##T##sytrf, T, n, CUBE(n) / 3, 2 * D(n) * n, info, 1);               \
        return s ? s : vs_solver_pivots(handle, pivots, n, sizeof(int));                           \
    }
FACTORISATIONS(S)
FACTORISATIONS(D)
FACTORISATIONS(C)
FACTORISATIONS(Z)

/* ---- QR ---- */

/* org: orgqr or ungqr, orm: ormqr or unmqr */
#define QR(T, org, orm)                                                                            \
    int cusolverDn##T##geqrf_bufferSize(HANDLE, int m, int n, TYPE_##T *a, int lda, int *lwork)    \
    {                                                                                              \
        (void)a, (void)lda;                                                                        \
        return SIZE(cusolverDn##T##geqrf, T, least(m, n), (int64_t)BLOCK * n, "%dx%d", m, n);      \
    }                                                                                              \
    int cusolverDn##T##geqrf(HANDLE, int m, int n, TYPE_##T *a, int lda, TYPE_##T *tau,            \
                             TYPE_##T *work, int lwork, int *info)                                 \
    {                                                                                              \
        (void)a, (void)tau, (void)work, (void)lwork;                                               \
        if (lda < most(1, m))                                                                      \
            return CUSOLVER_STATUS_INVALID_VALUE;                                                  \
        double k = D(least(m, n));                                                                 \
        return RUN(cusolverDn##T##geqrf, T, least(m, n), 2 * D(m) * n * k, 2 * D(m) * n, info, 1); \
    }                                                                                              \
    int cusolverDn##T##org##_bufferSize(HANDLE, int m, int n, int k, const TYPE_##T *a, int lda,   \
                                        const TYPE_##T *tau, int *lwork)                           \
    {                                                                                              \
        (void)a, (void)lda, (void)tau;                                                             \
        return SIZE(cusolverDn##T##org, T, least(least(m, n), k), (int64_t)BLOCK * n,              \
                    "%dx%d k %d", m, n, k);                                                        \
    }                                                                                              \
    int cusolverDn##T##org(HANDLE, int m, int n, int k, TYPE_##T *a, int lda, const TYPE_##T *tau, \
                           TYPE_##T *work, int lwork, int *info)                                   \
    {                                                                                              \
        (void)a, (void)tau, (void)work, (void)lwork;                                               \
        if (lda < most(1, m) || n > m || k > n)                                                    \
            return CUSOLVER_STATUS_INVALID_VALUE;                                                  \
        return RUN(cusolverDn##T##org, T, least(least(m, n), k), 4 * D(m) * n * k, 2 * D(m) * n,   \
                   info, 1);                                                                       \
    }                                                                                              \
    int cusolverDn##T##orm##_bufferSize(HANDLE, int side, int trans, int m, int n, int k,          \
                                        const TYPE_##T *a, int lda, const TYPE_##T *tau,           \
                                        const TYPE_##T *c, int ldc, int *lwork)                    \
    {                                                                                              \
        (void)trans, (void)a, (void)lda, (void)tau, (void)c, (void)ldc;                            \
        return SIZE(cusolverDn##T##orm, T, least(least(m, n), k),                                  \
                    (int64_t)BLOCK * (side ? m : n), "%dx%d k %d side %d", m, n, k, side);         \
    }                                                                                              \
    int cusolverDn##T##orm(HANDLE, int side, int trans, int m, int n, int k, const TYPE_##T *a,    \
                           int lda, const TYPE_##T *tau, TYPE_##T *c, int ldc, TYPE_##T *work,     \
                           int lwork, int *info)                                                   \
    {                                                                                              \
        (void)trans, (void)a, (void)tau, (void)c, (void)work, (void)lwork;                         \
        if (lda < most(1, side ? n : m) || ldc < most(1, m) || k > (side ? n : m))                 \
            return CUSOLVER_STATUS_INVALID_VALUE;                                                  \
        return RUN(cusolverDn##T##orm, T, least(least(m, n), k), 4 * D(m) * n * k,                 \
                   2 * D(m) * n + D(m) * k, info, 1);                                              \
    }
QR(S, orgqr, ormqr)
QR(D, orgqr, ormqr)
QR(C, ungqr, unmqr)
QR(Z, ungqr, unmqr)

/* ---- eigenvalues: syev.. of real, heev.. of complex matrices ---- */

/* As many as https://github.com/cupy/cupy/issues/7261 prints for batches of 1 to 512 matrices of
 * 4 x 4, and for large batches of 2 x 2: a tile of 32 x 32 for each matrix, and one more. */
static int64_t jacobi_elements(int64_t n, int64_t batch)
{
    int64_t tile = n > 32 ? n * n : 32 * 32;
    return batch * (tile + (n + 1) * (n + 1)) + tile + n;
}

#define EIGEN(T, ev)                                                                               \
    int cusolverDn##T##ev##d_bufferSize(HANDLE, int job, int uplo, int n, const TYPE_##T *a,       \
                                        int lda, const REAL_##T *w, int *lwork)                    \
    {                                                                                              \
        (void)uplo, (void)a, (void)lda, (void)w;                                                   \
        int64_t matrices = job == CUSOLVER_EIG_MODE_VECTOR ? 2 : 0; /* as LAPACK's syevd */        \
        return SIZE(cusolverDn##T##ev##d, T, n, matrices * n * n + (int64_t)BLOCK * n + 1,         \
                    "%dx%d job %d", n, n, job);                                                    \
    }                                                                                              \
    int cusolverDn##T##ev##d(HANDLE, int job, int uplo, int n, TYPE_##T *a, int lda, REAL_##T *w,  \
                             TYPE_##T *work, int lwork, int *info)                                 \
    {                                                                                              \
        (void)uplo, (void)a, (void)w, (void)work, (void)lwork;                                     \
        if (lda < most(1, n))                                                                      \
            return CUSOLVER_STATUS_INVALID_VALUE;                                                  \
        return RUN(cusolverDn##T##ev##d, T, n, (job ? 9 : 1.34) * CUBE(n), 2 * D(n) * n, info, 1); \
    }                                                                                              \
    int cusolverDn##T##ev##j_bufferSize(HANDLE, int job, int uplo, int n, const TYPE_##T *a,       \
                                        int lda, const REAL_##T *w, int *lwork,                    \
                                        struct syevjInfo *params)                                  \
    {                                                                                              \
        (void)job, (void)uplo, (void)a, (void)lda, (void)w;                                        \
        if (!vs_library_object(params, VS_SOLVER_SYEVJ))                                           \
            return CUSOLVER_STATUS_INVALID_VALUE;                                                  \
        return SIZE(cusolverDn##T##ev##j, T, n, (int64_t)n * n + (int64_t)BLOCK * n,               \
                    "%dx%d job %d", n, n, job);                                                    \
    }                                                                                              \
    int cusolverDn##T##ev##j(HANDLE, int job, int uplo, int n, TYPE_##T *a, int lda, REAL_##T *w,  \
                             TYPE_##T *work, int lwork, int *info, struct syevjInfo *params)       \
    {                                                                                              \
        (void)job, (void)uplo, (void)a, (void)w, (void)work, (void)lwork;                          \
        if (lda < most(1, n) || !vs_library_object(params, VS_SOLVER_SYEVJ))                       \
            return CUSOLVER_STATUS_INVALID_VALUE;                                                  \
        return RUN(cusolverDn##T##ev##j, T, n, 30 * CUBE(n), 20 * D(n) * n, info, 1);              \
    }                                                                                              \
    int cusolverDn##T##ev##jBatched_bufferSize(HANDLE, int job, int uplo, int n,                   \
                                               const TYPE_##T *a, int lda, const REAL_##T *w,      \
                                               int *lwork, struct syevjInfo *params, int batch)    \
    {                                                                                              \
        (void)job, (void)uplo, (void)a, (void)lda, (void)w;                                        \
        if (!vs_library_object(params, VS_SOLVER_SYEVJ))                                           \
            return CUSOLVER_STATUS_INVALID_VALUE;                                                  \
        return SIZE(cusolverDn##T##ev##jBatched, T, least(n, batch), jacobi_elements(n, batch),    \
                    "%dx%d job %d batch %d", n, n, job, batch);                                    \
    }                                                                                              \
    int cusolverDn##T##ev##jBatched(HANDLE, int job, int uplo, int n, TYPE_##T *a, int lda,        \
                                    REAL_##T *w, TYPE_##T *work, int lwork, int *info,             \
                                    struct syevjInfo *params, int batch)                           \
    {                                                                                              \
        (void)job, (void)uplo, (void)a, (void)w, (void)work, (void)lwork;                          \
        if (lda < most(1, n) || !vs_library_object(params, VS_SOLVER_SYEVJ))                       \
            return CUSOLVER_STATUS_INVALID_VALUE;                                                  \
        return RUN(cusolverDn##T##ev##jBatched, T, least(n, batch), 30 * CUBE(n) * batch,          \
                   20 * D(n) * n * batch, info, batch);                                            \
    }
EIGEN(S, syev)
EIGEN(D, syev)
EIGEN(C, heev)
EIGEN(Z, heev)

/* ---- singular values ---- */

#define SINGULAR(T)                                                                                \
    int cusolverDn##T##gesvd_bufferSize(HANDLE, int m, int n, int *lwork)                          \
    {                                                                                              \
        return SIZE(cusolverDn##T##gesvd, T, least(m, n),                                          \
                    (int64_t)(BLOCK + 3) * most(m, n) + least(m, n) * least(m, n), "%dx%d", m, n); \
    }                                                                                              \
    int cusolverDn##T##gesvd(HANDLE, signed char jobu, signed char jobvt, int m, int n,            \
                             TYPE_##T *a, int lda, REAL_##T *s, TYPE_##T *u, int ldu,              \
                             TYPE_##T *vt, int ldvt, TYPE_##T *work, int lwork, REAL_##T *rwork,   \
                             int *info)                                                            \
    {                                                                                              \
        (void)jobu, (void)jobvt, (void)a, (void)s, (void)u, (void)ldu, (void)vt, (void)ldvt;       \
        (void)work, (void)lwork, (void)rwork;                                                      \
        if (lda < most(1, m))                                                                      \
            return CUSOLVER_STATUS_INVALID_VALUE;                                                  \
        return RUN(cusolverDn##T##gesvd, T, least(m, n), 21 * D(m) * n * least(m, n),              \
                   4 * D(m) * n, info, 1);                                                         \
    }                                                                                              \
    int cusolverDn##T##gesvdj_bufferSize(HANDLE, int job, int econ, int m, int n,                  \
                                         const TYPE_##T *a, int lda, const REAL_##T *s,            \
                                         const TYPE_##T *u, int ldu, const TYPE_##T *v, int ldv,   \
                                         int *lwork, struct gesvdjInfo *params)                    \
    {                                                                                              \
        (void)job, (void)econ, (void)a, (void)lda, (void)s, (void)u, (void)ldu, (void)v, (void)ldv; \
        if (!vs_library_object(params, VS_SOLVER_GESVDJ))                                          \
            return CUSOLVER_STATUS_INVALID_VALUE;                                                  \
        return SIZE(cusolverDn##T##gesvdj, T, least(m, n),                                         \
                    (int64_t)m * n + (int64_t)BLOCK * most(m, n), "%dx%d job %d", m, n, job);      \
    }                                                                                              \
    int cusolverDn##T##gesvdj(HANDLE, int job, int econ, int m, int n, TYPE_##T *a, int lda,       \
                              REAL_##T *s, TYPE_##T *u, int ldu, TYPE_##T *v, int ldv,             \
                              TYPE_##T *work, int lwork, int *info, struct gesvdjInfo *params)     \
    {                                                                                              \
        (void)job, (void)econ, (void)a, (void)s, (void)u, (void)ldu, (void)v, (void)ldv;           \
        (void)work, (void)lwork;                                                                   \
        if (lda < most(1, m) || !vs_library_object(params, VS_SOLVER_GESVDJ))                      \
            return CUSOLVER_STATUS_INVALID_VALUE;                                                  \
        return RUN(cusolverDn##T##gesvdj, T, least(m, n), 60 * D(m) * n * least(m, n),             \
                   20 * D(m) * n, info, 1);                                                        \
    }                                                                                              \
    int cusolverDn##T##gesvdjBatched_bufferSize(                                                   \
        HANDLE, int job, int m, int n, const TYPE_##T *a, int lda, const REAL_##T *s,              \
        const TYPE_##T *u, int ldu, const TYPE_##T *v, int ldv, int *lwork,                        \
        struct gesvdjInfo *params, int batch)                                                      \
    {                                                                                              \
        (void)job, (void)a, (void)lda, (void)s, (void)u, (void)ldu, (void)v, (void)ldv;            \
        if (m > 32 || n > 32 || !vs_library_object(params, VS_SOLVER_GESVDJ)) /* documented limit */ \
            return CUSOLVER_STATUS_INVALID_VALUE;                                                  \
        return SIZE(cusolverDn##T##gesvdjBatched, T, least(least(m, n), batch),                    \
                    (int64_t)m * n * batch, "%dx%d job %d batch %d", m, n, job, batch);            \
    }                                                                                              \
    int cusolverDn##T##gesvdjBatched(HANDLE, int job, int m, int n, TYPE_##T *a, int lda,          \
                                     REAL_##T *s, TYPE_##T *u, int ldu, TYPE_##T *v, int ldv,      \
                                     TYPE_##T *work, int lwork, int *info,                         \
                                     struct gesvdjInfo *params, int batch)                         \
    {                                                                                              \
        (void)job, (void)a, (void)s, (void)u, (void)ldu, (void)v, (void)ldv, (void)work, (void)lwork; \
        if (lda < most(1, m) || m > 32 || n > 32 || !vs_library_object(params, VS_SOLVER_GESVDJ))  \
            return CUSOLVER_STATUS_INVALID_VALUE;                                                  \
        return RUN(cusolverDn##T##gesvdjBatched, T, least(least(m, n), batch),                     \
                   60 * D(m) * n * least(m, n) * batch, 20 * D(m) * n * batch, info, batch);       \
    }                                                                                              \
    int cusolverDn##T##gesvdaStridedBatched_bufferSize(                                            \
        HANDLE, int job, int rank, int m, int n, const TYPE_##T *a, int lda, long long stride_a,   \
        const REAL_##T *s, long long stride_s, const TYPE_##T *u, int ldu, long long stride_u,     \
        const TYPE_##T *v, int ldv, long long stride_v, int *lwork, int batch)                     \
    {                                                                                              \
        (void)job, (void)rank, (void)a, (void)lda, (void)stride_a, (void)s, (void)stride_s;        \
        (void)u, (void)ldu, (void)stride_u, (void)v, (void)ldv, (void)stride_v;                    \
        return SIZE(cusolverDn##T##gesvdaStridedBatched, T, least(least(m, n), batch),             \
                    2 * (int64_t)n * n * batch, "%dx%d job %d batch %d", m, n, job, batch);        \
    }                                                                                              \
    int cusolverDn##T##gesvdaStridedBatched(                                                       \
        HANDLE, int job, int rank, int m, int n, const TYPE_##T *a, int lda, long long stride_a,   \
        REAL_##T *s, long long stride_s, TYPE_##T *u, int ldu, long long stride_u, TYPE_##T *v,    \
        int ldv, long long stride_v, TYPE_##T *work, int lwork, int *info, double *residuals,      \
        int batch)                                                                                 \
    {                                                                                              \
        (void)job, (void)a, (void)stride_a, (void)s, (void)stride_s, (void)u, (void)ldu;           \
        (void)stride_u, (void)v, (void)ldv, (void)stride_v, (void)work, (void)lwork;               \
        if (lda < most(1, m) || rank < 1 || rank > n)                                              \
            return CUSOLVER_STATUS_INVALID_VALUE;                                                  \
        for (int i = 0; residuals && i < batch; i++) /* host memory */                             \
            residuals[i] = 0;                                                                      \
        return RUN(cusolverDn##T##gesvdaStridedBatched, T, least(least(m, n), batch),              \
                   21 * D(m) * n * least(m, n) * batch, 4 * D(m) * n * batch, info, batch);        \
    }
SINGULAR(S)
SINGULAR(D)
SINGULAR(C)
SINGULAR(Z)
