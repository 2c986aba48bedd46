#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes a wheel that needs nothing but the C library of the machine where it is installed.

    bundle_wheel.py WHEEL FOLDER

WHEEL is what scikit-build-core made of the tree, with VRAMSCOPE_BUNDLE. The result, in FOLDER, has:
- the libraries that the command links and the library loads, from this machine, as
  _data/lib/vramscope/bundled/libvramscope-NAME.so.N. Their names are their own (soname as well), so
  that a recorded program that uses zstd or libunwind of another version is not affected;
- their licences, from the packages that this machine has them from, and a list of them (SPDX, sboms/ of the metadata);
- manual pages and completions where `man` and the shells find them, in share of the environment;
- a manylinux tag for the newest symbol of the C library that any of its files uses.
Zip files have no links: the simulator's names for linking (libcuda.so) become small libraries that
stand for the versioned ones (link_library.py); copies of these would be second drivers in one process.
"""
import argparse
import base64
import filecmp
import hashlib
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile

import link_library
import third_party

# of every Linux with the C library of the tag
SYSTEM = re.compile(r"^(ld-linux[^/]*|libc|libm|libdl|libpthread|librt|libgcc_s)\.so")
LOADED = {"libunwind.so.8": "VS_LIBUNWIND", "libzstd.so.1": "VS_LIBZSTD"} # by libvramscope.so
UNSTRIPPED = "train_lm" # the demo names its source lines


def run(*words):
    done = subprocess.run(words, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"bundle_wheel: {' '.join(words)}: {done.stderr.strip() or done.stdout.strip()}")
    return done.stdout


def is_elf(path):
    with open(path, "rb") as file:
        return file.read(4) == b"\x7fELF"


def dynamic(path, tag):
    return re.findall(rf"^\s+{tag}\s+(\S+)$", run("objdump", "-p", str(path)), re.M)


def new_name(soname):
    return "libvramscope-" + soname[len("lib"):] if soname.startswith("lib") else "libvramscope-" + soname


def where_libraries_are(programs):
    """The path of each library that the loader finds for *programs*, by soname."""
    places = {}
    for program in programs:
        places.update(re.findall(r"^\s+(\S+) => (/\S+)", run("ldd", str(program)), re.M))
    for line in run("/sbin/ldconfig", "-p").splitlines():
        found = re.match(r"\s+(\S+) \(.*x86-64.*\) => (\S+)", line)
        if found:
            places.setdefault(*found.groups())
    return places


def bundle(data):
    """Copies libraries into *data*. Returns the paths that they came from."""
    command, folder = data / "bin/vramscope", data / "lib/vramscope/bundled"
    folder.mkdir()
    places = where_libraries_are([command])
    wanted = [n for n in dynamic(command, "NEEDED") if not SYSTEM.match(n)] + list(LOADED)
    sources = {}
    while wanted:
        soname = wanted.pop()
        if soname in sources:
            continue
        if soname not in places:
            sys.exit(f"bundle_wheel: {soname} was not found on this machine")
        sources[soname] = places[soname]
        copy = folder / new_name(soname)
        shutil.copy(places[soname], copy)
        copy.chmod(0o755)
        needed = [n for n in dynamic(copy, "NEEDED") if not SYSTEM.match(n)]
        run("patchelf", "--set-soname", copy.name, "--set-rpath", "$ORIGIN",
            *[w for n in needed for w in ("--replace-needed", n, new_name(n))], str(copy))
        wanted += needed
    run("patchelf", "--set-rpath", "$ORIGIN/../lib/vramscope/bundled",
        *[w for n in dynamic(command, "NEEDED") if n in sources
          for w in ("--replace-needed", n, new_name(n))], str(command))
    return sources


def check_names(tree):
    """The names in the library's source are those of the copies."""
    header = (tree / "src/base/vs_library.h").read_text(encoding="utf-8")
    for soname, macro in LOADED.items():
        if f'#define {macro} "{new_name(soname)}"' not in header:
            sys.exit(f"bundle_wheel: {macro} in src/base/vs_library.h is not {new_name(soname)}")


ABOUT = """\
Third-party software in this wheel of vramscope, with its licences. vramscope itself is under the
Apache License 2.0 (LICENSE).

The libraries libvramscope-*.so.* are dynamically linked, and unchanged but for their names. Their
sources are those of the Debian packages named below (https://sources.debian.org). To replace one, also
one under the LGPL, by a version of your own:

    patchelf --set-soname libvramscope-NAME.so.N --set-rpath '$ORIGIN' YOUR-LIBRARY
    cp YOUR-LIBRARY .../site-packages/vramscope/_data/lib/vramscope/bundled/libvramscope-NAME.so.N

What is "in the command" is linked into it statically. To link the command with another version of it,
such as of libiberty (LGPL), build it from its sources: the source distribution of the same version, or
the repository, with scripts/wheel or CMake.

Licences that are named below by a file in /usr/share/common-licenses follow at the end.
"""


