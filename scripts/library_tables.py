#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the tables of the libraries that frameworks link, from NVIDIA's public headers.

usage: library_tables.py [--library NAME]... FOLDER...

Each FOLDER holds unpacked packages of headers, of CUDA 12 or 13 (the wheels nvidia-cublas,
nvidia-cudnn-cu12, …: only their *.h are read). For every library that has a row below, and whose
headers are found, two files in src/simulator/libraries/NAME are written. vs_NAME_api.h has the values of
enumerations that the simulator or its tests name (run it again for a new one), of macros, and structures.
unsupported.txt has the names of the functions that no file of the library names. Where one of the
others has other parameters than in the header, the difference is printed.
Where releases differ, the newest decides and the difference is printed. The tables are kept
in the tree, so that a build needs none of the packages. Needs the package libclang (pip) and
CUDA's own headers (--cuda, default /usr/local/cuda/include).
"""
import argparse
import os
import pathlib
import re
import sys

from clang import cindex

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "cmake"))
import cudnn_attributes  # noqa: E402
import library_calls  # noqa: E402

K = cindex.CursorKind
T = cindex.TypeKind
ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "src", "simulator", "libraries")

# name: (headers, pattern of functions, pattern of macros that are kept). MORE: headers that cannot be read with
# these, or declare more functions for C++, by language.
LIBRARIES = {
    "cublas": (["cublas_v2.h", "cublasXt.h"], r"cublas(?!Lt)\w+", r"CUBLAS_VER\w+"),
    "cublaslt": (["cublasLt.h"], r"cublasLt\w+", r"CUBLAS_VER\w+"),
    "cudnn": (["cudnn.h", "cudnn_backend.h"], r"cudnn\w+", r"CUDNN_\w+"),
    "nccl": (["nccl.h"], r"nccl\w+", r"NCCL_\w+"),
    "cusparse": (["cusparse.h"], r"cusparse\w+", r"CUSPARSE_VER\w+"),
    "cusparselt": (["cusparseLt.h"], r"cusparseLt\w+", r"CUSPARSELT_VER\w+"),
    "cusolver": (["cusolverDn.h", "cusolverSp.h", "cusolverSp_LOWLEVEL_PREVIEW.h", "cusolverRf.h", "cusolverMg.h"],
                 r"cusolver\w+", r"CUSOLVER_VER\w+"),
    "cufft": (["cufftXt.h"], r"cufft\w+", r"CUFFT_\w+"),
    "curand": (["curand.h"], r"curand\w+", r"CURAND_VER\w+"),
    "nvrtc": (["nvrtc.h"], r"nvrtc\w+", r"NVRTC_\w+"),
    "nvjitlink": (["nvJitLink.h"], r"(__)?nvJitLink\w+", r"NVJITLINK_\w+"),
    "nvjpeg": (["nvjpeg.h"], r"nvjpeg\w+", r"NVJPEG_VER_[MP]\w+"),
}
MORE = {"cublas": ("c", "cublas.h"), "cusparse": ("c++", "cusparse.h")}


def words_used(*tops):
    """Every word in the C files and the .calls below *tops*, outside of the tables themselves, and the starts
    and ends of the names that macros join: ("CUDNN_BACKEND_", "_DESCRIPTOR") for
    CUDNN_BACKEND_##name##_DESCRIPTOR; ("CUDNN_STATUS_", None) for all of names."""
    words, joins = set(), set()
    for top in tops:
        for at, _, files in os.walk(top):
            for name in files:
                if name.endswith((".c", ".h", ".calls")) and not re.match(r"vs_\w+_api\.h$", name):
                    with open(os.path.join(at, name), encoding="utf-8") as file:
                        text = file.read()
                    words.update(re.findall(r"\w+", text))
                    joins.update(re.findall(r"\b(\w+_)##\w+(?:##(\w+))?", text))
                if name.endswith(".calls"):
                    for f in library_calls.calls(pathlib.Path(at, name))[1]:
                        words.update(re.findall(r"\w+", " ".join(f.given) + f.returns))
                        joins.update([(f.prefix, None)] if isinstance(f, library_calls.Names) else [])
    return words, joins


