#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the features of tests/torch/features on the simulated GPU, one process each.

    feature_matrix.py run --build DIR --release R --output FILE.json [--jobs N] [--only TEXT]
    feature_matrix.py write FILE.json… --table docs/internals/fit-matrix.md    several files of one release are joined
    feature_matrix.py check FILE.json --table docs/internals/fit-matrix.md
    feature_matrix.py self-test

`run` exits with 77 where there is no PyTorch of that release. `check` fails for each feature that
is worse than in the table: a failure that is not there, or "not supported" where the table has
a pass.
"""
import argparse
import concurrent.futures
import json
import os
import pathlib
import queue
import re
import shutil
import subprocess
import sys
import tempfile
import time

import environments
import simulated

HERE = pathlib.Path(__file__).resolve().parent
RUNNER = HERE / "features/feature_run.py"
ORDER = {"pass": 0, "absent": 0, "lacking": 0, "unsupported": 1, "fail": 2}


def list_cases(args, environment):
    command, env = simulated.command(args.build, "h100-80g", [environment.python, RUNNER, "--list"], args.scratch)
    out = subprocess.run(command, env=env, check=True, stdout=subprocess.PIPE, text=True, timeout=300).stdout
    cases = [json.loads(line) for line in out.splitlines() if line.startswith("{")]
    return [c for c in cases if not args.only or re.search(args.only, f"{c['group']} {c['name']}")]


class Server:
    """A process that has imported torch, and forks one for each case: the import takes longer than
    most cases."""

    def __init__(self, args, environment):
        self.folder = tempfile.mkdtemp(prefix="vs-features-", dir=args.scratch)
        command, env = simulated.command(args.build, "h100-80g", [environment.python, RUNNER, "--serve"], self.folder)
        self.errors = open(os.path.join(self.folder, "server.txt"), "w", encoding="utf-8")
        self.process = subprocess.Popen(command, env=env, cwd=self.folder, stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, stderr=self.errors, text=True)

    def run(self, case, folder, env, timeout):
        """(exit status or None after the time limit, output)"""
        job = {"name": case["name"], "folder": folder, "env": env, "timeout": timeout}
        self.process.stdin.write(json.dumps(job) + "\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        if not line:
            raise SystemExit(f"feature_matrix: the process of the cases ended; see {self.errors.name}")
        reply = json.loads(line)
        trace = os.path.join(self.folder, f"trace.{reply['pid']}.vst")
        if os.path.exists(trace):
            os.replace(trace, os.path.join(folder, "trace.vst"))
        with open(os.path.join(folder, "output.txt"), encoding="utf-8", errors="replace") as f:
            return reply["status"], f.read()

    def end(self):
        self.process.stdin.close()
        self.process.wait(timeout=60)
        self.errors.close()
        shutil.rmtree(self.folder, ignore_errors=True)


def alone(args, environment, case, own, folder, result):
    """Runs a case in a process that imports torch itself: (exit status or None, output)."""
    if os.path.exists(result):
        os.unlink(result)
    command, env = simulated.command(args.build, case["device"], [environment.python, RUNNER, case["name"], result],
                                     folder)
    return simulated.run(command, dict(env, **own), folder, case["timeout"] * args.time_factor)


def run_case(args, environment, servers, case):
    """Runs one case in a scratch folder of its own."""
    folder = tempfile.mkdtemp(prefix="vs-feature-", dir=args.scratch)
    result, limit = os.path.join(folder, "result.json"), case["timeout"] * args.time_factor
    own = dict(case["env"], TORCHINDUCTOR_CACHE_DIR=os.path.join(folder, "inductor"),
               TRITON_CACHE_DIR=os.path.join(folder, "triton"))
    began = time.monotonic()
    if case["env"]:  # settings that torch reads when it is imported
        status, out = alone(args, environment, case, own, folder, result)
    else:
        server = servers.get()
        try:
            status, out = server.run(case, folder, dict(own, VRAMSCOPE_SIMULATE=case["device"],
                                                        VRAMSCOPE_SIMULATE_NOTES=simulated.empty_notes(folder)), limit)
        finally:
            servers.put(server)
        if status:  # the end of a forked process is not that of a program's
            status, out = alone(args, environment, case, own, folder, result)
    try:
        with open(result, encoding="utf-8") as f:
            found = json.load(f)
    except (OSError, ValueError):
        tail = " ".join(out.split()[-30:])
        found = {"result": "fail", "text": f"timeout after {limit:.0f} s: {tail}"
                 if status is None else f"ended with {status}: {tail}"}
    if found["result"] == "pass" and status != 0:
        found = {"result": "fail", "text": f"passed, then ended with {status}: {' '.join(out.split()[-30:])}"}
    found.update(name=case["name"], group=case["group"], device=case["device"],
                 seconds=round(time.monotonic() - began, 1))
    found["text"] = plain(found["text"], folder, environment)
    if not args.keep:
        shutil.rmtree(folder, ignore_errors=True)
    print(f"{found['result']:12} {found['seconds']:6.1f} s  {case['group']}: {case['name']}  {found['text'][:300]}"
          + (f"  [{folder}]" if args.keep else ""), flush=True)
    return found


def plain(text, folder, environment):
    """No paths of this machine, one line."""
    text = text.replace(folder, ".").replace(str(environment.site or "-"), "").replace(str(environment.folder), "")
    return without_folders(" ".join(text.split()))[:600]


def without_folders(text):
    """The names of files without the folders they lie in, which differ from machine to machine."""
    return re.sub(r"/(?:[\w.+-]+/)+", "", text)


def run(args):
    environment = environments.needed_release(args.release)
    os.makedirs(args.scratch, exist_ok=True)
    cases = list_cases(args, environment)
    servers = queue.SimpleQueue()
    for _ in range(args.jobs):
        servers.put(Server(args, environment))
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        results = list(pool.map(lambda c: run_case(args, environment, servers, c), cases))
    for _ in range(args.jobs):
        servers.get().end()
    data = {"release": environment.release, "cuda": environment.cuda, "results": results}
    with open(args.output, "w", encoding="utf-8") as f:
        json.dump(data, f, indent=1)
    print(summary(data))
    return check_data(data, args.table) if args.table else 0


def summary(data):
    counts = {r: sum(x["result"] == r for x in data["results"]) for r in ORDER}
    return (f"torch {data['release']} (CUDA {data['cuda']}): {len(data['results'])} features: {counts['pass']} pass, "
            f"{counts['unsupported']} not supported, {counts['absent']} not in this release, "
            f"{counts['lacking']} not run, {counts['fail']} fail")


# --- the table ----------------------------------------------------------------

WORDS = {"pass": "pass", "unsupported": "not supported", "absent": "–", "lacking": "not run", "fail": "**fail**"}
BEGIN, END = "<!-- features -->", "<!-- end of features -->"


def rows_of(text):
    """{(feature, release): word} of a table, and the releases."""
    lines = [[cell.strip() for cell in line.strip().strip("|").split("|")]
             for line in text.split(BEGIN)[1].split(END)[0].splitlines() if line.startswith("|")]
    releases = [cell.split()[1] for cell in lines[0][2:-1]]
    return {(cells[1], release): cells[2 + i] for cells in lines[2:] for i, release in enumerate(releases)}


def table(datas):
    """Markdown: one row per feature, one column per release."""
    names, by = [], {}
    for data in datas:
        for r in data["results"]:
            names.append((r["group"], r["name"])) if (r["group"], r["name"]) not in names else None
            by[r["name"], data["release"]] = r
    heads = [f"torch {d['release']} (CUDA {d['cuda']})" for d in datas]
    lines = ["| group | feature | " + " | ".join(heads) + " | remark |", "| --- | --- |" + " --- |" * (len(heads) + 1)]
    for group, name in sorted(names, key=lambda n: n[0]):
        found = [by.get((name, d["release"])) for d in datas]
        remarks = sorted({without_folders(r["text"]).replace("|", "\\|")[:200] for r in found
                          if r and r["result"] in ("unsupported", "lacking", "fail")})
        words = [WORDS[r["result"]] if r else "not run" for r in found]
        lines.append(f"| {group} | {name} | " + " | ".join(words) + f" | {'; '.join(remarks)} |")
    return "\n".join(lines)


def totals(datas):
    return "\n".join("- " + summary(d) for d in datas)


def read_results(files):
    """One set of results per release; a feature's last result counts."""
    releases = {}
    for path in files:
        with open(path, encoding="utf-8") as f:
            data = json.load(f)
        there = releases.setdefault(data["release"], data)
        new = {r["name"] for r in data["results"]}
        if there is not data:
            there["results"] = [r for r in there["results"] if r["name"] not in new] + data["results"]
    return list(releases.values())


