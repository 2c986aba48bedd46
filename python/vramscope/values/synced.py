# SPDX-License-Identifier: Apache-2.0
"""Batch normalisation over several processes (SyncBatchNorm), which has kernels on CUDA alone.

Statistics are per channel, dimension 1, in float32 or wider. The gather operations also update the
running statistics in place, which their schema does not say.
"""
import torch


def _wide(x):
    return x if x.dtype == torch.float64 else x.float()


def _others(x):
    """All dimensions but the channels'."""
    return [d for d in range(x.dim()) if d != 1]


def _along(vector, x):
    """One number per channel, shaped to go with *x*."""
    return vector.view([-1 if d == 1 else 1 for d in range(x.dim())])


def stats(x, epsilon):
    variance, mean = torch.var_mean(_wide(x), _others(x), correction=0)
    return mean, (variance + epsilon).rsqrt()


def _update(running, value, momentum):
    if running is not None:
        running.copy_(running * (1 - momentum) + value * momentum)


def gather_stats_with_counts(x, mean, invstd, running_mean, running_var, momentum, epsilon, counts):
    counts = counts.view(-1, 1).to(mean.dtype)
    total = counts.sum()
    merged = (mean * counts).sum(0) / total
    variances = invstd.pow(-2) - epsilon
    squares = ((variances + (mean - merged).square()) * counts).sum(0)
    _update(running_mean, merged, momentum)
    _update(running_var, squares / (total - 1), momentum)
    return merged, (squares / total + epsilon).rsqrt()


def gather_stats(x, mean, invstd, running_mean, running_var, momentum, epsilon, count):
    counts = torch._VF.full((mean.size(0),), float(count), device="cpu")
    return gather_stats_with_counts(x, mean, invstd, running_mean, running_var, momentum, epsilon,
                                    counts)


def elemt(x, weight, bias, mean, invstd, epsilon, *, out=None):
    result = (_wide(x) - _along(mean, x)) * _along(invstd, x)
    if weight is not None:
        result = result * _along(weight, x)
    if bias is not None:
        result = result + _along(bias, x)
    return result.to(x.dtype) if out is None else out.copy_(result)


def backward_reduce(grad, x, mean, invstd, weight, for_input, for_weight, for_bias):
    grad = _wide(grad)
    total = grad.sum(_others(x))
    product = (grad * (_wide(x) - _along(mean, x))).sum(_others(x))
    kind = mean.dtype if weight is None else weight.dtype
    return (total if for_input else None, product if for_input else None,
            (product * invstd).to(kind) if for_weight else None,
            total.to(kind) if for_bias else None)


def backward_elemt(grad, x, mean, invstd, weight, total, product, counts):
    count = counts.sum()
    centred = (_wide(x) - _along(mean, x)) * _along(invstd.square() * product / count, x)
    result = (_wide(grad) - _along(total / count, x) - centred) * _along(invstd, x)
    if weight is not None:
        result = result * _along(weight, x)
    return result.to(x.dtype)


EQUIVALENTS = {
    "batch_norm_stats": stats,
    "batch_norm_gather_stats": gather_stats,
    "batch_norm_gather_stats_with_counts": gather_stats_with_counts,
    "batch_norm_elemt": elemt,
    "batch_norm_backward_reduce": backward_reduce,
    "batch_norm_backward_elemt": backward_elemt,
}
