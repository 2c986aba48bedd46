#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Values that no kernel of the simulated GPU computed: which reads of them are recorded, and what the verbs
make of a trace that has some.

check_uncomputed.py FOLDER_OF_COMMANDS VICTIM
"""
import json
import os
import subprocess
import sys
import tempfile

VRAMSCOPE = os.path.join(os.path.abspath(sys.argv[1]), "vramscope")
VICTIM = os.path.abspath(sys.argv[2])

# the steps of uncomputed_victim.c, and the number of reads
READS = {
    "ra": 0,    # no kernel ran
    "kra": 1, "krarara": 3,
    "cra": 0,   # computed
    "ckra": 1,  # and perhaps overwritten
    "kmra": 0, "khra": 0,  # set, copied to
    "mkr": 1, "hkr": 1,
    "kdo": 1, "kmdo": 0,   # copied on the device
    "kpo": 1, "kmpo": 1,   # by a kernel; its other argument was uncomputed
    "kmdpo": 0,            # no argument is
    "kb": 1, "kmb": 0,     # in rows
    "kfcr": 0,             # allocated afterwards
    "v": 0, "kv": 1, "vkv": 1,  # a device variable, which is allocated when it is first used
    "nkss": 1, "nkskw": 2, "ncs": 0, "ns": 0, "ks": 0,  # the host may read managed memory
    "g": 1, "gsmr": 1,     # in a graph
}
SENTENCE = "the program read 4 B that no kernel computed, in 1 copy, first at read_count (uncomputed_victim.c:"

failures = []


def expect(what, holds, detail=""):
    if not holds:
        failures.append(what)
        print(f"FAILED: {what}\n{detail}")


def vramscope(*words):
    return subprocess.run([VRAMSCOPE, *words], capture_output=True, text=True)


def record(steps, *options):
    path = f"{steps}.vst"
    return path, vramscope("run", "--simulate", "a100-40g", "-o", path, *options, "--", VICTIM, steps)


def report(path, *options):
    return json.loads(vramscope("report", "--json", *options, path).stdout)


def check_reads():
    for allocator in ("observe", "caching"):
        for steps, reads in READS.items():
            path, done = record(steps, f"--allocator={allocator}", "-q")
            found = report(path)["uncomputed_reads"]
            expect(f"{steps} under {allocator}: {reads} reads",
                   done.returncode == 0 and sum(read["count"] for read in found) == reads, f"{found}\n{done.stderr}")
            checked = vramscope("check", "--max-peak=30GiB", path)
            expect(f"{steps} under {allocator}: the status of check", checked.returncode == (2 if reads else 0),
                   checked.stderr)


def check_verbs():
    path, done = record("kra")
    expect("the summary names the line and the kernel", "read, but not computed" in done.stderr
           and "read_count (uncomputed_victim.c:" in done.stderr and "after kernel count\n" in done.stderr, done.stderr)
    read, = report(path)["uncomputed_reads"]
    expect("report --json", (read["kind"], read["count"], read["bytes"], read["kernel"]) == ("copied", 1, 4, "count")
           and read["frames"][0]["function"] == "read_count", read)
    expect("a span without the read has none", report(path, "--from", "@1", "--to", "@2")["uncomputed_reads"] == [])
    expect("and one with it has it", len(report(path, "--from", "0%")["uncomputed_reads"]) == 1)
    computed = report(record("cra")[0])["devices"][0]["peak_allocated"]["bytes"]
    expect("with the kernel computed, the peak is that of a GPU", computed >= 1 << 30, computed)

    held, exceeded = (["--max-peak", "1GiB"], ["--max-peak", "1"])
    refused = vramscope("check", *held, path)
    expect("check refuses", refused.returncode == 2 and f"{path}: cannot be checked: {SENTENCE}" in refused.stderr
           and "--allow-uncomputed" in refused.stderr, refused.stderr)
    refused = vramscope("check", *exceeded, path)
    expect("check refuses where a limit is exceeded, too", refused.returncode == 2 and not refused.stdout, refused.stdout)
    allowed = vramscope("check", "--allow-uncomputed", *held, path)
    expect("check with --allow-uncomputed, limit held", allowed.returncode == 0 and "1 read of values" in allowed.stdout,
           allowed.stdout + allowed.stderr)
    expect("check with --allow-uncomputed, limit exceeded",
           vramscope("check", "--allow-uncomputed", *exceeded, path).returncode == 1)
    expect("no baseline is written", vramscope("check", "--baseline=b.json", "--update-baseline", path).returncode == 2
           and not os.path.exists("b.json"))
    for form in ("junit", "github", "json"):
        text = vramscope("check", "--format", form, *held, path).stdout
        expect(f"check --format {form}", "that no kernel computed" in text, text)

    found = vramscope("oom", path).stdout
    expect("oom says so", SENTENCE in " ".join(found.split()), found)
    vramscope("view", "-o", "page.html", path)
    with open("page.html", encoding="utf-8") as page:
        expect("the page says so", SENTENCE in page.read())


def check_run():
    for key, status in (("", 2), ("allow-uncomputed = true\n", 0), ("allow-uncomputed = false\n", 2)):
        with open("budget.toml", "w", encoding="utf-8") as file:
            file.write(f'max-peak = "1GiB"\n{key}')
        done = record("kra", "-q", "--check", "budget.toml")[1]
        expect(f"run --check, {key or 'no key'}", done.returncode == status
               and ("add allow-uncomputed = true to the budget file" in done.stderr) == (status == 2), done.stderr)
    expect("run --check --allow-uncomputed",
           record("kra", "-q", "--check", "budget.toml", "--allow-uncomputed")[1].returncode == 0)
    done = record("kra", "--allow-uncomputed")[1]
    expect("run --allow-uncomputed alone is a mistake", done.returncode == 125 and "needs --check FILE" in done.stderr,
           done.stderr)


def check_fit():
    for steps, reads in (("kra", 1), ("krarara", 3), ("cra", 0)):
        fit = vramscope("fit", "--gpu", "a100-40g", "--", VICTIM, steps)
        line = next((x for x in fit.stdout.splitlines() if "read_count (uncomputed_victim.c:" in x and "kernel" in x), "")
        expect(f"fit of {steps} lists {reads} reads", ("read, but not computed\n" in fit.stdout) == (reads > 0)
               and (line.endswith("4 B, after kernel count" + (f", {reads} times" if reads > 1 else "")) if reads
                    else not line), fit.stdout + fit.stderr)
    values = json.loads(vramscope("fit", "--gpu", "a100-40g", "--json", "--", VICTIM, "krarara").stdout)["runs"][0]
    read, = values["read_but_not_computed"]
    expect("fit --json", read["count"] == 3 and read["name"].startswith("read_count (uncomputed_victim.c:"), values)


def main():
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        check_reads()
        check_verbs()
        check_run()
        check_fit()
        os.chdir("/")
    return 1 if failures else 0


sys.exit(main())
