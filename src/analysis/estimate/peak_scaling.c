/* SPDX-License-Identifier: Apache-2.0
 *
 * The peak of a step is the largest of several sums, each about linear in the
 * batch: in the optimizer it does not depend on the batch at all. Runs whose peak is in another
 * phase than the largest run's say nothing about larger values, and are left out. */
#include "analysis/estimate/peak_scaling.h"

#include <math.h>
#include <string.h>

#define RUNS_MAX 64
#define BEND 0.005 /* a straight line that misses a run by more than this share is not enough */
#define LARGEST 30 /* log2 of the largest value that is tried */

/* Terms in the order in which they are added: constant, linear, quadratic in the last argument. */
static const unsigned one_name[][VS_SCALING_NAMES_MAX] = {{0, 0}, {1, 0}, {2, 0}};
static const unsigned two_names[][VS_SCALING_NAMES_MAX] = {{0, 0}, {1, 1}, {1, 2}, {0, 1}};

static double term(const unsigned powers[VS_SCALING_NAMES_MAX], const double x[VS_SCALING_NAMES_MAX])
{
    return pow(x[0], powers[0]) * pow(x[1], powers[1]);
}

double vs_scaling_at(const struct vs_scaling_curve *curve, const double x[VS_SCALING_NAMES_MAX])
{
    double sum = 0;
    for (size_t i = 0; i < curve->terms; i++)
        sum += curve->coefficients[i] * term(curve->powers[i], x);
    return sum;
}

/* Solves the n equations a * out = b by elimination with pivots; false if they are dependent. */
static bool solve(double a[VS_SCALING_TERMS_MAX][VS_SCALING_TERMS_MAX], double b[VS_SCALING_TERMS_MAX],
                  size_t n, double out[VS_SCALING_TERMS_MAX])
{
    for (size_t c = 0; c < n; c++) {
        size_t pivot = c;
        for (size_t r = c + 1; r < n; r++)
            if (fabs(a[r][c]) > fabs(a[pivot][c]))
                pivot = r;
        if (fabs(a[pivot][c]) < 1e-12)
            return false;
        for (size_t k = 0; k < n; k++) {
            double swap = a[c][k];
            a[c][k] = a[pivot][k];
            a[pivot][k] = swap;
        }
        double swap = b[c];
        b[c] = b[pivot];
        b[pivot] = swap;
        for (size_t r = c + 1; r < n; r++) {
            double factor = a[r][c] / a[c][c];
            for (size_t k = c; k < n; k++)
                a[r][k] -= factor * a[c][k];
            b[r] -= factor * b[c];
        }
    }
    for (size_t c = n; c-- > 0;) {
        double rest = b[c];
        for (size_t k = c + 1; k < n; k++)
            rest -= a[c][k] * out[k];
        out[c] = rest / a[c][c];
    }
    return true;
}

/* Least squares with the first *terms* terms; every column is divided by its largest value, so that
 * sequence lengths squared do not spoil the equations. */
static bool fit_terms(const struct vs_scaling_run *runs, size_t count, size_t terms,
                      const unsigned (*powers)[VS_SCALING_NAMES_MAX], struct vs_scaling_curve *out)
{
    double a[VS_SCALING_TERMS_MAX][VS_SCALING_TERMS_MAX] = {{0}}, b[VS_SCALING_TERMS_MAX] = {0};
    double scale[VS_SCALING_TERMS_MAX] = {0};
    memset(out, 0, sizeof *out);
    for (size_t i = 0; i < terms; i++)
        for (size_t r = 0; r < count; r++)
            if (runs[r].used && term(powers[i], runs[r].x) > scale[i])
                scale[i] = term(powers[i], runs[r].x);
    for (size_t r = 0; r < count; r++) {
        if (!runs[r].used)
            continue;
        for (size_t i = 0; i < terms; i++) {
            double left = term(powers[i], runs[r].x) / scale[i];
            b[i] += left * runs[r].allocated;
            for (size_t k = 0; k < terms; k++)
                a[i][k] += left * term(powers[k], runs[r].x) / scale[k];
        }
    }
    if (!solve(a, b, terms, out->coefficients))
        return false;
    out->terms = terms;
    for (size_t i = 0; i < terms; i++) {
        out->coefficients[i] /= scale[i];
        memcpy(out->powers[i], powers[i], sizeof out->powers[i]);
    }
    for (size_t r = 0; r < count; r++) {
        double miss = runs[r].used ? fabs(vs_scaling_at(out, runs[r].x) - runs[r].allocated) : 0;
        if (runs[r].allocated > 0 && miss / runs[r].allocated > out->error)
            out->error = miss / runs[r].allocated;
    }
    return true;
}

