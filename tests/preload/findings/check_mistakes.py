# SPDX-License-Identifier: Apache-2.0
"""Mistakes before the program starts: each is answered by one clear line, once. Unknown keys of
--alloc-conf were only ignored by the library, a relative trace in a deleted folder was "in v", and the
environment's mistakes were printed twice.

  check_mistakes.py BIN VICTIM"""

import os
import subprocess
import sys
import tempfile

BINARIES, VICTIM = sys.argv[1:]
VRAMSCOPE = os.path.join(BINARIES, "vramscope")


def run(*arguments, folder=None, status=125, before="", **variables):
    """Runs in *folder*, after *before* of the shell."""
    command = before + 'exec "$0" run --simulate t4-16g "$@"'
    done = subprocess.run(["sh", "-c", command, VRAMSCOPE, *arguments, "--", VICTIM, "device"], cwd=folder,
                          capture_output=True, text=True, timeout=600, check=False, env={**os.environ, **variables})
    assert done.returncode == status, done
    assert status == 0 or (not done.stdout and done.stderr.count("\n") == 1), done
    return done.stderr


def main():
    with tempfile.TemporaryDirectory() as folder:
        trace = os.path.join(folder, "trace.vst")
        err = run("-o", trace, "--alloc-conf=expandable_segment:True")
        assert err.endswith("unknown key 'expandable_segment'; did you mean 'expandable_segments'?\n"), err
        err = run("-o", trace, "--alloc-conf=splits:7")
        assert "unknown key 'splits'; known keys: " in err and "max_split_size_mb" in err, err
        err = run("-o", trace, "--alloc-conf=max_split_size_mb:many")
        assert "--alloc-conf 'max_split_size_mb:many': " in err, err

        foreign = os.path.join(folder, "notes.txt")
        with open(foreign, "w", encoding="utf-8") as file:
            file.write("notes\n")
        err = run("-o", foreign)
        assert "is not a trace: not overwritten; give the trace another name with -o" in err, err
        with open(foreign, encoding="utf-8") as file:
            assert file.read() == "notes\n"

        gone = os.path.join(folder, "gone")
        for output in (["-o", "trace.vst"], []):
            os.mkdir(gone)
            err = run(*output, folder=gone, before='rmdir "$PWD"; ')
            assert "the current folder was deleted; change to another folder" in err, err
        os.mkdir(gone)
        run("--quiet", "-o", trace, folder=gone, before='rmdir "$PWD"; ', status=0)
        assert os.path.getsize(trace) > 0

        err = run("--quiet", "-o", trace, status=0, VRAMSCOPE_STACK="native", VRAMSCOPE_SAMPLE="x")
        assert err.count("VRAMSCOPE_STACK") == 1 and err.count("VRAMSCOPE_SAMPLE") == 1, err


main()
