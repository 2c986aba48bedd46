# SPDX-License-Identifier: Apache-2.0
"""Fine-tuning a Llama of the size of 8 B with Hugging Face's library: all parameters, or LoRA.

The weights are random: only their sizes matter here, and nothing is downloaded.
"""
import argparse

import torch
from transformers import LlamaConfig, LlamaForCausalLM

SIZES = {
    "8b": {"hidden_size": 4096, "intermediate_size": 14336, "num_hidden_layers": 32, "num_attention_heads": 32,
           "num_key_value_heads": 8, "vocab_size": 128256},
    "1b": {"hidden_size": 2048, "intermediate_size": 8192, "num_hidden_layers": 16, "num_attention_heads": 32,
           "num_key_value_heads": 8, "vocab_size": 128256, "tie_word_embeddings": True},
}


def make(args):
    config = LlamaConfig(**SIZES[args.size], max_position_embeddings=args.length, use_cache=False)
    torch.set_default_dtype(torch.bfloat16)
    with torch.device("cuda"):
        model = LlamaForCausalLM(config)
    torch.set_default_dtype(torch.float32)
    model.gradient_checkpointing_enable(gradient_checkpointing_kwargs={"use_reentrant": False})
    if args.lora:
        from peft import LoraConfig, get_peft_model
        model.enable_input_require_grads()
        model = get_peft_model(model, LoraConfig(r=16, lora_alpha=32, task_type="CAUSAL_LM", target_modules=[
            "q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"]))
    return model.train()


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--size", choices=SIZES, default="8b")
    p.add_argument("--lora", action="store_true")
    p.add_argument("--batch", type=int, default=1)
    p.add_argument("--length", type=int, default=2048)
    p.add_argument("--steps", type=int, default=2)
    args = p.parse_args()
    model = make(args)
    optimizer = torch.optim.AdamW([q for q in model.parameters() if q.requires_grad], lr=1e-5)
    for step in range(args.steps):
        ids = torch.randint(model.config.vocab_size, (args.batch, args.length), device="cuda")
        loss = model(input_ids=ids, labels=ids).loss
        loss.backward()
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        print(f"step {step}: loss {loss.item():.3f}", flush=True)


if __name__ == "__main__":
    main()
