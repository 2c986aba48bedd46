# SPDX-License-Identifier: Apache-2.0
"""Figures of real GPUs in public threads, and the program of programs.py that gives ours.

ROWS is the table of docs/fit.md ("Public figures"), which scripts/fit_table --public writes.
check_figures.py compares each with its tolerance.
"""
import os
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import simulated  # noqa: E402

PROGRAMS = pathlib.Path(__file__).resolve().parent / "programs.py"
MIB, GIB = 1 << 20, 1 << 30
EXACT = 0


class Row:
    """thread: where the figure is. real: as printed there. low, high: in bytes, with the digits of
    the thread. tolerance: allowed distance of ours from them, as a share."""

    def __init__(self, thread, gpu, what, real, bounds, program, key, tolerance=EXACT):
        self.thread, self.gpu, self.what, self.real = thread, gpu, what, real
        self.low, self.high = bounds
        self.program, self.key, self.tolerance = program, key, tolerance

    def distance(self, ours):
        """By how many bytes *ours* lies outside the figure."""
        return ours - self.high if ours > self.high else min(ours - self.low, 0)

    def text(self, ours):
        """*ours*, in the unit and with the digits of the thread."""
        number, unit = self.real.replace(",", "").split()[-2:]
        factor = {"B": 1, "MB": MIB, "GB": 10 ** 9, "MiB": MIB, "GiB": GIB}.get(unit)
        if factor in (None, 1):
            return f"{ours:,} B" if factor else f"{ours / MIB:,.0f} MiB"
        decimals = len(number.partition(".")[2])
        return f"{ours / factor:,.{decimals}f} {unit}"

    def holds(self, ours):
        return abs(self.distance(ours)) <= self.tolerance * self.high


def exact(number):
    return number, number


def digits(number, unit, decimals=2):
    half = 0.5 * 10 ** -decimals * unit
    return round(number * unit - half), round(number * unit + half)


def span(low, high, unit=MIB):
    return round(low * unit), round(high * unit)


