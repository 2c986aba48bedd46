# SPDX-License-Identifier: Apache-2.0
"""Errors of a program in PyTorch's calls, printed with their tracebacks; run by
check_values_tracebacks.py."""
import traceback

import torch
from torch import nn
from torch.utils._python_dispatch import TorchDispatchMode


class Double(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    def backward(ctx, g):
        raise ValueError("in the program's own backward")


class Refuses(TorchDispatchMode):
    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        if "mul" in str(func):
            raise ValueError("in the program's own mode")
        return func(*args, **(kwargs or {}))


def leaf():
    return torch.ones(4, device="cuda", requires_grad=True)


def wrong_sizes():
    return torch.ones(4, device="cuda") @ torch.ones(5, device="cuda")


def wrong_sizes_on_the_cpu():
    return torch.ones(4) @ torch.ones(5)


def wrong_index():
    return torch.ones(3, device="cuda")[5]


def out_of_memory():
    return torch.empty(1 << 50, dtype=torch.uint8, device="cuda")


def out_of_memory_in_backward():
    x = torch.empty(3 << 30, dtype=torch.float32, device="cuda", requires_grad=True)
    x.sum().backward()


def own_function():
    Double.apply(leaf()).sum().backward()


def hook():
    x = leaf()
    x.register_hook(lambda g: g @ torch.ones(9, device="cuda"))
    (x * 2).sum().backward()


def twice():
    y = leaf().square().sum()
    y.backward()
    y.backward()


def mode():
    with Refuses():
        return torch.ones(3, device="cuda") * 2


def optimizer():
    torch.optim.Adam(nn.Linear(2, 2).cuda().parameters(), lr=-1.0)


def no_module():
    import torch.no_such_module  # noqa: F401


def graph():
    captured = torch.cuda.CUDAGraph()
    captured.replay()
    captured.capture_end()


torch.ones(1, device="cuda")  # CUDA is in use
nn.Linear(2, 2).cuda()(torch.ones(2, device="cuda")).sum().backward()
for case in (wrong_sizes, wrong_sizes_on_the_cpu, wrong_index, out_of_memory, out_of_memory_in_backward,
             own_function, hook, twice, mode, optimizer, no_module, graph):
    try:
        case()
    except (Exception, torch.OutOfMemoryError) as e:
        print(f"--- {case.__name__}: {type(e).__name__}")
        for frame in traceback.extract_tb(e.__traceback__):
            print(f"{frame.filename}:{frame.lineno} {frame.name}")
    else:
        print(f"--- {case.__name__}: no error")
