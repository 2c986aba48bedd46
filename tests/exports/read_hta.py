#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The Chrome timeline as HolisticTraceAnalysis reads it, a tool for the traces of PyTorch's profiler: its
kernels, copies, steps, launches and ranks are those of the report."""
import json
import os
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "package"))
import pandas_environment


def missing():
    pandas_environment.PANDAS.require("VS_HTA_STARTED", "tests/package/pandas_environment.py",
                                      os.environ.get("VS_HTA_PYTHON"))


def frame_of(recorded, name):
    from hta.trace_analysis import TraceAnalysis
    path = os.path.join(recorded.folder, name + ".json")
    with open(path, "wb") as file:
        file.write(recorded.export(name, "chrome", "--min-bytes", "1"))
    return TraceAnalysis(trace_files={0: path}, trace_dir=""), path


def check(recorded, problems, _root):
    recorded.record("calls", "--kernels=api", [recorded.train_lm, "--steps", "4"])
    analysis, path = frame_of(recorded, "calls")
    device = recorded.report("calls")["devices"][0]
    kinds, kernels = analysis.get_gpu_kernel_breakdown(visualize=False, num_kernels=1000)
    wanted = {k["name"]: (k["count"], k["time_ns"]) for k in device["kernels"]["by_name"]}
    found = {row["name"]: row["sum (us)"] for _, row in kernels.iterrows() if row["kernel_type"] == "COMPUTATION"}
    problems.true("HTA finds kernels", found)
    problems.same("HTA: names of kernels", sorted(found), sorted(wanted))
    for name, time_us in found.items():  # it rounds to µs: begins up, ends down
        count, time_ns = wanted.get(name, (0, 0))
        problems.true(f"HTA: time of {name}: {time_us} µs of {count}, not {time_ns} ns", 0 <= time_ns / 1000 - time_us <= 2 * count)
    breakdown = analysis.get_temporal_breakdown(visualize=False).iloc[0]
    problems.true("HTA: time of kernels", breakdown["compute_time(us)"] > 0)
    copies = analysis.get_memory_bw_summary()["memory_bw_gbps"]["count"]
    problems.same("HTA: copies", int(copies[[k for k in copies.index if "Memset" not in k[1]]].sum()),
                  sum(c["count"] for c in device["copies"].values()))
    launches = analysis.get_cuda_kernel_launch_stats(visualize=False)[0]
    with open(path, encoding="utf-8") as file:
        events = json.load(file)["traceEvents"]
    numbers = {e["args"]["correlation"] for e in events if e.get("cat") in ("kernel", "gpu_memset", "gpu_memcpy")}
    problems.true("HTA: launches have their kernels", set(launches["correlation"]) <= numbers and len(launches) > 100)
