# SPDX-License-Identifier: Apache-2.0
"""DeepSpeed: ZeRO of the stage in the first argument, bf16, on a Llama of 160 M; one process per GPU."""
import os
import sys

import deepspeed
import torch
from transformers import LlamaConfig, LlamaForCausalLM

import sums

stage = int(sys.argv[1])
os.environ.setdefault("DS_SKIP_CUDA_CHECK", "1")
config = LlamaConfig(hidden_size=768, intermediate_size=3072, num_hidden_layers=12, num_attention_heads=12,
                     vocab_size=32000, use_cache=False)
model = LlamaForCausalLM(config)
model.gradient_checkpointing_enable()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
engine, optimizer, _, _ = deepspeed.initialize(model=model, optimizer=optimizer, config={
    "train_micro_batch_size_per_gpu": 2, "gradient_accumulation_steps": 1, "bf16": {"enabled": True},
    "zero_allow_untested_optimizer": True, "gradient_clipping": 1.0,
    "zero_optimization": {"stage": stage, "overlap_comm": True, "contiguous_gradients": True,
                          "stage3_param_persistence_threshold": 10000}})
for step in range(3):
    ids = torch.randint(config.vocab_size, (2, 1024)).to(engine.device)
    loss = engine(input_ids=ids, labels=ids).loss
    engine.backward(loss)
    engine.step()
print("loss", loss.item())
sums.report(model, getattr(optimizer, "optimizer", optimizer))
