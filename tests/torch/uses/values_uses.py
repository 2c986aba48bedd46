# SPDX-License-Identifier: Apache-2.0
"""Uses of values that are computed, and of others that are not; run by check_values_uses.py, which
finds what is expected of each line in its comment: decided, read or known, and the text."""
import sys

import torch
from torch import nn

large = torch.randn(2048, 1024, device="cuda")  # 8 MiB: more than the limit
half = large[:1024]  # its masks are not larger than the limit
small = torch.ones(8, device="cuda")


def any_infinite(t):
    return torch.isinf(t).any().item()


if torch.isnan(large).any():  # decided: read as False
    sys.exit("decided otherwise")
loss = (large @ large.T).mean()
if loss > 3:  # decided: read as False
    sys.exit("decided otherwise")
value = loss.item()  # decided: read as 0
if value > 3:
    sys.exit("decided otherwise")
if any_infinite(large):  # decided: read as False
    sys.exit("decided otherwise")
taken = (large > 3).cpu()  # read: copied to the host
if taken is not None and taken.shape[0] > 3 and len(taken):
    pass
if loss.cpu() is not None:  # read: read as 0
    pass
scaler = torch.amp.GradScaler("cuda")
weight = torch.nn.Parameter(torch.zeros(2048, 1024, device="cuda"))
optimizer = torch.optim.SGD([weight], lr=0.1)
for _ in range(2):  # GradScaler's flag of an infinity is 0, as in a normal step
    scaler.scale((weight * large).sum()).backward()
    torch.nn.utils.clip_grad_norm_([weight], 1.0, error_if_nonfinite=True)  # known
    before = scaler.get_scale()
    scaler.step(optimizer)
    scaler.update()
    if scaler.get_scale() < before:
        sys.exit("the step was left out")
chosen = large[large > 0]  # decided: result of shape [2097152], the largest possible
fewer = half[half > 0]  # decided: result of shape [0], at most [1048576]
fewer = half[loss > half.amax(1)]  # decided: result of shape [0, 1024], at most [1024, 1024]
places = large.nonzero()  # decided: result of shape [2097152, 2], the largest possible
different = torch.unique(large)  # decided: result of shape [2097152], the largest possible
print(f"{loss:.3f}")  # read: read as 0
host = (large > 0).cpu()  # read: copied to the host
for _ in range(3):
    loss.item()  # read: read as 0, 3 times
print(large, loss)  # known: printing a tensor reads it
named = loss.as_subclass(type("Named", (torch.Tensor,), {}))
if named.item() > 3:  # decided: read as 0
    sys.exit("decided otherwise")
host = (named + small).cpu()  # read: copied to the host
host = (small.as_subclass(type(named)) * 2).cpu()  # known
if small.sum() > 3:  # known
    pass
kept = small[small > 0]  # known
kept = large[torch.arange(2048, device="cuda") % 3 == 0]  # known: the mask gives the shape
kept = torch.masked_select(half, torch.arange(1024, device="cuda") > 5)  # known

lstm = nn.LSTM(16, 32).cuda()
output, _ = lstm(torch.randn(4, 3, 16, device="cuda"))
if output.sum() > 1:  # decided: read as False
    sys.exit("decided otherwise")

taken = torch.zeros(8, device="cuda")
graph = torch.cuda.CUDAGraph()
with torch.cuda.graph(graph):
    taken.copy_(small * 2)
taken.zero_()
taken.sum().item()  # known
graph.replay()
taken.sum().item()  # read: read as 0
taken.zero_()
taken.sum().item()  # known

if "no-triton" not in sys.argv:
    double = torch.compile(lambda t: torch.sin(t) * 2 + 1)
    if double(small).sum() > 100:  # decided: read as False
        sys.exit("decided otherwise")

    import triton
    import triton.language as tl

    @triton.jit
    def add_one(source, target, count, BLOCK: tl.constexpr):
        place = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
        mask = place < count
        tl.store(target + place, tl.load(source + place, mask=mask) + 1, mask=mask)

    result = torch.zeros(8, device="cuda")
    result.sum().item()  # known
    add_one[(1,)](small, result, 8, BLOCK=8)
    result.sum().item()  # read: read as 0
    small.sum().item()  # known: only read by the kernel
