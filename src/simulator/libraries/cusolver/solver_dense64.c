/* SPDX-License-Identifier: Apache-2.0
 *
 * cuSOLVER's 64-bit functions (cusolverDnX…): the number type is an argument, and there are two
 * workspaces, of which the one on the host is empty here. The sizes are assumptions, as in
 * solver_dense.c. */
#include <inttypes.h>
#include <stdio.h>

#include "simulator/libraries/cusolver/vs_solver.h"

VS_CUSOLVER_FUNCTIONS(VS_LIBRARY_DECLARE)

#define BLOCK 64
/* For each matrix of a batch: 4,452 MiB for 16,384 matrices of 3 x 3 in FP32, the peak in
 * https://github.com/mujocolab/mjlab/pull/754. That batches of more than about 30,000 are refused
 * (https://github.com/mujocolab/mjlab/pull/732) fits: they would have more than 2^31 elements. */
#define BATCHED_ELEMENTS 71232
#define HANDLE struct cusolverDnContext *handle
#define PARAMS struct cusolverDnParams *params

/* The two outputs of a …_bufferSize function, in bytes, for a problem of *m* by *n* numbers; *more*:
 * how many matrices, or what else its size depends on. */
static int sizes(HANDLE, const char *name, int type, int64_t smallest, int64_t elements, int64_t m,
                 int64_t n, int64_t more, unsigned long *device, unsigned long *host)
{
    char key[VS_SOLVER_KEY_MAX];
    enum vs_sim_number number;
    unsigned bytes;
    double factor;
    if (!vs_library_object(handle, VS_SOLVER_HANDLE))
        return CUSOLVER_STATUS_NOT_INITIALIZED;
    if (smallest < 0 || !device || !host || !vs_solver_number(type, &number, &bytes, &factor))
        return CUSOLVER_STATUS_INVALID_VALUE;
    snprintf(key, sizeof key, "%s %" PRId64 "x%" PRId64 "x%" PRId64, vs_solver_type_name(type), m, n, more);
    *device = vs_solver_workspace_bytes(name, key, elements, bytes);
    *host = 0;
    return CUSOLVER_STATUS_SUCCESS;
}

static int run(HANDLE, const char *name, int type, int64_t smallest, double operations,
               double elements, int *info, int64_t infos)
{
    struct vs_solver_call call = {.name = name, .smallest = smallest, .info = info, .info_count = infos};
    double factor;
    if (!vs_solver_number(type, &call.number, &call.element_bytes, &factor))
        return CUSOLVER_STATUS_INVALID_VALUE;
    call.operations = factor * operations;
    call.elements = elements;
    return vs_solver_run(handle, &call);
}

static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }
static double cube(int64_t n) { return (double)n * (double)n * (double)n; }
static double area(int64_t m, int64_t n) { return (double)m * (double)n; }

int cusolverDnXpotrf_bufferSize(HANDLE, PARAMS, int uplo, int64_t n, int type, const void *a,
                                int64_t lda, int compute, unsigned long *device, unsigned long *host)
{
    (void)params, (void)uplo, (void)a, (void)lda, (void)compute;
    return sizes(handle, "cusolverDnXpotrf", type, n, BLOCK * n, n, n, 1, device, host);
}

int cusolverDnXpotrf(HANDLE, PARAMS, int uplo, int64_t n, int type, void *a, int64_t lda,
                     int compute, void *device, size_t device_bytes, void *host, size_t host_bytes,
                     int *info)
{
    (void)params, (void)uplo, (void)a, (void)compute, (void)device, (void)device_bytes, (void)host;
    (void)host_bytes;
    if (lda < n)
        return CUSOLVER_STATUS_INVALID_VALUE;
    return run(handle, "cusolverDnXpotrf", type, n, cube(n) / 3, area(n, n), info, 1);
}

int cusolverDnXpotrs(HANDLE, PARAMS, int uplo, int64_t n, int64_t nrhs, int type, const void *a,
                     int64_t lda, int type_b, void *b, int64_t ldb, int *info)
{
    (void)params, (void)uplo, (void)a, (void)type_b, (void)b;
    if (lda < n || ldb < n)
        return CUSOLVER_STATUS_INVALID_VALUE;
    return run(handle, "cusolverDnXpotrs", type, least(n, nrhs), 2 * area(n, n) * (double)nrhs,
               area(n, n) + 2 * area(n, nrhs), info, 1);
}

