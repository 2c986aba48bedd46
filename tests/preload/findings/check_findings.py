# SPDX-License-Identifier: Apache-2.0
"""Refused frees, and what the simulated GPU's checker finds, with their stacks. A refused free left
no event once: the report of a program that freed twice looked like that of a correct one.

  check_findings.py BIN VICTIM... CHECKER_CASES"""

import json
import os
import subprocess
import sys
import tempfile

KIB, MIB = 1 << 10, 1 << 20
BINARIES, *VICTIMS, CASES = sys.argv[1:]
VRAMSCOPE = os.path.join(BINARIES, "vramscope")
BAD_FREES = [  # api, address_is, count, allocated bytes
    ("cudaFree", "inside_allocation", 1, 3 * MIB),
    ("cudaFreeHost", "live_allocation", 1, 3 * MIB),
    ("cudaFree", "double_free", 3, 3 * MIB),
    ("cudaFreeAsync", "double_free", 1, 2 * MIB),
    ("cudaFree", "unknown_address", 1, None),
    ("cudaFreeArray", "double_free", 1, 16 * KIB),
    ("cudaHostUnregister", "unknown_address", 1, None),
]


def recorded(trace, device, options, program, *arguments, status=0):
    run = subprocess.run([VRAMSCOPE, "run", "--quiet", "--simulate", device, "-o", trace, *options, "--",
                          program, *arguments], capture_output=True, text=True, timeout=600, check=False)
    assert run.returncode == status, run
    reports = [json.loads(subprocess.run([VRAMSCOPE, verb, "--json", trace], capture_output=True,
                                         text=True, check=True).stdout) for verb in ("report", "oom")]
    assert reports[0]["findings"] == reports[1]["findings"], reports
    return run, reports[0]["findings"]


def printed(verb, trace):
    text = subprocess.run([VRAMSCOPE, verb, trace], capture_output=True, text=True, check=True).stdout
    return " ".join(text.split())


def names(stack):
    return [frame["function"] for frame in stack["frames"]]


def bad_frees(folder, victim, *options):
    trace = os.path.join(folder, "frees.vst")
    run, findings = recorded(trace, "a100-40g", options, victim, "bad-frees")
    static = "static" in os.path.basename(victim)
    assert run.stdout.count("cudaErrorInvalidValue") == 7 and "array refused: 1" in run.stdout, run.stdout
    assert len(findings) == len(BAD_FREES), findings
    for finding, (api, is_what, count, allocated) in zip(findings, BAD_FREES):
        if static or "--via=injection" in options:  # without the runtime's names
            api = api.replace("cuda", "cuMem") if "Array" not in api else "cuArrayDestroy"
        assert finding["what"] == "failed_free" and finding["api"] == api, finding
        assert finding["address_is"] == is_what and finding["count"] == count, finding
        assert finding["allocated_bytes"] == allocated and finding["error"] > 0, finding
        assert "mode_bad_frees" in names(finding["site"]), finding
        assert ("mode_bad_frees" in names(finding["allocated_at"])) == (allocated is not None), finding
    for verb in ("report", "oom"):
        text = printed(verb, trace)
        assert "9 frees failed" in text, text
        assert "3× " in text and "double free: 3.0 MiB allocated at" in text, text
        assert "foreign pointer: 512 bytes after the start of a live allocation of 3.0 MiB" in text, text
        assert "foreign pointer: the trace has no allocation at this address" in text, text


def checked(folder, case, what, site, device="a100-40g,check=report", status=0):
    """The first finding of a case: *what*, in the function *site*."""
    trace = os.path.join(folder, case + ".vst")
    _, findings = recorded(trace, device, ("--allocator=observe",), CASES, case, status=status)
    assert findings and findings[0]["what"] == what, findings
    assert site in names(findings[0]["site"]), findings[0]
    assert {"allocator", "pinned"} & set(names(findings[0]["allocated_at"])), findings[0]
    return findings[0], printed("report", trace)


