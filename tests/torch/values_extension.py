# SPDX-License-Identifier: Apache-2.0
"""Reads tensors before and after operations of an extension; run by check_values_extension.py:

    values_extension.py LIBRARY early|late     before or after CUDA is initialised
"""
import sys

import torch

if sys.argv[2] == "late":
    torch.cuda.init()
torch.ops.load_library(sys.argv[1])
extension = torch.ops.values_extension
x, y = torch.ones(4, device="cuda"), torch.ones(4, device="cuda")
x.sum().item()  # known
extension.returned(x).sum().item()  # read: read as 0
x.sum().item()  # known
extension.declared(x)
x.sum().item()  # read: read as 4
extension.hidden(y)
if y.sum() > 3:  # decided: read as True
    pass
