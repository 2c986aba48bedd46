#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Changes applied from outside (VRAMSCOPE_CHANGES) against the same changes written into the programs.

    check_changes.py --build DIR [--release RELEASE] [--write docs/advise.md] [PROGRAM[/CHANGE]…]

Each program runs with the change from outside, and with the change in its text. Both must have the same
peaks of allocated and reserved memory, to the byte, and print the same losses. Exit 77: no environment
with torch.
"""
import os
import re
import sys
import tempfile

import environments
import simulated

HERE = os.path.dirname(os.path.abspath(__file__))
PEAKS = '    print("PEAKS", torch.cuda.max_memory_allocated(), torch.cuda.max_memory_reserved(), flush=True)\n'
WRAPPER = ("import torch\n", """import torch
from torch.distributed.algorithms._checkpoint.checkpoint_wrapper import checkpoint_wrapper
from torch.utils.checkpoint import checkpoint
""")
CHUNKED = """
        def of_chunk(h, t):
            return F.cross_entropy({head}(h){cast}, t, reduction="sum")
        loss = sum(checkpoint(of_chunk, h, t, use_reentrant=False)
                   for h, t in zip({hidden}.chunk(8), {targets}.chunk(8)))
        loss = loss / ({targets} != -100).sum()
"""


def wrapped(model, path, each="", options=""):
    """checkpoint_wrapper around the blocks of model.*path*."""
    return model, f"""{model}
    for i in range(0, len(model.{path}){each}):
        model.{path}[i] = checkpoint_wrapper(model.{path}[i]{options})"""


OPS = ("import torch\n", """import torch
from functools import partial
from torch.utils.checkpoint import create_selective_checkpoint_contexts
ops = [getattr(torch.ops.aten, name).default for name in (
    "mm", "addmm", "bmm", "baddbmm", "_scaled_dot_product_flash_attention",
    "_scaled_dot_product_efficient_attention", "_scaled_dot_product_cudnn_attention")]
contexts = partial(create_selective_checkpoint_contexts, ops)
""")
GPT = "model = GPT().cuda()"
LOSS = ("""            logits = model(ids[:, :-1])
            loss = F.cross_entropy(logits.flatten(0, 1), ids[:, 1:].flatten())
""", "            hidden = model(ids[:, :-1]).flatten(0, 1)\n" + re.sub("^", "    ", CHUNKED.format(
    head="model.head", cast="", hidden="hidden", targets="ids[:, 1:].flatten()"), flags=re.M))
HIDDEN = ("return self.head(self.norm(", "return (self.norm(")
STEP = "        optimizer.step()\n        optimizer.zero_grad()\n"
# change: edits that write it into examples/train_gpt/train.py; None: it has no effect there
GPT_CHANGES = {
    "fused": [("lr=3e-4)", "lr=3e-4, fused=True)")],
    "foreach-off": [("lr=3e-4)", "lr=3e-4, foreach=False)")],
    "set-to-none": None,
    "autocast": None,
    "sdpa:backend=flash": None,
    "sdpa:backend=efficient": [("    main()", """\
    from torch.nn.attention import SDPBackend, sdpa_kernel
    with sdpa_kernel(SDPBackend.EFFICIENT_ATTENTION):
        main()""")],
    "offload-activations": [('        with torch.autocast("cuda", dtype=torch.bfloat16):', """\
        with torch.autograd.graph.save_on_cpu(pin_memory=True), torch.autocast("cuda", dtype=torch.bfloat16):""")],
    "checkpoint:path=blocks": [WRAPPER, wrapped(GPT, "blocks")],
    "checkpoint:class=Block,every=2": [WRAPPER, wrapped(GPT, "blocks", ", 2")],
    "checkpoint-ops:path=blocks": [WRAPPER, OPS, wrapped(GPT, "blocks", options=", context_fn=contexts")],
    "chunked-loss:chunks=8": [WRAPPER, LOSS, HIDDEN],
    "checkpoint:path=blocks;chunked-loss;fused": [
        WRAPPER, wrapped(GPT, "blocks"), LOSS, HIDDEN, ("lr=3e-4)", "lr=3e-4, fused=True)")],
    "optimizer-bf16": [("optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4)", """\
