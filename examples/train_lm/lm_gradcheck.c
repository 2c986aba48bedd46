/* SPDX-License-Identifier: Apache-2.0
 *
 * Gradients against finite differences. For each tensor with gradient g and
 * several random subsets S of its elements, the loss is differentiated along
 * d = g restricted to S, scaled to length 1: the result must be |g restricted to
 * S|. Were g wrong by e, it would differ by e . d, which does not vanish for
 * every S. Differences along the gradient are the largest there are, so float
 * rounding in the loss stays far below them. */
#include "lm_extras.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define SUBSETS        4
#define STEP_LENGTH    0.02 /* along d, to either side */
#define DIFFERENCE_MAX 0.02 /* relative to the slope or SLOPE_FLOOR, whichever is larger */
#define SLOPE_FLOOR    0.005

static double loss_of(const struct lm_model *model, const struct lm_batch *batch)
{
    struct lm_activations kept;
    float *total = device_alloc("check loss", sizeof *total), loss;
    device_zero(total, sizeof *total);
    forward_pass(model, batch, &kept);
    loss_forward(model, batch, &kept, 1.0f, total);
    discard_activations(model, &kept);
    copy_to_host(&loss, total, sizeof loss);
    device_free(total);
    return loss;
}

/* The loss with *t* moved by *distance* along *direction*. */
static double loss_moved(const struct lm_model *model, const struct lm_batch *batch,
                         const struct lm_tensor *t, const float *values, const double *direction,
                         double distance, float *moved)
{
    for (size_t i = 0; i < t->count; i++)
        moved[i] = (float)(values[i] + distance * direction[i]);
    copy_to_device(t->master, moved, t->count * sizeof *moved);
    double loss = loss_of(model, batch);
    copy_to_device(t->master, values, t->count * sizeof *values);
    return loss;
}

/* Fills *direction* with the gradient on a random half of the tensor (all of it
 * for subset 0), scaled to length 1. Returns its length before. */
static double choose_direction(const float *grad, size_t count, int subset,
                               struct lm_random *random, double *direction)
{
    double squares = 0.0;
    for (size_t i = 0; i < count; i++) {
        int in = subset == 0 || (lm_random_bits(random) & 1u);
        direction[i] = in ? grad[i] : 0.0;
        squares += direction[i] * direction[i];
    }
    double length = sqrt(squares);
    for (size_t i = 0; i < count && length > 0.0; i++)
        direction[i] /= length;
    return length;
}

static int check_tensor(const struct lm_model *model, const struct lm_batch *batch,
                        const struct lm_tensor *t, struct lm_random *random)
{
    float *values = host_alloc(t->count, sizeof *values);
    float *grad = host_alloc(t->count, sizeof *grad);
    float *moved = host_alloc(t->count, sizeof *moved);
    double *direction = host_alloc(t->count, sizeof *direction);
    double worst = 0.0, whole_slope = 0.0;
    copy_to_host(values, t->master, t->count * sizeof *values);
    copy_to_host(grad, t->grad, t->count * sizeof *grad);
    for (int subset = 0; subset < SUBSETS; subset++) {
        double slope = choose_direction(grad, t->count, subset, random, direction);
        double up = loss_moved(model, batch, t, values, direction, STEP_LENGTH, moved);
        double down = loss_moved(model, batch, t, values, direction, -STEP_LENGTH, moved);
        double measured = (up - down) / (2.0 * STEP_LENGTH);
        double difference = fabs(measured - slope) / fmax(fabs(slope), SLOPE_FLOOR);
        if (subset == 0)
            whole_slope = slope;
        worst = fmax(worst, difference);
    }
    int good = worst <= DIFFERENCE_MAX;
    printf("%-28s slope %9.6f  difference %7.4f %%  %s\n", t->name, whole_slope, 100.0 * worst,
           good ? "ok" : "WRONG");
    free(values);
    free(grad);
    free(moved);
    free(direction);
    return good;
}

int check_gradients(struct lm_model *model, const struct lm_text *text, uint64_t seed)
{
    struct lm_batches batches;
    struct lm_activations kept;
    struct lm_random random = {.state = seed ^ 0x67726164u};
    int good = 1;

    alloc_batches(&batches, text, model->shape.batch, model->shape.context, seed);
    struct lm_batch batch = next_batch(&batches);
    lm_model_zero_gradients(model);
    forward_pass(model, &batch, &kept);
    backward_pass(model, &batch, &kept, 1.0f);
    for (size_t i = 0; i < model->tensor_count; i++)
        good &= check_tensor(model, &batch, &model->tensors[i], &random);
    done_with_batch(&batches);
    free_batches(&batches);
    printf("gradients %s\n", good ? "agree" : "DISAGREE");
    return good;
}
