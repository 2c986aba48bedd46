/* SPDX-License-Identifier: Apache-2.0
 *
 * cuFFT's plans: creation in all its forms, their settings, execution, and the size of the work area. cuFFT's
 * manual gives bounds for that size, 1 to 8 complex elements per point; the lower one is assumed
 * and noted. */
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "simulator/libraries/cufft/vs_fft_plan.h"
#include "simulator/libraries/sizes/vs_library_sizes.h"

#define PLANS_MAX 65536
#define KEY_MAX 128 /* three lengths, the batch, the types */

struct vs_fft_plan {
    bool made, automatic; /* automatic: the plan allocates its work area */
    CUstream stream;
    enum vs_sim_number number;
    unsigned element_bytes;  /* of a complex element */
    double elements, points; /* complex elements of all transforms; of one */
    size_t work_bytes;
    CUdeviceptr work;        /* allocated by the plan, or 0 */
    void *given;             /* by the caller, or NULL */
};

static pthread_mutex_t mu = PTHREAD_MUTEX_INITIALIZER;
static struct vs_fft_plan *plans[PLANS_MAX]; /* by handle, from 1 on; guarded by mu, not what they point to */

/* The plan, which one thread uses at a time, as cuFFT asks; NULL if there is none. */
static struct vs_fft_plan *plan_of(int handle)
{
    pthread_mutex_lock(&mu);
    struct vs_fft_plan *plan = handle > 0 && handle < PLANS_MAX ? plans[handle] : NULL;
    pthread_mutex_unlock(&mu);
    return plan;
}

/* ---- life ---- */

int cufftCreate(int *handle)
{
    if (!handle)
        return CUFFT_INVALID_VALUE;
    if (!vs_library_driver())
        return CUFFT_SETUP_FAILED;
    pthread_mutex_lock(&mu);
    int at = 1;
    while (at < PLANS_MAX && plans[at])
        at++;
    if (at < PLANS_MAX) {
        plans[at] = vs_sim_need(calloc(1, sizeof *plans[at]));
        plans[at]->automatic = true;
        *handle = at;
    }
    pthread_mutex_unlock(&mu);
    return at < PLANS_MAX ? CUFFT_SUCCESS : CUFFT_ALLOC_FAILED;
}

static void free_work(struct vs_fft_plan *plan)
{
    if (plan->work)
        vs_library_driver()->cuMemFree_v2(plan->work);
    plan->work = 0;
}

int cufftDestroy(int handle)
{
    struct vs_fft_plan *plan = plan_of(handle);
    if (!plan)
        return CUFFT_INVALID_PLAN;
    free_work(plan);
    pthread_mutex_lock(&mu);
    plans[handle] = NULL;
    pthread_mutex_unlock(&mu);
    free(plan);
    return CUFFT_SUCCESS;
}

/* ---- making ---- */

static bool type_is_double(int type)
{
    return type == CUFFT_D2Z || type == CUFFT_Z2D || type == CUFFT_Z2Z;
}

static bool type_is_known(int type)
{
    return type == CUFFT_C2C || type == CUFFT_R2C || type == CUFFT_C2R || type_is_double(type);
}

/* Fills the cost and the work area of a plan of *rank* dimensions *n* with complex elements of *type*. */
static int describe(struct vs_fft_plan *plan, int rank, const long long *n, long long batch,
                    const char *kind, int type)
{
    static const char *const numbers[] = {[4] = "FP16", [8] = "FP32", [16] = "FP64"};
    unsigned element_bytes = (unsigned)vs_library_bits(type) / 8;
    char key[KEY_MAX];
    double points = 1;
    int length = 0;
    if (rank < 1 || rank > 3 || !n)
        return CUFFT_INVALID_VALUE;
    if (batch < 1)
        return CUFFT_INVALID_SIZE;
    for (int i = 0; i < rank; i++) {
        if (n[i] < 1)
            return CUFFT_INVALID_SIZE;
        points *= (double)n[i];
        length += snprintf(key + length, sizeof key - (size_t)length, "%s%lld", i ? "x" : "", n[i]);
    }
    snprintf(key + length, sizeof key - (size_t)length, " batch %lld %s %s", batch, kind,
             numbers[element_bytes]);
    plan->number = vs_library_number(type);
    plan->element_bytes = element_bytes;
    plan->points = points;
    plan->elements = points * (double)batch;
    plan->work_bytes = vs_library_size("plan", key, (uint64_t)plan->elements * element_bytes,
                                       "cuFFT's work area can be measured on a real GPU only; this is the "
                                       "least that its manual gives, one complex element per point");
    return CUFFT_SUCCESS;
}

static bool is_real(int type)
{
    return type == CUDA_R_16F || type == CUDA_R_16BF || type == CUDA_R_32F || type == CUDA_R_64F;
}

