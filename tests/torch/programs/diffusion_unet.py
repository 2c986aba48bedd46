# SPDX-License-Identifier: Apache-2.0
"""Training the U-Net of a latent diffusion model (860 million parameters) on latents of 64 × 64."""
import argparse

import torch
import torch.nn.functional as F
from diffusers import DDPMScheduler, UNet2DConditionModel


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--batch", type=int, default=8)
    p.add_argument("--steps", type=int, default=2)
    args = p.parse_args()
    with torch.device("cuda"):
        model = UNet2DConditionModel(sample_size=64, in_channels=4, out_channels=4, cross_attention_dim=768,
                                     block_out_channels=(320, 640, 1280, 1280), attention_head_dim=8)
    model.enable_gradient_checkpointing()
    model.train()
    schedule = DDPMScheduler(num_train_timesteps=1000)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-5)
    for step in range(args.steps):
        latents = torch.randn(args.batch, 4, 64, 64, device="cuda")
        text = torch.randn(args.batch, 77, 768, device="cuda")
        noise = torch.randn_like(latents)
        times = torch.randint(0, 1000, (args.batch,), device="cuda")
        with torch.autocast("cuda", dtype=torch.bfloat16):
            found = model(schedule.add_noise(latents, noise, times), times, text).sample
        loss = F.mse_loss(found.float(), noise)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        print(f"step {step}: loss {loss.item():.3f}", flush=True)


if __name__ == "__main__":
    main()