MESSAGES = "lowest in public messages"
ROWS = (
    Row("pytorch/pytorch#95668", "a10g-24g", "cuBLAS workspace", "8,519,680 B", exact(8519680), "one_linear", "workspace"),
    Row("pytorch/pytorch#74443", "rtx3090-24g", "two linear layers, after forward", "16,777,728 B", exact(16777728),
        "two_linears", "forward"),
    Row("pytorch/pytorch#74443", "rtx3090-24g", "after backward", "20,972,032 B", exact(20972032), "two_linears", "backward"),
    Row("pytorch/pytorch#72450", "a100-80g", "softmax, after forward", "6,039,798,272 B", exact(6039798272), "softmax",
        "forward"),
    Row("pytorch/pytorch#72450", "a100-80g", "after backward", "9,059,697,152 B", exact(9059697152), "softmax", "backward"),
    Row("pytorch/pytorch#72450", "a100-80g", "peak", "15,099,495,424 B", exact(15099495424), "softmax", "peak"),
    Row("pytorch/pytorch#107667", "rtx3090-24g", "ResNet-18, parameters and buffers", "44.6904296875 MiB", exact(46861312),
        "resnet18", "parameters"),
    Row("pytorch/pytorch#128947", "a100-80g", "conv3d, FP32, input and weight", "7.993362903594971 GiB", exact(8582808064),
        "conv3d", "input"),
    Row("pytorch/pytorch#128947", "a100-80g", "its workspace", "input plus weight: 8,582,807,552 B", exact(8582807552),
        "conv3d", "workspace"),
    *(Row("pytorch/pytorch#123533", "a100-80g", f"conv2d, FP16, width {width}, reserved", f"{real:.2f} GiB",
          digits(real, GIB), "conv2d", f"reserved_{width}")
      for width, real in ((1024, 4.02), (1152, 5.52), (1408, 6.77), (1664, 8.02), (1920, 9.27))),
    Row("mujocolab/mjlab#754", "rtx5090-32g", "eigh of 16,384 matrices of 3 × 3, peak", "4,452 MB",
        digits(4452, MIB, 0), "eigenvalues", "peak", 0.001),
    Row("NVIDIA/nccl#964", "a100-80g,devices=4", "all_reduce, group of two", "544 MiB", exact(544 * MIB), "groups", "pair"),
    Row("NVIDIA/nccl#964", "a100-80g,devices=4", "all_reduce, group of four", "688 MiB", exact(688 * MIB), "groups", "all"),
    Row("NVIDIA/nccl#1685", "h100-80g,devices=8", "first all_to_all_single of 8", "3.28 GB", digits(3.28, 10 ** 9),
        "all_to_all", "first"),
    *(Row(thread, gpu, "context and first tensor", real, span(*bounds), "empty_context", "context", 0.05)
      for thread, gpu, real, bounds in (
          (MESSAGES, "t4-16g", "109 ± 10 MiB", (99, 119)),
          (MESSAGES, "l4-24g", "251 MiB", (241, 261)),
          ("invoke-ai/InvokeAI#9413", "rtx3090-24g", "256 MiB", (256, 256)),
          (MESSAGES, "rtx4090-24g", "379 to 388 MiB", (379, 388)),
          (MESSAGES, "rtx5090-32g", "499 MiB", (489, 509)),
          (MESSAGES, "a100-80g", "409 MiB", (399, 419)),
          ("pytorch/pytorch#151030", "h100-80g", "510 MiB, 520 idle", (510, 520)),
          (MESSAGES, "b200-192g", "711 MiB", (701, 721)))),
    Row("public messages", "rtx3090-24g", "added by elementwise kernels and matmul", "10 to 40 MiB", span(10, 40),
        "loaded_code", "kernels"),
    Row("a public thread", "rtx3090-24g", "added by a convolution", "52 to 54 MiB", span(52, 54),
        "loaded_code", "convolution"),
    *(Row("public messages", gpu, "added by training a transformer", real, span(*bounds), "trained_transformer", "added")
      for gpu, real, bounds in (("rtx3090-24g", "60 to 120 MiB", (60, 120)), ("h100-80g", "90 to 180 MiB", (90, 180)))),
    *(Row("public messages", gpu, "capacity that PyTorch reports",
          f"{low:.2f} to {high:.2f} GiB" if low < high else f"{low:.2f} GiB", span(low - 0.005, high + 0.005, GIB),
          "empty_context", "capacity")
      for gpu, low, high in (
          ("t4-16g", 14.56, 14.58), ("l4-24g", 22.03, 22.03), ("rtx3090-24g", 23.68, 23.69),
          ("rtx4090-24g", 23.52, 23.65), ("rtx5090-32g", 31.36, 31.36), ("a100-80g", 79.15, 79.32),
          ("h100-80g", 79.10, 79.22), ("b200-192g", 178.35, 178.35))),
)
ENVIRONMENT = {"conv3d": {"PYTORCH_ALLOC_CONF": "expandable_segments:True"}}  # their input is not rounded up


def ranks(gpu):
    return int(gpu.split("devices=")[1]) if "devices=" in gpu else 1


def measure(build, python, program, gpu, folder):
    """{key: number} that the program prints on *gpu*."""
    words = [python, PROGRAMS, program]
    if ranks(gpu) > 1:
        words = [python, "-m", "torch.distributed.run", "--standalone", f"--nproc-per-node={ranks(gpu)}", *words[1:]]
    command, env = simulated.command(build, f"{gpu},data=small", words, folder)
    env.update(ENVIRONMENT.get(program, {}))
    status, out = simulated.run(command, env, folder, 300)
    found = [line.split() for line in out.splitlines()]
    numbers = {words[0]: int(words[1]) for words in found if len(words) == 2 and words[1].isdigit()}
    if status or not numbers:
        raise RuntimeError(f"{program} on {gpu}: exit status {status}\n{out[-2000:]}")
    for name in os.listdir(folder):
        if name.endswith(".vst"):
            os.unlink(os.path.join(folder, name))
    return numbers


def measured(build, python, folder, only=None):
    """Each row with our figure; a program runs once on a GPU."""
    known = {}
    for row in ROWS:
        if only and only not in row.thread and only not in row.program and only not in row.gpu:
            continue
        if (row.program, row.gpu) not in known:
            known[row.program, row.gpu] = measure(build, python, row.program, row.gpu, folder)
        yield row, known[row.program, row.gpu][row.key]
