/* SPDX-License-Identifier: Apache-2.0
 *
 * The model's parameters with their gradients, optimizer state and, with bf16, the working
 * copy for the matrix products. Each tensor has its own buffer, allocated once. */
#ifndef LM_MODEL_H
#define LM_MODEL_H

#include "lm_ops.h"
#include "lm_options.h"

/* The parameters of one block. Weights are matrices, stored
 * [outputs][inputs]; gains and biases are vectors. */
enum lm_block_tensor {
    LM_NORM1_GAIN,
    LM_NORM1_BIAS,
    LM_QKV_WEIGHT,
    LM_QKV_BIAS,
    LM_MIX_WEIGHT, /* output projection of the attention */
    LM_MIX_BIAS,
    LM_NORM2_GAIN,
    LM_NORM2_BIAS,
    LM_UP_WEIGHT, /* MLP: width to 4 width */
    LM_UP_BIAS,
    LM_DOWN_WEIGHT, /* and back */
    LM_DOWN_BIAS,
    LM_BLOCK_TENSORS
};

/* The parameters outside the blocks. */
enum lm_top_tensor {
    LM_TOKENS,
    LM_POSITIONS,
    LM_FINAL_GAIN,
    LM_FINAL_BIAS,
    LM_HEAD_WEIGHT,
    LM_TOP_TENSORS
};

struct lm_tensor {
    char name[32];
    size_t count;
    int is_matrix;
    float deviation, mean; /* of the initial values */
    float *master;         /* fp32 */
    void *working;         /* what kernels read: master, or its bf16 copy (matrices) */
    float *grad;
    float *first, *second; /* Adam's moments; NULL with SGD */
};

struct lm_model {
    struct lm_shape shape; /* batch: sequences of one forward pass */
    size_t layers;
    int type; /* enum lm_type of activations and working matrices */
    int checkpoint;
    size_t tensor_count;
    struct lm_tensor *tensors; /* LM_TOP_TENSORS, then LM_BLOCK_TENSORS per layer */
};

/* Allocates everything that lives as long as the model and sets the initial
 * parameters from the options' seed. */
void lm_model_create(struct lm_model *model, const struct lm_options *options, int vocabulary);
void lm_model_free(struct lm_model *model);

struct lm_tensor *lm_model_top(const struct lm_model *model, enum lm_top_tensor which);
struct lm_tensor *lm_model_block(const struct lm_model *model, size_t layer,
                                 enum lm_block_tensor which);

/* The number of parameters. */
size_t lm_model_parameters(const struct lm_model *model);

/* Sets all gradients to zero. */
void lm_model_zero_gradients(struct lm_model *model);

/* One optimizer step over all tensors. *step* counts from 1. */
void lm_model_step(struct lm_model *model, enum lm_optimizer optimizer, double rate, long step);

#endif
