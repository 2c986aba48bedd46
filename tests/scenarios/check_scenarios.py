#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What `vramscope oom` says about programs whose cause of running out of memory is known.

    check_scenarios.py BIN_DIR PROGRAM_DIR [--batch I/N] [--rounds N] [--seed N] [--only NAME]
                       [--required PERCENT] [--keep DIR] [--matrix]

Runs the scenarios of scenarios.py on the simulated GPU and compares the verdict and the call site
with the planted ones; and growing call sites with what `vramscope report` says. Exit 1: less than PERCENT (95) are right, or a program without a failure to
blame was suspected. --batch: every Nth of one round; --rounds: seeds from --seed (0) on; --matrix
prints a row for each planted cause and a column for each verdict.
"""
import argparse
import collections
import json
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import scenarios  # noqa: E402

BLAMELESS = (None, "recovered")


def run(command):
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=600)


def diagnose(scenario, args, folder):
    """The JSON of `vramscope oom`, and what went wrong instead."""
    name = scenario.name.replace("/", "-")
    script, trace = os.path.join(folder, name + ".txt"), os.path.join(folder, name + ".vst")
    with open(script, "w") as f:
        f.write("\n".join(scenario.lines) + "\n")
    tool = os.path.join(args.bin, "vramscope")
    command = [tool, "run", "-q", "--simulate", scenario.gpu(), "--allocator=" + scenario.way, "-o", trace]
    if scenario.limit:
        command.append("--limit=" + scenario.limit)
    done = run(command + ["--", os.path.join(args.programs, "scenario_" + scenario.program), script])
    if done.returncode not in (0, 1):
        return None, "the program ended with %d: %s" % (
            done.returncode, (done.stdout + done.stderr).decode(errors="replace")[-300:])
    if (done.returncode == 0) != (scenario.verdicts[0] in BLAMELESS):
        return None, "the program ended with %d: the scenario does not do what it should" % done.returncode
    said = run([tool, "oom", "--json", trace])
    if said.returncode:
        return None, "oom: " + said.stderr.decode(errors="replace")
    found = json.loads(said.stdout)
    return found, disagreement(found, tool, trace) if found["verdict"] == "growth" else None


def disagreement(found, tool, trace):
    """None if `report` says of each growing site that the verdict names since which step, how often and
    how fast it grows, as `oom` does; otherwise the difference."""
    report = json.loads(run([tool, "report", "--json", trace]).stdout)
    reported = {chain(site): site for device in report["devices"] for site in device["sites_growing"]["sites"]}
    for site in found["sites_growing"]["sites"]:
        other = reported.get(chain(site))
        if not other:
            return "%s grows for oom, not for report" % (chain(site)[0],)
        rates = [s["growth_bytes_per_step"] for s in (site, other)]
        steps = [(s.get("growth_since_step"), s.get("growth_every_steps")) for s in (site, other)]
        if steps[0] != steps[1] or abs(rates[0] - rates[1]) > 0.05 * max(rates):
            return "oom: since and every %s, %d bytes a step; report: %s, %d" % (
                steps[0], rates[0], steps[1], rates[1])
    return None


def chain(site):
    return tuple((frame["function"], frame["line"]) for frame in site["frames"])


def functions(found):
    sites = (found.get("guilty") or {}).get("sites", ())
    return [frame["function"] for site in sites for frame in site["frames"]]


def judge(scenario, found):
    """None when right, otherwise the difference."""
    verdict = found["verdict"]
    if verdict not in scenario.verdicts:
        return "verdict %s instead of %s" % (verdict, " or ".join(map(str, scenario.verdicts)))
    shares = [c["name"] for c in found.get("causes", ()) if c["accused"]]
    for name in scenario.causes:
        if name not in shares:
            return "%s is not among the shares %s" % (name, shares)
    if scenario.together and {verdict, found["second"]} != set(scenario.together):
        return "%s and %s instead of %s" % (verdict, found["second"], " and ".join(scenario.together))
    wanted = (scenario.site,) if isinstance(scenario.site, str) else scenario.site
    if wanted and not set(wanted) & set(functions(found)):
        return "site %s instead of %s" % (" < ".join(functions(found)[:3]), " or ".join(wanted))
    return None


def print_matrix(matrix):
    columns = sorted({str(v) for row in matrix.values() for v in row})
    width = max(len(name) for name in matrix)
    for i, name in enumerate(columns):
        print("%*s  %s" % (width + 4 * i + 4, chr(ord("a") + i), name))
    for name, row in matrix.items():
        print("%-*s" % (width, name) + "".join("%4s" % (row.get(c) or ".") for c in columns))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("bin")
    parser.add_argument("programs")
    parser.add_argument("--batch", default="0/1")
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", default="")
    parser.add_argument("--required", type=float, default=95)
    parser.add_argument("--keep")
    parser.add_argument("--matrix", action="store_true")
    args = parser.parse_args()
    part, parts = map(int, args.batch.split("/"))
    matrix = collections.OrderedDict()
    right = total = accused = 0
    with tempfile.TemporaryDirectory(prefix="vramscope-scenarios-") as folder:
        folder = args.keep or folder
        todo = [s for seed in range(args.seed, args.seed + args.rounds) for s in scenarios.generate(seed)
                if args.only in s.name]
        for scenario in todo[part::parts]:
            found, wrong = diagnose(scenario, args, folder)
            kind = scenario.name.split("/")[0]
            verdict = found["verdict"] if found else "failed"
            wrong = wrong or judge(scenario, found)
            row = matrix.setdefault(kind, collections.Counter())
            row[str(verdict)] += 1
            total += 1
            right += not wrong
            accused += bool(found) and scenario.verdicts[0] in BLAMELESS and verdict not in BLAMELESS
            if wrong:
                print("%s (%s, %s%s): %s" % (scenario.name, scenario.way, scenario.program,
                                             ", marks" if scenario.marks else "", wrong))
            if not args.keep:
                for name in os.listdir(folder):
                    os.unlink(os.path.join(folder, name))
    if args.matrix:
        print_matrix(matrix)
    share = 100 * right / max(total, 1)
    print("%d of %d right (%.1f %%), %d suspected without reason" % (right, total, share, accused))
    sys.exit(not total or share < args.required or accused > 0)


if __name__ == "__main__":
    main()
