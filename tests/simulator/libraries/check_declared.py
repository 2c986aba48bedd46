#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares NVIDIA's headers with the stand-ins: each function that a public header declares is exported
(docs/internals/simulator.md, "Libraries").

usage: check_declared.py NM SIMULATOR_FOLDER [PACKAGES]

PACKAGES, or else VS_NVIDIA_PACKAGES: the folder "nvidia" of Python's site-packages, with NVIDIA's wheels for
CUDA 12. Without them: exit 77.
"""
import os
import pathlib
import re
import subprocess
import sys

# library: (the package's folder, headers, names)
LIBRARIES = {
    "libcublas.so.12": ("cublas", "cublas*.h", r"cublas(?!Lt)\w+"),
    "libcublasLt.so.12": ("cublas", "cublasLt.h", r"cublasLt\w+"),
    "libcusolver.so.11": ("cusolver", "*.h", r"cusolver\w+"),
    "libcusparse.so.12": ("cusparse", "cusparse.h", r"cusparse\w+"),
    "libcurand.so.10": ("curand", "curand.h", r"curand\w+"),
    "libcufft.so.11": ("cufft", "cufft*.h", r"cufft(?!w)\w+"),
    "libcudnn.so.9": ("cudnn", "cudnn*.h", r"cudnn\w+"),
    "libnccl.so.2": ("nccl", "nccl.h", r"nccl\w+"),
    "libnvrtc.so.12": ("cuda_nvrtc", "nvrtc.h", r"nvrtc\w+"),
    "libnvjpeg.so.12": ("nvjpeg", "nvjpeg.h", r"nvjpeg\w+"),
    "libnvJitLink.so.12": ("nvjitlink", "nvJitLink.h", r"(?:__)?nvJitLink\w+"),
}


def declared(text, names):
    """The functions that are declared, and not defined inline. A static inline nvJitLinkCreate also has a plain name."""
    text = re.sub(r"//[^\n]*|/\*.*?\*/|^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", " ", text, flags=re.S | re.M)
    found = {True: set(), False: set()}
    for match in re.finditer(r"\b(%s)\s*\((?:[^()]|\([^()]*\))*\)\s*([;{])" % names, text):
        found[match[2] == "{"].add(match[1])
    return found[False] - (found[True] if "JitLink" not in names else set())


def main():
    nm, folder = sys.argv[1:3]
    packages = pathlib.Path((sys.argv[3:] or [os.environ.get("VS_NVIDIA_PACKAGES", "")])[0] or "/nonexistent")
    seen, missing = 0, []
    for library, (package, headers, names) in LIBRARIES.items():
        text = "".join(p.read_text(errors="replace") for p in sorted((packages / package / "include").glob(headers)))
        found = declared(text, names)
        exports = subprocess.run([nm, "-D", "--defined-only", os.path.join(folder, library)], check=True,
                                 capture_output=True, text=True).stdout
        missing += ["%s lacks %s" % (library, n)
                    for n in sorted(found - set(re.findall(r" (\w+)(?:@|$)", exports, re.M)))]
        seen += len(found)
        print("%s: %d functions declared" % (library, len(found)))
    print("\n".join(missing))
    return 1 if missing else 0 if seen else 77


sys.exit(main())
