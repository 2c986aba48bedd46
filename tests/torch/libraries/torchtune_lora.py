# SPDX-License-Identifier: Apache-2.0
"""torchtune: a Llama 3.2 builder with LoRA, bf16, activation checkpointing and its loss in chunks."""
import torch
from torchtune import training
from torchtune.models.llama3_2 import lora_llama3_2
from torchtune.modules import TransformerSelfAttentionLayer
from torchtune.modules.loss import CEWithChunkedOutputLoss
from torchtune.modules.peft import get_adapter_params, set_trainable_params

import sums

with training.set_default_dtype(torch.bfloat16), torch.device("cuda"):
    model = lora_llama3_2(lora_attn_modules=["q_proj", "v_proj", "output_proj"], apply_lora_to_mlp=True,
                          vocab_size=32000, num_layers=8, num_heads=16, num_kv_heads=4, embed_dim=1024,
                          max_seq_len=2048, intermediate_dim=4096, lora_rank=8, lora_alpha=16)
set_trainable_params(model, get_adapter_params(model))
training.set_activation_checkpointing(model, auto_wrap_policy={TransformerSelfAttentionLayer})
loss_of = CEWithChunkedOutputLoss()
model.set_num_output_chunks(loss_of.num_output_chunks)
optimizer = torch.optim.AdamW([p for p in model.parameters() if p.requires_grad], lr=3e-4, fused=True)
for step in range(3):
    tokens = torch.randint(32000, (2, 2048), device="cuda")
    loss_of(model(tokens), tokens).backward()
    training.scale_grads(model, torch.tensor(0.5, device="cuda"))
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    optimizer.zero_grad(set_to_none=True)
sums.report(model, optimizer)
