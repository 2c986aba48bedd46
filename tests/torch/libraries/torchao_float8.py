# SPDX-License-Identifier: Apache-2.0
"""torchao: training in float8 with the 8-bit AdamW. Arguments: the optimizer, and bf16 instead of float8."""
import sys

import torch
import torchao.optim
from torchao.float8 import convert_to_float8_training
from transformers import LlamaConfig, LlamaForCausalLM

import sums

config = LlamaConfig(hidden_size=1024, intermediate_size=4096, num_hidden_layers=12, num_attention_heads=16,
                     vocab_size=32000, use_cache=False)
model = LlamaForCausalLM(config).to(torch.bfloat16).cuda()
if sys.argv[2:] != ["bf16"]:
    convert_to_float8_training(model, module_filter_fn=lambda module, name: "lm_head" not in name)
optimizer = getattr(torchao.optim, (sys.argv[1:] or ["AdamW8bit"])[0])(model.parameters(), lr=1e-4)
for step in range(3):
    ids = torch.randint(config.vocab_size, (4, 1024), device="cuda")
    model(input_ids=ids, labels=ids).loss.backward()
    optimizer.step()
    optimizer.zero_grad()
sums.report(model, optimizer)
