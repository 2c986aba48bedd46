# SPDX-License-Identifier: Apache-2.0
"""Names for linking (libcuda.so) of libraries with a version (libcuda.so.1), for folders that cannot
have links, such as those of a wheel.

Such a name is a library without code that has the functions, the symbol versions and the soname of the
one with the version: a linker resolves symbols with it, and records the soname. It is also a filter of
the other library (DT_FILTER, ld(1) -F): a program that loads it by its name gets the functions of the
other. So there is one driver in a process whatever name it is loaded by. A linker script would be good
for linkers only, and a library that needs the other one for dlopen only.
"""
import pathlib
import re
import tempfile

# value and flags, section, size, version ("Base": none; in brackets: not the default), name
SYMBOL = re.compile(r"^[0-9a-f]{16} (.{7}) (\S+)\t[0-9a-f]{16} +(\(?)(\S+?)\)? +(?:0x\S+ +)?(\S+)$", re.M)


def functions(listing):
    """The exported functions in the output of `objdump -T`, by version."""
    found = {}
    for flags, section, hidden, version, name in SYMBOL.findall(listing):
        if section not in ("*UND*", "*ABS*") and not hidden:
            if flags[-1] != "F":
                raise ValueError(f"{name} is not a function: a name for linking cannot have it")
            found.setdefault(version, []).append((name, "w" in flags))
    return found


def sources(found):
    """Assembly that defines all functions, and the script of their versions."""
    lines, script = [".text"], []
    for version, names in sorted(found.items()):
        for name, weak in sorted(names):
            lines += [f".{'weak' if weak else 'globl'} {name}", f".type {name}, @function", f"{name}:",
                      f".size {name}, 1"]
        if version != "Base":
            script.append(f"{version} {{ global: {' '.join(name + ';' for name, _ in sorted(names))} }};")
    lines += ["ud2", '.section .note.GNU-stack,"",@progbits', ""]
    return "\n".join(lines), "\n".join(script) + "\n"


def make(library, path, run):
    """Makes *path*, a name for linking of *library* in the same folder. *run* runs words and returns what
    they print."""
    code, script = sources(functions(run("objdump", "-T", str(library))))
    soname, = re.findall(r"^\s+SONAME\s+(\S+)$", run("objdump", "-p", str(library)), re.M)
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch)
        (folder / "names.s").write_text(code, encoding="utf-8")
        (folder / "versions").write_text(script, encoding="utf-8")
        versions = [f"-Wl,--version-script={folder / 'versions'}"] if script.strip() else []
        run("cc", "-shared", "-nostdlib", str(folder / "names.s"), "-o", str(path), f"-Wl,-soname,{soname}",
            f"-Wl,--filter=$ORIGIN/{library.name}", *versions)