def is_used(name, words, joins):
    return name in words or any(
        name.startswith(start) and (end is None or name.endswith(end) and
                                    name[len(start):len(name) - len(end)] in words) for start, end in joins)


def filled(texts):
    """Lines of *texts*, which are not broken."""
    lines = [""]
    for text in texts:
        if lines[-1] and len(lines[-1]) + len(text) > 94:
            lines.append("")
        lines[-1] += " " * bool(lines[-1]) + text
    return ["    " + line for line in lines]


def shared(names, ends):
    """*names*, with a{b,c}d for those that differ in a word: the last one if *ends*, else any."""
    groups = {}
    for name in names:
        cuts = [m.start() for m in re.finditer(r"(?<=[a-z0-9_])(?=[A-Z])|(?=_|\{|$)|(?<=\})", name)]
        for start in cuts:
            for end in cuts:
                if start <= end and "{" not in name[start:end] and (not ends or end == len(name)):
                    groups.setdefault((name[:start], name[end:]), []).append(name[start:end])
    words = {}
    for (start, rest), middles in groups.items():
        for at in range(0, len(middles), 8):
            part = middles[at:at + 8]
            word = "%s{%s}%s" % (start, ",".join(part), rest)
            if len(part) > 1 and len(word) < 94:
                words[word] = [start + middle + rest for middle in part]
    left = set(names)
    for word in sorted(words, key=lambda w: (len(w) - len(" ".join(words[w])), w)):
        if left.issuperset(words[word]):
            left = left.difference(words[word]) | {word}
    return sorted(left)


def folded(names):
    """*names*, with cusparse{SDCZ}bsrmv for the four functions of that name, and others by shared."""
    groups, out = {}, []
    for name in names:
        match = re.match(r"([a-z]+(?:Dn|Sp|Xt)?)([SDCZ])([a-z]\w+)$", name)
        groups.setdefault((match[1], match[3]) if match else (name, None), []).append(match[2] if match else "")
    for (start, rest), letters in groups.items():
        letters = "".join(sorted(letters, key="SDCZ".find))
        out.append(start if rest is None else start + (letters if len(letters) == 1 else "{%s}" % letters) + rest)
    for ends in (True, False, False, False):
        out = shared(sorted(out), ends)
    return out


def spell(t):
    """A type without the library's own names for enumerations, arrays and functions."""
    c = t.get_canonical()
    const = "const " if c.is_const_qualified() else ""
    if c.kind == T.POINTER:
        inner = c.get_pointee()
        if inner.get_canonical().kind in (T.FUNCTIONPROTO, T.FUNCTIONNOPROTO):
            return "void *"
        text = spell(inner)
        return text + ("" if text.endswith("*") else " ") + "*" + const.strip()
    if c.kind in (T.CONSTANTARRAY, T.INCOMPLETEARRAY):
        return spell(c.element_type) + " *"
    if c.kind == T.ENUM:
        return const + "int"
    named = t.spelling.replace("const ", "")
    if named in ("size_t", "int64_t", "uint64_t", "int32_t", "uint32_t", "uint8_t", "int8_t"):
        return const + named
    if c.kind == T.RECORD:
        decl = c.get_declaration()
        if decl.kind == K.UNION_DECL:
            return const + "union " + decl.spelling
        return const + ("struct " + decl.spelling if Table.tag(decl) else named)
    return c.spelling


def field(f):
    c = f.type.get_canonical()
    dims = ""
    while c.kind == T.CONSTANTARRAY:
        dims += "[%d]" % c.element_count
        c = c.element_type
    text = spell(c if dims else f.type)
    return "%s%s%s%s;" % (text, "" if text.endswith("*") else " ", f.spelling, dims)