static int describe_shape(struct vs_fft_plan *plan, const struct vs_fft_shape *s, const long long *n)
{
    const char *kind = is_real(s->input) ? "R2C" : is_real(s->output) ? "C2R" : "C2C";
    if (!s->has_types) {
        bool wide = type_is_double(s->type);
        kind = s->type == CUFFT_R2C || s->type == CUFFT_D2Z   ? "R2C"
               : s->type == CUFFT_C2R || s->type == CUFFT_Z2D ? "C2R"
                                                              : "C2C";
        return type_is_known(s->type)
                   ? describe(plan, s->rank, n, s->batch, kind, wide ? CUDA_C_64F : CUDA_C_32F)
                   : CUFFT_INVALID_TYPE;
    }
    switch (s->execution) {
    case CUDA_C_16F:
    case CUDA_C_16BF:
    case CUDA_C_32F:
    case CUDA_C_64F: return describe(plan, s->rank, n, s->batch, kind, s->execution);
    default: return CUFFT_INVALID_TYPE;
    }
}

int vs_fft_make(int handle, const struct vs_fft_shape *s)
{
    struct vs_fft_plan made = {.made = true}, *plan = plan_of(handle);
    long long widened[3] = {0};
    const long long *n = !s->many ? s->n : s->wide;
    if (s->narrow && s->rank >= 1 && s->rank <= 3) {
        for (int i = 0; i < s->rank; i++)
            widened[i] = s->narrow[i];
        n = widened;
    }
    if (!s->size || (s->many && !s->has_types && !n))
        return CUFFT_INVALID_VALUE;
    if (!vs_library_use_device())
        return CUFFT_SETUP_FAILED;
    int status = describe_shape(&made, s, n);
    if (status)
        return status;
    if (!plan || plan->made)
        return CUFFT_INVALID_PLAN;
    made.automatic = plan->automatic;
    made.stream = plan->stream;
    if (made.automatic && vs_library_driver()->cuMemAlloc_v2(&made.work, made.work_bytes))
        return CUFFT_ALLOC_FAILED;
    *plan = made;
    *s->size = made.work_bytes;
    return CUFFT_SUCCESS;
}

int vs_fft_new(int *handle, const struct vs_fft_shape *s)
{
    unsigned long size;
    struct vs_fft_shape with_size = *s;
    with_size.size = &size;
    if (s->many && (!s->narrow || s->rank < 1 || s->rank > 3))
        return CUFFT_INVALID_VALUE;
    int status = cufftCreate(handle);
    if (status)
        return status;
    status = vs_fft_make(*handle, &with_size);
    if (status)
        cufftDestroy(*handle);
    return status;
}

int cufftGetSize(int handle, unsigned long *size)
{
    const struct vs_fft_plan *plan = plan_of(handle);
    if (!plan)
        return CUFFT_INVALID_PLAN;
    if (!size)
        return CUFFT_INVALID_VALUE;
    *size = plan->work_bytes;
    return CUFFT_SUCCESS;
}

/* ---- work: 5 N log2 N operations for each transform of N points, as is usual ---- */

int vs_fft_execute(int handle, const struct vs_fft_execution *e)
{
    const struct vs_fft_plan *plan = plan_of(handle);
    if (!plan || !plan->made)
        return CUFFT_INVALID_PLAN;
    if (!e->input || !e->output || (e->direction != -1 && e->direction != 1))
        return CUFFT_INVALID_VALUE;
    if (!plan->automatic && plan->work_bytes && !plan->given && !plan->work)
        return CUFFT_NO_WORKSPACE;
    struct vs_sim_work work = {.name = "cufft",
                               .number = plan->number,
                               .operations = 5 * plan->elements * log2(plan->points < 2 ? 2 : plan->points),
                               .bytes = 4 * plan->elements * plan->element_bytes};
    return vs_library_submit(plan->stream, &work) ? CUFFT_EXEC_FAILED : CUFFT_SUCCESS;
}

/* ---- settings ---- */

int cufftSetStream(int handle, struct CUstream_st *stream)
{
    struct vs_fft_plan *plan = plan_of(handle);
    if (plan)
        plan->stream = stream;
    return plan ? CUFFT_SUCCESS : CUFFT_INVALID_PLAN;
}

int cufftSetAutoAllocation(int handle, int automatic)
{
    struct vs_fft_plan *plan = plan_of(handle);
    if (!plan || plan->made)
        return CUFFT_INVALID_PLAN;
    plan->automatic = automatic != 0;
    return CUFFT_SUCCESS;
}

int cufftSetWorkArea(int handle, void *area)
{
    struct vs_fft_plan *plan = plan_of(handle);
    if (!plan || !plan->made)
        return CUFFT_INVALID_PLAN;
    plan->given = area;
    free_work(plan);
    return CUFFT_SUCCESS;
}
