# SPDX-License-Identifier: Apache-2.0
"""Training a model of Hugging Face's library with random weights by its Trainer."""
import argparse
import tempfile

import torch
import transformers
from transformers import Trainer, TrainingArguments

LENGTH, VOCABULARY = 256, 8192
TEXT = {"vocab_size": VOCABULARY, "hidden_size": 256, "num_hidden_layers": 4, "num_attention_heads": 4,
        "intermediate_size": 1024}


def make(name):
    if name == "llama":
        return transformers.LlamaForCausalLM(transformers.LlamaConfig(**TEXT))
    if name == "gpt2":
        return transformers.GPT2LMHeadModel(transformers.GPT2Config(
            vocab_size=VOCABULARY, n_positions=LENGTH, n_embd=256, n_layer=4, n_head=4))
    if name == "bert":
        return transformers.BertForMaskedLM(transformers.BertConfig(**TEXT))
    return transformers.ViTForImageClassification(transformers.ViTConfig(
        **{**TEXT, "intermediate_size": 1024}, image_size=64, patch_size=4, num_labels=2))


class Data(torch.utils.data.Dataset):
    def __init__(self, name):
        self.name = name

    def __len__(self):
        return 64

    def __getitem__(self, i):
        if self.name == "vit":
            return {"pixel_values": torch.full((3, 64, 64), float(i)), "labels": i % 2}
        ids = torch.arange(i, i + LENGTH) % VOCABULARY
        return {"input_ids": ids, "labels": ids}


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--model", choices=("llama", "gpt2", "bert", "vit"), default="llama")
    p.add_argument("--batch", type=int, default=8)
    p.add_argument("--steps", type=int, default=2)
    args = p.parse_args()
    torch.manual_seed(0)
    model = make(args.model)
    with tempfile.TemporaryDirectory() as folder:
        settings = TrainingArguments(folder, per_device_train_batch_size=args.batch, max_steps=args.steps,
                                     report_to=[], save_strategy="no", optim="adamw_torch")
        Trainer(model=model, args=settings, train_dataset=Data(args.model)).train()


if __name__ == "__main__":
    main()
