# SPDX-License-Identifier: Apache-2.0
"""Reads tensors before and after operations of an extension; run by check_values_extension.py:

    values_extension.py LIBRARY early|late|unseen     loaded before or after CUDA is initialised, or
                                                      where vramscope does not see it
"""
import ctypes
import sys

import torch

if sys.argv[2] != "early":
    torch.cuda.init()
(ctypes.CDLL if sys.argv[2] == "unseen" else torch.ops.load_library)(sys.argv[1])
extension = torch.ops.values_extension
large = torch.zeros(1 << 20, device="cuda")
extension.both(large)
if sys.argv[2] == "unseen":
    sys.exit(0)
assert torch.cuda.max_memory_allocated() == 2 * large.nbytes, "another kernel than the one for CUDA"
x, y = torch.ones(4, device="cuda"), torch.ones(4, device="cuda")
x.sum().item()  # known
extension.returned(x).sum().item()  # read: read as 0
x.sum().item()  # known
extension.declared(x)
x.sum().item()  # read: read as 4
extension.hidden(y)
if y.sum() > 3:  # decided: read as True
    pass
