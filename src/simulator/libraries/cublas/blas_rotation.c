/* SPDX-License-Identifier: Apache-2.0
 *
 * Givens rotations from two or four numbers, which lie in host or device memory: rotg and rotmg,
 * computed as the reference BLAS does. Results in device memory are written in the order of the
 * stream, and not in a process with a Python interpreter (vs_library_computes). */
#include <math.h>

#include "simulator/libraries/cublas/vs_blas.h"

static void rotg_complex(const struct vs_blas_rotation *r, double complex a, double complex b)
{
    double size = cabs(a), norm = hypot(size, cabs(b));
    double complex direction = size != 0 ? a / size : 1;
    vs_blas_store(r->c, r->real_type, 0, size != 0 ? size / norm : 0);
    vs_blas_store(r->s, r->type, 0, size != 0 ? direction * conj(b) / norm : 1);
    vs_blas_store(r->a, r->type, 0, size != 0 ? direction * norm : b);
}

static void rotg(const struct vs_blas_rotation *r)
{
    double complex za = vs_blas_load(r->a, r->type, 0), zb = vs_blas_load(r->b, r->type, 0);
    if (vs_library_is_complex(r->type)) {
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

static void rotmg(const struct vs_blas_rotation *r)
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
    const struct vs_blas_rotation *r = launch->args[0];
    if (r->modified)
        rotmg(r);
    else
        rotg(r);
}

int vs_blas_rotation(struct cublasContext *h, const struct vs_blas_rotation *r)
{
    VS_BLAS_CHECK(h, !r->a || !r->b || !r->c || !r->s || (r->modified && !r->parameters));
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
