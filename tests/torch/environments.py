# SPDX-License-Identifier: Apache-2.0
"""Where the tests of label `torch` find PyTorch: folders with a Python environment each.

    environments.py list            the environments that are found
    environments.py fetch [RELEASE…]   makes the environments of RELEASES, in build/torch

An environment is a folder with bin/python, into which torch was installed without NVIDIA's
libraries: the simulated GPU has its own. VS_TORCH_ENVS names the folder of the environments
instead of build/torch; environments of any name in it are found by their torch release.
Nothing is downloaded unless `fetch` is called (scripts/test --torch does).
"""
import argparse
import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
SKIPPED = 77
# Release of torch, its CUDA major. The wheels of PyPI; NVIDIA's libraries are left out.
RELEASES = {"2.15.0": 13, "2.11.0": 13, "2.6.0": 12}
# What torch needs in pure Python, and what programs of the tests use.
PURE = ("filelock", "typing_extensions", "sympy", "networkx", "jinja2", "fsspec", "numpy", "setuptools")
EXTRA = {"2.11.0": ("einops", "einx", "jaxtyping"),  # the program of the recorded snapshots
         "2.15.0": ("transformers", "peft", "accelerate", "diffusers")}
# Installed like torch itself, because their metadata requires NVIDIA's libraries or torch.
WITHOUT_DEPENDENCIES = {"2.15.0": ("torchvision", "pillow")}


class Environment:
    def __init__(self, folder):
        self.folder, self.python = folder, folder / "bin/python"
        sites = sorted(folder.glob("lib/python3.*/site-packages"))
        self.site = sites[0] if sites else None
        self.release, self.cuda = version_of(self.site) if self.site else (None, None)


def version_of(site):
    """(release, CUDA major) by torch/version.py, without importing torch."""
    values = {}
    try:
        with open(site / "torch/version.py", encoding="utf-8") as f:
            exec(f.read(), values)  # plain assignments
    except OSError:
        return None, None
    return str(values["__version__"]).split("+")[0], int((values["cuda"] or "0").split(".")[0])


def folder_of_environments():
    return pathlib.Path(os.environ.get("VS_TORCH_ENVS") or ROOT / "build/torch").absolute()


def find():
    """All environments, by name."""
    folder = folder_of_environments()
    found = [Environment(f) for f in sorted(folder.glob("*")) if (f / "bin/python").exists()]
    return [e for e in found if e.release]


def of_release(release):
    """The first environment with this release, or None."""
    return next((e for e in find() if e.release == release), None)


def of_cuda(major):
    """The newest torch for this CUDA major, or None."""
    fitting = [e for e in find() if e.cuda == major]
    return max(fitting, key=lambda e: tuple(int(p) for p in e.release.split(".")[:2]), default=None)


def skip(what):
    print(f"skipped: {what} not found in {folder_of_environments()}; scripts/test --torch downloads it, "
          f"VS_TORCH_ENVS=DIR names a folder of environments (each with bin/python)")
    return SKIPPED


def parser(doc):
    """The command line of a check, whose *doc* begins with what it does."""
    p = argparse.ArgumentParser(description=doc.splitlines()[0])
    p.add_argument("--build", default=str(ROOT / "build/dev"), type=os.path.abspath)
    return p


def needed(found, what):
    """What was *found*; without it the check ends as skipped."""
    return found or sys.exit(skip(what))


def needed_release(release):
    return needed(of_release(release), f"an environment with torch {release}")


def parsed(p):
    """(arguments, the environment of --release, by default of the newest release)"""
    p.add_argument("--release", default=next(iter(RELEASES)))
    args = p.parse_args()
    return args, needed_release(args.release)


def pip(python, *words):
    subprocess.run([str(python), "-m", "pip", "--disable-pip-version-check", "install", "-qq", *words],
                   check=True)


def triton_of(python):
    """The release of triton that torch requires, e.g. triton==3.6.0."""
    text = subprocess.run([str(python), "-c", "import importlib.metadata as m; print(*m.requires('torch'), "
                           "sep='\\n')"], check=True, stdout=subprocess.PIPE, text=True).stdout
    return next((line.split(";")[0].replace(" ", "") for line in text.splitlines()
                 if line.startswith("triton")), None)


def make(release):
    folder = folder_of_environments() / f"torch-{release}"
    marker = folder / "complete"
    if marker.exists():
        return
    print(f"==> making {folder} (torch {release}, without NVIDIA's libraries)", flush=True)
    subprocess.run([sys.executable, "-m", "venv", "--clear", str(folder)], check=True)
    python = folder / "bin/python"
    pip(python, "--no-deps", f"torch=={release}")
    pip(python, *PURE)
    triton = triton_of(python)
    if triton:
        pip(python, "--no-deps", triton)
    if EXTRA.get(release):
        # torch is present, so that none of these downloads it again
        pip(python, "--no-deps", "--ignore-requires-python", *WITHOUT_DEPENDENCIES.get(release, ())) \
            if WITHOUT_DEPENDENCIES.get(release) else None
        install_extra(python, EXTRA[release])
    marker.write_text(release + "\n", encoding="utf-8")


def install_extra(python, names):
    """Packages with their dependencies, except torch and what torch requires from NVIDIA."""
    constraint = subprocess.run([str(python), "-m", "pip", "freeze"], check=True, stdout=subprocess.PIPE,
                                text=True).stdout
    for name in names:
        pip(python, "--no-deps", name)
    for _ in range(6):  # each round installs what the last one's packages miss
        missing = missing_of(python)
        if not missing:
            return
        pip(python, "--no-deps", *missing)
    raise SystemExit(f"environments: {', '.join(names)} still miss packages in {python}: {constraint}")


def missing_of(python):
    """Required and absent, by `pip check`, without NVIDIA's packages."""
    text = subprocess.run([str(python), "-m", "pip", "check"], stdout=subprocess.PIPE, text=True).stdout
    names = {line.split(" requires ")[1].split(",")[0] for line in text.splitlines() if "not installed" in line}
    return sorted(n for n in names if not n.startswith(("nvidia", "cuda")))


def main():
    verb, names = (sys.argv[1:2] or ["list"])[0], sys.argv[2:]
    if verb == "fetch":
        unknown = [n for n in names if n not in RELEASES]
        if unknown:
            raise SystemExit(f"no environment is described for torch {unknown[0]}; releases: {', '.join(RELEASES)}")
        for release in names or RELEASES:
            if not of_release(release):
                make(release)
    elif verb != "list":
        raise SystemExit(__doc__)
    for e in find():
        print(f"{e.folder}: torch {e.release}, CUDA {e.cuda}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
