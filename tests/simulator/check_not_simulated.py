#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Holds docs/simulator.md, "What is not simulated", against the tables of entry points:
every function that returns "not supported" belongs to something the text names, and the
text names nothing that works. Usage: check_not_simulated.py SOURCE_DIR"""
import re
import sys
from pathlib import Path

# pattern of functions -> what the text calls it
NAMED = {
    r"cu(da)?(Tex|Surf)(Object|Ref)|cuda(Get|Create|Destroy)(Texture|Surface)Object"
    r"|cuModuleGet(Tex|Surf)Ref|TexRef|Texture1DLinear|TensorMap|TextureObject|SurfaceObject":
        "textures and surfaces",
    r"Multicast": "multicast",
    r"MemMapArrayAsync": "`cuMemMapArrayAsync`",
    r"ExternalSemaphore|NvSciSync": "external semaphores",
    r"ExternalMemoryGetMappedMipmapped": "mipmaps of external memory",
    r"Graphics|^cu(da)?(GL|EGL|VDPAU)|FromEGLSync|WGLGetDevice": "graphics interop",
    r"Cluster": "cluster dimensions",
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
}
OLD = "from before CUDA 3.2"
OLD_MEMOPS = "stream memory operations of before CUDA 11.7"


def rows(text, macro):
    return re.findall("^" + macro + r"(?:_PT)?\((\w+)(?:, *(\d+), *(\w+))?", text, re.M)


def main():
    source = Path(sys.argv[1])
    simulator = source / "src" / "simulator"
    entry = (simulator / "driver" / "vs_sim_entry_table.h").read_text()
    runtime = (simulator / "runtime" / "vs_sim_runtime_unsupported_table.h").read_text()
    text = (source / "docs" / "simulator.md").read_text()
    text = re.search(r"## What is not simulated\n(.*?)\n## ", text, re.S).group(1)
    plain = re.sub(r"\s+", " ", text)
    works = {symbol or name for name, _, symbol in rows(entry, "VS_SIM_FN")}
    refused = {symbol: (name, int(version)) for name, version, symbol in rows(entry, "VS_SIM_NO")}
    refused.update({name: (name, 0) for name, _, _ in rows(runtime, "VS_RT_NO")})
    newer = {name for name, version, symbol in rows(entry, "VS_SIM_FN")}
    problems, used = [], set()
    for symbol, (name, version) in sorted(refused.items()):
        what = next((w for p, w in NAMED.items() if re.search(p, symbol)), None)
        if not what and version and name in newer:  # an older form of what works
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
        if name in works and name not in refused:
            problems.append(f"docs/simulator.md says that {name} is not simulated; it is")
    for file in re.findall(r"(vs_sim_\w+\.h)", text):
        if not (simulator / file).exists():
            problems.append(f"docs/simulator.md names {file}, which does not exist")
    print(f"{len(refused)} functions are refused, {len(works)} of the driver work")
    for problem in problems:
        print(problem)
    return 1 if problems else 0


sys.exit(main())
