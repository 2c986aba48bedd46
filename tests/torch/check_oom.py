#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""PyTorch out of memory on the simulated GPU: PyTorch's own error, and what `vramscope oom` says.

    check_oom.py --build DIR

The program below keeps one tensor a line. The recording's verdict must name the lines that hold
the memory and the line that asks for more. Exit 77: no environment with torch.
"""
import sys
import tempfile

import environments
import simulated

PROGRAM = '''import torch

def layers():
    return [torch.empty(3 << 30, dtype=torch.uint8, device="cuda") for _ in range(4)]

def embedding():
    return torch.empty(6 << 30, dtype=torch.uint8, device="cuda")

kept = [layers(), embedding()]
torch.empty(8 << 30, dtype=torch.uint8, device="cuda")
'''
# fails in a thread of the backward pass, which has no Python frames; without an optimizer, no steps
BACKWARD = '''import torch
net = torch.nn.Linear(1024, 1024).cuda()
for i in range(40):
    x = torch.randn(4 * i + 16, 512, 1024, device="cuda")
    y = net(x).relu()
    y.sum().backward()
    net.zero_grad()
    del x, y
'''
# line of PROGRAM: bytes held there
HOLDERS = {4: "12.00 GiB", 7: "6.00 GiB"}
ASKS = 10


def explained(build, environment, folder, device, text):
    """What the failing program *text* prints, and what `vramscope oom` says of it."""
    status, out, trace = simulated.record_text(build, environment, device, text, folder, name="hungry.py")
    assert status == 1, (status, out)
    return out, simulated.printed(build, "oom", trace)


def main():
    args = environments.parser(__doc__).parse_args()
    environment = environments.needed(environments.of_cuda(13), "an environment with torch for CUDA 13")
    with tempfile.TemporaryDirectory() as folder:
        out, printed = explained(args.build, environment, folder, "rtx4090-24g", PROGRAM)
        for part in ("torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 8.00 GiB.",
                     "GPU 0 has a total capacity of 23.65 GiB", "18.00 GiB is allocated by PyTorch"):
            assert part in out, f"PyTorch's error lacks '{part}':\n{out}"
        print(printed)
        for line, size in HOLDERS.items():
            named = [text for text in printed.splitlines() if f"hungry.py:{line}" in text]
            assert any(size in text for text in named), f"no line of the verdict says that hungry.py:{line} holds {size}"
        assert f"hungry.py:{ASKS}" in printed, f"the verdict does not name hungry.py:{ASKS}, which asks for 8 GiB"
        assert "8.00 GiB" in printed, "the verdict does not say the size"
    with tempfile.TemporaryDirectory() as folder:
        printed = explained(args.build, environment, folder, "t4-16g,capacity=400MiB,context=200MiB", BACKWARD)[1]
        print(printed)
        where = [text for text in printed.splitlines() if text.startswith("  where ")]
        assert "y.sum().backward() (hungry.py:6)" in where[0], f"not the line of backward: {where}"
        assert "PyObject" not in printed, "a function of the interpreter names a call site"
    print(f"torch {environment.release}: the error is PyTorch's own, and the verdict names the lines")
    return 0


if __name__ == "__main__":
    sys.exit(main())
