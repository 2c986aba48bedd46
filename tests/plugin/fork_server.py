# SPDX-License-Identifier: Apache-2.0
"""A pytest that has been imported under `vramscope run`, and forks for each run: importing it twice, before and
after the plugin restarts it, takes longer than most tests of the plugin. A child is recorded as a process of
its own, because this one uses no CUDA.

As a program it reads runs from standard input and writes their exit statuses, a line of JSON each."""
import gc
import importlib
import json
import os
import subprocess
import sys


class Server:
    def __init__(self):
        # the options of each run are in its child's environment
        self.process = subprocess.Popen(
            ["vramscope", "run", "-q", "--simulate=t4-16g", "-o", "server.vst", "--", sys.executable, __file__],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
            env={**os.environ, "PLUGIN_BEFORE": json.dumps(dict(os.environ))})

    def run(self, folder, device, output, words):
        """The exit status of pytest with *words* on the *device*; its files stdout and stderr are in *folder*."""
        print(json.dumps({"folder": str(folder), "device": device, "output": output, "words": words,
                          "env": dict(os.environ)}), file=self.process.stdin, flush=True)
        return json.loads(self.process.stdout.readline())


def begin(run):
    """In the child, as if `vramscope run` had started it."""
    before = json.loads(os.environ["PLUGIN_BEFORE"])
    ours = {key: value for key, value in os.environ.items() if before.get(key) != value and key != "PLUGIN_BEFORE"}
    startup = ours.pop("PYTHONPATH", before["PYTHONPATH"]).removesuffix(before["PYTHONPATH"])
    os.chdir(run["folder"])
    os.environ.clear()
    os.environ.update({**ours, **run["env"], "VRAMSCOPE_SIMULATE": run["device"]})
    os.environ["PYTHONPATH"] = startup + os.pathsep.join((run["folder"], run["env"]["PYTHONPATH"]))
    sys.path[:1] = os.environ["PYTHONPATH"].split(os.pathsep)
    for number, name, mode in ((0, os.devnull, os.O_RDONLY), (1, "stdout", os.O_CREAT | os.O_WRONLY | os.O_TRUNC),
                               (2, "stderr", os.O_CREAT | os.O_WRONLY | os.O_TRUNC)):
        os.dup2(os.open(name, mode, 0o644), number)
    from vramscope import pytest_table
    folder = os.path.abspath(run["output"])
    pytest_table.prepare_folder(folder)
    os.environ["VRAMSCOPE_OUTPUT"] = os.path.join(folder.replace("%", "%%"), "pytest.%p.vst")


def main():
    import pytest
    from _pytest.config import default_plugins
    for name in default_plugins:
        importlib.import_module("_pytest." + name)
    gc.freeze()  # else each test of a run searches the objects of all these modules
    for line in sys.stdin:
        child = os.fork()
        if not child:
            run = json.loads(line)
            begin(run)
            return pytest.main(["-p", "vramscope.pytest_plugin", *run["words"]])
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