def notices(tree, sources, static):
    """The licences of all libraries inside, from Debian's packages."""
    parts = [ABOUT]
    packages = {}
    for soname, path in sorted(sources.items()):
        packages.setdefault(third_party.owner(path), []).append(new_name(soname))
    for name, package in static.items():
        packages.setdefault(package, []).append(f"{name} (in the command)")
    for package, files in sorted(packages.items()):
        text = pathlib.Path(f"/usr/share/doc/{package}/copyright")
        if not package or not text.exists():
            sys.exit(f"bundle_wheel: no licence was found for {', '.join(files)}: build the wheel on "
                     f"Debian, with its packages")
        parts.append(f"{'=' * 78}\n{', '.join(files)}\nDebian source package {' '.join(third_party.source_of(package))}\n\n"
                     f"{text.read_text(encoding='utf-8', errors='replace')}")
    parts += common_licences("\n".join(parts))
    parts.append(f"{'=' * 78}\nshare/vramscope/examples/genesis.txt\n\n" +
                 (tree / "examples/train_lm/data/README.md").read_text(encoding="utf-8"))
    return "\n".join(parts)


def common_licences(text):
    """The licences that *text* names by their files in Debian, which other systems lack."""
    names = {} # GPL and GPL-3 are one file
    for name in sorted(set(re.findall(r"/usr/share/common-licenses/([\w.+-]*\w)", text))):
        path = pathlib.Path("/usr/share/common-licenses") / name
        if not path.exists():
            sys.exit(f"bundle_wheel: a licence refers to {path}, which is not on this machine")
        names.setdefault(path.resolve(), []).append(f"{path}, which texts above refer to\n")
    return [f"{'=' * 78}\n{''.join(lines)}\n{path.read_text(encoding='utf-8', errors='replace')}"
            for path, lines in names.items()]


def unlink_copies(folder):
    """Names for linking in *folder*, which were links."""
    versioned = [p for p in folder.iterdir() if re.search(r"\.so\.\d", p.name)]
    for path in folder.glob("*.so"):
        same = [p for p in versioned if p.name in dynamic(path, "SONAME") or filecmp.cmp(p, path, False)]
        if not same:
            continue
        path.unlink()
        link_library.make(same[0], path, run)


def tidy(data, share):
    for path in data.glob("lib/*.a"): # the simulator's static runtime: 3 MB for few programs
        path.unlink()
    unlink_copies(data / "lib/vramscope/simulator")
    share.mkdir(parents=True, exist_ok=True)
    for name in ("man", "bash-completion", "zsh", "fish"): # where the shells of an environment find them
        shutil.move(str(data / "share" / name), str(share / name))
    for path in data.rglob("*"):
        if path.is_file() and not path.is_symlink() and is_elf(path) and path.name != UNSTRIPPED:
            run("strip", "--strip-unneeded", str(path))


def platform_tag(root):
    newest = max((int(v) for p in root.rglob("*") if p.is_file() and is_elf(p)
                  for v in re.findall(r"GLIBC_2\.(\d+)", run("objdump", "-T", str(p)))), default=17)
    return f"manylinux_2_{newest}_x86_64"


def pack(root, info, folder, tag):
    wheel = info / "WHEEL"
    text = re.sub(r"^Tag: .*$", f"Tag: py3-none-{tag}", wheel.read_text(encoding="utf-8"), flags=re.M)
    wheel.write_text(re.sub(r"^Root-Is-Purelib: .*$", "Root-Is-Purelib: false", text, flags=re.M))
    name = f"{info.name[:-len('.dist-info')]}-py3-none-{tag}.whl"
    record = info / "RECORD"
    rows = []
    out = folder / name
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as z:
        for path in sorted(p for p in root.rglob("*") if p.is_file() and p != record):
            where, content = path.relative_to(root).as_posix(), path.read_bytes()
            entry = zipfile.ZipInfo(where, (2020, 1, 1, 0, 0, 0)) # the same bytes from the same tree
            entry.external_attr = (0o100755 if os.access(path, os.X_OK) else 0o100644) << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            z.writestr(entry, content)
            digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
            rows.append(f"{where},sha256={digest},{len(content)}")
        where = record.relative_to(root).as_posix()
        entry = zipfile.ZipInfo(where, (2020, 1, 1, 0, 0, 0))
        entry.external_attr = 0o100644 << 16
        z.writestr(entry, "\n".join([*rows, f"{where},,"]) + "\n")
    return out


def unpack(wheel, root):
    with zipfile.ZipFile(wheel) as z:
        for entry in z.infolist():
            path = z.extract(entry, root)
            if not entry.is_dir():
                os.chmod(path, 0o755 if entry.external_attr >> 16 & 0o111 else 0o644)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("wheel")
    parser.add_argument("folder", type=pathlib.Path)
    options = parser.parse_args()
    tree = pathlib.Path(__file__).resolve().parent.parent
    check_names(tree)
    with tempfile.TemporaryDirectory() as scratch:
        root = pathlib.Path(scratch)
        unpack(options.wheel, root)
        info = next(root.glob("*.dist-info"))
        data = root / "vramscope/_data"
        sources, static = bundle(data), third_party.static_parts(data / "bin/vramscope")
        share = root / f"{info.name[:-len('.dist-info')]}.data/data/share"
        tidy(data, share)
        licences = info / "licenses"
        licences.mkdir(exist_ok=True)
        (licences / "THIRD-PARTY-NOTICES").write_text(notices(tree, sources, static), encoding="utf-8")
        (info / "sboms").mkdir()  # PEP 770
        version = info.name[len("vramscope-"):-len(".dist-info")]
        (info / "sboms/vramscope.spdx.json").write_text(third_party.spdx(
            version, [(package, "STATIC_LINK") for package in static.values()] +
            [(third_party.owner(path), "CONTAINS") for _, path in sorted(sources.items())]), encoding="utf-8")
        options.folder.mkdir(parents=True, exist_ok=True)
        print(pack(root, info, options.folder, platform_tag(root)))


if __name__ == "__main__":
    main()
