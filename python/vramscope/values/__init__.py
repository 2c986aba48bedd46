# SPDX-License-Identifier: Apache-2.0
"""Values of small tensors on the simulated GPU, whose kernels compute nothing.

Device memory of the simulated GPU is host memory. Each CUDA operation on small tensors also runs
on the CPU, on aliases of that memory, so that `.item()`, shapes that depend on data, gradient
norms and routing are real. The CUDA operation itself always runs, so that its allocations are
those of a real GPU. Loaded by startup/sitecustomize.py, in programs that import torch.
"""
import os

DEFAULT_LIMIT = 1 << 20
UNITS = {"": 1, "B": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "KIB": 1 << 10, "MIB": 1 << 20,
         "GIB": 1 << 30, "KB": 10 ** 3, "MB": 10 ** 6, "GB": 10 ** 9}


def size_limit(text):
    """Bytes of VRAMSCOPE_VALUES: off or 0, or a size such as 1.5MiB. ValueError if it is neither."""
    text = (text or "").strip()
    if not text:
        return DEFAULT_LIMIT
    if text.lower() == "off":
        return 0
    digits = text.rstrip("BbIiKkMmGg ")
    unit = text[len(digits):].strip().upper()
    try:
        return int(float(digits) * UNITS[unit])
    except (ValueError, KeyError):
        raise ValueError(
            f"VRAMSCOPE_VALUES={text} is neither off nor a size such as 1.5MiB") from None


def start(torch):
    """Called once, after the import of torch."""
    if not os.environ.get("VRAMSCOPE_SIMULATE"):
        return
    limit = size_limit(os.environ.get("VRAMSCOPE_VALUES"))
    if not torch.version.cuda:
        return
    from . import driver, switch
    if limit and driver.data_is_small():
        switch.start(torch, limit)  # what the program does on the CPU before it uses CUDA is seen, too
    if torch.cuda.is_initialized():
        _use(torch, limit)
    else:
        torch.cuda._lazy_call(lambda: _use(torch, limit))


def _use(torch, limit):
    """Called by the thread that initialises CUDA, inside that: nothing may leave it."""
    from . import hide, notes, steps, switch
    try:
        hide.start(torch)
        steps.start(torch)
        if limit:
            switch.start(torch, limit)
    except Exception as error:
        notes.complain("values of small tensors are off", error)
