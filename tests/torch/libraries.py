#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Third-party training code, unmodified, under `vramscope fit`: the programs of tests/torch/libraries.

    libraries.py [--build DIR] [--python PYTHON] [--only TEXT] [--table docs/internals/libraries.md]

PYTHON, or VS_LIBRARIES in the environment, is a Python with torch and the libraries (`pip install --no-deps`
keeps NVIDIA's libraries out); without it the script exits with 77. A program passes if it fits, PyTorch's own
peak in the program is that of the answer to the byte, and the bytes of its parameters and optimizer state are
those of the answer, which counts whole blocks. --table writes the rows of what ran; the others stay.
"""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import environments

HERE = pathlib.Path(__file__).resolve().parent / "libraries"
GPU = "a100-80g"
# Package, what, program and arguments, ranks, GPU, are parameters and state those of fit's kinds (None: the
# program prints neither), remark.
CASES = [
    ("transformers", "Trainer, Llama 160 M, bf16, checkpointing", "transformers_trainer.py", 1, GPU, True, ""),
    ("accelerate", "GPT-2, bf16, accumulation", "accelerate_loop.py", 1, GPU, True, ""),
    ("accelerate", "the same, DDP on 2 GPUs", "accelerate_loop.py", 2, GPU, True, ""),
    ("peft", "Llama 1 B, LoRA", "peft_lora.py", 1, GPU, True, ""),
    ("trl", "SFTTrainer, Llama 120 M", "trl_sft.py", 1, GPU, True, ""),
    ("timm", "ViT-Base, AMP, EMA, mixup", "timm_vit.py", 1, GPU, True, ""),
    ("torchvision", "Faster R-CNN", "torchvision_detection.py", 1, GPU, True,
     "matches of boxes are not computed: the largest number is assumed, and listed"),
    ("lightning", "encoder, bf16-mixed", "lightning_module.py", 1, GPU, True, ""),
    ("diffusers", "U-Net and VAE, EMA", "diffusers_unet.py", 1, GPU, True, ""),
    ("torchao", "float8, AdamW8bit", "torchao_float8.py", 1, "h100-80g", True, ""),
    ("torchao", "AdamW8bit", "torchao_float8.py AdamW8bit bf16", 1, GPU, True, ""),
    ("torchao", "AdamW4bit", "torchao_float8.py AdamW4bit bf16", 1, GPU, True, ""),
    ("bitsandbytes", "4-bit weights, LoRA, Adam8bit", "bitsandbytes_qlora.py", 1, GPU, False,
     "weights that peft converts to FP32 count as other"),
    ("bitsandbytes", "4-bit weights, LoRA, PagedAdamW8bit", "bitsandbytes_qlora.py PagedAdamW8bit", 1, GPU, False,
     "the same; the state is managed memory"),
    *(("deepspeed", f"ZeRO {stage}, {'one GPU' if ranks == 1 else '2 GPUs'}", f"deepspeed_zero.py {stage}", ranks, GPU,
       False, "flat buffers of parameters count as inputs") for ranks in (1, 2) for stage in (1, 2, 3)),
    ("torchtitan", "its train with debugmodel, FSDP2 on 2 GPUs", "torchtitan_train.py", 2, GPU, None,
     "resets its peak; with torchao 0.10: 0.18 cannot be imported with Triton 3.9"),
    ("litgpt", "finetune_lora, Pythia 14 M", "litgpt_lora.py", 1, GPU, False, ""),
    ("torchtune", "Llama 3.2, LoRA, chunked loss", "torchtune_lora.py", 1, GPU, True,
     "with torchao 0.10, the last that it can import"),
]
COLUMNS = ("package", "version", "PyTorch", "program", "GPU", "fits", "peak allocated", "the program's own peak",
           "parameters and state, by the program", "by fit", "time", "host memory", "remark")


def size(count):
    unit, name = (30, "GiB") if count >= 1 << 30 else (20, "MiB")
    return f"{count / (1 << unit):.{2 if unit == 30 else 1}f} {name}"


def run(args, case):
    """(cells of the table, what is wrong)"""
    package, what, program, ranks, gpu, alike, remark = case
    words = [args.python]
    if ranks > 1 or package == "deepspeed":
        words += ["-m", "torch.distributed.run", "--nproc-per-node", str(ranks)]
    words += [str(HERE / program.split()[0]), *program.split()[1:]]
    ask = "import importlib.metadata as m, sys; print(*map(m.version, sys.argv[1:]))"
    versions = subprocess.run([args.python, "-c", ask, package, "torch"], stdout=subprocess.PIPE, text=True,
                              check=True).stdout.split()
    with tempfile.TemporaryDirectory() as folder:
        answer = pathlib.Path(folder, "answer.json")
        with open(answer, "w", encoding="utf-8") as f:
            process = subprocess.Popen(
                [os.path.join(args.build, "bin/vramscope"), "fit", "--json", "-q", "--keep", folder, "--gpu",
                 gpu + (f",devices={ranks}" if ranks > 1 else ""), "--", *words], stdout=f,
                env=dict(os.environ, TOKENIZERS_PARALLELISM="false", HF_HUB_OFFLINE="1", PYTHONDONTWRITEBYTECODE="1"))
            _, _, usage = os.wait4(process.pid, 0)
        answer = json.loads(answer.read_text(encoding="utf-8"))["runs"][0]
        printed = "".join(f.read_text(errors="replace") for f in pathlib.Path(folder).glob("*/stdout.txt"))
    cells = [package, *versions, what, gpu, answer["fits"]]
    if answer["fits"] != "yes":
        return cells + ["–"] * 6 + [remark], f"no yes: {answer['why'] or answer['stderr']}"
    told = [json.loads(line) for line in re.findall(r"^sums (\{.*\})$", printed, re.MULTILINE)]
    device = answer["device"]
    kinds, held = device["peak_kinds"], told[0] if told else {}
    by_fit = kinds["parameters"] + kinds["optimizer_state"]
    count, tensors = map(sum, zip(*(held.get(kind, (0, 0)) for kind in ("parameters", "optimizer_state"))))
    peak, own = device["peak_allocated_bytes"], [t["peak"] for t in told]
    cells += [size(peak), "equal" if peak in own else size(max(own)) if own else "–",
              size(count) if count else "–", size(by_fit),
              f"{answer['wall_ns'] / 1e9:.0f} s", size(usage.ru_maxrss << 10), remark]
    wrong = []
    if alike is not None and (len(told) != ranks or cells[7] != "equal"):
        wrong.append(f"the program has a peak of {own}, not {peak}")
    if alike and not count <= by_fit <= count + (tensors << 20):  # a block may have an unused rest
        wrong.append(f"parameters and state: {count} by the program, {by_fit} by fit")
    return cells, "; ".join(wrong)


def write(path, rows):
    """The table between its markers, with *rows* in the place of those of the same program and release of PyTorch."""
    text = path.read_text(encoding="utf-8")
    head, body, tail = re.fullmatch(r"(.*<!-- libraries -->\n)(.*)(<!-- end of libraries -->.*)", text,
                                    re.DOTALL).groups()
    old = [line[2:-2].split(" | ") for line in body.splitlines()[2:]]
    known = {(r[0], r[3], r[2]): r for r in old + rows}
    order = [c[:2] for c in CASES]
    lines = [COLUMNS, ["---"] * len(COLUMNS), *(known[key] for key in sorted(known, key=lambda k: order.index(k[:2])))]
    path.write_text(head + "".join(f"| {' | '.join(line)} |\n" for line in lines) + tail, encoding="utf-8")


def main():
    p = environments.parser(__doc__)
    p.add_argument("--python", default=os.environ.get("VS_LIBRARIES"))
    p.add_argument("--only", default="", help="a part of the package's name, the program or its arguments")
    p.add_argument("--table", type=pathlib.Path)
    args = p.parse_args()
    if not args.python:
        print("skipped: VS_LIBRARIES or --python names no Python with the libraries")
        return environments.SKIPPED
    rows, failed = [], 0
    for case in CASES:
        if args.only not in " ".join(case[:3]):
            continue
        cells, wrong = run(args, case)
        print("FAILED" if wrong else "ok", *cells, wrong, sep="  ", flush=True)
        failed += bool(wrong)
        rows.append(cells)
        if args.table:
            write(args.table, rows)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