def write(args):
    datas = read_results(args.files)
    with open(args.table, encoding="utf-8") as f:
        text = f.read()
    before, after = text.split(BEGIN)[0], text.split(END)[1]
    with open(args.table, "w", encoding="utf-8") as f:
        f.write(f"{before}{BEGIN}\n{totals(datas)}\n\n{table(datas)}\n{END}{after}")
    print(totals(datas))
    return 0


def worse(data, rows):
    """One line per feature whose result is worse than the table's."""
    words = {word: result for result, word in WORDS.items()}
    for r in data["results"]:
        there = rows.get((r["name"], data["release"]))
        if there is None:
            yield f"{r['name']}: not in the table"
        elif there == "not run":
            continue
        elif ORDER[r["result"]] > ORDER[words[there]]:
            yield f"{r['name']}: {WORDS[r['result']]}, the table has {there}: {r['text']}"


def check_data(data, path):
    with open(path, encoding="utf-8") as f:
        found = list(worse(data, rows_of(f.read())))
    print(*found, f"{len(found)} features are worse than in {os.path.basename(path)}", sep="\n")
    return 1 if found else 0


def self_test():
    def data(release, **results):
        return {"release": release, "cuda": 13, "results": [
            {"name": n, "group": "g", "device": "d", "result": r, "text": f"why {n} | x"} for n, r in results.items()]}
    first, second = data("2.1.0", a="pass", b="unsupported", c="fail"), data("2.2.0", a="lacking", b="absent", c="pass")
    first["results"].append(dict(first["results"][0], name="e"))
    text = f"head\n{BEGIN}\n{totals([first, second])}\n\n{table([first, second])}\n{END}\ntail\n"
    rows = rows_of(text)
    assert rows["b", "2.1.0"] == "not supported" and rows["c", "2.2.0"] == "pass", rows
    assert rows["a", "2.2.0"] == "not run" and not list(worse(data("2.1.0", a="lacking"), rows))
    assert rows["e", "2.2.0"] == "not run" and not list(worse(data("2.2.0", e="fail"), rows))
    assert not list(worse(first, rows)) and not list(worse(data("2.1.0", c="pass"), rows))
    bad = data("2.1.0", a="unsupported", b="fail", c="fail", d="pass")
    found = list(worse(bad, rows))
    assert [line.split(":")[0] for line in found] == ["a", "b", "d"], found
    print("self-test: the table is read as it was written, 3 planted differences found")
    return 0


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("verb", choices=("run", "write", "check", "self-test"))
    p.add_argument("files", nargs="*")
    p.add_argument("--build", default=str(environments.ROOT / "build/dev"))
    p.add_argument("--release", default=next(iter(environments.RELEASES)))
    p.add_argument("--output", default="features.json")
    p.add_argument("--scratch", default=tempfile.gettempdir(), help="folder of the cases' own folders")
    p.add_argument("--table", help="the table to compare with or to write")
    p.add_argument("--jobs", type=int, default=2)
    p.add_argument("--time-factor", type=float, default=1, help="factor of the cases' time limits")
    p.add_argument("--only", help="cases whose group and name match this expression")
    p.add_argument("--keep", action="store_true", help="keep the cases' folders, with their output")
    args = p.parse_args()
    args.build = os.path.abspath(args.build)
    if args.verb == "self-test":
        return self_test()
    if args.verb == "write":
        return write(args)
    if args.verb == "check":
        return check_data(json.load(open(args.files[0], encoding="utf-8")), args.table)
    return run(args)


if __name__ == "__main__":
    sys.exit(main())
