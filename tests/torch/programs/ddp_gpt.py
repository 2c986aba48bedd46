# SPDX-License-Identifier: Apache-2.0
"""The GPT of gpt_compile.py with DistributedDataParallel, started by torchrun."""
import argparse
import os

import torch
import torch.distributed as dist
from torch import nn

from gpt_compile import GPT, LENGTH, VOCABULARY


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--batch", type=int, default=8)
    p.add_argument("--steps", type=int, default=3)
    args = p.parse_args()
    rank = int(os.environ["LOCAL_RANK"])
    torch.cuda.set_device(rank)
    dist.init_process_group("nccl", device_id=torch.device("cuda", rank))
    model = nn.parallel.DistributedDataParallel(GPT().cuda(), device_ids=[rank], gradient_as_bucket_view=True)
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4, fused=True)
    for step in range(args.steps):
        ids = torch.randint(VOCABULARY, (args.batch, LENGTH + 1), device="cuda")
        with torch.autocast("cuda", dtype=torch.bfloat16):
            loss = model(ids[:, :-1], ids[:, 1:])
        loss.backward()
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        dist.all_reduce(loss.detach(), dist.ReduceOp.AVG)
        if rank == 0:
            print(f"step {step}: loss {loss.item():.3f}", flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
