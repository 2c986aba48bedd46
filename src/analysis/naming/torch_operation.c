/* SPDX-License-Identifier: Apache-2.0
 *
 * An overload that begins with a capital letter ends the name; others are listed. */
#include "analysis/naming/naming.h"

#include <stdio.h>
#include <string.h>

#include "base/vs_text.h"

#define NAME_MAX_BYTES 96

/* Overloads with small letters, a longer one before those that it ends with. */
static const char *const overloads[] = {
    "_generator_with_names", "_low_generator", "_memory_format", "_dtype_layout", "_start_step",
    "_generator", "_start", "_names", "_dtype", "_device", "_other", "_dim", "_low", "_out",
    "_int", "_grad_input", "_using_ints", "_padding_idx", "_correction", "_tensor_lr", "_padding", "_output",
    "_stable", "_values", "_self", "_src", "_vec"};

/* Where the public name is not "torch." and the operation's, in the order of their names. */
static const struct {
    const char *operation, *public;
} names[] = {
    {"_conj_physical", "torch.conj"},
    {"_copy_from", "Tensor.copy_"},
    {"_convolution", "torch.convolution"},
    {"_embedding_bag", "nn.functional.embedding_bag"},
    {"_log_softmax", "torch.log_softmax"},
    {"_softmax", "torch.softmax"},
    {"_to_copy", "Tensor.to"},
    {"batch_norm", "nn.functional.batch_norm"},
    {"contiguous", "Tensor.contiguous"},
    {"cross_entropy_loss", "nn.functional.cross_entropy"},
    {"cudnn_batch_norm", "nn.functional.batch_norm"},
    {"cudnn_convolution", "torch.convolution"},
    {"dropout", "nn.functional.dropout"},
    {"embedding", "nn.functional.embedding"},
    {"expand", "Tensor.expand"},
    {"gelu", "nn.functional.gelu"},
    {"group_norm", "nn.functional.group_norm"},
    {"layer_norm", "nn.functional.layer_norm"},
    {"linear", "nn.functional.linear"},
    {"max_pool2d_with_indices", "nn.functional.max_pool2d"},
    {"mse_loss", "nn.functional.mse_loss"},
    {"native_batch_norm", "nn.functional.batch_norm"},
    {"native_dropout", "nn.functional.dropout"},
    {"native_group_norm", "nn.functional.group_norm"},
    {"native_layer_norm", "nn.functional.layer_norm"},
    {"nll_loss", "nn.functional.nll_loss"},
    {"nll_loss_nd", "nn.functional.nll_loss"},
    {"nll_loss_forward", "nn.functional.nll_loss"},
    {"one_hot", "nn.functional.one_hot"},
    {"pad", "nn.functional.pad"},
    {"repeat", "Tensor.repeat"},
    {"rms_norm", "nn.functional.rms_norm"},
    {"scaled_dot_product_attention", "nn.functional.scaled_dot_product_attention"},
    {"silu", "nn.functional.silu"},
    {"to", "Tensor.to"},
    {"type_as", "Tensor.type_as"},
};

/* The operation without its overload. */
static void cut_overload(char *name)
{
    size_t length = strlen(name);
    for (size_t i = 1; i + 1 < length; i++) {
        if (name[i] == '_' && name[i + 1] >= 'A' && name[i + 1] <= 'Z') {
            name[i] = 0;
            length = i;
        }
    }
    for (size_t i = 0; i < sizeof overloads / sizeof *overloads; i++) {
        size_t end = strlen(overloads[i]);
        if (length > end && strcmp(name + length - end, overloads[i]) == 0) {
            name[length - end] = 0;
            length -= end;
        }
    }
}

/* The operation that *function* implements, without its overload; false if it is none. */
static bool read_operation(const char *function, char name[NAME_MAX_BYTES])
{
    static const char prefix[] = "at::_ops::";
    if (!vs_text_begins(function, prefix))
        return false;
    function += sizeof prefix - 1;
    size_t length = strcspn(function, ":(");
    if (!length || length >= NAME_MAX_BYTES)
        return false;
    memcpy(name, function, length);
    name[length] = 0;
    cut_overload(name);
    return true;
}

bool vs_torch_record(const char *function, const char *python, char *out, size_t size)
{
    static const char generated[] = "torch::autograd::generated::", hidden[] = "(anonymous namespace)::";
    char name[NAME_MAX_BYTES];
    if (read_operation(function, name))
        return snprintf(out, size, "aten::%s", name) > 0;
    const char *apply = strstr(function, "::apply("), *dot = strrchr(python, '.'), *class = dot;
    while (class && class > python && class[-1] != '.')
        class--;
    function += vs_text_begins(function, hidden) ? sizeof hidden - 1 : 0;
    if (vs_text_begins(function, "THPFunction_apply(") && dot && strcmp(dot, ".forward") == 0)
        return snprintf(out, size, "%.*s", (int)(dot - class), class) > 0;
    if (!vs_text_begins(function, "torch::autograd::") || !apply || strcspn(function, "(< ") < (size_t)(apply - function))
        return false;
    if (vs_text_begins(function, "torch::autograd::PyNode::") && dot && strcmp(dot, ".backward") == 0)
        return snprintf(out, size, "%.*sBackward", (int)(dot - class), class) > 0;
    function += vs_text_begins(function, generated) ? sizeof generated - 1 : 0;
    return snprintf(out, size, "%.*s", (int)(apply - function), function) > 0;
}

bool vs_torch_operation(const char *function, char *out, size_t size)
{
    char name[NAME_MAX_BYTES];
    if (!read_operation(function, name))
        return false;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (strcmp(names[i].operation, name) == 0) {
            snprintf(out, size, "%s", names[i].public);
            return true;
        }
    }
    if (vs_text_begins(name, "_scaled_dot_product_"))
        snprintf(out, size, "nn.functional.scaled_dot_product_attention");
    else if (vs_text_begins(name, "new_") || (name[0] != '_' && name[strlen(name) - 1] == '_'))
        snprintf(out, size, "Tensor.%s", name); /* a method; those that end with _ work in place */
    else
        snprintf(out, size, "torch.%s", name);
    return true;
}
