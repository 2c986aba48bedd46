/* SPDX-License-Identifier: Apache-2.0
 *
 * Operations on vectors, computed on the CPU: all that return a number to host memory, since a
 * program that asks for one continues with it, and the others up to a size. Steps are those of
 * BLAS: a vector with a negative step begins at its last element; reductions of one vector with a
 * step that is not positive are 0. */
#include <math.h>

#include "simulator/libraries/cublas/vs_blas.h"

static int64_t first(int64_t n, int64_t step)
{
    return step < 0 ? (1 - n) * step : 0;
}

static double size_of(const struct vs_blas_vector *v, int64_t i) /* |re| + |im|, as BLAS has it */
{
    double complex x = vs_blas_load(v->x, v->x_type, i * v->x_step);
    return fabs(creal(x)) + fabs(cimag(x));
}

static double complex reduced(const struct vs_blas_vector *v)
{
    double complex sum = 0;
    int64_t best = 0, ix = first(v->n, v->x_step), iy = first(v->n, v->y_step);
    switch (v->kind) {
    case VS_BLAS_AMAX:
    case VS_BLAS_AMIN:
        for (int64_t i = 1; i < v->n; i++)
            if (v->kind == VS_BLAS_AMAX ? size_of(v, i) > size_of(v, best)
                                        : size_of(v, i) < size_of(v, best))
                best = i;
        return (double)(best + 1);
    case VS_BLAS_ASUM:
        for (int64_t i = 0; i < v->n; i++)
            sum += size_of(v, i);
        return sum;
    case VS_BLAS_NRM2:
        for (int64_t i = 0; i < v->n; i++) {
            double complex x = vs_blas_load(v->x, v->x_type, i * v->x_step);
            sum += creal(x) * creal(x) + cimag(x) * cimag(x);
        }
        return sqrt(creal(sum));
    default: break;
    }
    for (int64_t i = 0; i < v->n; i++, ix += v->x_step, iy += v->y_step) {
        double complex x = vs_blas_load(v->x, v->x_type, ix);
        sum += (v->kind == VS_BLAS_DOTC ? conj(x) : x) * vs_blas_load(v->y, v->y_type, iy);
    }
    return sum;
}

static void rotm(const struct vs_blas_vector *v, double complex *x, double complex *y)
{
    const double complex *p = v->values, a = *x, b = *y; /* flag, h11, h21, h12, h22 */
    if (creal(p[0]) == -1)
        *x = p[1] * a + p[3] * b, *y = p[2] * a + p[4] * b;
    else if (creal(p[0]) == 0)
        *x = a + p[3] * b, *y = p[2] * a + b;
    else if (creal(p[0]) == 1)
        *x = p[1] * a + b, *y = p[4] * b - a;
}

static void changed(const struct vs_blas_vector *v)
{
    int64_t ix = first(v->n, v->x_step), iy = first(v->n, v->y_step);
    double complex s = v->values[0], s2 = v->values[1];
    for (int64_t i = 0; i < v->n; i++, ix += v->x_step, iy += v->y_step) {
        double complex x = vs_blas_load(v->x, v->x_type, ix), a = x;
        double complex y = v->y ? vs_blas_load(v->y, v->y_type, iy) : 0;
        switch (v->kind) {
        case VS_BLAS_COPY: y = x; break;
        case VS_BLAS_SWAP: x = y, y = a; break;
        case VS_BLAS_AXPY: y += s * x; break;
        case VS_BLAS_SCAL: x *= s; break;
        case VS_BLAS_ROT: x = s * a + s2 * y, y = s * y - conj(s2) * a; break;
        default: rotm(v, &x, &y); break;
        }
        if (v->kind != VS_BLAS_COPY && v->kind != VS_BLAS_AXPY)
            vs_blas_store(v->x, v->x_type, ix, x);
        if (v->y)
            vs_blas_store(v->y, v->y_type, iy, y);
    }
}

static void read_scalars(struct vs_blas_vector *v)
{
    for (int i = 0; v->scalar && i < (v->kind == VS_BLAS_ROTM ? 5 : 1); i++)
        v->values[i] = vs_blas_load(v->scalar, v->scalar_type, i);
    if (v->scalar2)
        v->values[1] = vs_blas_load(v->scalar2, v->scalar2_type, 0);
}

static void store_result(const struct vs_blas_vector *v, double complex value)
{
    if (v->kind > VS_BLAS_AMIN)
        vs_blas_store(v->result, v->result_type, 0, value);
    else if (v->wide)
        *(int64_t *)v->result = (int64_t)creal(value);
    else
        *(int *)v->result = (int)creal(value);
}

static bool reduces(const struct vs_blas_vector *v)
{
    return v->kind <= VS_BLAS_DOTC;
}

static bool is_empty(const struct vs_blas_vector *v)
{
    bool one = v->kind <= VS_BLAS_NRM2 || v->kind == VS_BLAS_SCAL;
    return v->n <= 0 || (one && v->x_step <= 0);
}

static void run(const struct vramscope_sim_launch *launch, unsigned long begin, unsigned long end)
{
    struct vs_blas_vector v = *(const struct vs_blas_vector *)launch->args[0];
    if (!v.scalars_on_host)
        read_scalars(&v);
    if (reduces(&v))
        store_result(&v, is_empty(&v) ? 0 : reduced(&v));
    else
        changed(&v);
}

int vs_blas_vector(struct cublasContext *h, const struct vs_blas_vector *given)
{
    struct vs_blas_vector v = *given;
    VS_BLAS_CHECK(h, (v.kind >= VS_BLAS_AXPY && !v.scalar) || (v.kind == VS_BLAS_ROT && !v.scalar2));
    bool empty = is_empty(&v), small = v.n <= VS_BLAS_VECTOR_MAX;
    if ((reduces(&v) && !v.result) || (!empty && !v.x))
        return CUBLAS_STATUS_INVALID_VALUE;
    if (!vs_blas_is_computed(v.x_type) || (v.y && !vs_blas_is_computed(v.y_type)) ||
        (v.scalar && !vs_blas_is_computed(v.scalar_type)) ||
        (v.scalar2 && !vs_blas_is_computed(v.scalar2_type)) ||
        (v.kind > VS_BLAS_AMIN && v.result && !vs_blas_is_computed(v.result_type)))
        return vs_library_unsupported(v.name, "with these types");
    if (empty && !reduces(&v))
        return CUBLAS_STATUS_SUCCESS;
    v.scalars_on_host = h->pointer_mode == CUBLAS_POINTER_MODE_HOST;
    if (v.scalars_on_host) { /* their addresses may be gone when the work runs */
        read_scalars(&v);
        v.scalar = v.scalar2 = NULL;
    }
    double n = empty ? 0 : (double)v.n, touched = v.kind <= VS_BLAS_NRM2 ? 1 : v.y ? 3 : 2;
    bool at_once = reduces(&v) && v.scalars_on_host;
    if (!at_once && small && vs_library_computes()) {
        struct vs_sim_work work = {.name = "cublas_small_vector",
                                   .operations = 2 * n,
                                   .bytes = touched * n * vs_library_bits(v.x_type) / 8};
        return vs_blas_status(vs_library_compute(h->stream, &work, run, &v, sizeof v));
    }
    int e = vs_blas_work(h, v.name, v.x_type, 2 * n, touched * n);
    if (!e && at_once)
        e = vs_blas_wait(h);
    if (!e && at_once)
        store_result(&v, empty ? 0 : reduced(&v));
    return e;
}
