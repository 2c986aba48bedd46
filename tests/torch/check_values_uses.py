# SPDX-License-Identifier: Apache-2.0
"""Each use of a value that was not computed is reported with its line and the value, and no use of
a computed one: runs values_uses.py and values_host.py, whose comments say which is which, by `vramscope fit`.

    check_values_uses.py --build BUILD

Runs in each environment with torch (environments.py); exits with 77 without one.
"""
import json
import os
import re
import subprocess
import sys

import environments

PROGRAMS = [os.path.join(os.path.dirname(os.path.abspath(__file__)), "uses", name)
            for name in ("values_uses.py", "values_host.py")]
EXPECTED = re.compile(r"# (known|(decided|read): ([^#]*))")


def expectations(program, with_triton=True):
    """{line number: (kind, text)}; kind is None where nothing may be reported."""
    found = {}
    with open(program, encoding="utf-8") as f:
        for number, line in enumerate(f, 1):
            if "no-triton" in line and not with_triton:
                break
            match = EXPECTED.search(line)
            if match:
                found[number] = (match.group(2), (match.group(3) or "").strip())
    return found


def answered(build, environment, program, arguments):
    """The run in the answer of `fit`, which must fit."""
    command = [os.path.join(build, "bin/vramscope"), "fit", "--json", "-q", "--gpu", "h100-80g", "--",
               str(environment.python), program, *arguments]
    ran = subprocess.run(command, env=dict(os.environ, OMP_NUM_THREADS="1"), stdout=subprocess.PIPE,
                         stderr=subprocess.PIPE, text=True, timeout=1200, check=False)
    answer = json.loads(ran.stdout)["runs"][0] if ran.stdout else None
    if ran.returncode or answer["fits"] != "yes":
        raise SystemExit(f"fit ended with {ran.returncode}: {ran.stderr[-1000:]}{answer and answer['stderr']}")
    return answer


def reported(build, environment, program, arguments):
    """{line number: (kind, text)} that `fit` reports."""
    answer, found = answered(build, environment, program, arguments), {}
    for kind, key in (("decided", "decided_by_values_not_computed"), ("read", "read_but_not_computed")):
        for note in answer[key]:
            place = re.match(re.escape(os.path.basename(program)) + r":(\d+)(: `.+`)?", note["name"])
            number = int(place.group(1)) if place else note["name"]
            times = f", {note['count']} times" if note["count"] > 1 else ""
            found[number] = (kind, note["text"] + times)
    counted = sum(n["count"] for n in answer["decided_by_values_not_computed"])
    assert counted == answer["values"]["decided"], (counted, answer["values"])
    return found


def differences(program, expected, found):
    for line in sorted(set(expected) | set(found), key=str):
        wanted, got = expected.get(line, (None, "")), found.get(line, (None, ""))
        if wanted[0] is None and got[0] is None:
            continue
        if wanted != got:
            yield f"{os.path.basename(program)}:{line}: expected {wanted}, reported {got}"


def main():
    args = environments.parser(__doc__).parse_args()
    failed = 0
    for environment in environments.needed(environments.find(), "an environment with torch"):
        with_triton = (environment.site / "triton").is_dir()
        wrong = []
        for program in PROGRAMS:
            reports = reported(args.build, environment, program, [] if with_triton else ["no-triton"])
            wrong += differences(program, expectations(program, with_triton), reports)
        print("FAILED" if wrong else "ok", environment.folder.name, *wrong, sep="\n  " if wrong else " ", flush=True)
        failed += bool(wrong)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
