/* SPDX-License-Identifier: Apache-2.0
 *
 * train_lm: trains a small character-level transformer on one GPU. The loop is
 * that of any training program: fetch a batch, forward, backward, optimizer.
 * Output on stdout is the same in every run with the same options; times are printed on
 * stderr. */
#include "lm_extras.h"

#include <math.h>
#include <nvtx3/nvToolsExt.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

struct trainer {
    const struct lm_options *options;
    struct lm_text text;
    struct lm_model model;
    struct lm_batches batches;
    float *loss;   /* device: the loss of the step in progress */
    float *losses; /* pinned: the loss of every step */
};

static double seconds_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void begin_phase(long step, const char *phase)
{
    lm_device_set_phase(step, phase);
    nvtxRangePushA(phase);
}

static void end_phase(void)
{
    nvtxRangePop();
}

/* Forward and backward over one part of the batch. */
static void train_part(struct trainer *t, long step, int is_last)
{
    float scale = 1.0f / (float)t->options->accumulate;
    struct lm_batch batch = next_batch(&t->batches);
    struct lm_activations kept;

    begin_phase(step, "forward");
    forward_pass(&t->model, &batch, &kept);
    loss_forward(&t->model, &batch, &kept, scale, t->loss);
    if (t->options->leak_bytes && is_last)
        keep_for_debugging(&t->model, &kept, t->options->leak_bytes);
    end_phase();

    begin_phase(step, "backward");
    backward_pass(&t->model, &batch, &kept, scale);
    done_with_batch(&t->batches);
    end_phase();
}

/* The rate rises over the first ten steps. */
static double rate_at(const struct lm_options *o, long step)
{
    return step < 10 ? o->rate * (double)step / 10.0 : o->rate;
}

static void train_step(struct trainer *t, long step)
{
    const struct lm_options *o = t->options;
    char name[32];
    snprintf(name, sizeof name, "step %ld", step);
    nvtxRangePushA(name);

    lm_model_zero_gradients(&t->model);
    device_zero(t->loss, sizeof *t->loss);
    for (long part = 0; part < o->accumulate; part++)
        train_part(t, step, part == o->accumulate - 1);

    begin_phase(step, "optimizer");
    lm_model_step(&t->model, o->optimizer, rate_at(o, step), step);
    LM_CUDA(cudaMemcpyAsync(&t->losses[step - 1], t->loss, sizeof *t->loss, cudaMemcpyDeviceToHost,
                            lm_compute_stream()));
    end_phase();
    nvtxRangePop();

    if (o->spike && step == (o->steps + 1) / 2) {
        begin_phase(step, "evaluation");
        evaluate_full_context(&t->model, &t->text, o->spike_bytes, step);
        end_phase();
    }
}

static void print_loss(const struct trainer *t, long step)
{
    LM_CUDA(cudaStreamSynchronize(lm_compute_stream()));
    float loss = t->losses[step - 1];
    if (!isfinite(loss)) {
        fprintf(stderr, "train_lm: the loss at step %ld is not a number; try a smaller "
                        "--learning-rate\n", step);
        exit(1);
    }
    printf("step %4ld  loss %.4f\n", step, loss);
    fflush(stdout);
}

static void train(struct trainer *t)
{
    const struct lm_options *o = t->options;
    long every = o->steps < 10 ? 1 : o->steps / 10;
    double start = seconds_now();
    for (long step = 1; step <= o->steps; step++) {
        train_step(t, step);
        if (step == 1 || step % every == 0 || step == o->steps)
            print_loss(t, step);
    }
    lm_device_set_phase(0, "after training");
    double first = t->losses[0], final = t->losses[o->steps - 1], took = seconds_now() - start;
    printf("final loss %.4f (first %.4f, fell by %.1f %%)\n", final, first,
           100.0 * (first - final) / first);
    fprintf(stderr, "train_lm: %ld steps in %.2f s, %.1f ms a step\n", o->steps, took,
            1000.0 * took / (double)o->steps);
}

static void print_model(const struct trainer *t)
{
    const struct lm_options *o = t->options;
    printf("model: %zu parameters, %ld layers, width %ld, %ld heads, context %ld, vocabulary %d\n",
           lm_model_parameters(&t->model), o->layers, o->width, o->heads, o->context,
           t->text.vocabulary);
    printf("training: %ld steps of %ld sequences in %ld part%s, %s, %s%s, text of %zu characters\n",
           o->steps, o->batch, o->accumulate, o->accumulate == 1 ? "" : "s",
           o->optimizer == LM_ADAM ? "adam" : "sgd", o->type == LM_BF16 ? "bf16" : "fp32",
           o->checkpoint ? ", checkpointing" : "", t->text.length);
}

static void print_tally(void)
{
    struct lm_tally tally = lm_device_tally();
    printf("selfcheck: peak requested device bytes %zu, allocations %lu, frees %lu, "
           "live at end %zu\n",
           tally.peak_bytes, tally.allocations, tally.frees, tally.live_bytes);
}

static void trainer_create(struct trainer *t, const struct lm_options *o)
{
    t->options = o;
    lm_text_load(&t->text, o->data, (size_t)o->context + 1);
    lm_device_open();
    lm_device_set_phase(0, "setup");
    nvtxRangePushA("setup");
    lm_model_create(&t->model, o, t->text.vocabulary);
    alloc_batches(&t->batches, &t->text, t->model.shape.batch, t->model.shape.context, o->seed);
    t->loss = device_alloc("loss", sizeof *t->loss);
    t->losses = pinned_alloc("losses", (size_t)o->steps * sizeof *t->losses);
    nvtxRangePop();
}

static void trainer_free(struct trainer *t)
{
    pinned_free(t->losses);
    device_free(t->loss);
    free_batches(&t->batches);
    lm_model_free(&t->model);
    lm_device_close();
    lm_text_free(&t->text);
}

int main(int argc, char **argv)
{
    struct lm_options options;
    struct trainer t;
    int good = 1;

    lm_options_parse(&options, argc, argv);
    trainer_create(&t, &options);
    print_model(&t);
    if (options.gradcheck)
        good = check_gradients(&t.model, &t.text, options.seed);
    else
        train(&t);
    if (options.sample > 0)
        write_sample(&t.model, &t.text, options.sample, options.seed);
    trainer_free(&t);
    if (options.selfcheck)
        print_tally();
    return good ? 0 : 1;
}
