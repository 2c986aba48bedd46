# SPDX-License-Identifier: Apache-2.0
"""Attention on the CPU, in place of CUDA's fused kernels and with their results.

Computed as it is written in a textbook, in float32. Dropout is left out: which elements a device
drops is not known. The logsumexp of the memory-efficient kernel has its rows padded to 32.
"""
import torch

_ROWS = 32


def _scale(query, scale):
    return query.size(-1) ** -0.5 if scale is None else scale


def _repeated(x, heads):
    """Heads of keys or values, repeated for grouped queries."""
    return x if x.size(1) == heads else x.repeat_interleave(heads // x.size(1), 1)


def _scores(query, key, bias, causal, scale):
    scores = query.float() @ _repeated(key.float(), query.size(1)).transpose(-2, -1)
    scores = scores * _scale(query, scale)
    if bias is not None:
        scores = scores + bias
    if causal:
        allowed = torch._VF.ones(scores.shape[-2:], dtype=torch.bool, device="cpu").tril()
        scores = scores.masked_fill(~allowed, float("-inf"))
    return scores


def _forward(query, key, value, bias, causal, scale):
    scores = _scores(query, key, bias, causal, scale)
    output = torch.softmax(scores, -1) @ _repeated(value.float(), query.size(1))
    return output.to(query.dtype), torch.logsumexp(scores, -1)


def _grouped(gradient, like):
    """The sum over the queries' heads that share a head of *like*."""
    if gradient.size(1) != like.size(1):
        gradient = gradient.unflatten(1, (like.size(1), -1)).sum(2)
    return gradient.to(like.dtype)


def _backward(grad, query, key, value, bias, causal, scale):
    heads = query.size(1)
    weights = torch.softmax(_scores(query, key, bias, causal, scale), -1)
    grad, k, v = grad.float(), _repeated(key.float(), heads), _repeated(value.float(), heads)
    to_weights = grad @ v.transpose(-2, -1)
    to_scores = weights * (to_weights - (to_weights * weights).sum(-1, keepdim=True))
    scaled = to_scores * _scale(query, scale)
    return ((scaled @ k).to(query.dtype), _grouped(scaled.transpose(-2, -1) @ query.float(), key),
            _grouped(weights.transpose(-2, -1) @ grad, value), to_scores)


def flash(query, key, value, dropout=0.0, causal=False, return_mask=False, *, scale=None):
    return _forward(query, key, value, None, causal, scale)


def efficient(query, key, value, bias, wants_lse, dropout=0.0, causal=False, *, scale=None):
    output, lse = _forward(query, key, value, bias, causal, scale)
    if not wants_lse:
        return output, torch._VF.empty(lse.shape[0], lse.shape[1], 0, device="cpu")
    missing = -lse.size(-1) % _ROWS
    return output, torch.nn.functional.pad(lse, (0, missing), value=float("inf"))


def cudnn(query, key, value, bias, wants_lse, dropout=0.0, causal=False, return_mask=False, *,
          scale=None):
    output, lse = _forward(query, key, value, bias, causal, scale)
    return output, lse.unsqueeze(-1)


def flash_backward(grad, query, key, value, output, lse, cum_q, cum_k, max_q, max_k, dropout,
                   causal, seed, offset, *, scale=None):
    return _backward(grad, query, key, value, None, causal, scale)[:3]


def efficient_backward(grad, query, key, value, bias, output, lse, seed, offset, dropout, wanted,
                       causal=False, *, scale=None):
    q, k, v, to_scores = _backward(grad, query, key, value, bias, causal, scale)
    to_bias = None
    if bias is not None and wanted[3]:
        to_bias = to_scores.sum_to_size(bias.shape).to(bias.dtype)
    return q, k, v, to_bias


def cudnn_backward(grad, query, key, value, output, lse, seed, offset, bias, cum_q, cum_k, max_q,
                   max_k, dropout, causal, *, scale=None):
    return _backward(grad, query, key, value, bias, causal, scale)[:3]


EQUIVALENTS = {
    "_scaled_dot_product_flash_attention": flash,
    "_scaled_dot_product_efficient_attention": efficient,
    "_scaled_dot_product_cudnn_attention": cudnn,
    "_scaled_dot_product_flash_attention_backward": flash_backward,
    "_scaled_dot_product_efficient_attention_backward": efficient_backward,
    "_scaled_dot_product_cudnn_attention_backward": cudnn_backward,
}
