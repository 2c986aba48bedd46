/* SPDX-License-Identifier: Apache-2.0
 *
 * How the peak of a program grows with its arguments (batch size, sequence length), from runs with
 * different values: a least-squares fit, and the largest value that fits a device. Pure. */
#ifndef VS_PEAK_SCALING_H
#define VS_PEAK_SCALING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/vs_err.h"

#define VS_SCALING_NAMES_MAX 2
#define VS_SCALING_TERMS_MAX 4

/* One run. */
struct vs_scaling_run {
    double x[VS_SCALING_NAMES_MAX];
    double allocated, reserved; /* peaks, bytes */
    const char *place;          /* phase of the peak of allocated; "" unknown. Not owned */
    bool used;                  /* set by vs_scaling_fit */
};

/* The sum of coefficients[i] * x0^powers[i][0] * x1^powers[i][1]. */
struct vs_scaling_curve {
    size_t terms;
    unsigned powers[VS_SCALING_TERMS_MAX][VS_SCALING_NAMES_MAX];
    double coefficients[VS_SCALING_TERMS_MAX];
    double error; /* largest deviation of a run used, as a share of its peak */
};

struct vs_scaling {
    size_t names, used; /* arguments; runs used */
    bool places_differ; /* runs whose peak is in another phase than that of the largest run were
                         * left out */
    bool places_mixed;  /* likewise, but all had to be used */
    struct vs_scaling_curve allocated;
    /* Allocated times the ratio of the largest run, and as many more bytes as another run needs then. */
    struct vs_scaling_curve reserved;
    double reserved_ratio, reserved_more;
};

/* vs_scaling_fit: *names* arguments (1 or 2), *count* runs. The curve is a straight line (with two
 * arguments: in their product) unless the runs show that it is not. VS_ERR_ARG when fewer than two
 * runs differ in their arguments. */
enum vs_err vs_scaling_fit(struct vs_scaling_run *runs, size_t count, size_t names,
                           struct vs_scaling *out) VS_MUST_CHECK;

double vs_scaling_at(const struct vs_scaling_curve *curve, const double x[VS_SCALING_NAMES_MAX]);

#define VS_SCALING_ANY UINT64_MAX

/* vs_scaling_largest: the largest whole value of argument *name* for which the curve, and for all
 * smaller values, is at most *bytes*; the other argument is that of *x*. 0: none. VS_SCALING_ANY: those
 * beyond 2^31 as well, so the curve does not depend on it. */
uint64_t vs_scaling_largest(const struct vs_scaling_curve *curve, const double x[VS_SCALING_NAMES_MAX],
                            size_t name, double bytes);

#endif
