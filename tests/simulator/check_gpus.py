# SPDX-License-Identifier: Apache-2.0
"""The contexts and capacities of `vramscope doctor --gpus` agree with what was seen of real GPUs.

usage: check_gpus.py VRAMSCOPE

SEEN: MiB of a bare context, and how far a figure may be from it (two decimals of a GiB in public
messages give +-10 to 15 MiB). A GPU that is not in it has its context by the rule.
"""
import json
import subprocess
import sys

SEEN = {"t4-16g": (109, 10), "v100-16g": (380, 10), "v100-32g": (380, 10), "rtx3060-12g": (89, 5),
        "rtx3090-24g": (256, 2), "rtx4090-24g": (383, 5), "rtx6000ada-48g": (426, 2), "l4-24g": (251, 10),
        "a100-40g": (409, 15), "a100-80g": (409, 15), "h100-80g": (510, 10), "h200-141g": (530, 2),
        "b200-192g": (711, 10), "rtx5090-32g": (499, 12)}
THREADS = {60: 2048, 70: 2048, 75: 1024, 80: 2048, 86: 1536, 89: 1536, 90: 2048, 100: 2048, 103: 2048, 120: 1536}
MIB = 1 << 20


def run(*arguments, status=0):
    ran = subprocess.run([sys.argv[1], *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                         check=False)
    assert ran.returncode == status, (arguments, ran.returncode, ran.stderr)
    return ran.stdout if not status else ran.stderr


gpus = {g["name"]: g for g in json.loads(run("doctor", "--gpus", "--json"))["gpus"]}
assert len(gpus) == 26 and not set(SEEN) - set(gpus), sorted(gpus)
text = run("doctor", "--gpus")
for name, gpu in gpus.items():
    rule = gpu["sms"] * THREADS[gpu["compute_capability"]] * 2048
    if name in SEEN:
        seen, tolerance = SEEN[name]
        assert abs(gpu["context_bytes"] / MIB - seen) <= tolerance, gpu
        assert gpu["context_kind"] == "measured" and gpu["context_source"], gpu
    else:
        assert gpu["context_bytes"] == rule and gpu["context_kind"] == "rule", gpu
    line = next(line for line in text.splitlines() if line.startswith(name + " "))
    assert f" {gpu['total_bytes'] / (1 << 30):.2f} GiB" in line and f" {gpu['context_bytes'] // MIB} MiB" in line, line
assert round(gpus["t4-16g"]["total_bytes"] / (1 << 30), 2) == 14.57  # nvidia-smi has 15.00
assert gpus["t4-16g"]["board_bytes"] == 15360 * MIB
assert round(gpus["b200-192g"]["total_bytes"] / (1 << 30), 2) == 178.35  # nvidia-smi has 179.06
for wrong, right in (("h10-80g", "h100-80g"), ("rtx409-24g,devices=2", "rtx4090-24g")):
    said = run("fit", "--gpu", wrong, "--", "true", status=2)
    assert f"no simulated device '{wrong.split(',', maxsplit=1)[0]}'; did you mean '{right}'?" in said, said
