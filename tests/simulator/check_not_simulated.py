#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares docs/simulator.md, "What is not simulated", with the built libraries: every
function that returns "not supported" belongs to a feature in the text, and no feature in the
text works. Prints the unsupported functions.
Usage: check_not_simulated.py SOURCE_DIR NM LIBCUDA LIBCUDART"""
import re
import subprocess
import sys
from pathlib import Path

# pattern of functions -> their name in the text
NAMED = {
    r"(Tex|Surf)Ref|Texture1DLinear": "texture references",
    r"Multicast": "multicast",
    r"MemMapArrayAsync": "`cuMemMapArrayAsync`",
    r"ExternalSemaphore|NvSciSync": "external semaphores",
    r"ExternalMemoryGetMappedMipmapped": "mipmaps of external memory",
    r"Graphics|^cu(da)?(GL|EGL|VDPAU)|FromEGLSync|WGLGetDevice": "graphics interop",
    r"FlushGPUDirectRDMA": "flushing remote writes",
    r"Conditional": "conditional nodes",
    r"Green|DevResource|DevSm|GenerateDesc": "green contexts",
    r"ExecAffinity": "execution affinity",
    r"(Enumerate|FunctionCount|KernelCount|LibraryEnumerate)": "enumerating kernels",
    r"FuncGetParamInfo|KernelGetParamInfo": "sizes of a kernel's parameters",
    r"cuLink": "JIT linking",
    r"cuCoredump": "core dumps",
    r"Checkpoint": "checkpoints",
    r"Logs": "driver logs",
    r"AsyncNotification": "notifications of memory budgets",
    r"AtomicCapabilities": "capabilities of atomics",
    r"PersistingL2": "persisting L2 cache",
    r"SharedMemConfig": "shared memory banks",
    r"GetExportTable": "export tables",
    r"cuParamSet|cuLaunch$|cuLaunchGrid|cuFuncSetBlockShape|cuFuncSetSharedSize":
        "launching by `cuLaunch`",
    r"SetValidDevices": "`cudaSetValidDevices`",
    r"GetUnifiedFunction": "unified functions",
    r"GetLuid": "`cuDeviceGetLuid`",
    r"MultiDevice": "cooperative launches on several devices",
    r"BatchDecompress": "decompression",
    r"TensorMap": "tensor maps",
}
OLD = "from before CUDA 3.2"
OLD_MEMOPS = "stream memory operations of before CUDA 11.7"


def implementations(nm, library, prefix):
    """The names that start with *prefix*: those that are refused, and those that work."""
    lines = subprocess.run([nm, library], check=True, capture_output=True, text=True).stdout
    address = {name: value for value, name in re.findall(r"^(\w+) \w (\w+)$", lines, re.M)}
    refusal = address[prefix + "not_supported"]
    names = {name: value == refusal for name, value in address.items()
             if name.startswith(prefix + "impl_")}
    return ({n[len(prefix + "impl_"):] for n, refused in names.items() if refused},
            {n[len(prefix + "impl_"):] for n, refused in names.items() if not refused})


def main():
    source, nm = Path(sys.argv[1]), sys.argv[2]
    refused, works = implementations(nm, sys.argv[3], "vs_sim_")
    refused |= implementations(nm, sys.argv[4], "vs_rt_")[0]
    text = (source / "docs" / "simulator.md").read_text()
    text = re.search(r"## What is not simulated\n(.*?)(?:\n## |\Z)", text, re.S).group(1)
    plain = re.sub(r"\s+", " ", text)
    newer = {re.sub(r"_v\d$", "", name) for name in works}
    problems, used = [], set()
    for symbol in sorted(refused):
        print(symbol)
        what = next((w for p, w in NAMED.items() if re.search(p, symbol)), None)
        name = re.sub(r"(_v\d)?(_pt[sd][sz])?$", "", symbol)
        if not what and name.startswith("cu") and name in newer:  # an older form of what works
            what = OLD_MEMOPS if re.match("cuStream", name) else OLD
        if not what:
            problems.append(f"{symbol} is refused, and no rule here says what it belongs to")
        else:
            used.add(what)
    for what in sorted(set(NAMED.values()) - used):
        problems.append(f"{what!r}: every function of it works")
    for what in sorted(used):
        if what not in plain:
            problems.append(f"{what!r}: docs/simulator.md does not name it")
    outside_captures = re.sub(r"- in a capture:.*?(?=\n- )", "", text, flags=re.S)
    for name in re.findall(r"`(cu[A-Z]\w+|cuda[A-Z]\w+)`", outside_captures):
        if name in works:
            problems.append(f"docs/simulator.md says that {name} is not simulated; it is")
    print(f"{len(refused)} functions are refused, {len(works)} of the driver work")
    for problem in problems:
        print(problem)
    return 1 if problems else 0


sys.exit(main())
