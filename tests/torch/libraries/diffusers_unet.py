# SPDX-License-Identifier: Apache-2.0
"""diffusers: a conditional U-Net with the noise schedule, EMA and bf16, as in its text-to-image example."""
import torch
from diffusers import AutoencoderKL, DDPMScheduler, UNet2DConditionModel
from diffusers.training_utils import EMAModel

import sums

unet = UNet2DConditionModel(sample_size=64, cross_attention_dim=768, block_out_channels=(160, 320, 640, 640)).cuda()
unet.enable_gradient_checkpointing()
vae = AutoencoderKL(block_out_channels=(64, 128, 256, 256), down_block_types=["DownEncoderBlock2D"] * 4,
                    up_block_types=["UpDecoderBlock2D"] * 4, layers_per_block=2).cuda().requires_grad_(False)
average = EMAModel(unet.parameters())
noise_schedule = DDPMScheduler(num_train_timesteps=1000)
optimizer = torch.optim.AdamW(unet.parameters(), lr=1e-4)
for step in range(3):
    with torch.autocast("cuda", dtype=torch.bfloat16):
        with torch.no_grad():
            latents = vae.encode(torch.rand(4, 3, 512, 512, device="cuda")).latent_dist.sample()
        noise = torch.randn_like(latents)
        times = torch.randint(0, 1000, (4,), device="cuda")
        noisy = noise_schedule.add_noise(latents, noise, times)
        texts = torch.randn(4, 77, 768, device="cuda")
        predicted = unet(noisy, times, texts).sample
        loss = torch.nn.functional.mse_loss(predicted.float(), noise.float())
    loss.backward()
    torch.nn.utils.clip_grad_norm_(unet.parameters(), 1.0)
    optimizer.step()
    optimizer.zero_grad()
    average.step(unet.parameters())
held = torch.nn.ModuleList([unet, vae])
sums.report(held, optimizer)