int cusolverDnXgetrf_bufferSize(HANDLE, PARAMS, int64_t m, int64_t n, int type, const void *a,
                                int64_t lda, int compute, unsigned long *device, unsigned long *host)
{
    (void)params, (void)a, (void)lda, (void)compute;
    return sizes(handle, "cusolverDnXgetrf", type, least(m, n), BLOCK * (m > n ? m : n),
                 m, n, 1, device, host);
}

int cusolverDnXgetrf(HANDLE, PARAMS, int64_t m, int64_t n, int type, void *a, int64_t lda,
                     int64_t *pivots, int compute, void *device, size_t device_bytes, void *host,
                     size_t host_bytes, int *info)
{
    (void)params, (void)a, (void)compute, (void)device, (void)device_bytes, (void)host, (void)host_bytes;
    if (lda < m)
        return CUSOLVER_STATUS_INVALID_VALUE;
    int s = run(handle, "cusolverDnXgetrf", type, least(m, n), vs_solver_lu(m, n), 2 * area(m, n),
                info, 1);
    return s ? s : vs_solver_pivots(handle, pivots, least(m, n), sizeof *pivots);
}

int cusolverDnXgetrs(HANDLE, PARAMS, int trans, int64_t n, int64_t nrhs, int type, const void *a,
                     int64_t lda, const int64_t *pivots, int type_b, void *b, int64_t ldb, int *info)
{
    (void)params, (void)trans, (void)a, (void)pivots, (void)type_b, (void)b;
    if (lda < n || ldb < n)
        return CUSOLVER_STATUS_INVALID_VALUE;
    return run(handle, "cusolverDnXgetrs", type, least(n, nrhs), 2 * area(n, n) * (double)nrhs,
               area(n, n) + 2 * area(n, nrhs), info, 1);
}

int cusolverDnXgeqrf_bufferSize(HANDLE, PARAMS, int64_t m, int64_t n, int type, const void *a,
                                int64_t lda, int type_tau, const void *tau, int compute,
                                unsigned long *device, unsigned long *host)
{
    (void)params, (void)a, (void)lda, (void)type_tau, (void)tau, (void)compute;
    return sizes(handle, "cusolverDnXgeqrf", type, least(m, n), BLOCK * n, m, n, 1, device, host);
}

int cusolverDnXgeqrf(HANDLE, PARAMS, int64_t m, int64_t n, int type, void *a, int64_t lda,
                     int type_tau, void *tau, int compute, void *device, size_t device_bytes,
                     void *host, size_t host_bytes, int *info)
{
    (void)params, (void)a, (void)type_tau, (void)tau, (void)compute, (void)device, (void)device_bytes;
    (void)host, (void)host_bytes;
    if (lda < m)
        return CUSOLVER_STATUS_INVALID_VALUE;
    return run(handle, "cusolverDnXgeqrf", type, least(m, n), 2 * area(m, n) * (double)least(m, n),
               2 * area(m, n), info, 1);
}

int cusolverDnXsyevd_bufferSize(HANDLE, PARAMS, int job, int uplo, int64_t n, int type,
                                const void *a, int64_t lda, int type_w, const void *w, int compute,
                                unsigned long *device, unsigned long *host)
{
    (void)params, (void)uplo, (void)a, (void)lda, (void)type_w, (void)w, (void)compute;
    return sizes(handle, "cusolverDnXsyevd", type, n, (job ? 2 * n * n : 0) + BLOCK * n + 1,
                 n, n, job ? 2 : 1, device, host);
}

int cusolverDnXsyevd(HANDLE, PARAMS, int job, int uplo, int64_t n, int type, void *a, int64_t lda,
                     int type_w, void *w, int compute, void *device, size_t device_bytes,
                     void *host, size_t host_bytes, int *info)
{
    (void)params, (void)uplo, (void)a, (void)type_w, (void)w, (void)compute, (void)device;
    (void)device_bytes, (void)host, (void)host_bytes;
    if (lda < n)
        return CUSOLVER_STATUS_INVALID_VALUE;
    return run(handle, "cusolverDnXsyevd", type, n, (job ? 9 : 1.34) * cube(n), 2 * area(n, n), info, 1);
}

