# SPDX-License-Identifier: Apache-2.0
"""Trainings that do not fit the GPU they are meant for, for `vramscope advise` (check_advise.py).

unet-xl: a U-Net of the size of SDXL's (2.6 billion parameters, bf16) on latents of 128 × 128. vit: a ViT-H/14
of torchvision on images of 224 × 224. long-gpt: a small GPT with a context of 32,768 tokens, whose logits are
larger than all else. Weights and data are random.
"""
import argparse

import torch
import torch.nn.functional as F
from torch import nn


def unet_xl(batch):
    from diffusers import UNet2DConditionModel
    torch.set_default_dtype(torch.bfloat16)
    model = UNet2DConditionModel(
        sample_size=128, block_out_channels=(320, 640, 1280), cross_attention_dim=2048, attention_head_dim=(5, 10, 20),
        down_block_types=("DownBlock2D", "CrossAttnDownBlock2D", "CrossAttnDownBlock2D"),
        up_block_types=("CrossAttnUpBlock2D", "CrossAttnUpBlock2D", "UpBlock2D"),
        transformer_layers_per_block=(1, 2, 10), use_linear_projection=True)

    def loss_of(model):
        latents, text = torch.randn(batch, 4, 128, 128), torch.randn(batch, 77, 2048)
        return F.mse_loss(model(latents, torch.randint(0, 1000, (batch,)), text).sample, latents)
    return model, loss_of


def vit(batch):
    from torchvision.models import vit_h_14
    model = vit_h_14()

    def loss_of(model):
        with torch.autocast("cuda", dtype=torch.bfloat16):
            return F.cross_entropy(model(torch.randn(batch, 3, 224, 224)), torch.randint(1000, (batch,)))
    return model, loss_of


class LongGPT(nn.Module):
    def __init__(self, width=1024, layers=6, vocabulary=128256):
        super().__init__()
        self.tokens = nn.Embedding(vocabulary, width)
        self.blocks = nn.ModuleList(nn.TransformerEncoderLayer(width, 16, 4 * width, dropout=0.0, batch_first=True,
                                                               norm_first=True) for _ in range(layers))
        self.head = nn.Linear(width, vocabulary, bias=False)

    def forward(self, ids):
        x = self.tokens(ids)
        for block in self.blocks:
            x = block(x, src_mask=None, is_causal=False)
        return self.head(x)


def long_gpt(batch):
    model = LongGPT()

    def loss_of(model):
        ids = torch.randint(128256, (batch, 32769))
        with torch.autocast("cuda", dtype=torch.bfloat16):
            logits = model(ids[:, :-1])
            return F.cross_entropy(logits.flatten(0, 1), ids[:, 1:].flatten())
    return model, loss_of


def main():
    kinds = {"unet-xl": unet_xl, "vit": vit, "long-gpt": long_gpt}
    p = argparse.ArgumentParser()
    p.add_argument("kind", choices=kinds)
    p.add_argument("--batch", type=int, default=1)
    p.add_argument("--steps", type=int, default=2)
    args = p.parse_args()
    torch.set_default_device("cuda")
    model, loss_of = kinds[args.kind](args.batch)
    model.train()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-5)
    for _ in range(args.steps):
        loss_of(model).backward()
        optimizer.step()
        optimizer.zero_grad()


if __name__ == "__main__":
    main()
