# SPDX-License-Identifier: Apache-2.0
"""Large tensors of the host under `fit`: they keep no pages, what comes from their values is reported,
and all else is as it is. Like values_uses.py, with what is expected of each line in its comment."""
import copy
import resource
import sys
import tempfile

import torch
from torch import nn

GIB = 1 << 30


def check(fact, what):
    if not fact:
        sys.exit(f"wrong: {what}")


torch.manual_seed(5)
generator = torch.Generator().manual_seed(5)  # one that is given draws all numbers
for shape, dtype in (((1500, 1400), torch.float32), ((1025, 4099), torch.bfloat16), ((999, 1111), torch.float64)):
    for draw in (torch.Tensor.normal_, torch.Tensor.uniform_):
        draw(torch.empty(shape, dtype=dtype))
        draw(torch.empty(shape, dtype=dtype), generator=generator)
torch.empty(3000, 3000, device="meta").normal_()  # draws nothing
check(torch.equal(torch.rand(3), torch.rand(3, generator=generator)), "numbers drawn later")
drawn = torch.randn(1 << 20, generator=generator)
torch.manual_seed(5)
check(bool(torch.rand(5).any()), "numbers after a new seed")

model = nn.ModuleList(nn.Linear(12288, 12288) for _ in range(4))  # 2.25 GiB
again = copy.deepcopy(model)
again.load_state_dict(model.state_dict())
again = again.to(torch.bfloat16)
nn.init.kaiming_normal_(model[0].weight)
nn.init.trunc_normal_(model[1].weight)  # known: torch draws again what is out of range
weight = model[0].weight.detach()
product = (weight * 2 - 1).abs_().t()
check(product.shape == (12288, 12288) and product.stride() == (1, 12288), "shape of a product")
state = torch.zeros(12288, 12288)
state.mul_(0.9).add_(weight)
torch._foreach_mul_([state, weight], 0.5)
on_device = model.cuda()
check(on_device[3].weight.is_cuda and torch.cuda.memory_allocated() > 2 * GIB, "weights on the device")

with tempfile.NamedTemporaryFile() as f:
    f.truncate(GIB // 2)
    half = torch.from_file(f.name, size=1 << 27, dtype=torch.float32).to(torch.bfloat16)
check(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss < 3 << 19, "pages of the host")  # in KiB
if half.max() > 3:  # decided: read as False
    sys.exit("decided otherwise")
zeros = torch.full((2048, 2048), 3.0).zero_()
check(not zeros.any() and zeros.add(1).sum() == 2048 * 2048, "zeros")  # known
if weight.max() > 3:  # decided: read as False
    sys.exit("decided otherwise")
total = product.sum()
print(total.item())  # read: read as 0
rows = weight[[0, 5]].cuda()
if rows.sum() > 3:  # decided: read as False
    sys.exit("decided otherwise")
if torch.nonzero(weight[:2]).shape[0] > 3:  # decided: result of shape [0, 2]
    sys.exit("decided otherwise")
weight.fill_(1)
check(weight[0].sum() == 12288, "ones")  # known
check(drawn.any(), "numbers of a generator")  # known
