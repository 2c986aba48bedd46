/* SPDX-License-Identifier: Apache-2.0
 *
 * Givens rotations from two or four numbers, which lie in host or device memory: rotg and rotmg,
 * computed as the reference BLAS does. Results in device memory are written in the order of the
 * stream, and not in a process with a Python interpreter (vs_library_computes). */
#include <math.h>

#include "simulator/libraries/cublas/vs_blas.h"

struct blas_rotation {
    bool modified; /* rotmg: number a, b, c and s are d1, d2, x1 and y1 */
    int type, real_type;
    void *a, *b, *c, *s, *parameters;
};

static void rotg_complex(const struct blas_rotation *r, double complex a, double complex b)
{
    double size = cabs(a), norm = hypot(size, cabs(b));
    double complex direction = size != 0 ? a / size : 1;
    vs_blas_store(r->c, r->real_type, 0, size != 0 ? size / norm : 0);
    vs_blas_store(r->s, r->type, 0, size != 0 ? direction * conj(b) / norm : 1);
    vs_blas_store(r->a, r->type, 0, size != 0 ? direction * norm : b);
}

static void rotg(const struct blas_rotation *r)
{
    double complex za = vs_blas_load(r->a, r->type, 0), zb = vs_blas_load(r->b, r->type, 0);
    if (vs_blas_is_complex(r->type)) {
        rotg_complex(r, za, zb);
        return;
    }
    double a = creal(za), b = creal(zb), c = 1, s = 0, z = 0;
    double norm = copysign(hypot(a, b), fabs(a) > fabs(b) ? a : b);
    if (norm != 0) {
        c = a / norm;
        s = b / norm;
        z = fabs(a) > fabs(b) ? s : c != 0 ? 1 / c : 1;
    } else
        norm = 0;
    vs_blas_store(r->a, r->type, 0, norm);
    vs_blas_store(r->b, r->type, 0, z);
    vs_blas_store(r->c, r->type, 0, c);
    vs_blas_store(r->s, r->type, 0, s);
}

struct modified {
    double flag, h11, h21, h12, h22, d1, d2, x1;
};

/* Keeps *d* between 2^-24 and 2^24 by multiplying its row of H. */
static void rescale(struct modified *m, double *d, double *x, double *h1, double *h2)
{
    const double gamma = 4096, most = gamma * gamma;
    while (*d != 0 && (fabs(*d) >= most || fabs(*d) <= 1 / most)) {
        double by = fabs(*d) >= most ? gamma : 1 / gamma;
        if (m->flag == 0)
            m->h11 = m->h22 = 1;
        else if (m->flag == 1)
            m->h21 = -1, m->h12 = 1;
        m->flag = -1;
        *d /= by * by;
        *h1 *= by;
        *h2 *= by;
        if (x)
            *x *= by;
    }
}

static struct modified modified(double d1, double d2, double x1, double y1)
{
    struct modified m = {.flag = -1, .d1 = d1, .d2 = d2, .x1 = x1};
    double p2 = d2 * y1, p1 = d1 * x1, q2 = p2 * y1, q1 = p1 * x1;
    if (d1 >= 0 && p2 == 0) {
        m.flag = -2;
        return m;
    }
    if (d1 < 0 || (fabs(q1) <= fabs(q2) && q2 < 0)) {
        m.d1 = m.d2 = m.x1 = 0;
        return m;
    }
    if (fabs(q1) > fabs(q2)) {
        m.h21 = -y1 / x1;
        m.h12 = p2 / p1;
        double u = 1 - m.h12 * m.h21;
        m.flag = 0;
        m.d1 = d1 / u, m.d2 = d2 / u, m.x1 = x1 * u;
    } else {
        m.flag = 1;
        m.h11 = p1 / p2;
        m.h22 = x1 / y1;
        double u = 1 + m.h11 * m.h22;
        m.d1 = d2 / u, m.d2 = d1 / u, m.x1 = y1 * u;
    }
    rescale(&m, &m.d1, &m.x1, &m.h11, &m.h12);
    rescale(&m, &m.d2, NULL, &m.h21, &m.h22);
    return m;
}

