/* SPDX-License-Identifier: Apache-2.0
 *
 * The public name of an operation of PyTorch, from the C++ function that implements it: an operation
 * is at::_ops::NAME_OVERLOAD, with the overload's name of PyTorch's native_functions.yaml. No state. */
#ifndef VS_TORCH_OPERATION_H
#define VS_TORCH_OPERATION_H

#include <stdbool.h>
#include <stddef.h>

/* vs_torch_operation: "torch.empty" for "at::_ops::empty_memory_format::call(…)", "Tensor.to" for
 * "at::_ops::_to_copy::redispatch(…)", in *out* (*size* bytes); false, and *out* unchanged, for a
 * function that is not an operation. */
bool vs_torch_operation(const char *function, char *out, size_t size);

#endif
