/* SPDX-License-Identifier: Apache-2.0
 *
 * The memory of a training step (or of inference) of a transformer, computed from its shape: no
 * program is run. The figures are those of PyTorch's eager mode: which tensors autograd saves, and
 * which temporaries the loss and the optimizer make. docs/estimate.md derives them and compares
 * them with programs. Pure; any thread. */
#ifndef VS_MODEL_MEMORY_H
#define VS_MODEL_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum vs_model_optimizer {
    VS_OPTIMIZER_ADAMW,    /* and Adam: two states */
    VS_OPTIMIZER_ADAM8BIT, /* two states of a byte each */
    VS_OPTIMIZER_MOMENTUM, /* SGD with momentum, Lion: one state */
    VS_OPTIMIZER_SGD,      /* none */
};

enum vs_model_checkpointing {
    VS_CHECKPOINT_NONE,
    VS_CHECKPOINT_SELECTIVE, /* attention scores are computed again */
    VS_CHECKPOINT_FULL,      /* of each layer only its input is kept */
};

/* Zero: unknown or off. Sizes of types in bytes. */
struct vs_model {
    uint64_t parameters; /* 0: from the shape */
    uint64_t trainable;  /* 0: all */
    uint64_t layers, width, heads, kv_heads, ffn, vocab;
    bool gated;          /* SwiGLU: three matrices instead of two */
    bool tied;           /* the output layer shares the embedding's weights */
    bool half;           /* parameters in 16 bits */
    bool autocast;       /* 32-bit parameters, 16-bit matrix products */
    bool master;         /* 16-bit parameters, with a copy and states in 32 bits */
    enum vs_model_optimizer optimizer;
    bool fused;          /* the optimizer makes no temporaries */
    unsigned zero;       /* ZeRO stage 0..3; 3 is also FSDP's full sharding */
    uint64_t gpus;       /* that share the model, from 1 */
    uint64_t batch, sequence; /* of one GPU */
    bool math_attention; /* the scores are in memory; otherwise flash attention */
    bool dropout;
    enum vs_model_checkpointing checkpointing;
    bool inference;      /* no gradients; a KV cache for the whole sequence */
};

enum vs_estimate_part {
    VS_PART_PARAMETERS,
    VS_PART_GRADIENTS,
    VS_PART_OPTIMIZER,
    VS_PART_ACTIVATIONS, /* inference: the KV cache */
    VS_PART_LOSS,        /* logits, and what the loss makes of them */
    VS_PART_TEMPORARIES, /* of the optimizer; gathered and recomputed layers */
    VS_PART_COUNT
};

enum vs_estimate_point { VS_POINT_FORWARD, VS_POINT_BACKWARD, VS_POINT_OPTIMIZER, VS_POINT_COUNT };

struct vs_estimate {
    uint64_t parameters, trainable; /* used */
    uint64_t shape_parameters;      /* by the shape; 0: not given */
    bool has_activations;           /* the shape, batch and sequence are known */
    /* the highest instant of each part of a step */
    uint64_t bytes[VS_POINT_COUNT][VS_PART_COUNT], total[VS_POINT_COUNT];
    enum vs_estimate_point peak;
};

/* vs_model_shape_parameters: parameters of a transformer of this shape, without biases; 0 if layers
 * or width are unknown. */
uint64_t vs_model_shape_parameters(const struct vs_model *model);

/* vs_model_memory: bytes per GPU. Needs parameters or a shape. Saturates at UINT64_MAX. */
void vs_model_memory(const struct vs_model *model, struct vs_estimate *out);

/* vs_model_largest: the largest batch (*sequence*: sequence length) for which the peak is at most
 * *bytes*; 0 if not even 1 is. The model's own value is ignored. */
uint64_t vs_model_largest(const struct vs_model *model, bool sequence, uint64_t bytes);

#endif
