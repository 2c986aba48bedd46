# SPDX-License-Identifier: Apache-2.0
"""Hugging Face Trainer: a Llama of 160 M from random weights, bf16, gradient checkpointing."""
import tempfile

import datasets
import torch
from transformers import LlamaConfig, LlamaForCausalLM, Trainer, TrainingArguments

import sums

config = LlamaConfig(hidden_size=768, intermediate_size=3072, num_hidden_layers=12, num_attention_heads=12,
                     vocab_size=32000, max_position_embeddings=1024)
model = LlamaForCausalLM(config)
ids = torch.randint(config.vocab_size, (64, 1024)).tolist()
data = datasets.Dataset.from_dict({"input_ids": ids, "labels": ids})
with tempfile.TemporaryDirectory() as folder:
    args = TrainingArguments(folder, per_device_train_batch_size=4, gradient_accumulation_steps=2, max_steps=3,
                             bf16=True, gradient_checkpointing=True, logging_steps=1, save_strategy="no",
                             report_to="none")
    trainer = Trainer(model, args, train_dataset=data)
    trainer.train()
sums.report(model, trainer.optimizer)
