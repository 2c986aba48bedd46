# SPDX-License-Identifier: Apache-2.0
"""The fused cells of LSTM and GRU, which have kernels on CUDA alone, and their gradients.

The workspace is as the kernels leave it: for LSTM the four activated gates, for GRU the reset,
update and new gate, the old state, and the hidden part of the new gate.
"""
import torch


def _sum(gates, bias):
    gates = gates if gates.dtype == torch.float64 else gates.float()
    return gates if bias is None else gates + bias


def lstm(inputs, hidden, cell, input_bias=None, hidden_bias=None):
    gates = _sum(inputs, input_bias) + _sum(hidden, hidden_bias)
    i, f, g, o = gates.chunk(4, 1)
    i, f, g, o = i.sigmoid(), f.sigmoid(), g.tanh(), o.sigmoid()
    new = f * cell + i * g
    kind = cell.dtype
    return (o * new.tanh()).to(kind), new.to(kind), torch.cat([i, f, g, o], 1).to(kind)


def lstm_backward(grad_hidden, grad_cell, old, new, workspace, has_bias):
    i, f, g, o = _sum(workspace, None).chunk(4, 1)
    squashed = _sum(new, None).tanh()
    to_hidden = 0 if grad_hidden is None else grad_hidden
    to_cell = to_hidden * o * (1 - squashed * squashed)
    if grad_cell is not None:
        to_cell = to_cell + grad_cell
    gates = torch.cat([to_cell * g * i * (1 - i), to_cell * old * f * (1 - f),
                       to_cell * i * (1 - g * g), to_hidden * squashed * o * (1 - o)], 1)
    kind = workspace.dtype
    return gates.to(kind), (to_cell * f).to(kind), gates.sum(0).to(kind) if has_bias else None


def gru(inputs, hidden, state, input_bias=None, hidden_bias=None):
    ir, iz, new = _sum(inputs, input_bias).chunk(3, 1)
    hr, hz, hn = _sum(hidden, hidden_bias).chunk(3, 1)
    r, z = (ir + hr).sigmoid(), (iz + hz).sigmoid()
    n = (new + r * hn).tanh()
    result = n + z * (state - n)
    kind = state.dtype
    return result.to(kind), torch.cat([r, z, n, _sum(state, None), hn], 1).to(kind)


def gru_backward(grad, workspace, has_bias):
    r, z, n, state, hn = _sum(workspace, None).chunk(5, 1)
    to_new = grad * (1 - z) * (1 - n * n)
    to_update = grad * (state - n) * z * (1 - z)
    to_reset = to_new * hn * r * (1 - r)
    kind = workspace.dtype
    inputs = torch.cat([to_reset, to_update, to_new], 1).to(kind)
    hidden = torch.cat([to_reset, to_update, to_new * r], 1).to(kind)
    biases = (inputs.sum(0), hidden.sum(0)) if has_bias else (None, None)
    return (inputs, hidden, (grad * z).to(kind)) + biases


EQUIVALENTS = {
    "_thnn_fused_lstm_cell": lstm,
    "_thnn_fused_lstm_cell_backward_impl": lstm_backward,
    "_thnn_fused_gru_cell": gru,
    "_thnn_fused_gru_cell_backward": gru_backward,
}