class Table:
    def __init__(self, name):
        self.name = name
        self.values, self.macros, self.structs, self.functions = {}, {}, {}, {}
        self.aliases, self.handles = {}, {}  # name: structure; name: structure that it points to
        self.sources = []

    def differs(self, what, name, old, new):
        if old != new:
            print("%s: %s %s differs: %s -> %s" % (self.name, what, name, old, new), file=sys.stderr)

    def add(self, unit, patterns, folder):
        functions, macros = re.compile(patterns[1] + r"$"), re.compile(patterns[2] + r"$")
        for c in unit.cursor.get_children():
            path = c.location.file.name if c.location.file else ""
            if not path.startswith(folder):
                continue
            if c.kind == K.ENUM_DECL:
                for e in c.get_children():
                    if e.kind == K.ENUM_CONSTANT_DECL:
                        if e.spelling in self.values:
                            self.differs("value", e.spelling, self.values[e.spelling], e.enum_value)
                        self.values[e.spelling] = e.enum_value
            elif c.kind == K.MACRO_DEFINITION and macros.match(c.spelling):
                tokens = [t.spelling for t in c.get_tokens()][1:]
                if len(tokens) == 1 and re.match(r"^(0x[0-9a-fA-F]+|\d+)[uUlL]*$", tokens[0]):
                    self.macros[c.spelling] = tokens[0]
            elif c.kind == K.TYPEDEF_DECL:
                t = c.underlying_typedef_type.get_canonical()
                decl = t.get_declaration()
                if t.kind == T.POINTER and t.get_pointee().kind == T.RECORD:
                    self.handles[c.spelling] = t.get_pointee().get_declaration().spelling
                if t.kind == T.RECORD and decl.location.file.name.startswith(folder):
                    self.struct(c.spelling, t, self.tag(decl))
            elif c.kind == K.STRUCT_DECL and c.is_definition() and self.tag(c):
                self.struct(None, c.type, self.tag(c))
            elif c.kind == K.FUNCTION_DECL and functions.match(c.spelling) and not self.is_inline(c):
                self.function(c)

    @staticmethod
    def is_inline(c):
        return c.storage_class == cindex.StorageClass.STATIC

    @staticmethod
    def tag(decl):
        """The name after `struct`; None for a structure that has only a typedef."""
        tokens = [t.spelling for t in decl.get_tokens()][:2]
        return tokens[1] if len(tokens) == 2 and re.match(r"\w+$", tokens[1]) else None

    def struct(self, name, t, tag):
        fields = list(t.get_fields())
        if name and tag and name != tag:
            self.aliases[name] = tag
        body = " ".join(field(f) for f in fields)
        if not fields or re.search(r"\((unnamed|anonymous)", body) or any(f.is_bitfield() for f in fields):
            return
        key = tag or name
        if key in self.structs:
            self.differs("structure", key, self.structs[key][1], body)
        self.structs[key] = (tag, body, t.get_size())

    def function(self, c):
        result = spell(c.result_type)
        kind = {"size_t": "SIZE", "void": "NOTHING", "const char *": "TEXT", "unsigned int": "STATUS"}.get(
            result, "STATUS")
        if result.endswith("*") and kind != "TEXT":
            kind = "POINTER"
        if result == "int" and c.result_type.get_canonical().kind != T.ENUM:
            kind = "NUMBER"
        if result in ("float", "double", "struct float2", "struct double2"):
            kind = "REAL"
        parameters = "(%s)" % (", ".join(spell(a.type) for a in c.get_arguments()) or "void")
        row = (kind, result, parameters)
        self.differs("function", c.spelling, self.functions.get(c.spelling, row), row)
        self.functions[c.spelling] = row

    def add_more(self, cursor, pattern):
        """The functions that the library's other headers do not declare."""
        for c in cursor.get_children():
            if c.kind in (K.LINKAGE_SPEC, K.UNEXPOSED_DECL):
                self.add_more(c, pattern)
            elif c.kind == K.FUNCTION_DECL and re.match(pattern + "$", c.spelling) and not self.is_inline(c):
                if c.spelling not in self.functions:
                    self.function(c)

    def calls(self):
        path = pathlib.Path(ROOT, self.name, self.name + ".calls")
        return {f.name: f.types_only() for f in library_calls.calls(path)[1]} if path.exists() else {}

    def check_functions(self):
        words = {"int64_t": "long", "size_t": "unsigned long",
                 **{alias: "struct " + tag for alias, tag in self.aliases.items()},
                 **{name: "struct " + tag + "*" for name, tag in self.handles.items()}}

        def plain(types):
            return re.sub(r"\w+", lambda m: words.get(m[0], m[0]), re.sub(r"\bconst\b", "", types)).replace(" ", "")
        ours = {**self.calls(), **{name: ", ".join(types) for _, name, types in
                                   library_calls.definitions(pathlib.Path(ROOT, self.name))}}
        for name, types in ours.items():
            if name in self.functions:
                new = plain(self.functions[name][2]).split(",")
                old = plain("(%s)" % types).split(",")
                for i, kind in enumerate(old[:len(new)]):  # void * stands for any pointer
                    if kind.strip("()") == "void*" and "*" in new[i]:
                        old[i] = new[i]
                self.differs("function", name, ",".join(old), ",".join(new))

    def without_attributes(self):
        """The values that are not in a table of their own: cuDNN's attributes.txt."""
        path = pathlib.Path(ROOT, self.name, "attributes.txt")
        known = cudnn_attributes.values(path) if path.exists() else {}
        new = [n for n in self.values if n not in known and re.match(
            r"CUDNN_(ATTR_|TYPE_|BACKEND_\w+_DESCRIPTOR$)", n) and not n.endswith("_COUNT")]
        for name in new:
            print("%s: %s is not in attributes.txt" % (self.name, name), file=sys.stderr)
        for name, value in known.items():
            self.differs("value", name, value, self.values.get(name, value))
        return {n: v for n, v in self.values.items() if n not in known}

    def defined(self):
        return words_used(os.path.join(ROOT, self.name))[0] - self.calls().keys()

    def structs_used(self, words):
        """The structures that *words* name, and those in them; and *words* with the names in these."""
        used, before = {}, -1
        words = words | {tag for name, tag in self.aliases.items() if name in words}
        while len(used) != before:
            before = len(used)
            used = {n: s for n, s in self.structs.items() if n in words}
            words = words | set(re.findall(r"\w+", " ".join(body for _, body, _ in used.values())))
        return used, words

    def names(self):
        """unsupported.txt"""
        kinds, ours = {}, self.defined() | self.calls().keys()
        for name, (kind, _, _) in sorted(self.functions.items()):
            if name not in ours:
                kinds.setdefault(kind, []).append(name)
        out = ["# Functions of %s that are not supported, by what they return; written by" % self.name,
               "# scripts/library_tables.py. a{b,c} stands for ab and ac, and {SDCZ} for four functions."]
        for kind, names in sorted(kinds.items()):
            out += [kind + ":"] + filled(folded(names))
        return "\n".join(out) + "\n" if kinds else ""

    def text(self):
        up = self.name.upper()
        out = ["/* SPDX-License-Identifier: Apache-2.0", " *",
               " * Values and structures of %s, written by scripts/library_tables.py from the" % self.name,
               " * headers of %s. Do not edit. */" % " and ".join(self.sources),
               "#ifndef VS_%s_API_H" % up, "#define VS_%s_API_H" % up, "",
               '#include "generated/vs_%s_rows.h" /* VS_%s_FUNCTIONS */' % (self.name, up), ""]
        used = words_used(os.path.join(ROOT, ".."), os.path.join(ROOT, "..", "..", "..", "tests", "simulator"))
        self.values = {n: v for n, v in self.without_attributes().items() if is_used(n, *used)}
        big = {n: v for n, v in self.values.items() if not -2**31 <= v < 2**31}
        out.append("enum {")
        out += filled(["%s = %d," % (n, v) for n, v in self.values.items() if n not in big])
        out += ["};", ""]
        out += ["#define %s %d" % i for i in big.items()]
        out += ["#define %s %s" % i for i in sorted(self.macros.items())]
        out.append("")
        structs, words = self.structs_used(used[0])
        for name, (tag, body, size) in structs.items():
            out += ["", "struct %s {" % tag if tag else "typedef struct {"]
            out += ["    " + f.rstrip(";") + ";" for f in body.split("; ")]
            out.append("};" if tag else "} %s;" % name)
            out.append("_Static_assert(sizeof(%s) == %d, \"layout of %s\");" %
                       ("struct " + tag if tag else name, size, name))
        out.append("")
        out += ["typedef struct %s %s;" % (tag, name) for name, tag in self.aliases.items() if name in words]
        out += ["typedef struct %s *%s;" % (tag, name) for name, tag in self.handles.items() if name in words]
        out += ["", "#endif", ""]
        return re.sub(r"\n{3,}", "\n\n", "\n".join(out))