optimizers = [torch.optim.AdamW([p], lr=3e-4) for p in model.parameters()]

    def cast(state, dtype):
        for k, v in state.items():
            if v.dim():
                state[k] = v.to(dtype)
"""), (STEP, """\
        for optimizer in optimizers:
            for state in optimizer.state.values():
                cast(state, torch.float32)
            optimizer.step()
            for state in optimizer.state.values():
                cast(state, torch.bfloat16)
        model.zero_grad()
""")],
    "offload-optimizer": [("AdamW(model.parameters(), ", """\
AdamW((host := {p: p.detach().cpu() for p in model.parameters()}).values(), """), (STEP, """\
        for p, h in host.items():
            h.grad = p.grad.cpu()
        optimizer.step()
        with torch.no_grad():
            for p, h in host.items():
                p.copy_(h)
        model.zero_grad()
""")],
}
TRAIN_GPT = ["../../examples/train_gpt/train.py", "--batch"]
# tensors small enough to have values: the losses are real ones
SMALL = [("LAYERS = 50304, 1024, 1024, 16, 24", "LAYERS = 1024, 32, 64, 2, 3")]
EAGER_LOSS = ("        return F.cross_entropy(self.head(self.norm(x)).flatten(0, 1), targets.flatten())", """\
        hidden, targets = self.norm(x).flatten(0, 1), targets.flatten()""" + CHUNKED.format(
    head="self.head", cast="", hidden="hidden", targets="targets") + "        return loss")
WHOLE = """\
        with torch.autocast("cuda", dtype=torch.bfloat16):
            loss = run(ids[:, :-1], ids[:, 1:])
        loss.backward()
"""
HALF = WHOLE.replace("ids[:, 1:])", "ids[:, 1:]) / 2")
HF_LOSS = ("        loss = model(input_ids=ids, labels=ids).loss\n", """\
        hidden = model.model(input_ids=ids).last_hidden_state.flatten(0, 1)
        targets = F.pad(ids, (0, 1), value=-100)[..., 1:].flatten()""" + CHUNKED.format(
    head="model.lm_head", cast=".float()", hidden="hidden", targets="targets") + "        del hidden, targets\n")
SWITCH = '    model.gradient_checkpointing_enable(gradient_checkpointing_kwargs={"use_reentrant": False})\n'
LLAMA = ["programs/llama_finetune.py", "--size", "1b", "--batch", "4", "--length", "1024"]
UNET = ["programs/diffusion_unet.py", "--batch", "2"]
VIT = "model = torchvision.models.vit_b_16(num_classes=1000).cuda()"
MADE = "    model = make(args.model)\n"
TRAINER = ["programs/trainer.py", "--model"]
TRAINER_SWITCH = [(MADE, MADE + '    model.gradient_checkpointing_enable({"use_reentrant": False})\n')]
# name: (program and arguments, edits of every run, {change: edits that write it into the program})
PROGRAMS = {
    "small": ([*TRAIN_GPT, "4", "--steps", "3"], SMALL, GPT_CHANGES),
    "gpt": ([*TRAIN_GPT, "6", "--steps", "2"], [], {c: GPT_CHANGES[c] for c in (
        "fused", "checkpoint:class=Block,every=2", "checkpoint:path=blocks;chunked-loss;fused")}),
    "eager": (["programs/gpt_compile.py", "--eager", "--batch", "4", "--steps", "2"], [], {
        "fused": None,
        "chunked-loss": [WRAPPER, EAGER_LOSS],
        "accumulate:steps=2": [(WHOLE, "        first, last = ids.chunk(2)\n" + HALF.replace("ids[", "first[") +
                                "        del loss\n" + HALF.replace("ids[", "last["))]}),
    "llama": (LLAMA, [], {"checkpoint:path=model.layers": None}),
    "llama-plain": (LLAMA, [("import torch\n", "import torch\nimport torch.nn.functional as F\n"), (SWITCH, "")], {
        "checkpoint:path=model.layers": [("    if args.lora:", SWITCH + "    if args.lora:")],
        "lora:rank=16": [("    if args.lora:", "    if True:"), ("        model.enable_input_require_grads()\n", "")],
        "chunked-loss": [WRAPPER, HF_LOSS]}),
    "unet": (UNET, [("    model.enable_gradient_checkpointing()\n", "")], {
        "checkpoint:path=down_blocks;checkpoint:path=up_blocks": [("    model.train()\n", """\
    model.enable_gradient_checkpointing()
    model.train()
""")]}),
    "vit": (["programs/vit.py", "--batch", "16"], [], {
        "set-to-none": [("set_to_none=False", "set_to_none=True")],
        "autocast": [("        loss = F.cross", """\
        with torch.autocast("cuda", dtype=torch.bfloat16):
            loss = F.cross""")],
        "checkpoint:path=encoder.layers": [WRAPPER, wrapped(VIT, "encoder.layers")]}),
    "experts": (["programs/mixture_of_experts.py", "--batch", "2"], [], {
        "checkpoint:class=Layer": [WRAPPER, ("    model = nn.ModuleList", """\
    for i in range(LAYERS):
        layers[i] = checkpoint_wrapper(layers[i])
    model = nn.ModuleList""")]}),
    "trainer-llama": ([*TRAINER, "llama"], [], {
        "autocast": [("report_to=[]", "report_to=[], bf16=True")],
        "checkpoint:path=model.layers;autocast": [*TRAINER_SWITCH, ("report_to=[]", "report_to=[], bf16=True")]}),
    "trainer-gpt2": ([*TRAINER, "gpt2"], [], {"checkpoint:class=GPT2Block": TRAINER_SWITCH}),
    "trainer-bert": ([*TRAINER, "bert"], [], {
        "checkpoint:path=bert.encoder.layer": TRAINER_SWITCH,
        "fused": [('"adamw_torch"', '"adamw_torch_fused"')]}),
    "trainer-vit": ([*TRAINER, "vit"], [], {"checkpoint:class=ViTLayer": TRAINER_SWITCH}),
    "compiled": (["programs/gpt_compile.py", "--batch", "2", "--steps", "2"], [], {"checkpoint:path=blocks": None}),
}


# a projection inside the model is wider than its input, but its result is no loss's
USES = """import sys
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
up, down, head = nn.Linear(64, 2048).cuda(), nn.Linear(2048, 64).cuda(), nn.Linear(64, 4096).cuda()
optimizer = torch.optim.AdamW([*up.parameters(), *down.parameters(), *head.parameters()])
for step in range(3):
    x, y = torch.randn(32, 64, device="cuda"), torch.randint(4096, (32,), device="cuda")
    logits = head(down(F.gelu(up(x))))
    loss = F.cross_entropy(logits, y)
    if "accuracy" in sys.argv:
        print((logits.argmax(-1) == y).float().mean().item())
    if "turned" in sys.argv:
        logits = head(down(F.gelu(up(x.view(2, 16, 64)))))
        loss = loss + F.cross_entropy(logits.transpose(1, 2), y.view(2, 16), ignore_index=3)
    if "masked" in sys.argv:
        loss = loss + nn.CrossEntropyLoss()(head(x)[y > 100].float(), y[y > 100])
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    print(f"loss {loss.item() + head.weight.abs().sum().item():.2f}")
"""


def check_uses(build, environment):
    """The loss in chunks, where the logits are used in other ways; real values."""
    for how, kind in (("alone", "changed"), ("accuracy", "unchanged"), ("turned", "changed"), ("masked", "changed")):
        outputs = []
        for changes in ("", "chunked-loss"):
            with tempfile.TemporaryDirectory() as folder:
                status, out, _ = simulated.record_text(build, environment, "a100-80g", USES, folder, how,
                                                       settings={"VRAMSCOPE_CHANGES": changes})
                assert status == 0, out
                with open(os.path.join(folder, "notes.tsv"), encoding="utf-8") as f:
                    kinds = [line.split("\t")[0] for line in f if "changed\t" in line]
            outputs.append(re.findall(r"loss .*", out))
        assert outputs[0] == outputs[1] and len(outputs[0]) == 3, f"{how}: {outputs}"
        assert kinds == [kind], f"{how}: {kinds}"
        print(f"logits, {how}: {kind}", flush=True)


def edited(path, edits):
    with open(path, encoding="utf-8") as f:
        text = f.read()
    for old, new in edits:
        assert old in text, f"{path} has no text {old!r}"
        text = text.replace(old, new, 1)
    assert text.endswith("    main()\n"), path
    return re.sub(r"( +args = .*parse_args\(\)\n)", r"\1    torch.manual_seed(0)\n", text) + PEAKS


def run(build, environment, name, edits, changes=""):
    """(peaks and losses, [(kind, change, text)]) of a program."""
    (path, *arguments), always, _ = PROGRAMS[name]
    path = os.path.join(HERE, path)
    with tempfile.TemporaryDirectory() as folder:
        status, out, _ = simulated.record_text(
            build, environment, "a100-80g,data=small", edited(path, [*always, *edits]), folder, *arguments,
            name=os.path.basename(path), options=["--record=off"], settings={"VRAMSCOPE_CHANGES": changes}, timeout_s=1200)
        assert status == 0, f"{name} {changes} ended with status {status}:\n{out[-4000:]}"
        with open(os.path.join(folder, "notes.tsv"), encoding="utf-8") as f:
            notes = [line.rstrip("\n").split("\t") for line in f if line.startswith(("changed", "unchanged"))]
        return re.findall(r"PEAKS .*|step \d+: loss \S+|'loss': \S+", out), notes


def check(build, environment, name, changes, plain):
    """A row of the table."""
    by_hand = PROGRAMS[name][2][changes]
    outside, notes = run(build, environment, name, [], changes)
    kinds = [n[0] for n in notes]
    if by_hand is None:
        assert kinds == ["unchanged"], f"{name}, {changes}: {notes}"
        assert outside == plain, f"{name}, {changes} without effect: {outside} instead of {plain}"
        return f"| {name} | `{changes}` | {plain[-1].split()[1]} | no effect: {notes[0][5]} | |"
    assert kinds == ["changed"] * (changes.count(";") + 1), f"{name}, {changes}: {notes}"
    hand, _ = run(build, environment, name, by_hand)
    assert hand[-1].startswith("PEAKS"), f"{name}, {changes} by hand: {hand}"
    assert name != "small" or "loss 0.000" not in " ".join(hand), f"{name} has no values: {hand}"
    assert outside == hand, f"{name}, {changes}: {outside}, by hand {hand}, without {plain}"
    return f"| {name} | `{changes}` | {plain[-1].split()[1]} | {' | '.join(outside[-1].split()[1:])} |"


def write(path, rows):
    """Puts the *rows* into the table of a document, in the place of those of the same change."""
    with open(path, encoding="utf-8") as f:
        head, table, tail = re.split("(?s)(?<=<!-- changes -->\n)(.*)(?=<!-- end of changes -->)", f.read())
    title, kept = table.splitlines()[:2], table.splitlines()[2:]
    key = {row: row.split("|")[1:3] for row in [*kept, *rows]}
    kept = [row for row in kept if key[row] not in [key[r] for r in rows]]
    order = [[f" {name} ", f" `{c}` "] for name, (_, _, changes) in PROGRAMS.items() for c in changes]
    rows = sorted([*kept, *rows], key=lambda row: order.index(key[row]))
    with open(path, "w", encoding="utf-8") as f:
        f.write(head + "\n".join([*title, *rows]) + "\n" + tail)


def main():
    p = environments.parser(__doc__)
    p.add_argument("--write", metavar="DOCUMENT")
    p.add_argument("only", nargs="*", metavar="PROGRAM[/CHANGE]")
    args, environment = environments.parsed(p)
    failed, rows = 0, []
    if not args.only or "uses" in args.only:
        check_uses(args.build, environment)
    for name, (_, _, changes) in PROGRAMS.items():
        wanted = [c for c in changes if not args.only or name in args.only or f"{name}/{c}" in args.only]
        plain = run(args.build, environment, name, [])[0] if wanted else None
        for change in wanted:
            try:
                rows.append(check(args.build, environment, name, change, plain))
                print(rows[-1], flush=True)
            except AssertionError as error:
                failed += 1
                print("FAILED", error, flush=True)
    if args.write:
        write(args.write, rows)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
