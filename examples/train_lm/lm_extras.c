/* SPDX-License-Identifier: Apache-2.0
 *
 * See lm_extras.h. */
#include "lm_extras.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static size_t logits_bytes(const struct lm_model *model)
{
    return lm_activation_bytes(model, model->shape.vocabulary);
}

static void copy_logits(const struct lm_model *model, const struct lm_activations *kept,
                        void *buffer, size_t bytes)
{
    size_t all = logits_bytes(model);
    LM_CUDA(cudaMemcpyAsync(buffer, kept->logits, bytes < all ? bytes : all,
                            cudaMemcpyDeviceToDevice, lm_compute_stream()));
}

void keep_for_debugging(const struct lm_model *model, const struct lm_activations *kept,
                        size_t bytes)
{
    void *copy = device_alloc("a kept copy of the logits", bytes);
    copy_logits(model, kept, copy, bytes);
}

/* A batch of the text's first sequences, one after the other (again from the
 * start where the text is too short for all). The caller frees ids. */
static struct lm_batch first_sequences(const struct lm_model *model, const struct lm_text *text)
{
    size_t rows = lm_rows(model), context = model->shape.context;
    size_t sequences = (text->length - 1) / context;
    int *host = host_alloc(2 * rows, sizeof *host);
    for (size_t r = 0; r < rows; r++) {
        size_t at = r / context % sequences * context + r % context;
        host[r] = text->ids[at];
        host[rows + r] = text->ids[at + 1];
    }
    int *device = device_alloc("evaluation batch", 2 * rows * sizeof *device);
    copy_to_device(device, host, 2 * rows * sizeof *host);
    free(host);
    return (struct lm_batch){.ids = device, .targets = device + rows};
}

void evaluate_full_context(const struct lm_model *model, const struct lm_text *text, size_t bytes,
                           long step)
{
    char size[32];
    if (bytes == 0)
        bytes = text->length * model->shape.vocabulary * lm_type_bytes(model->type);
    struct lm_batch batch = first_sequences(model, text);
    struct lm_activations kept;
    forward_pass(model, &batch, &kept);
    void *all_logits = device_alloc("the logits of the whole text", bytes);
    copy_logits(model, &kept, all_logits, bytes);
    float *total = device_alloc("evaluation loss", sizeof *total), loss;
    device_zero(total, sizeof *total);
    loss_forward(model, &batch, &kept, 1.0f, total);
    copy_to_host(&loss, total, sizeof loss);
    device_free(total);
    device_free(all_logits);
    discard_activations(model, &kept);
    device_free((void *)batch.ids);
    printf("step %4ld  evaluation loss %.4f (with a buffer of %s)\n", step, loss,
           lm_format_bytes(bytes, size, sizeof size));
}

/* --- sample --------------------------------------------------------------- */

/* Draws an id with probability softmax(logits / 0.8). */
static int draw(const float *logits, int vocabulary, struct lm_random *random)
{
    const double temperature = 0.8;
    double weights[256], top = logits[0], sum = 0.0;
    for (int v = 1; v < vocabulary; v++)
        top = logits[v] > top ? logits[v] : top;
    for (int v = 0; v < vocabulary; v++)
        sum += weights[v] = exp((logits[v] - top) / temperature);
    double mark = lm_random_uniform(random) * sum;
    for (int v = 0; v < vocabulary; v++) {
        mark -= weights[v];
        if (mark < 0.0)
            return v;
    }
    return vocabulary - 1;
}

/* The logits of row *row*, as float. */
static void fetch_logits(const struct lm_model *model, const struct lm_activations *kept,
                         size_t row, float *logits)
{
    size_t count = model->shape.vocabulary, bytes = count * lm_type_bytes(model->type);
    unsigned char raw[256 * sizeof(float)];
    copy_to_host(raw, (const char *)kept->logits + row * bytes, bytes);
    for (size_t v = 0; v < count; v++) {
        union {
            unsigned bits;
            float value;
        } u;
        if (model->type == LM_BF16)
            u.bits = (unsigned)((unsigned short *)(void *)raw)[v] << 16;
        else
            u.value = ((float *)(void *)raw)[v];
        logits[v] = u.value;
    }
}

void write_sample(const struct lm_model *model, const struct lm_text *text, long count,
                  uint64_t seed)
{
    struct lm_model one = *model;
    one.shape.batch = 1;
    size_t context = one.shape.context, filled = context / 2 ? context / 2 : 1;
    struct lm_random random = {.state = seed ^ 0x73616d706c65u};
    int *window = host_alloc(context, sizeof *window);
    int *ids = device_alloc("sample window", context * sizeof *ids);
    float logits[256];

    for (size_t t = 0; t < context; t++)
        window[t] = text->ids[t];
    for (long n = 0; n < count; n++) {
        /* what follows the filled part is there, but a causal model does not see it */
        copy_to_device(ids, window, context * sizeof *ids);
        struct lm_batch batch = {.ids = ids};
        struct lm_activations kept;
        forward_pass(&one, &batch, &kept);
        fetch_logits(&one, &kept, filled - 1, logits);
        discard_activations(&one, &kept);
        int next = draw(logits, text->vocabulary, &random);
        putchar(text->characters[next]);
        if (filled == context) {
            for (size_t t = 1; t < context; t++)
                window[t - 1] = window[t];
            filled--;
        }
        window[filled++] = next;
    }
    putchar('\n');
    device_free(ids);
    free(window);
}
