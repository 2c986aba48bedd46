#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The kinds of tensors that vramscope tells apart, compared with what the programs sum up themselves.

    check_kinds_torch.py --build DIR [--only NAME] [--write docs/internals/kinds.md] [--keep FOLDER]

Each program of tests/torch/programs runs unchanged on the simulated GPU under kinds_probe.py, which
sums up its parameters, gradients, optimizer state, tensors saved for backward and inputs at the end of forward, of
backward and of each step. The kinds of the trace at these times must have the same sums within 1 %
each (differences up to 4 KiB are allowed), with and without the names of native functions. Exit 77: no
environment with torch.
"""
import glob
import json
import os
import pathlib
import subprocess
import sys
import tempfile

import environments
import simulated

HERE = pathlib.Path(__file__).resolve().parent
KINDS = ("parameters", "gradients", "optimizer state", "activations", "inputs")
ALLOWED, FREE_BYTES = 0.01, 4 << 10
# name: title, variables with inputs, ranks, program and arguments
PROGRAMS = {
    "gpt": ("GPT 124 M, bf16 autocast, eager", "ids", 1, ["gpt_compile.py", "--eager", "--batch", "2", "--steps", "2"]),
    "compile": ("GPT 124 M, torch.compile", "ids", 1, ["gpt_compile.py", "--batch", "2", "--steps", "2"]),
    "full": ("Llama 1 B, full, checkpointing", "ids", 1,
             ["llama_finetune.py", "--size", "1b", "--length", "512", "--steps", "2"]),
    "lora": ("Llama 1 B, LoRA, checkpointing", "ids", 1,
             ["llama_finetune.py", "--size", "1b", "--lora", "--length", "512", "--steps", "2"]),
    "resnet": ("ResNet-50, AMP, channels_last", "images", 1, ["resnet_amp.py", "--batch", "16", "--steps", "2"]),
    "unet": ("U-Net 860 M, checkpointing", "latents,text,noise,times,schedule.alphas_cumprod", 1,
             ["diffusion_unet.py", "--batch", "1", "--steps", "2"]),
    "moe": ("mixture of experts", "ids,mask", 1, ["mixture_of_experts.py", "--batch", "1", "--steps", "2"]),
    "ddp": ("GPT 124 M, DDP, 2 ranks", "ids", 2, ["ddp_gpt.py", "--batch", "1", "--steps", "2"]),
    "fsdp": ("Llama 1 B, FSDP2, 2 ranks", "ids", 2,
             ["fsdp_llama.py", "--size", "1b", "--length", "256", "--steps", "2"]),
}


def record(build, environment, name, folder):
    """[(sums of the program, trace)], one for each rank."""
    _, inputs, ranks, program = PROGRAMS[name]
    words = [HERE / "kinds_probe.py", os.path.join(folder, "sums.%p.jsonl"), inputs, HERE / "programs" / program[0],
             *program[1:]]
    if ranks > 1:
        words = ["-m", "torch.distributed.run", "--standalone", f"--nproc-per-node={ranks}", *words]
    device = "h100-80g" if ranks == 1 else f"h100-80g,devices={ranks}"
    status, out, _ = simulated.record(build, environment, device, words, folder, timeout_s=1800)
    assert status == 0, f"{name} ended with status {status}:\n{out[-4000:]}"
    found = []
    for sums in sorted(glob.glob(os.path.join(folder, "sums.*.jsonl"))):
        pid = sums.split(".")[-2]
        with open(sums, encoding="utf-8") as f:
            found.append(([json.loads(line) for line in f], os.path.join(folder, f"trace.{pid}.vst")))
    assert len(found) == ranks, f"{name}: sums of {len(found)} ranks instead of {ranks}"
    return found


def kinds_of(build, trace, options=()):
    """{time: table} of print_kinds."""
    out = subprocess.run([os.path.join(build, "tests/print_kinds"), trace, *options], stdout=subprocess.PIPE, check=True,
                         text=True).stdout
    return {table["moment"]: table for table in map(json.loads, out.splitlines())}


def wanted(moment, kind, kept):
    """The program's own sum; None where it can't tell."""
    if kind == "activations" and moment["at"] != "forward":
        return None  # what is left of them is not saved any more
    if kind == "gradients" and moment["at"] == "forward" and kept:
        return None  # the buckets of DistributedDataParallel stay
    return moment["kinds"][kind][0]


def compare(sums, tables, program, how=""):
    """[(time, kind, program's bytes, trace's bytes)]; fails where one is off."""
    rows, wrong, name = [], [], program + how
    for moment in sums:
        table = tables[f"kinds {moment['moment']}"]
        assert table["bytes"] == moment["allocated"], \
            f"{name}: {table['bytes']} bytes in the trace, PyTorch has {moment['allocated']}"
        for kind in KINDS:
            want, have = wanted(moment, kind, program == "ddp"), table["kinds"][kind][0]
            if want is None:
                continue
            rows.append((moment, kind, want, have))
            if abs(have - want) > max(ALLOWED * want, FREE_BYTES):
                wrong.append(f"{name}, {moment['at']} {moment['moment']}: {kind} {have}, the program has {want}")
        if table["kinds"]["unknown"][0]:
            wrong.append(f"{name}, {moment['at']} {moment['moment']}: {table['kinds']['unknown'][0]} bytes are unknown")
    assert not wrong, "\n".join(wrong)
    return rows


def difference(want, have):
    if want == have:
        return "0"
    return f"{100 * (have - want) / want:+.2f} %" if want else f"+{(have - want) / 1024:.1f} KiB"


def mib(n):
    return f"{n / (1 << 20):,.2f}"


def table_of(title, rows):
    """Markdown: each kind at the last time of its most."""
    lines = []
    for kind in KINDS:
        of_kind = [r for r in rows if r[1] == kind]
        moment, _, want, have = max(of_kind, key=lambda r: (r[2], r[0]["moment"]))
        if want or have:
            worst = max(of_kind, key=lambda r: abs(r[3] - r[2]))
            lines.append(f"| {title} | {kind} | {mib(want)} | {mib(have)} | {difference(want, have)} | "
                         f"{difference(worst[2], worst[3])} of {len(of_kind)} |")
            title = ""
    return lines


def check_program(build, environment, name, folder):
    rows = []
    for sums, trace in record(build, environment, name, folder):
        rows += compare(sums, kinds_of(build, trace), name)
        compare(sums, kinds_of(build, trace, ["--no-names"]), name, " without names")
    return rows


HEAD = ("| program | kind | program's own sum, MiB | from the trace, MiB | difference | largest difference |\n"
        "| --- | --- | --- | --- | --- | --- |\n")
BEGIN, END = "<!-- begin of the table of tests/torch/check_kinds_torch.py -->\n", "<!-- end of the table -->\n"


def write(path, lines):
    text = pathlib.Path(path).read_text(encoding="utf-8")
    head, rest = text.split(BEGIN)
    tail = rest.split(END)[1]
    pathlib.Path(path).write_text(head + BEGIN + HEAD + "\n".join(lines) + "\n" + END + tail, encoding="utf-8")


def main():
    p = environments.parser(__doc__)
    p.add_argument("--only", choices=PROGRAMS, action="append")
    p.add_argument("--write", metavar="DOCUMENT")
    p.add_argument("--keep", metavar="FOLDER", help="keep the traces there")
    args = p.parse_args()
    environment = environments.needed(environments.of_release("2.15.0"),
                                      "torch 2.15.0 with transformers, peft, diffusers and torchvision")
    lines = []
    for name in args.only or PROGRAMS:
        with tempfile.TemporaryDirectory() as scratch:
            folder = os.path.join(args.keep, name) if args.keep else scratch
            os.makedirs(folder, exist_ok=True)
            rows = check_program(args.build, environment, name, folder)
        lines += table_of(PROGRAMS[name][0], rows)
        print(*lines[-len(KINDS):], sep="\n", flush=True)
    if args.write:
        write(args.write, lines)
    return 0


if __name__ == "__main__":
    sys.exit(main())
