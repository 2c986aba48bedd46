# SPDX-License-Identifier: Apache-2.0
"""A program that uses the package with types; check_types.py reads it with mypy --strict."""
from typing import Dict, Iterator, Optional, Tuple

import vramscope


@vramscope.GPUMemoryTracker()
def train_step(batch: int) -> str:
    return str(batch)


class Model:
    @vramscope.GPUMemoryTracker("forward")
    def forward(self, x: int) -> int:
        return x


@vramscope.GPUMemoryTracker()
async def wait(seconds: int) -> int:
    return seconds


@vramscope.GPUMemoryTracker()
def batches() -> Iterator[int]:
    yield 1


@vramscope.range("ranged")
def ranged(x: int) -> int:
    return x


async def main() -> None:
    text: str = train_step(3)
    assert train_step.tracker.peak_bytes < 6 << 30 and text
    y: int = Model().forward(ranged(3)) + await wait(1) + sum(batches())
    with vramscope.GPUMemoryTracker("load") as t:
        number: int = vramscope.step()
    size: float = t.peak_memory_mb + t.memory_delta_mb + number + y
    place: Optional[Tuple[str, int]] = t.sites[0].location
    for event in vramscope.Trace("t.vst").events("alloc"):
        print(event.time_ns, event["size"], size, place)
    peak: int = vramscope.Trace("t.vst").peaks[0].allocated
    stats: Dict[str, int] = vramscope.stats()
    print(peak, stats, vramscope.device_stats()["allocated"])
