# SPDX-License-Identifier: Apache-2.0
"""A plain transformer of any shape, which prints the peak of each part of a training step.

Its arguments are those of `vramscope estimate`, so that the estimate can be compared with it.
"""
import argparse
import contextlib
import json

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.checkpoint import checkpoint

DTYPES = {"fp32": torch.float32, "bf16": torch.bfloat16, "fp16": torch.float16}
OPTIMIZERS = {
    "adamw": lambda p, fused: torch.optim.AdamW(p, lr=1e-4, fused=fused or None),
    "sgd": lambda p, fused: torch.optim.SGD(p, lr=1e-2),
    "momentum": lambda p, fused: torch.optim.SGD(p, lr=1e-2, momentum=0.9),
}


class Block(nn.Module):
    def __init__(self, a):
        super().__init__()
        self.a, self.size = a, a.width // a.heads
        inner = self.size * a.kv_heads
        self.norm1, self.norm2 = a.norm(a.width), a.norm(a.width)
        self.q, self.k, self.v = (nn.Linear(a.width, n, bias=False) for n in (a.width, inner, inner))
        self.out = nn.Linear(a.width, a.width, bias=False)
        self.up, self.down = nn.Linear(a.width, a.ffn, bias=False), nn.Linear(a.ffn, a.width, bias=False)
        self.gate = nn.Linear(a.width, a.ffn, bias=False) if a.mlp == "swiglu" else None

    def attention(self, x):
        b, t, _ = x.shape
        q, k, v = (f(x).view(b, t, -1, self.size).transpose(1, 2) for f in (self.q, self.k, self.v))
        rate = self.a.dropout
        if self.a.attention == "flash":
            y = F.scaled_dot_product_attention(q, k, v, dropout_p=rate, is_causal=True,
                                               enable_gqa=self.a.kv_heads != self.a.heads)
        else:
            scores = q @ k.transpose(2, 3) / self.size ** 0.5
            mask = torch.ones(t, t, dtype=torch.bool, device=x.device).tril()
            scores = scores.masked_fill(~mask, float("-inf")).softmax(-1)
            y = (F.dropout(scores, rate) if rate else scores) @ v
        return self.out(y.transpose(1, 2).reshape(b, t, -1))

    def forward(self, x):
        rate = self.a.dropout
        y = self.attention(self.norm1(x))
        x = x + (F.dropout(y, rate) if rate else y)
        y = self.norm2(x)
        y = self.down(F.silu(self.gate(y)) * self.up(y) if self.gate else F.gelu(self.up(y)))
        return x + (F.dropout(y, rate) if rate else y)


class Transformer(nn.Module):
    def __init__(self, a):
        super().__init__()
        self.a = a
        self.tokens = nn.Embedding(a.vocab, a.width)
        self.blocks = nn.ModuleList(Block(a) for _ in range(a.layers))
        self.norm = a.norm(a.width)
        self.head = nn.Linear(a.width, a.vocab, bias=False)
        if a.tied:
            self.head.weight = self.tokens.weight

    def forward(self, ids, targets):
        x = self.tokens(ids)
        for block in self.blocks:
            x = checkpoint(block, x, use_reentrant=False) if self.a.checkpointing == "full" else block(x)
        logits = self.head(self.norm(x))
        return F.cross_entropy(logits.float().flatten(0, 1), targets.flatten())


def arguments():
    p = argparse.ArgumentParser()
    for name, value in (("layers", 4), ("width", 512), ("heads", 8), ("kv-heads", 0), ("ffn", 0),
                        ("vocab", 32000), ("batch", 4), ("seq", 512), ("steps", 3)):
        p.add_argument("--" + name, type=int, default=value)
    p.add_argument("--dtype", choices=DTYPES, default="fp32")
    p.add_argument("--amp", action="store_true")
    p.add_argument("--optimizer", choices=OPTIMIZERS, default="adamw")
    p.add_argument("--fused", action="store_true")
    p.add_argument("--mlp", choices=("gelu", "swiglu"), default="gelu")
    p.add_argument("--attention", choices=("flash", "math"), default="flash")
    p.add_argument("--checkpointing", choices=("none", "full"), default="none")
    p.add_argument("--dropout", type=float, default=0.0)
    p.add_argument("--tied", action="store_true")
    a = p.parse_args()
    a.kv_heads = a.kv_heads or a.heads
    a.ffn = a.ffn or 4 * a.width
    a.norm = nn.RMSNorm if a.mlp == "swiglu" else nn.LayerNorm
    return a


def main():
    a = arguments()
    torch.set_default_dtype(DTYPES[a.dtype])
    with torch.device("cuda"):
        model = Transformer(a)
    optimizer = OPTIMIZERS[a.optimizer](model.parameters(), a.fused)
    amp = torch.autocast("cuda", dtype=torch.bfloat16) if a.amp else contextlib.nullcontext()
    peaks = {}

    def note(name):
        peaks[name] = torch.cuda.max_memory_allocated()
        torch.cuda.reset_peak_memory_stats()

    for _ in range(a.steps):
        torch.cuda.reset_peak_memory_stats()
        ids = torch.randint(a.vocab, (a.batch, a.seq + 1), device="cuda")
        with amp:
            loss = model(ids[:, :-1], ids[:, 1:])
        note("forward")
        loss.backward()
        note("backward")
        optimizer.step()
        note("optimizer")
        optimizer.zero_grad(set_to_none=True)
        del loss
    peaks["parameters"] = sum(p.numel() for p in model.parameters())
    print(json.dumps(peaks))


if __name__ == "__main__":
    main()
