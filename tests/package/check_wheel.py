#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The wheel of scripts/wheel: what it contains, and how it works where nothing else is installed.

    check_wheel.py SOURCE CC CMAKE CASE [PYTHON…]

Skipped (77) without a wheel in SOURCE/build/dist. *PYTHON*: interpreters to install it for, beside
those of PATH; versions before 3.9, and those without venv, are left out.
"""
import base64
import csv
import email
import glob
import hashlib
import io
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile

HERE = pathlib.Path(__file__).resolve().parent
OLDEST = (3, 9)


def skip(text):
    print("skipped:", text)
    sys.exit(77)


def run(words, env=None, status=0, cwd=None):
    done = subprocess.run([str(w) for w in words], capture_output=True, text=True, env=env,
                          cwd=cwd, timeout=600)
    assert done.returncode == status, (words, done.returncode, done.stdout, done.stderr)
    return done.stdout + done.stderr


def bare(home):
    """Nothing of this machine's user: no PATH beyond the system's, no Python variables."""
    return {"PATH": "/usr/bin:/bin", "HOME": str(home), "LANG": "C.UTF-8"}


# --- what it contains ---

def contents(wheel, tools):
    assert re.search(r"-py3-none-manylinux_2_\d+_x86_64\.whl$", wheel.name), wheel.name
    assert wheel.stat().st_size < 30 << 20, wheel.stat().st_size
    with zipfile.ZipFile(wheel) as z:
        names = z.namelist()
        record = next(n for n in names if n.endswith(".dist-info/RECORD"))
        rows = list(csv.reader(io.StringIO(z.read(record).decode())))
        assert sorted(r[0] for r in rows) == sorted(names)
        for name, digest, size in rows:
            content = z.read(name)
            expected = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
            assert name == record or (digest, int(size)) == (f"sha256={expected}", len(content)), name
        info = os.path.dirname(record)
        metadata = email.message_from_bytes(z.read(f"{info}/METADATA"))
        assert metadata["Name"] == "vramscope" and metadata["Version"] in wheel.name
        assert metadata["Requires-Python"] == ">=3.9" and "Apache" in metadata["License"]
        assert all("extra ==" in d for d in metadata.get_all("Requires-Dist", []))
        notices = z.read(f"{info}/licenses/THIRD-PARTY-NOTICES").decode()
        assert "Apache License" in z.read(f"{info}/licenses/LICENSE").decode()
        data = "vramscope/_data/"
        bundled = [os.path.basename(n) for n in names if n.startswith(data + "lib/vramscope/bundled/")]
        assert {"libvramscope-unwind.so.8", "libvramscope-zstd.so.1"} <= set(bundled), bundled
        for part in ("libiberty (in the command)", "xxHash (in the command)"):
            assert part in notices, part
        for name in set(re.findall(r"/usr/share/common-licenses/([\w.+-]*\w)", notices)):
            assert f"/usr/share/common-licenses/{name}, which texts above refer to\n" in notices, name
        for title in ("GNU LESSER GENERAL PUBLIC LICENSE\n                       Version 3, 29 June 2007",
                      "GNU LESSER GENERAL PUBLIC LICENSE\n                       Version 2.1, February 1999",
                      "GNU GENERAL PUBLIC LICENSE\n                       Version 2, June 1991",
                      "GNU GENERAL PUBLIC LICENSE\n                       Version 3, 29 June 2007"):
            assert re.search(r"(?m)^ *" + re.escape(title), notices), title
        assert "END OF TERMS AND CONDITIONS" in notices and "patchelf --set-soname" in notices
        for name in bundled:
            assert name.startswith("libvramscope-") and name in notices, name
        for name in ("bin/vramscope", "lib/libvramscope.so", "lib/vramscope/simulator/libcuda.so.1",
                     "include/vramscope.h", "include/vramscope_client.h",
                     "lib/vramscope/python/startup/sitecustomize.py", "lib/vramscope/examples/train_lm"):
            assert data + name in names, name
        assert "vramscope/py.typed" in names and all(any(n.endswith(end) for n in names) for end in (
            "man/man1/vramscope.1", "completions/vramscope", "/_vramscope", "/vramscope.fish"))
        program = z.read(data + "lib/vramscope/examples/train_lm")
        assert not re.search(rb"\0/[\w./-]+/examples/train_lm", program), "a path of the build machine"
        # a second copy of a stand-in would be a second driver in one process
        for name in ("libcuda.so", "libcudart.so", "libcupti.so", "libnvidia-ml.so"):
            assert z.getinfo(f"{data}lib/vramscope/simulator/{name}").file_size < 64 << 10, name


def source_distribution(wheel, tools):
    archive = wheel.parent / (wheel.name.split("-py3-")[0] + ".tar.gz")
    with tempfile.TemporaryDirectory() as scratch:
        with tarfile.open(archive) as t:
            for member in t.getmembers():
                assert not member.name.startswith(("/", "..")), member.name
            t.extractall(scratch)
        tree = pathlib.Path(scratch) / archive.name[:-len(".tar.gz")]
        for name in ("CMakeLists.txt", "pyproject.toml", "LICENSE", "README.md", "src/base/vs_err.c",
                     "python/vramscope/__init__.py", "include/vramscope.h", "PKG-INFO"):
            assert (tree / name).exists(), name
        # a machine without CUDA headers gets a message that says what to do
        text = run([tools["cmake"], "-S", tree, "-B", tree / "b", "-DSKBUILD=2", "-DVRAMSCOPE_CUDA=OFF",
                    "-DVRAMSCOPE_TESTS=OFF", f"-DCMAKE_C_COMPILER={tools['cc']}"], status=1)
        assert "pip install nvidia-cuda-runtime" in " ".join(text.split()), text


# --- how it works ---

def interpreters(given):
    """One interpreter of each version, the given ones first: of PATH, and of pyenv."""
    found = {}
    others = [shutil.which(f"python3.{minor}") for minor in range(9, 20)]
    others += sorted(glob.glob(os.path.expanduser("~/.pyenv/versions/*/bin/python")))
    for path in [*given, sys.executable, *others]:
        if not path or not os.access(path, os.X_OK):
            continue
        done = subprocess.run([path, "-c", "import sys, venv, ensurepip, ctypes; "
                               "print(*sys.version_info[:2], sys._base_executable)"],
                              capture_output=True, text=True)
        words = done.stdout.split()
        if done.returncode == 0 and (int(words[0]), int(words[1])) >= OLDEST:
            found.setdefault((int(words[0]), int(words[1])), words[2])
    return found


def installed(wheel, tools):
    pythons = sorted(interpreters(tools["pythons"]).items())
    if len(pythons) > 3 and not tools["pythons"]: # the oldest, the newest, and one in between
        pythons = [pythons[0], pythons[len(pythons) // 2], pythons[-1]]
    for i, (version, python) in enumerate(pythons):
        with tempfile.TemporaryDirectory() as folder:
            scratch = pathlib.Path(folder)
            own, env = one_environment(wheel, python, scratch)
            if not i:  # what no release of Python changes
                linked(tools, own, scratch, env)
                consumers(tools, own, scratch, env)
        print("Python", *version, "ok")
    if len(pythons) < 3:
        print(f"only {len(pythons)} versions of Python were found; three should be tested")


def one_environment(wheel, python, scratch):
    env, folder = bare(scratch), scratch / "env"
    run([python, "-m", "venv", folder], env)
    own = folder / "bin/python"
    run([own, "-m", "pip", "install", "-q", "--no-index", "--disable-pip-version-check", wheel], env)
    assert "verdict  growth" in run([own, "-m", "vramscope", "demo", "-o", scratch / "demo"], env)
    assert "vramscope 0." in run([folder / "bin/vramscope", "--version"], env)
    doctor = run([folder / "bin/vramscope", "doctor"], env)
    assert "libvramscope-unwind.so.8" in doctor and "libvramscope-zstd.so.1" in doctor, doctor
    for case in ("figures", "decorated", "statistics", "traced"):
        out = run([own, "-m", "vramscope", "run", "-q", "--simulate", "h100-80g", "-o", scratch / "t.vst",
                   HERE / "package_program.py", case, scratch], env, cwd=scratch)
        assert out.endswith("ok\n"), out
    out = run([own, "-c", "import vramscope; t = vramscope.Trace('demo/demo.vst');"
               "print(t.peaks[0].allocated,"
               "t.sites()[0].text.split()[0], sum(1 for e in t.events('alloc')))"], env, cwd=scratch)
    allocated, place, count = out.split()
    assert int(allocated) > 300 << 20 and place == "keep_for_debugging" and int(count) > 100, out
    plugin(own, scratch, env)
    return own, env


LIMITED = """
import ctypes, pytest
cuda = ctypes.CDLL("libcudart.so")

