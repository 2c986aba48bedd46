#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Blocks inside the memory of CuPy's and TensorFlow's allocators, of which there are stand-ins here, and what the
report says of a framework whose blocks were not recorded.

    check_pools.py VRAMSCOPE RUNTIME TENSORFLOW ANOTHER [ENVIRONMENTS]

ANOTHER: a second library with TensorFlow's functions.
ENVIRONMENTS (default: VS_FRAMEWORK_ENVS): a folder with the environments "cupy" and "tensorflow"; the same is then
checked with the real ones.
"""
import json
import os
import shutil
import subprocess
import sys
import tempfile

COMMAND, RUNTIME, TENSORFLOW, ANOTHER = sys.argv[1:5]
ENVIRONMENTS = sys.argv[5] if len(sys.argv) > 5 else os.environ.get("VS_FRAMEWORK_ENVS", "")
KIB, MIB = 1 << 10, 1 << 20

LOAD = f"import ctypes; runtime = ctypes.CDLL({RUNTIME!r}, ctypes.RTLD_GLOBAL)\n"
CUPY = """\
import cupy, threading
kept = [cupy.empty(600 * 1024)]
def more():
    kept.append(cupy.empty(900 * 1024))
thread = threading.Thread(target=more)
thread.start()
thread.join()
cupy._pool.freed = lambda: kept.append(cupy.empty(600 * 1024))  # the same block again
first = kept.pop(0)
del first
cupy._pool.freed = None
kept.append(cupy.empty(100))
"""
OUTSIDE = """\
pointer = ctypes.c_void_p()
assert runtime.cudaMalloc(ctypes.byref(pointer), ctypes.c_size_t(300 * 1024)) == 0
"""
TENSORS = f"""\
bfc = ctypes.CDLL({TENSORFLOW!r})
bfc.bfc_allocate.restype = ctypes.c_void_p
first = bfc.bfc_allocate(0, ctypes.c_size_t(1000))
host = bfc.bfc_allocate(1, ctypes.c_size_t(7000))
bfc.bfc_deallocate(ctypes.c_void_p(first))
second = bfc.bfc_allocate(0, ctypes.c_size_t(1500 * 1024))
assert not bfc.bfc_allocate(0, ctypes.c_size_t(64 << 20))
optional, nothing = 2, ctypes.c_size_t(0)
assert not bfc.bfc_allocate(optional, ctypes.c_size_t(64 << 20)) and not bfc.bfc_allocate(0, nothing)
another = ctypes.CDLL({ANOTHER!r})
another.bfc_allocate(1, ctypes.c_size_t(100))
another.bfc_deallocate(None)
assert (bfc.bfc_calls(), another.bfc_calls()) == (7, 2), (bfc.bfc_calls(), another.bfc_calls())
"""


def record(folder, program, *options, python=sys.executable, device="t4-16g"):
    """The report of a program, as JSON and as text."""
    path, trace = os.path.join(folder, "program.py"), os.path.join(folder, "run.vst")
    with open(path, "w", encoding="utf-8") as file:
        file.write(program)
    done = subprocess.run([COMMAND, "run", *options, "--simulate", device, "--allocator=observe", "-q", "-o", trace,
                           python, path], capture_output=True, text=True, timeout=600,
                          env={**os.environ, "PYTHONPATH": os.path.join(folder, "site-packages")})
    assert done.returncode == 0 and "vramscope[" not in done.stderr, done
    show = [COMMAND, "report", trace]
    report = json.loads(subprocess.run([*show, "--json"], capture_output=True, check=True, timeout=600).stdout)
    text = subprocess.run(show, capture_output=True, text=True, check=True, timeout=600).stdout
    return report["devices"][0], " ".join(text.split())


def arrays_in_the_pool_of_cupy_are_recorded_with_pools(folder):
    device, text = record(folder, LOAD + CUPY + OUTSIDE, "--pools")
    table = subprocess.run([COMMAND, "report", "--torch-summary", os.path.join(folder, "run.vst")], capture_output=True,
                           text=True, check=False)
    assert table.returncode == 2 and "no memory of PyTorch was recorded" in table.stderr, table
    framework, peak = device["framework"], (600 + 900) * KIB + 512
    assert (framework["name"], framework["contents"], framework["allocations"], framework["frees"]) == (
        "CuPy", "arrays", 4, 4), framework  # three at the end of the program
    assert framework["peak_allocated_bytes"] == peak, framework
    # the second piece of memory is not counted beside the arrays in it, though its call site is new
    assert device["peak_user"]["bytes"] == peak + 300 * KIB and device["frameworks"] == [], device["peak_user"]
    assert device["peak_allocated"]["bytes"] == 2 * MIB + 300 * KIB, device["peak_allocated"]
    assert f"CuPy arrays peak {peak / MIB:.1f} MiB" in text and "; 4 allocations in the run" in text, text
    sites = [site["text"] for site in device["sites_at_peak_allocated"]["sites"]]
    assert any("more (program.py:" in site for site in sites), sites


def a_policy_without_effect_is_named(folder):
    done = subprocess.run([COMMAND, "run", "--policy=compact", "--simulate", "t4-16g", "-o", os.path.join(
        folder, "policy.vst"), sys.executable, os.path.join(folder, "program.py")], capture_output=True, text=True,
        timeout=600, check=False, env={**os.environ, "PYTHONPATH": os.path.join(folder, "site-packages")})
    assert "--policy and --alloc-conf have no effect: the program's framework has a pool" in done.stderr, done


def without_pools_the_report_names_cupy_and_the_switch(folder):
    device, text = record(folder, LOAD + CUPY)
    assert "framework" not in device, device["framework"]
    assert [(f["name"], f["bytes"], f["count"]) for f in device["frameworks"]] == [("CuPy", 2 * MIB, 2)], device
    assert "CuPy 2.0 MiB in 2 allocations at the peak" in text and "run --pools records each" in text, text
    oom = subprocess.run([COMMAND, "oom", os.path.join(folder, "run.vst")], capture_output=True, text=True,
                         check=True).stdout
    assert "no allocation failed" in oom and "A request that such a pool refused is not in the trace" in oom, oom


def tensors_of_tensorflow_are_recorded_without_the_hosts(folder):
    device, text = record(folder, LOAD + TENSORS + OUTSIDE)
    framework, size = device["framework"], 1500 * KIB
    assert (framework["name"], framework["allocations"], framework["frees"]) == ("TensorFlow", 2, 1), framework
    assert framework["peak_allocated_bytes"] == size, framework
    assert device["peak_user"]["bytes"] == size + 300 * KIB, device["peak_user"]
    assert device["peak_allocated"]["bytes"] == 3 * MIB + 300 * KIB, device["peak_allocated"]
    assert "TensorFlow peak 1.5 MiB" in text and "; 2 allocations in the run" in text and device["frameworks"] == [], text
    assert device["families"]["device"]["failures"] == 1 and "64.0 MiB by TensorFlow" in text, text


def real_ones_if_there_are_any(folder):
    programs = {
        "cupy": "import cupy\nkept = [cupy.zeros(1 << 20, dtype='uint8') for _ in range(3)]\ndel kept[0]\n",
        "tensorflow": "import tensorflow as tf\nkept = [tf.zeros(1 << 18) for _ in range(3)]\n"}
    for name, program in programs.items():
        python = os.path.join(ENVIRONMENTS, name, "bin", "python")
        if not ENVIRONMENTS or not os.path.exists(python):
            print(f"no environment for {name} in VS_FRAMEWORK_ENVS: not checked")
            continue
        os.rename(os.path.join(folder, "site-packages"), os.path.join(folder, "aside"))
        try:
            device, text = record(folder, program, "--pools", python=python, device="a100-40g")
        finally:
            os.rename(os.path.join(folder, "aside"), os.path.join(folder, "site-packages"))
        assert device["framework"]["peak_allocated_bytes"] >= 3 * MIB, text
        assert device["peak_user"]["bytes"] <= 4 * MIB and "(program.py:2)" in text, text


def main():
    with tempfile.TemporaryDirectory() as folder:
        package = os.path.join(folder, "site-packages", "cupy")
        os.makedirs(package)
        shutil.copy(os.path.join(os.path.dirname(os.path.abspath(__file__)), "cupy_stand_in.py"),
                    os.path.join(package, "__init__.py"))
        for check in (arrays_in_the_pool_of_cupy_are_recorded_with_pools,
                      without_pools_the_report_names_cupy_and_the_switch,
                      tensors_of_tensorflow_are_recorded_without_the_hosts, a_policy_without_effect_is_named,
                      real_ones_if_there_are_any):
            check(folder)
            print("ok", check.__name__)


main()
