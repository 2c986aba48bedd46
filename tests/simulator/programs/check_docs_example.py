#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The example of docs/simulator.md, "Running your own kernels", unchanged:
check_docs_example.py DOCUMENT BUILD INCLUDE NVCC CXX CUDA-INCLUDES

Extracts the files and commands from the document, runs the commands and compares their
output with the document.
"""
import os
import re
import subprocess
import sys
import tempfile


def main():
    document, build, include, nvcc, cxx, cuda = sys.argv[1:7]
    with open(document, encoding="utf-8") as f:
        text = f.read()
    section = text.split("## Running your own kernels", 1)[1].split("\n## ", 1)[0]
    files = re.findall(r"`([\w.]+)`:\n\n```[^\n]*\n(.*?)```", section, re.S)
    commands = re.search(r"```sh\n(.*?)```", section, re.S).group(1)
    printed = re.search(r"```text\n(.*?)```", section, re.S).group(1)
    if len(files) != 3:
        sys.exit(f"{document}: {len(files)} files in the example, not 3")
    with tempfile.TemporaryDirectory() as folder:
        for name, content in files:
            with open(os.path.join(folder, name), "w", encoding="utf-8") as f:
                f.write(content)
        shell = f'nvcc() {{ "{nvcc}" "$@"; }}\ng++() {{ "{cxx}" "$@"; }}\nset -e\n' + commands
        env = {**os.environ, "PATH": os.path.join(build, "bin") + ":" + os.environ["PATH"],
               "CPATH": ":".join([include, *cuda.split(";")])}
        env.pop("LD_LIBRARY_PATH", None)
        p = subprocess.run(["bash", "-c", shell], cwd=folder, env=env, capture_output=True, check=False)
    out = p.stdout.decode()
    print(out, p.stderr.decode())
    if p.returncode or out != printed:
        sys.exit(f"exit status {p.returncode}; the document says\n{printed}")


main()
