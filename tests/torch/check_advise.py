#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`vramscope advise` on trainings that do not fit their GPU.

    check_advise.py --build DIR [--write docs/advise.md] [NAME…]

Each must end with a plan that ran on the GPU itself, with the bytes that each of its changes saves and the
lines to change. --write replaces the table of the document. Exit 77: no environment with torch.
"""
import json
import os
import resource
import subprocess
import sys
import tempfile

import environments

PROGRAMS = environments.ROOT / "tests/torch/programs"
HOLES = """import torch
kept = []
for size in range(512 << 20, 704 << 20, 16 << 20):
    torch.empty(size, dtype=torch.uint8, device="cuda")  # freed; most of it is used again, not all
    kept.append(torch.empty(size // 10 * 6, dtype=torch.uint8, device="cuda"))
"""
# name: (title, GPU, what must be in the plan, program and arguments)
TARGETS = {
    "gpt": ("GPT 355 M, batch 16", "rtx4090-24g", "checkpoint",
            [environments.ROOT / "examples/train_gpt/train.py", "--batch", "16"]),
    "llama": ("Llama 8 B, all parameters, checkpointing, batch 16 × 2048", "a100-80g", "",
              [PROGRAMS / "llama_finetune.py", "--batch", "16"]),
    "unet-xl": ("U-Net of SDXL's size, bf16, batch 4 × 128 × 128", "rtx4090-24g", "fused",
                [PROGRAMS / "advised.py", "unet-xl", "--batch", "4"]),
    "vit": ("ViT-H/14, bf16 autocast, batch 32", "rtx4080-16g", "checkpoint",
            [PROGRAMS / "advised.py", "vit", "--batch", "32"]),
    "long-gpt": ("GPT, vocabulary 128,256, context 32,768", "rtx4090-24g", "chunked-loss",
                 [PROGRAMS / "advised.py", "long-gpt"]),
    "holes": ("tensors that grow, of each 60 % kept", "t4-16g,capacity=6GiB", "expandable_segments:True", ["-c", HOLES]),
}
HEAD = ("program", "GPU", "needs", "short by", "plan, and what each change saves", "peak with it", "headroom",
        "runs", "processor time")


def size(count):
    sign, count = "−" if count < 0 else "", abs(count)
    return sign + (f"{count / (1 << 30):.2f} GiB" if count >= 1 << 30 else f"{count / (1 << 20):.1f} MiB")


def row_of(build, python, name):
    title, gpu, wanted, program = TARGETS[name]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run([os.path.join(build, "bin/vramscope"), "advise", "--json", "--no-cache", "--gpu",
                               gpu, "--shard", "4", "--", python, *map(str, program)], cwd=folder,
                              stdout=subprocess.PIPE, env={**os.environ, "OMP_NUM_THREADS": "1"}, text=True,
                              check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    assert done.returncode == 0, (name, done.returncode, done.stdout[-3000:])
    answer = json.loads(done.stdout)["gpus"][0]
    first, plan, steps = answer["rows"][0], answer["rows"][answer["plan"]], answer["steps_of_plan"]
    assert answer["fits_as_it_is"] == "no" and first["headroom_bytes"] < 0, first
    assert plan["fits"] and plan["proven"] and plan["source"] == "run", plan
    assert steps and all(s["saved_bytes"] is not None and s["lines"] for s in steps), steps
    assert all(line["place"] or line["code"].startswith("PYTORCH_") for s in steps for line in s["lines"]), steps
    shards = answer["rows"][-1]
    assert name == "holes" or (shards["source"] == "estimated" and shards["saved_bytes"] > 0), shards
    assert any(s["change"].startswith(wanted) for s in steps), steps
    assert all(row["why"] or row["peak_allocated_bytes"] for row in answer["rows"]), answer["rows"]
    assert name == "holes" or plan["estimated_cost"]["compute"] > -0.01, plan
    said = "; ".join(f"{s['label']}: {size(s['saved_bytes'])}" for s in steps)
    return [title, gpu, size(first["peak_used_bytes"]), size(-first["headroom_bytes"]), said,
            size(plan["peak_allocated_bytes"]), size(plan["headroom_bytes"]),
            str(answer["runs"]), f"{seconds:.0f} s"]


def write(path, rows):
    with open(path, encoding="utf-8") as f:
        text = f.read()
    begin, end = "<!-- targets -->\n", "<!-- end of targets -->"
    table = ["| " + " | ".join(r) + " |\n" for r in (HEAD, ["---"] * len(HEAD), *rows)]
    before, after = text[:text.index(begin) + len(begin)], text[text.index(end):]
    with open(path, "w", encoding="utf-8") as f:
        f.write(before + "".join(table) + after)


def main():
    p = environments.parser(__doc__)
    p.add_argument("--write")
    p.add_argument("names", nargs="*", metavar="NAME")
    args = p.parse_args()
    environment = environments.needed_release("2.15.0")
    rows = []
    for name in args.names or TARGETS:
        rows.append(row_of(args.build, str(environment.python), name))
        print(" | ".join(rows[-1]), flush=True)
    if args.write:
        write(args.write, rows)
    return 0


if __name__ == "__main__":
    sys.exit(main())
