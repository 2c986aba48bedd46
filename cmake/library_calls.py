#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the functions of a stand-in library that are rows of a table.

usage: library_calls.py OUT NAME FOLDER TITLE STATUS VALUE

FOLDER is that of the library, TITLE its name in messages, STATUS and VALUE the status of a function that is
not supported. OUT is the folder for what is written:

  NAME_rows.c       from FOLDER/NAME.calls: each function packs its arguments and calls its runner
  NAME_fallback.c   from FOLDER/unsupported.txt: the functions that only say "not supported", by what
                    they return (vs_library_fallback.h)
  vs_NAME_rows.h    VS_NAME_FUNCTIONS(F): F(result, name, parameters) for the functions of NAME.calls
                    and those that a C file of FOLDER defines; VS_NAME_ROWS(F): F(kind, name) for all

NAME.calls has settings, one line each, that hold for the rows that follow:

  include FILE           a header that NAME_rows.c  includes
  handle DECLARATION     the first parameter of each function, which the runner gets first; handle none
  kernel PREFIX NAMES    what stands for NAMES, the start of the functions' names, in .name, the name of the work
                         (_v2, _64, _bufferSize and _bufferSizeExt at its end go); kernel none: no .name
  runner NAME TYPE       what the functions call: int NAME(HANDLE, const TYPE *call)
  pack WORDS             parameters that go to the member of *TYPE* of that name, or with a=b to member b
  word NAME LIST         {NAME} in the name of a function is {LIST}
  statuses A B C         for no handle, no other object, a wrong argument (struct vs_library)
  version A B C [A B C]  the newest version that the library has; that of CUDA 12 where it is another
  names FUNCTION PREFIX TEXT   FUNCTION gives the name of a value in vs_NAME_api.h that begins with PREFIX; TEXT
                         for another number
  type TYPE: NAMES       what parameters of these names are, where a row does not say it
  default .MEMBER = EXPRESSION      what it is where neither a parameter nor the row sets it

