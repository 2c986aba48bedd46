# SPDX-License-Identifier: Apache-2.0
"""A context for which the device has no memory. It is no allocation, so it once left no event:
`vramscope oom` said that nothing had failed.

  check_context_failures.py BIN VICTIM"""

import json
import os
import subprocess
import sys
import tempfile


def failure(command, victim, device, *arguments):
    with tempfile.TemporaryDirectory() as folder:
        trace = os.path.join(folder, "trace.vst")
        run = subprocess.run([command, "run", "--simulate", device, "-o", trace, "--", victim, *arguments],
                             capture_output=True, text=True, timeout=600, check=False)
        assert run.returncode == 1 and "error 2" in run.stdout, run
        assert run.stderr.startswith("out of memory  a CUDA context by cuCtxCreate on device 0"), run.stderr
        report = json.loads(subprocess.run([command, "report", "--json", trace], capture_output=True,
                                           text=True, check=True).stdout)
        assert report["failure_count"] == 1 and report["failures"][0]["what"] == "context", report["failures"]
        return json.loads(subprocess.run([command, "oom", "--json", trace], capture_output=True,
                                         text=True, check=True).stdout)


def main():
    binaries, victim = sys.argv[1:]
    command = os.path.join(binaries, "vramscope")
    mib = 1 << 20
    oom = failure(command, victim, "t4-16g,capacity=2GiB,context=400MiB")
    assert oom["verdict"] == "contexts", oom
    assert oom["device_bytes"]["needed"] == 400 * mib and oom["device_bytes"]["free"] == 48 * mib, oom
    assert oom["remedies"][0]["kind"] == "one_context", oom["remedies"]

    oom = failure(command, victim, "t4-16g,capacity=2GiB,context=400MiB,others=1500MiB")
    assert oom["verdict"] == "contexts", oom
    assert oom["remedies"][0]["kind"] == "stop_others", oom["remedies"]
    assert any("1 other process holds 1.46 GiB" in text for text in oom["evidence"]), oom["evidence"]

    # without any context, NVML alone knows the device's memory; what a context needs is unknown
    oom = failure(command, victim, "t4-16g,capacity=2GiB,context=700MiB", "physical")
    assert oom["verdict"] == "contexts", oom
    assert oom["device_bytes"]["free"] == 512 * mib, oom["device_bytes"]
    assert any("it needs more than the 512.0 MiB available" in text for text in oom["evidence"]), oom["evidence"]


main()
