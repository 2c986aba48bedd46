#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the C tables of src/intercept/route/hook_table.txt, which describes the rows.

usage: hook_tables.py TABLE OUT INCLUDE...

INCLUDE are folders of CUDA and CUPTI headers of any release from 12.2 on. In the folder OUT:

  hook_table.h    VS_KIND_HOOK(name, (parameters), (arguments), "api", per_thread, words...) for each
                  row; *api* is the name that users know, *per_thread* whether it is the form for
                  per-thread default streams. A kind that the includer does not define is
                  VS_DRIVER_HOOK, or nothing; all are undefined again
  driver_table.h  VS_DRIVER_FUNCTION(name, (parameters)), likewise, for the rows *called*
  hook_names.h    lets each name be itself: cuda.h maps plain names to versioned ones
  inject_table.h  VS_INJECT(name, WHEN, (arguments)) with *p*, CUPTI's parameters of the call"""
import os
import re
import sys

from cuda_tables import Headers, parameters_of, runtime_callbacks, write

KINDS = ("RECORDED", "CODE", "CONTEXT", "CAPTURE", "INSTANTIATE", "ROOM", "WAIT", "WORK")
NAME = re.compile(r"(\w+)(\((?:[^()]|\([^()]*\))*\))?")


def rows(path):
    """(name, parameters or "", kind, words) of each row."""
    with open(path, encoding="utf-8") as file:
        text = re.sub(r"\n[ \t]+", " ", re.sub(r"#[^\n]*", "", file.read()))
    for line in text.splitlines():
        names, _, rest = line.rpartition(" : ")
        if line.strip() and not (names.strip() and rest.split()):
            sys.exit("hook_tables.py: not a row: " + line)
        kind, *words = rest.split() or [""]
        for name, parameters in NAME.findall(names):
            yield name, parameters, kind, words


def main():
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    table, out, headers = sys.argv[1], sys.argv[2], Headers(sys.argv[3:])
    driver = parameters_of(headers, "DRIVER", "generated_cuda_meta.h")
    runtime = parameters_of(headers, "RUNTIME", "generated_cuda_runtime_api_meta.h")
    runtime = {name: runtime.get(forms[-1][1]) for name, forms in runtime_callbacks(headers).items()}
    hooks, called, injected, names = [], [], [], []
    for name, given, kind, words in rows(table):
        members = (runtime if kind == "runtime" else driver).get(name)
        if members is None and not given:
            sys.exit("hook_tables.py: %s: no header has it; give its parameters in hook_table.txt" % name)
        parameters = given or "(%s)" % ", ".join(" ".join(m) for m in members)
        arguments = "(%s)" % ", ".join(re.findall(r"(\w+)(?=,|$)", given[1:-1].replace("void", "")) if given
                                       else [n for _, n in members])
        names.append("#undef " + name)
        if kind == "called":
            called.append("VS_DRIVER_FUNCTION(%s, %s)" % (name, parameters))
            continue
        per_thread = name.endswith(("_ptsz", "_ptds"))
        api = '"%s"' % re.sub(r"(_v\d)?(_pt[sd][sz])?$", "", name)
        when, words = ("", words) if kind == "runtime" else (words[0], words[1:])
        hooks.append("VS_%s_HOOK(%s)" % (kind.upper(), ", ".join(
            [name, parameters, arguments, api, str(per_thread).lower()] + words)))
        if members is not None and when not in ("", "never"):
            injected.append("VS_INJECT(%s, %s, (%s))" % (
                name, when.upper(), ", ".join("p->" + n for _, n in members)))
    empty = ["#ifndef VS_%s_HOOK\n#define VS_%s_HOOK%s\n#endif" % (k, k, to) for k, to in
             [("DRIVER", "(...)"), ("RUNTIME", "(...)")] + [(k, " VS_DRIVER_HOOK") for k in KINDS]]
    over = ["#undef VS_%s_HOOK" % k for k in KINDS + ("DRIVER", "RUNTIME")]
    os.makedirs(out, exist_ok=True)
    for name, lines in (("hook_table.h", empty + hooks + over),
                        ("driver_table.h", called + ["#undef VS_DRIVER_FUNCTION"]),
                        ("hook_names.h", names),
                        ("inject_table.h", injected + ["#undef VS_INJECT"])):
        write(os.path.join(out, name), ["/* by cmake/hook_tables.py */"] + lines)


if __name__ == "__main__":
    main()
