# SPDX-License-Identifier: Apache-2.0
"""A few layers under one kind of parallelism, started by a launcher or by mp.spawn: prints for its rank
the peaks of PyTorch and what the device holds."""
import argparse
import os

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.device_mesh import init_device_mesh

WIDTH, BATCH = 512, 8


class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.LayerNorm(WIDTH)
        self.up = nn.Linear(WIDTH, 4 * WIDTH, bias=False)
        self.down = nn.Linear(4 * WIDTH, WIDTH, bias=False)

    def forward(self, x):
        return x + self.down(torch.relu(self.up(self.norm(x))))


def layers(count, device):
    with torch.device(device):
        return nn.Sequential(*[Layer() for _ in range(count)])


def shard(model, mesh):
    from torch.distributed.fsdp import fully_shard
    for layer in model:
        fully_shard(layer, mesh=mesh)
    fully_shard(model, mesh=mesh)
    return model.to_empty(device="cuda")


def build(kind, world, count, group):
    """The model, and a function that runs one step of it forward and backward."""
    schedule = None
    if kind == "ddp":
        # Otherwise the first buckets are replaced: PyTorch's watchdog frees them by the clock.
        model = nn.parallel.DistributedDataParallel(layers(count, "cuda"), find_unused_parameters=True)
    elif kind == "fsdp":
        model = shard(layers(count, "meta"), init_device_mesh("cuda", (world,)))
    elif kind == "hsdp":
        mesh = init_device_mesh("cuda", (world // group, group), mesh_dim_names=("replicate", "shard"))
        model = shard(layers(count, "meta"), mesh)
    elif kind == "tp":
        from torch.distributed.tensor.parallel import ColwiseParallel, RowwiseParallel, parallelize_module
        mesh = init_device_mesh("cuda", (world // group, group), mesh_dim_names=("dp", "tp"))
        model = layers(count, "meta")
        for layer in model:
            parallelize_module(layer, mesh["tp"], {"up": ColwiseParallel(), "down": RowwiseParallel()})
        model = shard(model, mesh["dp"])
    else:
        from torch.distributed.pipelining import PipelineStage, ScheduleGPipe
        mesh = init_device_mesh("cuda", (group, world // group), mesh_dim_names=("pp", "dp"))
        index = mesh["pp"].get_local_rank()
        model = layers(count + index, "cuda")
        stage = PipelineStage(model, index, group, torch.device("cuda"), group=mesh["pp"].get_group())
        schedule = ScheduleGPipe(stage, 4, loss_fn=nn.functional.mse_loss)

    def step():
        x = torch.randn(BATCH, 128, WIDTH, device="cuda")
        if schedule is None:
            model(x).square().mean().backward()
        else:
            schedule.step(*[x] if stage.is_first else [], target=x if stage.is_last else None)
    return model, step


def main(index, args):
    world = int(os.environ.get("WORLD_SIZE", args.spawn))
    rank = int(os.environ.get("RANK", index))
    local = int(os.environ.get("LOCAL_RANK", index))
    torch.cuda.set_device(local)
    if torch.__version__ < (2, 8):
        # As newer releases do. Otherwise the memory of DDP's first broadcasts can be used again when NCCL's
        # stream has come to their end, which the next allocation finds so or not.
        os.environ.setdefault("TORCH_NCCL_AVOID_RECORD_STREAMS", "1")
    device = {"device_id": torch.device("cuda", local)} if args.eager else {}
    dist.init_process_group(args.backend, rank=rank, world_size=world,
                            init_method=args.init, **device)
    model, step = build(args.kind, world, args.layers, min(args.group, world))
    optimizer = torch.optim.AdamW(model.parameters(), foreach=args.kind != "tp")
    for _ in range(2):
        step()
        if args.kind != "tp":  # whose parameters lie on two meshes
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad()
    names = [None] * world
    if world <= 64:
        dist.all_gather_object(names, f"rank {rank}")
    seed = [torch.initial_seed() if rank == 0 else None]
    dist.broadcast_object_list(seed, src=0)
    dist.barrier()
    torch.cuda.synchronize()
    free, total = torch.cuda.mem_get_info()
    line = (f"PEAKS {rank} {torch.cuda.max_memory_allocated()} {torch.cuda.max_memory_reserved()} "
            f"{total - free}\n")
    if args.out:
        with open(args.out, "a", encoding="utf-8") as f:
            f.write(line)
    os.write(1, line.encode())
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    p = argparse.ArgumentParser()
    p.add_argument("--kind", choices=("ddp", "fsdp", "tp", "pp", "hsdp"), default="fsdp")
    p.add_argument("--layers", type=int, default=4)
    p.add_argument("--group", type=int, default=2, help="ranks of the inner dimension, or stages")
    p.add_argument("--backend")
    p.add_argument("--eager", action="store_true")
    p.add_argument("--init", help="init_method")
    p.add_argument("--out", help="file to which the line is appended")
    p.add_argument("--spawn", type=int, default=0)
    options = p.parse_args()
    if options.spawn:
        torch.multiprocessing.spawn(main, (options,), options.spawn)
    else:
        main(0, options)
