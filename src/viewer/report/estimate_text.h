/* SPDX-License-Identifier: Apache-2.0
 *
 * The answers of `vramscope estimate` for users, and for programs (schema "vramscope.estimate/2").
 */
#ifndef VS_ESTIMATE_TEXT_H
#define VS_ESTIMATE_TEXT_H

#include "analysis/estimate/model_memory.h"
#include "analysis/estimate/peak_scaling.h"
#include "viewer/common/text_style.h"

#define VS_ESTIMATE_GPUS_MAX 16
#define VS_ESTIMATE_RUNS_MAX 64

struct vs_estimate_gpu {
    const char *name; /* not owned */
    uint64_t total_bytes, taken_bytes; /* taken: by the CUDA context and other processes */
};

/* What was asked and answered; strings are not owned. */
struct vs_estimate_answer {
    struct vs_estimate_gpu gpus[VS_ESTIMATE_GPUS_MAX];
    size_t gpu_count;
    const char *find; /* the argument whose largest value is searched; NULL: none */
    /* from a description */
    struct vs_model model;
    struct vs_estimate estimate;
    /* from traces: then run_count > 0 */
    const char *names[VS_SCALING_NAMES_MAX]; /* of the arguments */
    const char *paths[VS_ESTIMATE_RUNS_MAX];
    struct vs_scaling_run runs[VS_ESTIMATE_RUNS_MAX];
    size_t run_count;
    struct vs_scaling scaling;
    double at[VS_SCALING_NAMES_MAX]; /* the values asked for with --at */
    bool has_at;
};

/* vs_estimate_usable: the part of a GPU that a program can allocate. */
static inline uint64_t vs_estimate_usable(const struct vs_estimate_gpu *gpu)
{
    return gpu->total_bytes > gpu->taken_bytes ? gpu->total_bytes - gpu->taken_bytes : 0;
}

/* vs_estimate_need: the bytes that must be usable: the estimated peak, or the reserved peak that
 * the runs predict at the values asked for. 0: no values were asked for. */
uint64_t vs_estimate_need(const struct vs_estimate_answer *answer);

/* vs_estimate_largest: the largest value of *find* that fits *gpu*; *allocated*: even if PyTorch
 * cached nothing (only with runs). */
uint64_t vs_estimate_largest(const struct vs_estimate_answer *answer, const struct vs_estimate_gpu *gpu,
                             bool allocated);

void vs_estimate_text(const struct vs_estimate_answer *answer, const struct vs_style *style);
void vs_estimate_json(const struct vs_estimate_answer *answer, FILE *out);

#endif