static size_t distinct(const struct vs_scaling_run *runs, size_t count)
{
    size_t n = 0;
    for (size_t i = 0; i < count; i++) {
        bool repeated = !runs[i].used;
        for (size_t k = 0; k < i && !repeated; k++)
            repeated = runs[k].used && !memcmp(runs[k].x, runs[i].x, sizeof runs[i].x);
        n += !repeated;
    }
    return n;
}

static bool fit_curve(const struct vs_scaling_run *runs, size_t count, size_t names,
                      struct vs_scaling_curve *out)
{
    const unsigned (*powers)[VS_SCALING_NAMES_MAX] = names == 1 ? one_name : two_names;
    size_t most = names == 1 ? 3 : 4, points = distinct(runs, count);
    struct vs_scaling_curve next;
    if (!fit_terms(runs, count, 2, powers, out))
        return false;
    for (size_t terms = 3; terms <= most && terms <= points && out->error > BEND; terms++)
        if (fit_terms(runs, count, terms, powers, &next) && next.error < out->error)
            *out = next;
    return true;
}

/* The end of the forward and the start of the backward hold the same memory, so the peak may be in
 * either of them by chance. */
static bool same_line(const char *a, const char *b)
{
    bool pass_a = !strcmp(a, "forward") || !strcmp(a, "backward");
    bool pass_b = !strcmp(b, "forward") || !strcmp(b, "backward");
    return strcmp(a, b) == 0 || (pass_a && pass_b);
}

/* Leaves out the runs with their peak in another phase than the largest run. */
static void choose_runs(struct vs_scaling_run *runs, size_t count, struct vs_scaling *out)
{
    size_t largest = 0;
    for (size_t i = 0; i < count; i++) {
        runs[i].used = true;
        if (runs[i].x[0] * runs[i].x[1] > runs[largest].x[0] * runs[largest].x[1])
            largest = i;
    }
    for (size_t i = 0; i < count; i++)
        if (!same_line(runs[i].place, runs[largest].place)) {
            runs[i].used = false;
            out->places_differ = true;
        }
    if (!out->places_differ || distinct(runs, count) >= 2)
        return;
    out->places_differ = false;
    out->places_mixed = true;
    for (size_t i = 0; i < count; i++)
        runs[i].used = true;
}

enum vs_err vs_scaling_fit(struct vs_scaling_run *runs, size_t count, size_t names, struct vs_scaling *out)
{
    memset(out, 0, sizeof *out);
    out->names = names;
    if (count < 2 || count > RUNS_MAX || names < 1 || names > VS_SCALING_NAMES_MAX)
        return VS_ERR_ARG;
    for (size_t i = 0; names == 1 && i < count; i++)
        runs[i].x[1] = 1;
    choose_runs(runs, count, out);
    for (size_t i = 0; i < count; i++)
        out->used += runs[i].used;
    if (distinct(runs, count) < 2 || !fit_curve(runs, count, names, &out->allocated))
        return VS_ERR_ARG;
    /* Reserved memory comes in segments and jumps: a curve of its own would follow the jumps. What smaller runs
     * reserve beyond the largest run's share, such as a library's workspace, does not grow. */
    const struct vs_scaling_run *largest = NULL;
    for (size_t i = 0; i < count; i++)
        if (runs[i].used && (!largest || runs[i].x[0] * runs[i].x[1] > largest->x[0] * largest->x[1]))
            largest = &runs[i];
    out->reserved_ratio = largest->allocated > 0 ? fmax(largest->reserved / largest->allocated, 1) : 1;
    for (size_t i = 0; i < count; i++)
        if (runs[i].used)
            out->reserved_more = fmax(out->reserved_more, runs[i].reserved - runs[i].allocated * out->reserved_ratio);
    out->reserved = out->allocated;
    for (size_t i = 0; i < out->reserved.terms; i++)
        out->reserved.coefficients[i] *= out->reserved_ratio;
    out->reserved.coefficients[0] += out->reserved_more; /* the constant term */
    return VS_OK;
}

uint64_t vs_scaling_largest(const struct vs_scaling_curve *curve, const double x[VS_SCALING_NAMES_MAX],
                            size_t name, double bytes)
{
    double at[VS_SCALING_NAMES_MAX];
    memcpy(at, x, sizeof at);
    uint64_t low = 0;
    for (int bit = LARGEST; bit >= 0; bit--) {
        at[name] = (double)(low + (UINT64_C(1) << bit));
        if (vs_scaling_at(curve, at) <= bytes)
            low += UINT64_C(1) << bit;
    }
    return low >= UINT64_C(1) << LARGEST ? VS_SCALING_ANY : low;
}
