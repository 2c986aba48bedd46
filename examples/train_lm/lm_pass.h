/* SPDX-License-Identifier: Apache-2.0
 *
 * The forward and the backward pass. Activations are allocated where they are
 * computed and freed where they are used for the last time, so that device
 * memory rises through the forward pass and falls through the backward one. */
#ifndef LM_PASS_H
#define LM_PASS_H

#include "lm_batches.h"
#include "lm_model.h"

/* Activations that one block keeps for its backward pass; NULL if not kept. */
struct lm_block_saved {
    void *input;
    float *mean1, *rstd1;
    void *norm1, *qkv, *probs, *mixed;
    void *middle; /* after the attention's residual */
    float *mean2, *rstd2;
    void *norm2, *hidden, *active;
};

/* The activations of one forward pass. */
struct lm_activations {
    struct lm_block_saved *blocks; /* one per layer */
    void *output;                  /* of the last block */
    float *mean, *rstd;            /* of the final norm */
    void *normed;
    void *logits; /* [rows][vocabulary] */
};

/* Runs the model on *batch* and stores the activations for backward_pass in *kept*,
 * including the logits. */
void forward_pass(const struct lm_model *model, const struct lm_batch *batch,
                  struct lm_activations *kept);

/* Adds scale * the mean loss of the batch to *total* (device memory). */
void loss_forward(const struct lm_model *model, const struct lm_batch *batch,
                  const struct lm_activations *kept, float scale, float *total);

/* Adds the gradients of scale * the mean loss to those of the parameters, and
 * frees everything in *kept*. */
void backward_pass(const struct lm_model *model, const struct lm_batch *batch,
                   struct lm_activations *kept, float scale);

/* Frees the activations of a forward pass without a backward pass. */
void discard_activations(const struct lm_model *model, struct lm_activations *kept);

/* For lm_forward.c and lm_backward.c. block_forward: computes one block from
 * saved->input, fills in the rest of *saved* and returns the block's output, or
 * NULL if *want_output* is 0. */
void *block_forward(const struct lm_model *model, size_t layer, struct lm_block_saved *saved,
                    int want_output);
void free_block_internals(struct lm_block_saved *saved);

/* Rows of the activations, and bytes of *per_row* elements for each. */
size_t lm_rows(const struct lm_model *model);
size_t lm_activation_bytes(const struct lm_model *model, size_t per_row);

#endif
