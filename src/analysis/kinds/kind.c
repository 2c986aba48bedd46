/* SPDX-License-Identifier: Apache-2.0
 *
 * See the header. */
#include "analysis/kinds/kind.h"

const char *vs_kind_name(enum vs_kind kind)
{
    static const char *const names[VS_KIND_COUNT] = {
        [VS_KIND_PARAMETERS] = "parameters", [VS_KIND_GRADIENTS] = "gradients",
        [VS_KIND_OPTIMIZER_STATE] = "optimizer state", [VS_KIND_ACTIVATIONS] = "activations",
        [VS_KIND_INPUTS] = "inputs", [VS_KIND_TEMPORARIES] = "temporaries",
        [VS_KIND_WORKSPACES] = "workspaces", [VS_KIND_OTHER] = "other",
        [VS_KIND_UNKNOWN] = "unknown"};
    return (unsigned)kind < VS_KIND_COUNT ? names[kind] : "unknown";
}

const char *vs_kind_key(enum vs_kind kind)
{
    return kind == VS_KIND_OPTIMIZER_STATE ? "optimizer_state" : vs_kind_name(kind);
}
