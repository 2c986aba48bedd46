# SPDX-License-Identifier: Apache-2.0
"""accelerate: the usual loop with bf16, gradient accumulation and clipping, on GPT-2 (124 M)."""
import torch
from accelerate import Accelerator
from torch.utils.data import DataLoader, TensorDataset
from transformers import GPT2Config, GPT2LMHeadModel, get_cosine_schedule_with_warmup

import sums

accelerator = Accelerator(mixed_precision="bf16", gradient_accumulation_steps=2)
model = GPT2LMHeadModel(GPT2Config())
optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4, weight_decay=0.1)
scheduler = get_cosine_schedule_with_warmup(optimizer, 10, 100)
loader = DataLoader(TensorDataset(torch.randint(50257, (48, 1024))), batch_size=8, shuffle=True)
model, optimizer, loader, scheduler = accelerator.prepare(model, optimizer, loader, scheduler)
for ids, in loader:
    with accelerator.accumulate(model):
        loss = model(input_ids=ids, labels=ids).loss
        accelerator.backward(loss)
        if accelerator.sync_gradients:
            accelerator.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        scheduler.step()
        optimizer.zero_grad()
accelerator.print("loss", accelerator.gather(loss.detach()).mean().item())
sums.report(model, optimizer)