def release(folder):
    match = re.search(r"-(\d+\.\d+[\d.]*)-py3", folder)
    return match.group(1).rstrip(".") if match else os.path.basename(folder)


def find(folders, header):
    """(major, folder of the package, include folder) of each package that has a header, oldest first."""
    found = []
    for top in folders:
        for at, _, files in os.walk(top):
            if header in files:
                package = at
                while os.path.dirname(package) not in [os.path.abspath(f) for f in folders] and package != "/":
                    package = os.path.dirname(package)
                text = at + package
                major = 12 if "cu12" in text or re.search(r"/nvidia/(cublas|cusolver|cufft|curand|cusparse|"
                                                           r"nvjitlink|cuda_nvrtc)/", text) else 13
                found.append((major, package, at))
    return sorted(set(found))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--library", action="append", choices=sorted(LIBRARIES), metavar="NAME",
                        help="one of " + ", ".join(sorted(LIBRARIES)) + " (default: all)")
    parser.add_argument("--cuda", default="/usr/local/cuda/include")
    parser.add_argument("folders", nargs="+", metavar="FOLDER")
    args = parser.parse_args()
    index = cindex.Index.create()
    folders = [os.path.abspath(f) for f in args.folders]
    for name in args.library or LIBRARIES:
        patterns, table = LIBRARIES[name], Table(name)
        packages = find(folders, patterns[0][0])
        if not packages:
            print("%s: no %s in %s" % (name, patterns[0][0], ", ".join(folders)), file=sys.stderr)
            continue
        for major, package, include in packages:
            others = [i for n in ("cublas_v2.h", "cusparse.h", "cufft.h") for m, _, i in find(folders, n)
                      if m == major]

            def parse(language, headers):
                source = "".join('#include "%s"\n' % h for h in headers
                                 if os.path.exists(os.path.join(include, h)))
                unit = index.parse("in.c", ["-x", language, "-I", include, "-I", args.cuda] +
                                   [a for o in others for a in ("-I", o)] +
                                   ["-I/usr/lib/gcc/x86_64-linux-gnu/12/include", "-D__STDC_VERSION__=201112L",
                                    "-Wno-everything"], [("in.c", source)],
                                   cindex.TranslationUnit.PARSE_DETAILED_PROCESSING_RECORD)
                for d in unit.diagnostics:
                    if d.severity >= cindex.Diagnostic.Error:
                        print("%s: %s" % (name, d), file=sys.stderr)
                return unit
            table.add(parse("c", patterns[0]), patterns, include)
            if name in MORE:
                language, header = MORE[name]
                table.add_more(parse(language, [header]).cursor, patterns[1])
            table.sources.append("%s %s (CUDA %d)" % (name, release(package), major))
        folder = os.path.join(ROOT, name)
        os.makedirs(folder, exist_ok=True)
        with open(os.path.join(folder, "vs_%s_api.h" % name), "w", encoding="ascii") as file:
            file.write(table.text())
        names = os.path.join(folder, "unsupported.txt")
        if table.names():
            with open(names, "w", encoding="ascii") as file:
                file.write(table.names())
        table.check_functions()
        print("%s: %d functions, %d values, %d structures from %s" % (
            name, len(table.functions), len(table.values), len(table.structs), " and ".join(table.sources)))


if __name__ == "__main__":
    main()
