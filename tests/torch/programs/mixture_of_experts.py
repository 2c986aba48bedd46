# SPDX-License-Identifier: Apache-2.0
"""A transformer with eight experts a layer, two for each token: what a token needs is known only
when its scores have been computed."""
import argparse

import torch
import torch.nn.functional as F
from torch import nn

VOCABULARY, LENGTH, WIDTH, HEADS, LAYERS, EXPERTS, CHOSEN = 32000, 1024, 1024, 16, 12, 8, 2


class Experts(nn.Module):
    def __init__(self):
        super().__init__()
        self.router = nn.Linear(WIDTH, EXPERTS, bias=False)
        self.experts = nn.ModuleList(
            nn.Sequential(nn.Linear(WIDTH, 4 * WIDTH), nn.SiLU(), nn.Linear(4 * WIDTH, WIDTH)) for _ in range(EXPERTS))

    def forward(self, x):
        tokens = x.flatten(0, 1)
        weights, chosen = self.router(tokens).float().softmax(-1).topk(CHOSEN)
        out = torch.zeros_like(tokens)
        for number, expert in enumerate(self.experts):
            token, slot = torch.where(chosen == number)
            if token.numel():
                out.index_add_(0, token, (expert(tokens[token]) * weights[token, slot, None]).to(out.dtype))
        return out.view_as(x)


class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm1, self.norm2 = nn.RMSNorm(WIDTH), nn.RMSNorm(WIDTH)
        self.attention = nn.MultiheadAttention(WIDTH, HEADS, batch_first=True)
        self.experts = Experts()

    def forward(self, x, mask):
        y = self.norm1(x)
        x = x + self.attention(y, y, y, attn_mask=mask, is_causal=True, need_weights=False)[0]
        return x + self.experts(self.norm2(x))


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--batch", type=int, default=8)
    p.add_argument("--steps", type=int, default=2)
    args = p.parse_args()
    with torch.device("cuda"):
        embedding, head = nn.Embedding(VOCABULARY, WIDTH), nn.Linear(WIDTH, VOCABULARY, bias=False)
        layers = nn.ModuleList(Layer() for _ in range(LAYERS))
        mask = nn.Transformer.generate_square_subsequent_mask(LENGTH)
    model = nn.ModuleList([embedding, layers, head])
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
    for step in range(args.steps):
        ids = torch.randint(VOCABULARY, (args.batch, LENGTH + 1), device="cuda")
        with torch.autocast("cuda", dtype=torch.bfloat16):
            x = embedding(ids[:, :-1])
            for layer in layers:
                x = layer(x, mask)
            loss = F.cross_entropy(head(x).flatten(0, 1), ids[:, 1:].flatten())
        loss.backward()
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        print(f"step {step}: loss {loss.item():.3f}", flush=True)


if __name__ == "__main__":
    main()