static void rotmg(const struct blas_rotation *r)
{
    struct modified m = modified(
        creal(vs_blas_load(r->a, r->type, 0)), creal(vs_blas_load(r->b, r->type, 0)),
        creal(vs_blas_load(r->c, r->type, 0)), creal(vs_blas_load(r->s, r->real_type, 0)));
    const double h[] = {m.h11, m.h21, m.h12, m.h22};
    vs_blas_store(r->a, r->type, 0, m.d1);
    vs_blas_store(r->b, r->type, 0, m.d2);
    vs_blas_store(r->c, r->type, 0, m.x1);
    vs_blas_store(r->parameters, r->type, 0, m.flag);
    for (int i = 0; i < 4; i++) /* which of them a flag stands for is left as it was */
        if (m.flag == -1 || (m.flag == 0 && (i == 1 || i == 2)) || (m.flag == 1 && (i == 0 || i == 3)))
            vs_blas_store(r->parameters, r->type, i + 1, h[i]);
}

static void run(const struct vramscope_sim_launch *launch, unsigned long first, unsigned long last)
{
    const struct blas_rotation *r = launch->args[0];
    (void)first, (void)last;
    if (r->modified)
        rotmg(r);
    else
        rotg(r);
}

static int rotation(struct cublasContext *h, const struct blas_rotation *r)
{
    VS_BLAS_CHECK(h, !r->a || !r->b || !r->c || !r->s || (r->modified && !r->parameters));
    if (!vs_blas_is_computed(r->type) || !vs_blas_is_computed(r->real_type))
        return vs_library_unsupported(r->modified ? "cublasRotmgEx" : "cublasRotgEx", "with these types");
    struct vs_sim_work work = {.name = "cublas_rotation", .operations = 64, .bytes = 64};
    if (h->pointer_mode == CUBLAS_POINTER_MODE_DEVICE && vs_library_computes())
        return vs_blas_status(vs_library_compute(h->stream, &work, run, r, sizeof *r));
    if (h->pointer_mode == CUBLAS_POINTER_MODE_DEVICE) {
        work.name = "cublas_rotation_uncomputed";
        return vs_blas_status(vs_library_submit(h->stream, &work));
    }
    if (r->modified)
        rotmg(r);
    else
        rotg(r);
    return CUBLAS_STATUS_SUCCESS;
}

#define ROTG(P, T, t, R, real)                                                                     \
    int cublas##P##rotg_v2(struct cublasContext *h, T *a, T *b, R *c, T *s)                        \
    {                                                                                              \
        return rotation(h, &(struct blas_rotation){false, t, real, a, b, c, s, NULL});             \
    }
#define ROTMG(P, T, t)                                                                             \
    int cublas##P##rotmg_v2(struct cublasContext *h, T *d1, T *d2, T *x1, const T *y1, T *p)       \
    {                                                                                              \
        return rotation(h, &(struct blas_rotation){true, t, t, d1, d2, x1, (void *)y1, p});        \
    }
ROTG(S, float, CUDA_R_32F, float, CUDA_R_32F)
ROTG(D, double, CUDA_R_64F, double, CUDA_R_64F)
ROTG(C, struct float2, CUDA_C_32F, float, CUDA_R_32F)
ROTG(Z, struct double2, CUDA_C_64F, double, CUDA_R_64F)
ROTMG(S, float, CUDA_R_32F)
ROTMG(D, double, CUDA_R_64F)

int cublasRotgEx(struct cublasContext *h, void *a, void *b, int type, void *c, void *s, int scalar_type,
                 int execution_type)
{
    (void)execution_type;
    VS_BLAS_CHECK(h, !vs_blas_is_complex(type) && type != scalar_type);
    return rotation(h, &(struct blas_rotation){false, type, scalar_type, a, b, c, s, NULL});
}

int cublasRotmgEx(struct cublasContext *h, void *d1, int d1_type, void *d2, int d2_type, void *x1,
                  int x1_type, const void *y1, int y1_type, void *parameters, int parameter_type,
                  int execution_type)
{
    (void)execution_type;
    VS_BLAS_CHECK(h, d1_type != d2_type || d1_type != x1_type || d1_type != parameter_type);
    return rotation(h, &(struct blas_rotation){true, d1_type, y1_type, d1, d2, x1, (void *)y1, parameters});
}
