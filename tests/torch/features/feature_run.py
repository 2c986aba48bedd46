# SPDX-License-Identifier: Apache-2.0
"""Runs one feature case, or lists them all.

    feature_run.py --list          one JSON object per case
    feature_run.py NAME RESULT     runs the case in the current folder and writes its result
    feature_run.py --serve         the same for jobs from standard input, each in a child process

The result is a JSON object: `result` is pass, unsupported, absent, lacking (this machine lacks something
that the case needs) or fail, and `text` says why.
A case is unsupported if PyTorch raised an error after a library of the simulated GPU had answered
"not supported"; the libraries name those functions in the file of notes. A check of the case itself
that does not hold is a failure in any case.
"""
import importlib
import json
import os
import pathlib
import re
import signal
import sys
import time
import traceback

HERE = pathlib.Path(__file__).resolve().parent


def load():
    sys.path.insert(0, str(HERE))
    import feature_case
    for path in sorted(HERE.glob("feature_*.py")):
        if path.stem not in ("feature_case", "feature_run"):
            importlib.import_module(path.stem)
    return feature_case.CASES


def version(text):
    return tuple(int(part) for part in re.findall(r"\d+", text)[:2])


def named_functions():
    """What the stand-ins answered with "not supported", from the file of notes."""
    try:
        with open(os.environ.get("VRAMSCOPE_SIMULATE_NOTES", ""), encoding="utf-8") as notes:
            rows = [line.rstrip("\n").split("\t") for line in notes]
    except OSError:
        return []
    return sorted({row[3] for row in rows if len(row) >= 6 and row[0] == "unsupported"})


def last_error(text):
    """Of an error in another process, which has that process's traceback, the last line."""
    lines = [line for line in text.splitlines() if line.strip()]
    return f"in a rank: {lines[-1]}" if "Traceback (most recent call last)" in text else text


def run(case):
    import torch
    from feature_case import NotRun, Unsupported
    if case.since and version(torch.__version__) < version(case.since):
        return "absent", f"torch {torch.__version__} does not have it (since {case.since})"
    torch.manual_seed(0)
    try:
        case.function()
        torch.cuda.synchronize()
    except NotRun as error:
        return "lacking", str(error)
    except Unsupported as error:
        return "unsupported", str(error)
    except Exception as error:  # whatever it is, it is the case's result
        text = last_error(f"{type(error).__name__}: {error}")
        where = traceback.extract_tb(error.__traceback__)[-1]
        functions = named_functions()
        if functions and "AssertionError" not in text:
            return "unsupported", ", ".join(functions)
        return "fail", f"{text} [{os.path.basename(where.filename)}:{where.lineno}]"
    return "pass", ""


def write_result(name, path):
    result, text = run(load()[name])
    with open(path, "w", encoding="utf-8") as f:
        json.dump({"result": result, "text": text}, f)


def wait(pid, seconds):
    """The exit status of a child, or None after ending it and its own children."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        found, status = os.waitpid(pid, os.WNOHANG)
        if found:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.05)
    os.killpg(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    return None


def begin_case(job):
    """In the process of a case: its folder, its output, its environment."""
    os.setsid()
    os.chdir(job["folder"])
    os.environ.update(job["env"])
    nothing, output = os.open(os.devnull, os.O_RDONLY), os.open("output.txt", os.O_WRONLY | os.O_CREAT, 0o644)
    for number, there in ((0, nothing), (1, output), (2, output)):
        os.dup2(there, number)


def serve():
    """One job a line; each runs in a child, which torch has already been imported for. The child
    leaves through Python's own end, so that a crash at exit is seen."""
    load()
    for line in sys.stdin:
        job = json.loads(line)
        pid = os.fork()
        if pid == 0:
            begin_case(job)
            write_result(job["name"], "result.json")
            return 0
        print(json.dumps({"pid": pid, "status": wait(pid, job["timeout"])}), flush=True)
    return 0


def main():
    if sys.argv[1:] == ["--serve"]:
        return serve()
    if sys.argv[1:] == ["--list"]:
        for case in load().values():
            print(json.dumps({"name": case.name, "group": case.group, "device": case.device,
                              "timeout": case.timeout, "env": case.env}))
        return 0
    name, output = sys.argv[1:]
    write_result(name, output)
    return 0


if __name__ == "__main__":
    sys.exit(main())
