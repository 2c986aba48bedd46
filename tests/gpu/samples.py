# SPDX-License-Identifier: Apache-2.0
"""NVIDIA's CUDA samples, unmodified, as programs that nobody here wrote.

They are not part of this repository: a checkout is named by the option --samples or
fetched from GitHub at a fixed tag into a folder outside of it, and each sample is
built there by nvcc as its own documentation says. On the simulated GPU, whose device
runs no device code, a sample's kernels are compiled a second time for the host from a
copy of its source without the launches, and preloaded; the program itself stays as it
is. Then each runs alone, observed and with the caching allocator."""

import glob
import os
import re
import subprocess

REPOSITORY = "https://github.com/NVIDIA/cuda-samples"
TAG = "v13.0"
WAIVED = 2 # the exit status of a sample that this device is not for


class Sample:
    """*path* below Samples/. *simulate*: the device it runs on there, None: it cannot.
    *kernels*: instances of templates, which no launch in the source spells out.
    *device_code* False: no kernels are needed for its answers."""

    def __init__(self, path, simulate="a100-40g", args=(), kernels=(), sources=None, flags=(), extra=(),
                 any_order=False, device_code=True, driver=False, images=()):
        self.path, self.name = path, os.path.basename(path)
        self.simulate, self.args, self.kernels = simulate, list(args), list(kernels)
        self.sources, self.flags, self.any_order, self.device_code = sources, list(flags), any_order, device_code
        self.extra = list(extra)  # sources in Common/
        self.images = list(images) # (source, file, nvcc's option) that the program loads
        self.driver = driver # it calls the driver API


INTRO, CONCEPTS, FEATURES, DOMAIN, PERFORMANCE = (
    "0_Introduction/", "2_Concepts_and_Techniques/", "3_CUDA_Features/", "5_Domain_Specific/", "6_Performance/")
TWO = "a100-40g,devices=2"
SAMPLES = [
    Sample(INTRO + "vectorAdd"),
    Sample(INTRO + "vectorAddDrv", driver=True, sources=["vectorAddDrv.cpp"],
           images=[("vectorAdd_kernel.cu", "vectorAdd_kernel64.fatbin", "-fatbin")]),
    Sample(INTRO + "vectorAddMMAP", driver=True, sources=["vectorAddMMAP.cpp", "multidevicealloc_memmap.cpp"],
           images=[("vectorAdd_kernel.cu", "vectorAdd_kernel64.fatbin", "-fatbin")]),
    Sample(INTRO + "matrixMul", args=["-wA=64", "-hA=64", "-wB=64", "-hB=64"],
           kernels=["MatrixMulCUDA<16>", "MatrixMulCUDA<32>"]),
    Sample(INTRO + "asyncAPI"),
    Sample(INTRO + "cudaOpenMP", simulate=TWO, flags=["-Xcompiler", "-fopenmp"], any_order=True),
    Sample(INTRO + "mergeSort", simulate=None), # integer intrinsics
    Sample(INTRO + "simpleAtomicIntrinsics"),
    Sample(INTRO + "simpleCallback", simulate=None, any_order=True), # types of threads in its kernels' headers
    Sample(INTRO + "simpleCooperativeGroups"),
    Sample(INTRO + "simpleCubemapTexture"),
    Sample(INTRO + "simpleIPC", simulate=TWO, extra=["helper_multiprocess.cpp"], any_order=True),
    Sample(INTRO + "simpleLayeredTexture"),
    Sample(INTRO + "simpleMultiCopy"),
    Sample(INTRO + "simpleMultiGPU", simulate=TWO),
    Sample(INTRO + "simpleP2P", simulate=TWO),
    Sample(INTRO + "simplePitchLinearTexture", simulate=None), # minutes on a host
    Sample(INTRO + "simpleStreams"),
    Sample(INTRO + "simpleTemplates", kernels=["testKernel<float>", "testKernel<int>"]),
    Sample(INTRO + "simpleZeroCopy"),
    Sample(INTRO + "systemWideAtomics"),
    Sample(INTRO + "template"),
    Sample(INTRO + "UnifiedMemoryStreams", simulate=None, flags=["-lcublas", "-Xcompiler", "-fopenmp"], any_order=True),
    Sample(CONCEPTS + "scan", simulate=None), # minutes on a host
    Sample(CONCEPTS + "sortingNetworks", simulate=None), # integer intrinsics
    Sample(CONCEPTS + "scalarProd"),
    Sample(CONCEPTS + "threadMigration", driver=True, sources=["threadMigration.cpp"], any_order=True,
           images=[("threadMigration_kernel.cu", "threadMigration_kernel64.fatbin", "-fatbin")]),
    Sample(CONCEPTS + "streamOrderedAllocation"),
    Sample(CONCEPTS + "streamOrderedAllocationIPC", extra=["helper_multiprocess.cpp"], driver=True, any_order=True),
    Sample(CONCEPTS + "streamOrderedAllocationP2P", simulate=TWO),
    Sample(FEATURES + "graphMemoryNodes"),
    Sample(FEATURES + "graphMemoryFootprint", device_code=False),
    Sample(FEATURES + "memMapIPCDrv", extra=["helper_multiprocess.cpp"], driver=True, any_order=True,
           images=[("memMapIpc_kernel.cu", "memMapIpc_kernel64.ptx", "-ptx")], sources=["memMapIpc.cpp"]),
    Sample(FEATURES + "binaryPartitionCG"),
    Sample(FEATURES + "newdelete"),
    Sample(DOMAIN + "BlackScholes", simulate=None), # minutes on a host
    Sample(DOMAIN + "quasirandomGenerator", simulate=None), # integer intrinsics
    Sample(PERFORMANCE + "UnifiedMemoryPerf", simulate=None),
]


