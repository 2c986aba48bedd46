/* SPDX-License-Identifier: Apache-2.0
 *
 * The kinds of a training program's tensors: what a person calls parameters, gradients, activations
 * and so on. docs/internals/kinds.md says by which rules a block gets its kind. */
#ifndef VS_KIND_H
#define VS_KIND_H

#include <stdint.h>

enum vs_kind {
    VS_KIND_PARAMETERS = 0, /* with the buffers of modules */
    VS_KIND_GRADIENTS,
    VS_KIND_OPTIMIZER_STATE,
    VS_KIND_ACTIVATIONS, /* made by the forward pass and still needed when backward begins */
    VS_KIND_INPUTS,
    VS_KIND_TEMPORARIES,
    VS_KIND_WORKSPACES, /* scratch memory of cuBLAS, cuDNN and similar libraries */
    VS_KIND_OTHER,
    VS_KIND_UNKNOWN, /* recorded without the frames that tell */
    VS_KIND_COUNT
};

/* vs_kind_name: "parameters", "optimizer state", …; "unknown" outside. Static storage. */
const char *vs_kind_name(enum vs_kind kind);

/* vs_kind_key: the same as a member of JSON: "optimizer_state". */
const char *vs_kind_key(enum vs_kind kind);

struct vs_kind_sum {
    uint64_t bytes, count; /* of live blocks */
};

#endif
