# SPDX-License-Identifier: Apache-2.0
"""The 8 B Llama of llama_finetune.py, all parameters, sharded by FSDP2 over the ranks of torchrun."""
import argparse
import os

import torch
import torch.distributed as dist
from torch.distributed.fsdp import MixedPrecisionPolicy, fully_shard
from transformers import LlamaConfig, LlamaForCausalLM

from llama_finetune import SIZES


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--size", choices=SIZES, default="8b")
    p.add_argument("--batch", type=int, default=1)
    p.add_argument("--length", type=int, default=2048)
    p.add_argument("--steps", type=int, default=2)
    args = p.parse_args()
    rank = int(os.environ["LOCAL_RANK"])
    torch.cuda.set_device(rank)
    dist.init_process_group("nccl", device_id=torch.device("cuda", rank))
    with torch.device("meta"):
        model = LlamaForCausalLM(LlamaConfig(**SIZES[args.size], use_cache=False))
    model.gradient_checkpointing_enable(gradient_checkpointing_kwargs={"use_reentrant": False})
    policy = MixedPrecisionPolicy(param_dtype=torch.bfloat16, reduce_dtype=torch.float32)
    for layer in model.model.layers:
        fully_shard(layer, mp_policy=policy)
    fully_shard(model, mp_policy=policy)
    model.to_empty(device="cuda")
    model.init_weights()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-5, fused=True)
    for step in range(args.steps):
        ids = torch.randint(model.config.vocab_size, (args.batch, args.length), device="cuda")
        loss = model(input_ids=ids, labels=ids).loss
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        if rank == 0:
            print(f"step {step}: loss {loss.item():.3f}", flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
