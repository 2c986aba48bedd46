# SPDX-License-Identifier: Apache-2.0
"""What PyTorch's own allocator holds from each device, to tell its memory from memory that other code of
the process allocates, such as a CUDA extension."""
from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from typing import Any, Dict


@dataclass(frozen=True)
class Segments:
    """Of one device: bytes of segments now, and how many were allocated and freed so far."""

    reserved: int = 0
    allocated: int = 0
    freed: int = 0
    counted: bool = True  # every allocation of PyTorch is one of them


def _expandable() -> bool:
    """With expandable segments PyTorch allocates parts of segments, which it does not count."""
    settings = os.environ.get("PYTORCH_CUDA_ALLOC_CONF", "") + os.environ.get("PYTORCH_ALLOC_CONF", "")
    return "expandable_segments:true" in settings.lower()


def read() -> Dict[int, Segments]:
    """By device. Empty if PyTorch is not in use, or another allocator in its place."""
    torch: Any = sys.modules.get("torch")
    found: Dict[int, Segments] = {}
    try:
        if torch is None or not torch.cuda.is_initialized():
            return found
        for device in range(torch.cuda.device_count()):
            stats = torch.cuda.memory_stats_as_nested_dict(device)
            if not stats:
                continue
            segments = stats["segment"]["all"]
            found[device] = Segments(int(stats["reserved_bytes"]["all"]["current"]), int(segments["allocated"]),
                                     int(segments["freed"]), not _expandable())
    except (AttributeError, KeyError, RuntimeError):  # being imported; an allocator without statistics
        return {}
    return found