@pytest.mark.limit_vram("2 MiB")
def test_fits():
    pointer = ctypes.c_void_p()
    assert cuda.cudaMalloc(ctypes.byref(pointer), ctypes.c_size_t(3 << 20)) == 0
"""


def plugin(python, scratch, env):
    """pytest finds the plugin by its entry point. pytest itself comes from build/pytest: it is pure Python."""
    version = run([python, "-c", "import sys; print(*sys.version_info[:2])"], env).split()
    release = "newest" if (int(version[0]), int(version[1])) >= (3, 10) else "oldest"
    sites = glob.glob(str(HERE.parents[1] / f"build/pytest/{release}/lib/python3.*/site-packages"))
    if not sites:
        print("the pytest plugin was not tested: tests/plugin/pytest_environment.py fetch installs pytest")
        return
    folder = scratch / "tested"
    folder.mkdir()
    (folder / "test_limited.py").write_text(LIMITED, encoding="utf-8")
    env = dict(env, PYTHONPATH=sites[0])
    words = [python, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
    out = run([*words, "--vramscope-simulate", "h100-80g"], env, status=1, cwd=folder)
    assert "peak of GPU memory 3.0 MiB exceeds the limit of 2.0 MiB by 1.0 MiB (50.0 %) on\n    device 0" in out, out
    assert "3.0 MiB  100.0 %     1x  test_limited.py:8 test_fits" in out, out
    out = run([*words, "-n", "2", "--vramscope-simulate", "h100-80g"], env, status=1, cwd=folder)
    assert "exceeds the limit" in out and "simulated h100-80g" in out, out
    out = run([*words, "--vramscope-off", "--collect-only"], env, cwd=folder)
    assert "test_limited.py::test_fits" in out, out


# declarations of its own: the wheel's user may have no headers of CUDA
LINKED = """
#include <dlfcn.h>
#include <stddef.h>
#include <stdio.h>
int cuInit(unsigned);
int cuDriverGetVersion(int *);
int cudaMalloc(void **, size_t);
int main(void)
{
    int version = 0;
    void *pointer, *names[4] = {dlopen("libcuda.so", RTLD_NOW), dlopen("libcuda.so.1", RTLD_NOW),
                                dlopen("libcudart.so", RTLD_NOW), NULL};
    if (cuInit(0) || cuDriverGetVersion(&version) || !version || cudaMalloc(&pointer, 3 << 20))
        return 2;
    for (int i = 0; i < 2; i++)
        if (!names[i] || dlsym(names[i], "cuInit") != (void *)cuInit) /* one driver */
            return 3 + i;
    if (!names[2] || dlsym(names[2], "cudaMalloc") != (void *)cudaMalloc)
        return 5;
    puts("linked");
    return 0;
}
"""


def linked(tools, python, scratch, env):
    """The simulated libraries can be linked, and loaded by the names for linking."""
    command = run([python, "-c", "import vramscope; print(vramscope.command())"], env).strip()
    folder = pathlib.Path(command).parents[1] / "lib/vramscope/simulator"
    (scratch / "linked.c").write_text(LINKED, encoding="utf-8")
    on_path = dict(env, LD_LIBRARY_PATH=str(folder))
    for linker in ("bfd", "gold", "lld"):
        if not shutil.which(f"ld.{linker}"):
            continue
        program = scratch / f"linked.{linker}"
        done = run([tools["cc"], f"-fuse-ld={linker}", scratch / "linked.c", "-L", folder, "-lcuda", "-lcudart",
                    "-lcupti", "-lnvidia-ml", "-ldl", "-o", program])
        assert not done, done  # no warning either
        needed = re.findall(r"\[(lib\S+)\]", run(["readelf", "-d", program]))
        assert "libcuda.so.1" in needed and any(re.match(r"libcudart\.so\.\d+$", n) for n in needed), needed
        assert run([program], on_path) == "linked\n"
        run([command, "run", "-q", "--simulate", "h100-80g", "-o", scratch / "linked.vst", program], env)
        report = run([command, "report", scratch / "linked.vst"], env)
        assert "3.0 MiB" in report and "changed since the recording" not in report, report


def consumers(tools, python, scratch, env):
    """The headers, the CMake package and pkg-config of the wheel serve other programs."""
    command = run([python, "-c", "import vramscope; print(vramscope.command())"], env).strip()
    prefix = pathlib.Path(command).parents[1]
    client = HERE.parent / "build/consumer/without.c"
    run([tools["cc"], "-std=c99", "-pedantic-errors", "-Wall", "-Werror", "-I", prefix / "include", client,
         "-o", scratch / "without", "-ldl"])
    assert run([scratch / "without"], env) == "absent\n"
    version = run([python, "-c", "import vramscope; print(vramscope.__version__)"], env).strip()
    run([tools["cmake"], "-S", client.parent, "-B", scratch / "consumer", f"-DCMAKE_PREFIX_PATH={prefix}",
         f"-DWANTED_VERSION={version}", f"-DCMAKE_C_COMPILER={tools['cc']}"])
    run([tools["cmake"], "--build", scratch / "consumer"])
    assert run([scratch / "consumer/consumer"], env) == version + "\n"


def main():
    source, cc, cmake, case, *pythons = sys.argv[1:]
    wheels = sorted(glob.glob(os.path.join(source, "build/dist/vramscope-*.whl")), key=os.path.getmtime)
    if not wheels:
        skip("no wheel in build/dist: scripts/wheel builds it")
    globals()[case](pathlib.Path(wheels[-1]), {"cc": cc, "cmake": cmake, "pythons": pythons})


if __name__ == "__main__":
    main()