def fetch(directory, say):
    """A checkout of the samples in *directory*; None when it cannot be had."""
    target = os.path.join(directory, "cuda-samples")
    if os.path.isdir(os.path.join(target, "Samples")):
        return target
    say(f"fetching {REPOSITORY} {TAG}")
    r = subprocess.run(["git", "clone", "--quiet", "--depth", "1", "--branch", TAG, REPOSITORY, target],
                       capture_output=True, text=True, check=False)
    return target if r.returncode == 0 else None


# --- kernels for the host -----------------------------------------------------

def balanced(text, start, open_, close):
    """The index after the bracket that closes the one at *start*."""
    depth = 0
    for i in range(start, len(text)):
        depth += (text[i] == open_) - (text[i] == close)
        if depth == 0:
            return i + 1
    raise ValueError("unbalanced brackets")


def strip_comments(text):
    return re.sub(r'//[^\n]*|/\*.*?\*/|("(?:\\.|[^"\\\n])*")', lambda m: m.group(1) or " ", text, flags=re.S)


def without_literals(text):
    """The same length, with nothing in quotes."""
    return re.sub(r'"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])\'', lambda m: "_" * len(m.group(0)), text)


def pieces(text):
    """The declarations of a file in order, one text each: (head, body or None, tail)."""
    at, start, n = 0, 0, len(text)
    bare = without_literals(text)
    while at < n:
        c = bare[at]
        if c == "#" and not text[start:at].strip():
            end = at
            while True: # the line, and those that it goes on in
                end = text.find("\n", end)
                if end < 0 or text[end - 1] != "\\":
                    break
                end += 1
            end = n if end < 0 else end + 1
            yield text[start:end], None, ""
            at = start = end
        elif c in "([":
            at = balanced(bare, at, c, ")" if c == "(" else "]")
        elif c == "{":
            end = balanced(bare, at, "{", "}")
            rest = re.match(r"[^{}();]*;", text[end:])
            head = text[start:at]
            function = re.search(r"\)\s*(const)?\s*$", head) and "=" not in re.sub(r"\(.*\)", "", head, flags=re.S)
            tail = rest.group(0) if rest and not function else ""
            yield head, text[at:end], tail
            at = start = end + len(tail)
        elif c == ";":
            yield text[start:at + 1], None, ""
            at = start = at + 1
        else:
            at += 1
    if text[start:].strip():
        yield text[start:], None, ""


DEVICE = re.compile(r"\b__(global|device|constant|managed)__\b")


def host_copy(text):
    """What device code needs of a source: everything but the host's functions."""
    out = []
    for head, body, tail in pieces(text):
        outside = re.sub(r"\([^()]*(\([^()]*\)[^()]*)*\)", "", head) # what is in no brackets
        nested = re.search(r'(\bnamespace\b[^()]*|extern\s+"C"\s*)$', head)
        if body is None:
            out.append(head)
        elif nested and "(" not in head:
            out += [head, "{", host_copy(body[1:-1]), "}", tail]
        elif DEVICE.search(head) or "(" not in head or "=" in outside:
            out += [head, body, tail]
    return "".join(out)


LAUNCH = re.compile(r"([A-Za-z_]\w*)\s*(<[\w\s,:]*>)\s*<<<")
SHARED = re.compile(r"extern\s+(?=[\w\s]*\b__shared__\b)([\w\s]+?)\s+(\w+)\s*\[\s*\]")


PRELUDE = "#include <vramscope_simulator_kernels.hpp>\n"
KERNEL = r"__global__\s+(?:static\s+)?void\s+(?:__launch_bounds__\s*\([^)]*\)\s*)?(\w+)\s*\("
TEMPLATE = r"template\s*<[^>]*>\s*(?:static\s+)?"


def read(path):
    with open(path, encoding="utf-8", errors="replace") as f:
        return strip_comments(f.read())


