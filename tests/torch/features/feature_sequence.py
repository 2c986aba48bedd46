# SPDX-License-Identifier: Apache-2.0
"""Recurrent networks, CTC and attention."""
import torch
import torch.nn.functional as F
from torch import nn
from torch.nn.attention import SDPBackend, sdpa_kernel

from feature_case import alike_gradients, check, feature, features, leaf, same_gradients


def recurrent(model):
    model.flatten_parameters()
    alike_gradients(lambda m, x: m(x), model, leaf(7, 3, 12))


features({
    "LSTM": lambda: recurrent(nn.LSTM(12, 16, num_layers=2, dropout=0.1)),
    "GRU": lambda: recurrent(nn.GRU(12, 16)),
    "RNN tanh and relu": lambda: (
        recurrent(nn.RNN(12, 16)),
        recurrent(nn.RNN(12, 16, nonlinearity="relu"))),
    "LSTM, bidirectional": lambda: recurrent(nn.LSTM(12, 16, bidirectional=True)),
    "LSTM with projection": lambda: recurrent(nn.LSTM(12, 16, proj_size=8)),
    "LSTMCell and GRUCell": lambda: (
        same_gradients(lambda m, x: m(x), nn.LSTMCell(6, 8), leaf(3, 6)),
        same_gradients(lambda m, x: m(x), nn.GRUCell(6, 8), leaf(3, 6))),
    "attention, flash": lambda: attention(SDPBackend.FLASH_ATTENTION),
    "attention, memory efficient": lambda: (
        attention(SDPBackend.EFFICIENT_ATTENTION),
        attention(SDPBackend.EFFICIENT_ATTENTION, torch.float32)),
    "attention, cuDNN": lambda: attention(SDPBackend.CUDNN_ATTENTION),
})


@feature("LSTM, float16 and packed sequences")
def lstm_packed():
    model = nn.LSTM(12, 16, batch_first=True).cuda()
    with torch.autocast("cuda", dtype=torch.float16):
        packed = nn.utils.rnn.pack_padded_sequence(
            torch.randn(3, 7, 12, device="cuda"), torch.tensor([7, 5, 2]), batch_first=True)
        out, lengths = nn.utils.rnn.pad_packed_sequence(model(packed)[0], batch_first=True)
    check(out.shape == (3, 7, 16), f"shape {tuple(out.shape)}")
    check(lengths.tolist() == [7, 5, 2], "lengths")
    out.float().sum().backward()


@feature("LSTM, inference")
def lstm_inference():
    model = nn.LSTM(12, 16).cuda().eval()
    with torch.inference_mode():
        out, (h, c) = model(torch.randn(7, 3, 12, device="cuda"))
    check(out.shape == (7, 3, 16) and h.shape == c.shape == (1, 3, 16), "shapes")


@feature("CTC loss")
def ctc_loss():
    def loss(x, targets):
        return F.ctc_loss(x.log_softmax(2), targets, torch.tensor([20, 20], device=x.device),
                          torch.tensor([5, 4], device=x.device))
    same_gradients(loss, leaf(20, 2, 8), torch.randint(1, 8, (2, 5)))


@feature("CTC loss of cuDNN")
def ctc_loss_cudnn():
    x = torch.randn(20, 2, 8, device="cuda")
    loss, gradient = torch.ops.aten._cudnn_ctc_loss(
        x.log_softmax(2), torch.randint(1, 8, (9,), dtype=torch.int32), [20, 20], [5, 4], 0, False, True)
    torch.cuda.synchronize()
    check(loss.shape == (2,) and gradient.shape == x.shape, "shapes")


def attention(backend, dtype=torch.bfloat16):
    q, k, v = (torch.randn(2, 4, 64, 64, device="cuda", dtype=dtype, requires_grad=True)
               for _ in range(3))
    with sdpa_kernel(backend):
        out = F.scaled_dot_product_attention(q, k, v, is_causal=True)
    check(out.shape == q.shape and out.dtype == dtype, "shape and type")
    out.backward(out)
    check(q.grad.shape == k.grad.shape == v.grad.shape == q.shape, "shapes of the gradients")


@feature("attention, math")
def attention_math():
    def math(q, k, v):
        with sdpa_kernel(SDPBackend.MATH):
            return F.scaled_dot_product_attention(q, k, v, is_causal=True)
    same_gradients(math, leaf(2, 2, 8, 16), leaf(2, 2, 8, 16), leaf(2, 2, 8, 16))


@feature("attention, grouped queries and mask")
def attention_mask():
    q = torch.randn(2, 8, 32, 64, device="cuda", dtype=torch.bfloat16, requires_grad=True)
    k = torch.randn(2, 2, 32, 64, device="cuda", dtype=torch.bfloat16)
    F.scaled_dot_product_attention(q, k, k, is_causal=True, enable_gqa=True).sum().backward()
    mask = torch.zeros(2, 1, 32, 32, device="cuda", dtype=torch.bfloat16)
    F.scaled_dot_product_attention(q, q, q, attn_mask=mask).sum().backward()
    check(q.grad.shape == q.shape, "shape of the gradient")


@feature("attention, flex", timeout=400)
def attention_flex():
    from torch.nn.attention.flex_attention import create_block_mask, flex_attention
    mask = create_block_mask(lambda b, h, q, k: q >= k, None, None, 128, 128, device="cuda")
    q = torch.randn(1, 2, 128, 64, device="cuda", dtype=torch.bfloat16, requires_grad=True)
    out = torch.compile(flex_attention)(q, q, q, block_mask=mask)
    check(out.shape == q.shape, "shape")
    out.sum().backward()
    check(q.grad.shape == q.shape, "shape of the gradient")


@feature("MultiheadAttention and TransformerEncoder")
def transformer():
    layer = nn.TransformerEncoderLayer(32, 4, 64, batch_first=True)
    model = nn.TransformerEncoder(layer, 2).cuda()
    x = torch.randn(2, 10, 32, device="cuda")
    model(x).sum().backward()
    with torch.inference_mode():  # the fast path
        out = model.eval()(x, src_key_padding_mask=torch.zeros(2, 10, dtype=torch.bool, device="cuda"))
    check(out.shape == x.shape, "shape")


@feature("attention over sequences of different lengths")
def attention_nested():
    q = torch.nested.nested_tensor([torch.randn(n, 4, 64, dtype=torch.bfloat16) for n in (5, 9)],
                                   layout=torch.jagged, device="cuda", requires_grad=True)
    heads = q.transpose(1, 2)
    out = F.scaled_dot_product_attention(heads, heads, heads)
    check(out.values().numel() == 14 * 4 * 64, f"{out.values().numel()} elements")
