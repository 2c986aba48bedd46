# SPDX-License-Identifier: Apache-2.0
"""Records the program with planted bugs, and runs `vramscope check` on its traces."""
import json
import os
import subprocess
import sys
import tempfile


class Gate:
    def __init__(self, bin_dir, program, root):
        self.tool = os.path.join(bin_dir, "vramscope")
        self.program, self.root = program, root
        self.source = os.path.join(root, "tests/check/gate.c")
        self.folder = tempfile.TemporaryDirectory(prefix="vramscope-gate-")
        self.environment = {k: v for k, v in os.environ.items()
                            if k not in ("GITHUB_WORKSPACE", "CI_PROJECT_DIR")}
        self.traces = {}
        self.failures = []

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def run(self, arguments, environment=None, cwd=None):
        return subprocess.run(arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                              timeout=600, env=environment or self.environment, cwd=cwd or self.folder.name)

    def record(self, bug, again=""):
        """The trace of the program with that bug ("": none)."""
        name = "gate-%s%s.vst" % (bug or "clean", again)
        if name not in self.traces:
            done = self.run([self.tool, "run", "-q", "--simulate", "h100-80g", "--copy-stacks", "-o",
                             self.path(name), "--", self.program] + ([bug] if bug else []))
            expected = {"oom": 1, "status": 3, "137": 137, "killed": 137}.get(bug, 0)
            if done.returncode != expected:
                sys.exit("gate %s ended with %d: %s" % (bug, done.returncode, done.stderr))
            self.traces[name] = self.path(name)
        return self.traces[name]

    def check(self, trace, *options):
        traces = [trace] if isinstance(trace, str) else trace
        return self.run([self.tool, "check", "--root", self.root, *options, *traces])

    def json_of(self, trace, *options):
        return json.loads(self.check(trace, "--format", "json", *options).stdout)

    def planted(self, bug):
        with open(self.source, encoding="utf-8") as f:
            lines = [i for i, line in enumerate(f, 1) if "/* planted: %s */" % bug in line]
        assert len(lines) == 1, "gate.c has %d lines planted: %s" % (len(lines), bug)
        return lines[0]

    def expect(self, what, fact, done=None):
        if fact:
            return
        self.failures.append(what)
        print("FAILED: " + what)
        if done is not None:
            print(done.stdout + done.stderr)

    def finish(self):
        self.folder.cleanup()
        print("%d failures" % len(self.failures))
        return 1 if self.failures else 0
