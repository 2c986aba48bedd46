#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""scripts/torch_imports on a torch of our own: three small libraries, built here.

    check_imports.py SCRIPT --cc COMPILER

One library imports functions of cuBLAS and NCCL and looks one of NVML up by name; the stand-ins
export all but one of each. The wheel and the folder give the same answer, and damaged input an
error.
"""
import argparse
import json
import pathlib
import subprocess
import sys
import tempfile
import zipfile


def build(cc, folder, name, text, *options):
    folder.mkdir(parents=True, exist_ok=True)
    source = folder / "source.c"
    source.write_text(text, encoding="utf-8")
    subprocess.run([cc, "-shared", "-fPIC", "-nostdlib", str(source), "-o", str(folder / name), *options], check=True)
    source.unlink()


def functions(names):
    return "".join(f"int {n}(void) {{ return 0; }}\n" for n in names)


def make(cc, root):
    """(installed torch, wheel, stand-ins)"""
    full, standins, site = root / "full", root / "standins", root / "site"
    build(cc, full, "libcublas.so.13", functions(["cublasCreate_v2", "cublasSgemm_v2"]), "-Wl,-soname,libcublas.so.13")
    build(cc, full, "libnccl.so.2", functions(["ncclSend", "ncclRecv"]), "-Wl,-soname,libnccl.so.2")
    build(cc, standins, "libcublas.so.13", functions(["cublasCreate_v2"]), "-Wl,-soname,libcublas.so.13")
    build(cc, standins, "libnccl.so.2", functions(["ncclSend", "ncclRecv"]), "-Wl,-soname,libnccl.so.2")
    build(cc, standins, "libnvidia-ml.so.1", functions(["nvmlInit_v2"]))
    build(cc, site / "torch/lib", "libtorch_cuda.so",
          "int cublasCreate_v2(void), cublasSgemm_v2(void), ncclSend(void), ncclRecv(void), cudaMalloc(void);\n"
          "const char *const names[] = {\"\", \"nvmlInit_v2\", \"nvmlDeviceGetUUID\", \"nvmlReturn_t\"};\n"
          "int cudaOwn(void) { return 0; }\n"
          "int f(void) { return cublasCreate_v2() + cublasSgemm_v2() + ncclSend() + ncclRecv(); }\n",
          f"-L{full}", "-l:libcublas.so.13", "-l:libnccl.so.2")
    (site / "torch/version.py").write_text("__version__ = '9.1.0+cu130'\ncuda: Optional[str] = '13.0'\n", encoding="utf-8")
    wheel = root / "torch-9.1.0.whl"
    with zipfile.ZipFile(wheel, "w") as z:
        for path in sorted(site.rglob("*")):
            if path.is_file():
                z.write(path, path.relative_to(site))
    return site, wheel, standins


def run(script, standins, *words):
    return subprocess.run([sys.executable, script, "--standins", str(standins), *map(str, words)],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)


def row(text, library):
    return next([c.strip() for c in line.strip("|").split("|")] for line in text.splitlines()
                if line.startswith(f"| {library} "))


def main():
    p = argparse.ArgumentParser()
    p.add_argument("script")
    p.add_argument("--cc", default="cc")
    args = p.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        site, wheel, standins = make(args.cc, root)
        names = root / "names.json"
        ran = run(args.script, standins, "--json", names, wheel)
        assert ran.returncode == 1, (ran.returncode, ran.stderr)
        assert "## torch 9.1.0 (CUDA 13.0)" in ran.stdout, ran.stdout
        assert row(ran.stdout, "cuBLAS") == ["cuBLAS", "libcublas.so.13", "2", "0", "`cublasSgemm_v2`"], ran.stdout
        assert row(ran.stdout, "NCCL") == ["NCCL", "libnccl.so.2", "2", "0", "none"], ran.stdout
        assert row(ran.stdout, "NVML") == ["NVML", "–", "0", "2", "none; by name: `nvmlDeviceGetUUID`"], ran.stdout
        assert json.loads(names.read_text())[0]["linked"]["cuBLAS"] == ["cublasCreate_v2", "cublasSgemm_v2"]
        assert run(args.script, standins, site).stdout == ran.stdout
        document = root / "releases.md"
        document.write_text("# Title\n\n## torch 1.0 (CUDA 9)\nold\n", encoding="utf-8")
        run(args.script, standins, "--write", document, wheel)
        assert document.read_text().startswith("# Title\n\n## torch 9.1.0") and "old" not in document.read_text()
        complete = run(args.script, root / "full", wheel)
        assert complete.returncode == 0, complete.stdout
        broken = root / "torch-broken.whl"
        broken.write_bytes(wheel.read_bytes()[:200])
        for bad in (broken, root / "absent", standins):
            ran = run(args.script, standins, bad)
            assert ran.returncode == 2 and "Give a torch wheel" in ran.stderr, (bad, ran.returncode, ran.stderr)
    print("a missing function of a stand-in is found in the wheel and in the folder; bad input is an error")
    return 0


if __name__ == "__main__":
    sys.exit(main())
