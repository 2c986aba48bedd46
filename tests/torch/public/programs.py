#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Programs of the shapes in public threads whose figures docs/fit.md compares with ours.

    programs.py NAME

Each prints lines "KEY NUMBER". figures.py has the threads and what they measured.
"""
import os
import sys

import torch

MIB = 1 << 20


def tell(key, number):
    print(key, number, flush=True)


def allocated():
    return torch.cuda.memory_allocated()


def used():
    free, total = torch.cuda.mem_get_info()
    return total - free


def empty_context():
    """The memory of the device once the first tensor exists, less what PyTorch reserved."""
    torch.ones(1 << 20, device="cuda")
    torch.cuda.synchronize()
    tell("context", used() - torch.cuda.memory_reserved())
    tell("capacity", torch.cuda.mem_get_info()[1])


def loaded_code():
    """What kernels and handles of libraries add to the memory of `empty_context`."""
    torch.ones(1 << 20, device="cuda")
    bare = used() - torch.cuda.memory_reserved()
    a = torch.randn(1024, 1024, device="cuda")
    torch.relu(a @ a + 1).sum()
    kernels = used() - torch.cuda.memory_reserved() - bare
    tell("kernels", kernels)
    torch.nn.Conv2d(8, 8, 3, device="cuda")(torch.randn(1, 8, 64, 64, device="cuda"))
    tell("convolution", used() - torch.cuda.memory_reserved() - bare - kernels)


def trained_transformer():
    torch.ones(1 << 20, device="cuda")
    bare = used() - torch.cuda.memory_reserved()
    layer = torch.nn.TransformerEncoderLayer(256, 4, batch_first=True, device="cuda", activation="gelu")
    model = torch.nn.Sequential(torch.nn.Embedding(1000, 256, device="cuda"), layer, torch.nn.Linear(256, 1000).cuda())
    optimizer = torch.optim.AdamW(model.parameters())
    tokens = torch.randint(1000, (4, 128), device="cuda")
    for _ in range(2):
        with torch.autocast("cuda", dtype=torch.bfloat16):
            loss = torch.nn.functional.cross_entropy(model(tokens).flatten(0, 1), tokens.flatten())
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad()
    tell("added", used() - torch.cuda.memory_reserved() - bare)


def one_linear():
    layer = torch.nn.Linear(1, 1, bias=False, device="cuda")
    layer(torch.randn(1, 1, device="cuda"))
    tell("workspace", torch.cuda.max_memory_allocated() - 3 * 512)  # of weight, input and output


def two_linears():
    os.environ["CUBLAS_WORKSPACE_CONFIG"] = ":0:0"  # the thread is older than the workspace
    net = torch.nn.Sequential(*(torch.nn.Linear(1024, 1024, bias=False) for _ in range(2))).cuda()
    x = torch.rand(4, 256, 1024).cuda()
    total = net(x).sum()
    tell("forward", allocated())
    total.backward()
    tell("backward", allocated())


def softmax():
    x = torch.rand([5120, 2, 384, 384], dtype=torch.bfloat16, device="cuda", requires_grad=True)
    tell("input", allocated())
    x = torch.nn.functional.softmax(x, dim=-1)
    loss = torch.mean(x)
    tell("forward", allocated())
    loss.backward()
    tell("backward", allocated())
    tell("peak", torch.cuda.max_memory_allocated())


def resnet18():
    import torchvision
    net = torchvision.models.resnet18().cuda()
    tell("parameters", allocated())
    del net


def conv3d():
    torch.backends.cudnn.deterministic = True
    layer = torch.nn.Conv3d(256, 64, kernel_size=3).cuda()
    x = torch.rand([1, 256, 4, 1090, 1922], device="cuda")
    tell("input", allocated())
    out = layer(x)
    tell("workspace", torch.cuda.max_memory_allocated() - allocated())
    del out


def conv2d():
    layer = torch.nn.Conv2d(256, 256, 3, padding=1).half().cuda()
    for width in range(1024, 1921, 128):
        x = torch.zeros((1, 256, 2048, width), dtype=torch.half).cuda()  # beside the last one
        layer(x)
        tell(f"reserved_{width}", torch.cuda.memory_reserved())
        torch.cuda.empty_cache()


def eigenvalues():
    x = torch.rand(16384, 3, 3, device="cuda")
    torch.linalg.eigh(x + x.mT)
    tell("peak", torch.cuda.max_memory_allocated())


def outside():
    torch.cuda.synchronize()
    return used() - torch.cuda.memory_reserved()


def groups():
    """An all_reduce of 4 MiB in a group of two, then in one of all."""
    rank, _ = begin()
    data = torch.ones(1 << 20, device="cuda")
    pairs = [torch.distributed.new_group([0, 1]), torch.distributed.new_group([2, 3])]
    for key, group in (("pair", pairs[rank // 2]), ("all", None)):
        before = outside()
        torch.distributed.all_reduce(data, group=group)
        if rank == 0:
            tell(key, outside() - before)
    torch.distributed.destroy_process_group()


def all_to_all():
    rank, count = begin()
    data, out = (torch.ones(count << 10, device="cuda") for _ in range(2))
    before = outside()
    torch.distributed.all_to_all_single(out, data)
    if rank == 0:
        tell("first", outside() - before)
    torch.distributed.destroy_process_group()


def begin():
    rank, count = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
    torch.cuda.set_device(rank)
    torch.distributed.init_process_group("nccl")
    return rank, count


if __name__ == "__main__":
    globals()[sys.argv[1]]()