int cusolverDnXsyevBatched_bufferSize(HANDLE, PARAMS, int job, int uplo, int64_t n, int type,
                                      const void *a, int64_t lda, int type_w, const void *w,
                                      int compute, unsigned long *device, unsigned long *host,
                                      int64_t batch)
{
    (void)params, (void)job, (void)uplo, (void)a, (void)lda, (void)type_w, (void)w, (void)compute;
    return sizes(handle, "cusolverDnXsyevBatched", type, least(n, batch),
                 batch * (n * n > BATCHED_ELEMENTS ? n * n : BATCHED_ELEMENTS), n, n, batch, device, host);
}

int cusolverDnXsyevBatched(HANDLE, PARAMS, int job, int uplo, int64_t n, int type, void *a,
                           int64_t lda, int type_w, void *w, int compute, void *device,
                           size_t device_bytes, void *host, size_t host_bytes, int *info,
                           int64_t batch)
{
    (void)params, (void)uplo, (void)a, (void)type_w, (void)w, (void)compute, (void)device;
    (void)device_bytes, (void)host, (void)host_bytes;
    if (lda < n)
        return CUSOLVER_STATUS_INVALID_VALUE;
    return run(handle, "cusolverDnXsyevBatched", type, least(n, batch),
               (job ? 9 : 1.34) * cube(n) * (double)batch, 2 * area(n, n) * (double)batch, info, batch);
}

int cusolverDnXgeev_bufferSize(HANDLE, PARAMS, int left, int right, int64_t n, int type,
                               const void *a, int64_t lda, int type_w, const void *w, int type_l,
                               const void *vl, int64_t ldvl, int type_r, const void *vr,
                               int64_t ldvr, int compute, unsigned long *device, unsigned long *host)
{
    (void)params, (void)left, (void)right, (void)a, (void)lda, (void)type_w, (void)w, (void)type_l;
    (void)vl, (void)ldvl, (void)type_r, (void)vr, (void)ldvr, (void)compute;
    return sizes(handle, "cusolverDnXgeev", type, n, 2 * n * n + BLOCK * n, n, n, 1, device, host);
}

int cusolverDnXgeev(HANDLE, PARAMS, int left, int right, int64_t n, int type, void *a, int64_t lda,
                    int type_w, void *w, int type_l, void *vl, int64_t ldvl, int type_r, void *vr,
                    int64_t ldvr, int compute, void *device, size_t device_bytes, void *host,
                    size_t host_bytes, int *info)
{
    (void)params, (void)left, (void)right, (void)a, (void)type_w, (void)w, (void)type_l, (void)vl;
    (void)ldvl, (void)type_r, (void)vr, (void)ldvr, (void)compute, (void)device, (void)device_bytes;
    (void)host, (void)host_bytes;
    if (lda < n)
        return CUSOLVER_STATUS_INVALID_VALUE;
    return run(handle, "cusolverDnXgeev", type, n, 25 * cube(n), 4 * area(n, n), info, 1);
}

int cusolverDnXsytrs_bufferSize(HANDLE, int uplo, int64_t n, int64_t nrhs, int type, const void *a,
                                int64_t lda, const long *pivots, int type_b, void *b, int64_t ldb,
                                unsigned long *device, unsigned long *host)
{
    (void)uplo, (void)a, (void)lda, (void)pivots, (void)type_b, (void)b, (void)ldb;
    return sizes(handle, "cusolverDnXsytrs", type, least(n, nrhs), n * nrhs, n, nrhs, 1, device, host);
}

int cusolverDnXsytrs(HANDLE, int uplo, int64_t n, int64_t nrhs, int type, const void *a,
                     int64_t lda, const long *pivots, int type_b, void *b, int64_t ldb,
                     void *device, size_t device_bytes, void *host, size_t host_bytes, int *info)
{
    (void)uplo, (void)a, (void)pivots, (void)type_b, (void)b, (void)device, (void)device_bytes;
    (void)host, (void)host_bytes;
    if (lda < n || ldb < n)
        return CUSOLVER_STATUS_INVALID_VALUE;
    return run(handle, "cusolverDnXsytrs", type, least(n, nrhs), 2 * area(n, n) * (double)nrhs,
               area(n, n) + 2 * area(n, nrhs), info, 1);
}