def shared_arrays(text):
    """Type and name of each dynamic array of shared memory."""
    return [(kind.replace("__shared__", "").strip(), name) for kind, name in SHARED.findall(text)]


def local_headers(path, text):
    found = (os.path.join(os.path.dirname(path), h) for h in re.findall(r'#\s*include\s*"([^"]+)"', text))
    return [h for h in found if os.path.exists(h)]


def kernels_source(sample, path):
    """A C++ file with the kernels of one source, named for the simulator."""
    text = read(path)
    everything = text + "".join(read(h) for h in local_headers(path, text))
    templates = set(re.findall(TEMPLATE + KERNEL, everything))
    kernels = re.findall(KERNEL, everything)
    names = [k for k in kernels if k not in templates]
    if not sample.kernels:
        names += [k + t for k, t in LAUNCH.findall(text) if k in templates]
    names += [k for k in sample.kernels if re.match(r"\w+", k).group(0) in kernels]
    parts = [PRELUDE, f'#line 1 "{path}"\n{host_copy(text)}\n']
    parts += [f"VRAMSCOPE_SIM_DYNAMIC_SHARED({t}, {n});\n" for t, n in sorted(set(shared_arrays(everything)))]
    parts += [f"VRAMSCOPE_SIM_KERNEL({n});\n" for n in dict.fromkeys(names)]
    return "".join(parts)


# --- building -----------------------------------------------------------------

def command(*words, cwd):
    r = subprocess.run(words, cwd=cwd, capture_output=True, text=True, errors="replace", check=False)
    return "" if r.returncode == 0 else (r.stderr or r.stdout or f"{words[0]} failed")


def build(sample, root, output, runtime, arch, driver):
    """The program, built by nvcc against the *runtime* (shared or static); or (None, why)."""
    folder = os.path.join(root, "Samples", sample.path)
    sources = [os.path.join(folder, s) for s in sample.sources] if sample.sources else \
        sorted(glob.glob(folder + "/*.cu") + glob.glob(folder + "/*.cpp"))
    sources += [os.path.join(root, "Common", s) for s in sample.extra]
    program = os.path.join(output, f"{sample.name}_{runtime}")
    why = command("nvcc", "-cudart", runtime, f"-arch={arch}", "-std=c++17", "-I", os.path.join(root, "Common"),
                  "-I", folder, *sample.flags, *sources, *(["-Xlinker", driver] if sample.driver else []), "-o", program, cwd=folder)
    for image_source, image, option in [] if why else sample.images:
        why = why or command("nvcc", option, f"-arch={arch}", "-I", os.path.join(root, "Common"), "-o",
                             os.path.join(output, image), os.path.join(folder, image_source), cwd=folder)
    return (None, why) if why else (program, "")


def build_kernels(sample, root, output, include, cuda_include):
    """The library with the sample's kernels for the simulated GPU; or (None, why)."""
    folder = os.path.join(root, "Samples", sample.path)
    sources = [os.path.join(folder, s) for s in sample.sources or []] + \
        [os.path.join(folder, i[0]) for i in sample.images] or sorted(glob.glob(folder + "/*.cu"))
    library = os.path.join(output, f"lib{sample.name}_kernels.so")
    copies = []
    for source in (s for s in sources if s.endswith(".cu")):
        copies.append(os.path.join(output, f"{sample.name}_{os.path.basename(source)}_kernels.cpp"))
        with open(copies[-1], "w", encoding="utf-8") as f:
            f.write(kernels_source(sample, source))
    why = command("g++", "-std=c++17", "-O2", "-w", "-shared", "-fPIC", "-DVRAMSCOPE_SIM_ARCH=800", "-I", include,
                  "-I", cuda_include, "-I", os.path.join(root, "Common"), "-I", folder, *copies, "-o", library,
                  cwd=folder)
    return (None, why) if why else (library, "")


# --- comparing ----------------------------------------------------------------

TIMED = re.compile(r"\b(m?s|ms|msec|usec|us|seconds?|sec|time|clocks?|cycles|[GMK]i?B/s|GFlops?/?s?|throughput|"
                   r"bandwidth|elements/s|options/s|samples/s|Perf\w*)\b", re.I)


def answers(text, any_order):
    """What a run prints without what depends on the clock, on addresses or on pids."""
    lines = []
    for line in text.splitlines():
        line = re.sub(r"0x[0-9a-fA-F]+", "0x#", line)
        line = re.sub(r"\b(PID|process|Process)\b[ =:]*\d+", r"\1 #", line)
        if TIMED.search(line):
            line = re.sub(r"[-+]?\d[\d.,]*(?:e[-+]?\d+)?", "#", line)
        lines.append(line.rstrip())
    return sorted(lines) if any_order else lines
