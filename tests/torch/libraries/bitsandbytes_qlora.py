# SPDX-License-Identifier: Apache-2.0
"""bitsandbytes: weights in 4 bits with LoRA (QLoRA), and its 8-bit paged or plain Adam. Its kernels are its own."""
import sys

import bitsandbytes as bnb
import torch
from peft import LoraConfig, get_peft_model, prepare_model_for_kbit_training
from torch import nn
from transformers import LlamaConfig, LlamaForCausalLM

import sums

config = LlamaConfig(hidden_size=2048, intermediate_size=8192, num_hidden_layers=8, num_attention_heads=16,
                     vocab_size=32000, use_cache=False)
model = LlamaForCausalLM(config).to(torch.bfloat16)
for path, module in list(model.named_modules()):
    if isinstance(module, nn.Linear) and path != "lm_head":
        new = bnb.nn.Linear4bit(module.in_features, module.out_features, bias=False, quant_type="nf4",
                                compute_dtype=torch.bfloat16, compress_statistics=True)
        new.weight = bnb.nn.Params4bit(module.weight.data, requires_grad=False, quant_type="nf4",
                                       compress_statistics=True)
        parent, _, name = path.rpartition(".")
        setattr(model.get_submodule(parent), name, new)
model = model.cuda()
model.is_loaded_in_4bit = True
model = prepare_model_for_kbit_training(model)
model = get_peft_model(model, LoraConfig(r=16, target_modules="all-linear", task_type="CAUSAL_LM"))
model.base_model.model.lm_head.requires_grad_(True)
kind = getattr(bnb.optim, (sys.argv[1:] or ["Adam8bit"])[0])
optimizer = kind([p for p in model.parameters() if p.requires_grad], lr=1e-4)
for step in range(3):
    ids = torch.randint(config.vocab_size, (2, 512)).cuda()
    model(input_ids=ids, labels=ids).loss.backward()
    optimizer.step()
    optimizer.zero_grad()
sums.report(model, optimizer)