def summary(folder, device, *arguments):
    """Its first line, the whole with single spaces, the policy, and the findings of the trace."""
    trace = os.path.join(folder, "summary.vst")
    run = subprocess.run([VRAMSCOPE, "run", "--simulate", device, "-o", trace, *arguments],
                         capture_output=True, text=True, timeout=600, check=False)
    report = json.loads(subprocess.run([VRAMSCOPE, "report", "--json", trace], capture_output=True,
                                       text=True, check=True).stdout)
    return (run.stderr.splitlines()[0], " ".join(run.stderr.split()), report["process"]["policy"],
            report["findings"])


def cache_hides_nothing(folder, victim):
    served = "cudaMalloc was served from a cache; --allocator=observe only watches"
    first, _, policy, findings = summary(folder, "a100-40g", victim, "device")
    assert first == served and policy.startswith("caching") and not findings, (first, policy, findings)
    first, text, policy, _ = summary(folder, "a100-40g", "--allocator=observe", victim, "device")
    assert served not in text and policy == "observe", text

    # where failures are looked for, the cache would hide them; unless it was asked for
    for device, options in (("a100-40g,fail=device:1", []), ("a100-40g,check=report", []),
                            ("a100-40g", ["--limit=8GiB"])):
        first, text, policy, _ = summary(folder, device, *options, victim, "device")
        assert policy == "observe" and served not in text, (device, text)
        assert ("out of memory 1000 B by" in text) == ("fail=" in device), text
    for wish in ("--policy=compact", "--alloc-conf=max_split_size_mb:64"):
        _, _, policy, _ = summary(folder, "a100-40g", "--limit=8GiB", wish, victim, "device")
        assert policy.startswith("caching"), (wish, policy)

    hidden = "without the cache the program would have failed here"
    for wish in ("--policy=pytorch", "--policy=compact", "--alloc-conf=expandable_segments:True"):
        family = "device" if wish == "--policy=pytorch" else "vmm"
        _, text, _, findings = summary(folder, f"a100-40g,fail={family}:1", "--allocator=caching", wish, victim,
                                       "device")
        assert hidden in text, (wish, text)
        assert [(f["what"], f["count"]) for f in findings] == [("hidden_failure", 1)], (wish, findings)
        assert "mode_device" in names(findings[0]["site"]), findings
    # 20 freed blocks of 30 MiB fill the device: without the cache they would have been free
    _, text, _, findings = summary(folder, "a100-40g,capacity=2GiB,context=400MiB", "--allocator=caching", victim, "oom")
    assert hidden not in text and "until the cache gave back memory" in text, text
    given = [f for f in findings if f["what"] == "cache_gave_back"]
    assert len(given) == 1 and given[0]["bytes"] == 600 * MIB, findings


def main():
    with tempfile.TemporaryDirectory() as folder:
        for victim in VICTIMS:
            for options in (("--allocator=observe",), ("--allocator=caching",), ("--via=injection",)):
                bad_frees(folder, victim, *options)
        for check, status in (("report", 0), ("fail", 86)):
            finding, text = checked(folder, "freed_then_launched", "freed_pointer", "user",
                                    "a100-40g,check=" + check, status)
            assert "releaser" in names(finding["earlier_at"]), finding
            assert "1 finding of the simulated GPU's checker freed memory passed to a call" in text, text
        finding, _ = checked(folder, "double_free", "failed_free", "second_releaser")
        assert finding["address_is"] == "double_free", finding
        assert "releaser" in names(finding["earlier_at"]), finding  # only the checker knows the first
        cache_hides_nothing(folder, VICTIMS[0])
        finding, text = checked(folder, "host_freed", "freed_in_use", "host_releaser")
        assert "uploader" in names(finding["earlier_at"]), finding
        finding, _ = checked(folder, "cache_too_early", "race", "clearer")
        assert finding["detail"] == "a memset writes it", finding


main()