A row is a function's name and parameters, and behind them the members that it sets; or "= EXPRESSION",
which the function returns, without a runner. Further lines have a space in front. Several names may share
a row. {a,b} in a name stands for one function for each alternative; {} is in members what stands for the
last braces, {UP} the same in capitals, or what follows a colon ({a:A1,b:B1}). {SDCZ} or {Sc:C,Dz:Z} stands
for one function for each type of elements (the letter after the colon, if there is one), and the following
words for it: T (its elements in C), R (the real numbers of the same precision), TYPE_T and TYPE_R (their
cudaDataType). {,_64} stands for a function with 32-bit and one with 64-bit integers, which are the type I.
Members may use all parameters by name. const is left out, and void * may stand for any pointer: neither
changes a call.
"""
import pathlib
import re
import sys

TYPES = {"S": ("float", "float", "CUDA_R_32F", "CUDA_R_32F"),
         "D": ("double", "double", "CUDA_R_64F", "CUDA_R_64F"),
         "C": ("struct float2", "float", "CUDA_C_32F", "CUDA_R_32F"),
         "Z": ("struct double2", "double", "CUDA_C_64F", "CUDA_R_64F"),
         "H": ("uint16_t", "float", "CUDA_R_16F", "CUDA_R_32F"),
         "B": ("uint16_t", "float", "CUDA_R_16BF", "CUDA_R_32F")}
WORDS = ("T", "R", "TYPE_T", "TYPE_R")
KINDS = ("STATUS", "COUNT", "SIZE", "TEXT", "NUMBER", "POINTER", "REAL", "NOTHING")


def split(text):
    """*text* at the commas that no parentheses, braces or quotes enclose."""
    parts, depth, quoted = [""], 0, False
    for c in text:
        quoted ^= c == '"'
        depth += (c in "({[") - (c in ")}]")
        if c == "," and not depth and not quoted:
            parts.append("")
        else:
            parts[-1] += c
    return [p.strip() for p in parts if p.strip()]


def words(text, values):
    return re.sub(r"\w+", lambda m: values.get(m.group(), m.group()), text)


def variants(name, lists=None):
    """(name, what {} and {UP} stand for, values of the words) of each function that a name stands for.
    *lists*: those of the setting word."""
    found = [(name.replace("{,_64}", ""), ("", ""), {"I": "int"})]
    if name.endswith("{,_64}"):
        found.append((name[:-6] + "_64", ("", ""), {"I": "int64_t"}))
    while "{" in found[0][0]:
        given, found = found, []
        for text, _, values in given:
            braces = re.search(r"\{(.*?)\}", text)
            inside = (lists or {}).get(braces[1], braces[1])
            for alternative in inside.split(",") if "," in inside or ":" in inside else list(inside):
                own, _, other = alternative.partition(":")
                found.append((text[:braces.start()] + own + text[braces.end():], (own, other or own.upper()),
                              {**values, **dict(zip(WORDS, TYPES.get(other or own, ())))}))
    return found


def braced(text, braces):
    return text.replace("{}", braces[0]).replace("{UP}", braces[1])


def types_of(parameters):
    """The types of *parameters*, which have names."""
    return [re.match(r"(.*?)\w+$", p)[1].strip() for p in parameters]


def definitions(folder):
    """(result, name, types of the parameters) of each function of the library that a C file defines."""
    for path in sorted(folder.glob("*.c")):
        text = path.read_text(encoding="utf-8")
        own = {name: kind.strip() for kind, name in re.findall(r"^typedef (struct \w+ \*.*?)(\w+);", text, re.M)}
        for result, name, parameters in re.findall(
                r"^(?!static|struct)([a-z][\w ]*[ *])(\w+)\(([^;{}\\]*)\)\s*\{", text, re.M):
            if not re.match("vs_|dnn_|vramscope", name):
                given = [] if parameters == "void" else [" ".join(p.split()) for p in parameters.split(",")]
                yield result.strip(), name, [words(kind, own) for kind in types_of(given)] or ["void"]


class Names:
    """A function of the setting names: FUNCTION PREFIX TEXT."""
    result, given, returns = "const char *", [], "names"

    def __init__(self, name, prefix, unknown, header):
        self.name, self.prefix, self.unknown, self.found = name, prefix, unknown, {}
        for value, number in re.findall(r"\b(%s\w+) = (\d+)" % prefix, header.read_text(encoding="utf-8")):
            self.found.setdefault(int(number), value)  # others of the same number are older names

    def types_only(self):
        return "int"

    def text(self):
        declaration = "%s%s(int value)" % (self.result, self.name)
        cases = ["case %d: return \"%s\";" % row for row in self.found.items()]
        return "\n    ".join(['__attribute__((visibility("default"))) %s;\n%s\n{' % (declaration, declaration),
                             "switch (value) {", *cases, 'default: return "%s";' % self.unknown, "}"]) + "\n}\n"


class Function:
    """One function of a row, under the settings that hold for it."""
    result = "int"

    def __init__(self, name, braces, values, parameters, members, settings):
        self.name, self.values = name, values
        self.handle = settings["handle"]
        typed = [settings["type"].get(p, "") + p for p in split(braced(parameters, braces))]
        self.parameters = [words(p, values) for p in typed]
        self.types = types_of(self.parameters)
        self.names = [re.search(r"\w+$", p)[0] for p in self.parameters]
        self.settings = settings
        self.returns = words(braced(members[1:].strip(), braces), values) if members.startswith("=") else ""
        self.given = [] if self.returns else [words(m, values) for m in split(braced(members, braces))]

    def declaration(self):
        parameters = self.parameters if self.handle == "none" else [self.handle] + self.parameters
        return "int %s(%s)" % (self.name, ", ".join(parameters) or "void")

    def types_only(self):
        return ", ".join(([] if self.handle == "none" else types_of([self.handle])) + self.types) or "void"

    def members(self):
        """(member, expression) of the call, in the order of importance: row, parameters, defaults."""
        found = {}
        for member in self.given:
            key, expression = re.match(r"\.([\w.]+) = (.*)$", member, re.S).groups()
            found[key] = expression
        packs = dict(p.split("=") if "=" in p else (p, p) for p in self.settings["pack"])
        for name, kind in zip(self.names, self.types):
            if name in packs:
                found.setdefault(packs[name], ("(void *)" if kind.endswith("*") else "") + name)
        for key, expression in self.settings["default"].items():
            found.setdefault(key, words(expression, self.values))
        if self.settings["kernel"] != ["none"]:
            kernel, prefix = self.settings["kernel"]
            found.setdefault("name", '"%s"' % re.sub("^" + prefix, kernel, re.sub(
                r"(_v2)?(_64)?(_bufferSize(Ext)?)?$", "", self.name)))
        return found

    def text(self):
        if self.returns:
            return "%s\n{\n    return %s;\n}\n" % (self.declaration(), self.returns)
        runner, kind = self.settings["runner"]
        members = self.members()
        handle = "" if self.handle == "none" else re.search(r"\w+$", self.handle)[0] + ", "
        return "%s\n{\n    return %s(%s&(%s){%s});\n}\n" % (
            self.declaration(), runner, handle, kind,
            ",".join("\n        .%s = %s" % m for m in members.items()))


def calls(path):
    """(headers, functions, statuses and versions) of a NAME.calls."""
    settings = {"handle": "none", "kernel": ["none"], "runner": None, "pack": [], "type": {},
                "default": {}}
    lists = {}
    headers, functions, library = [], [], {}
    row = None

    def finish():
        if row:
            names, parameters, members = re.match(r"(.+?)\((.*?)\)\s*((?:[.=].*)?)$", row).groups()
            functions.extend(Function(*v, parameters, members, dict(settings))
                             for name in names.split() for v in variants(name, lists))

    for line in path.read_text(encoding="utf-8").splitlines():
        if line.startswith("#") or not line.strip():
            continue
        if line[0] == " ":  # the row goes on
            row += " " + line.strip()
            continue
        finish()
        row = None
        word, _, rest = line.partition(" ")
        if word == "include":
            headers.append(rest)
        elif word in ("statuses", "version"):
            library.setdefault(word, []).extend(rest.split())
        elif word == "names":
            functions.append(Names(*rest.split(" ", 2), path.with_name("vs_%s_api.h" % path.stem)))
        elif word == "word":
            lists.update([rest.split(" ", 1)])
        elif word == "type":
            kind, _, names = rest.partition(": ")
            settings["type"] = {**settings["type"], **{n: kind + " " for n in names.split()}}
        elif word == "handle":
            settings["handle"] = rest
        elif word == "kernel":
            settings["kernel"] = rest.split()
        elif word == "runner":
            settings.update(runner=tuple(rest.split(" ", 1)), pack=[], default={})
        elif word == "pack":
            settings["pack"] = settings["pack"] + rest.split()
        elif word == "default":
            settings["default"] = {**settings["default"], **dict(
                re.match(r"\.([\w.]+) = (.*)$", m).groups() for m in split(rest))}
        else:
            row = line.strip()
    finish()
    for word, lengths in ("statuses", (0, 3)), ("version", (0, 3, 6)):
        if len(library.get(word, [])) not in lengths:
            raise ValueError("%s: %s: %d words, not %s" % (path, word, len(library[word]), lengths))
    asks = [f.name for f in functions if re.search(
        r"\bvs_library_(make|set|get|destroy|get_version|get_property)\b",
        f.returns or f.settings["runner"][0])]
    if asks and "statuses" not in library:
        raise ValueError("%s: %s needs statuses" % (path, asks[0]))
    return headers, functions, library


def unsupported(path):
    """(kind, name) of each function in an unsupported.txt."""
    kind, found = None, []
    for line in path.read_text(encoding="utf-8").splitlines():
        for word in [] if line.startswith("#") else line.split():
            if word.rstrip(":") in KINDS:
                kind = word.rstrip(":")
            else:
                found.extend((kind, name) for name, _, _ in variants(word))
    return found


def table(name, rows):
    return "#define %s(F)%s\n" % (name, "".join(" \\\n    F(%s)" % ", ".join(row) for row in rows))


def main():
    out, name, folder, title, status, value = sys.argv[1:]
    out, folder = pathlib.Path(out), pathlib.Path(folder)
    here = folder / (name + ".calls")
    headers, functions, library = calls(here) if here.exists() else ([], [], {})
    version = library.get("version", ["0"])
    declared = [(f.result, f.name, "(%s)" % f.types_only()) for f in functions] + [
        (result, defined, "(%s)" % ", ".join(types)) for result, defined, types in definitions(folder)]
    names = folder / "unsupported.txt"
    missing = unsupported(names) if names.exists() else []
    head = "/* SPDX-License-Identifier: Apache-2.0 */\n/* Written by cmake/library_calls.py. */\n"
    up = name.upper()
    texts = {
        f"{name}_rows.c": head + "".join('#include "%s"\n' % h for h in headers) +
                           '#include "simulator/libraries/common/vs_library_base.h"\n' +
                           f'#include "generated/vs_{name}_rows.h"\nVS_{up}_FUNCTIONS(VS_LIBRARY_DECLARE)\n' +
                           "".join("\n" + f.text() for f in functions),
        f"{name}_fallback.c": head + "".join('#include "%s"\n' % h for h in headers) +
                              '#include "simulator/libraries/common/vs_library_fallback.h"\n\n' +
                              "const struct vs_library vs_library = {%s, {%s}, {%s}};\n\n" % (
                                  ", ".join([f'"{title}", "{name}", {value}, "{status}"'] +
                                            library.get("statuses", ["0"] * 3)),
                                  ", ".join(version[:3]), ", ".join(version[-3:])) +
                              "".join("VS_LIBRARY_FALLBACK_%s(%s)\n" % row for row in missing),
        f"vs_{name}_rows.h": head + "#pragma once\n#include <cuda_runtime_api.h>\n#include <library_types.h>\n" +
                             "#include <stdint.h>\n#include <stdio.h>\n" + "".join("%s;\n" % s for s in sorted(set(re.findall(
            r"\b(?:struct|union) \w+", str(declared))))) +
                             table(f"VS_{up}_FUNCTIONS", declared) +
                             table(f"VS_{up}_ROWS", [("STATUS", row[1]) for row in declared] + missing),
    }
    out.mkdir(parents=True, exist_ok=True)
    for file, text in texts.items():
        path = out / file
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
