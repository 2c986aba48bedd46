#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Bundles the modules of the HTML page into one script, and the page into a C file.

    bundle_page.py WEB --c FILE         writes the page around the data as C strings
    bundle_page.py WEB --html FILE [--data FILE]   writes a whole page, with the data's elements
    bundle_page.py --self-test

WEB holds page.html, page.css and the ES modules, in folders as well; app.js is the first. The
modules are joined in the order of their imports, without import and export lines, so a name may be
declared at top level once in all of them. The page's content security policy has the hashes of its
style and its script. Comments that stand on lines of their own are left out of the page.

Exits with 1 and one line per error: a name declared twice, an import of an unknown file or name, a
cycle of imports, text that would end the script early, or a style or event attribute in page.html,
which the policy forbids.
"""
import argparse
import base64
import hashlib
import os
import posixpath
import re
import sys
import tempfile

FIRST = "app.js"
POLICY = ("default-src 'none'; script-src '{script}'; style-src '{style}'; img-src data: blob:; "
          "base-uri 'none'; form-action 'none'")
SERVED = POLICY + "; connect-src 'self'"
PLACES = ("POLICY", "STYLE", "SCRIPT", "DATA")

IMPORT = re.compile(r"^import\s+\{([^}]*)\}\s+from\s+['\"]([^'\"]+)['\"];?[ \t]*\n", re.M)
DECLARATION = re.compile(r"^(export\s+)?(?:(?:async\s+)?function\s*\*?|class|const|let|var)\s+([\w$]+)", re.M)
EXPORT = re.compile(r"^export\s+", re.M)
UNSUPPORTED = (
    (re.compile(r"^import\b", re.M), "an import must read: import {a, b} from './file.js';"),
    (re.compile(r"^export\s+(?!(?:async\s+)?function\b|class\b|const\b|let\b)", re.M),
     "an export must be that of a declaration"),
    (re.compile(r"^(?:export\s+)?(?:const|let|var)\s*[\[{]", re.M), "destructuring at top level"),
    (re.compile(r"\bimport\s*\("), "a dynamic import"),
)
COMMENT_BLOCK = re.compile(r"^[ \t]*/\*(?:(?!\*/).)*\*/[ \t]*\n", re.M | re.S)
COMMENT_LINE = re.compile(r"^[ \t]*//[^\n]*\n", re.M)
BLANK_LINES = re.compile(r"\n{2,}")
FORBIDDEN_HTML = re.compile(r"<[^>]*\s(style|on\w+)\s*=", re.I)


class PageError(Exception):
    """What is wrong with the sources of the page, one line per error."""


def read(path):
    try:
        with open(path, encoding="utf-8") as f:
            return f.read()
    except OSError as e:
        raise PageError(f"{path}: cannot be read: {e.strerror}") from e


def line_of(text, position):
    return text.count("\n", 0, position) + 1


class Module:
    """One ES module: what it declares, exports and imports."""

    def __init__(self, web, name):
        self.name = name
        self.text = read(os.path.join(web, name))
        self.imports = []  # (file, name, line)
        self.declared = {}  # name -> line
        self.exported = set()
        self.errors = []
        for match in IMPORT.finditer(self.text):
            for item in filter(None, (i.strip() for i in match.group(1).split(","))):
                self.imports.append((match.group(2), item, line_of(self.text, match.start())))
        for match in DECLARATION.finditer(self.text):
            line = line_of(self.text, match.start())
            if match.group(2) in self.declared:
                self.errors.append(f"{name}:{line}: {match.group(2)} is declared in line "
                                   f"{self.declared[match.group(2)]} too")
            self.declared[match.group(2)] = line
            if match.group(1):
                self.exported.add(match.group(2))
        self.check()

    def check(self):
        rest = COMMENT_LINE.sub("", COMMENT_BLOCK.sub("", IMPORT.sub("\n", self.text)))
        for pattern, why in UNSUPPORTED:
            for match in pattern.finditer(rest):
                self.errors.append(f"{self.name}: {match.group(0).strip()!r}: {why}")
        for text in ("</script", "<!--"):
            if text in self.text.lower():
                self.errors.append(f"{self.name}: contains {text}, which a script in a page must not")
        for number, line in enumerate(self.text.split("\n"), 1):
            if line.count("`") % 2:
                self.errors.append(f"{self.name}:{number}: a template literal must end on its line")

    def code(self):
        """The module's text as it goes into the page."""
        text = EXPORT.sub("", IMPORT.sub("", self.text))
        text = COMMENT_LINE.sub("", COMMENT_BLOCK.sub("", text))
        return BLANK_LINES.sub("\n", text).strip() + "\n"


def load(web):
    """All modules that app.js needs, in the order in which they are joined."""
    modules, order, errors = {}, [], []

    def visit(name, path):
        if name in path:
            errors.append(f"{name}: imports itself, by way of {' > '.join(path[path.index(name):])} > {name}")
            return
        if name in modules:
            return
        module = modules[name] = Module(web, name)
        errors.extend(module.errors)
        for file, item, line in module.imports:
            other = posixpath.normpath(posixpath.join(posixpath.dirname(name), file))
            if not re.fullmatch(r"\.\.?/[\w./-]+\.js", file) or other.startswith("..") or \
                    not os.path.exists(os.path.join(web, other)):
                errors.append(f"{name}:{line}: there is no module {file}")
                continue
            if not re.fullmatch(r"[\w$]+", item):
                errors.append(f"{name}:{line}: {item}: an imported name cannot be changed")
                continue
            visit(other, path + [name])
            if other in modules and item not in modules[other].exported:
                errors.append(f"{name}:{line}: {file} does not export {item}")
        order.append(module)

    visit(FIRST, [])
    owner = {}
    for module in order:
        for name, line in module.declared.items():
            if owner.setdefault(name, module) is not module:
                errors.append(f"{module.name}:{line}: {name} is declared in {owner[name].name} too; "
                              "the modules become one script: give one of them another name")
    if errors:
        raise PageError("\n".join(dict.fromkeys(errors)))
    return order


def hash_of(text):
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def style_of(web):
    """page.css, then the other style sheets by name."""
    others = sorted(f for f in os.listdir(web) if f.endswith(".css") and f != "page.css")
    parts = []
    for name in ["page.css"] + others:
        css = COMMENT_BLOCK.sub("", read(os.path.join(web, name)))
        if "</style" in css.lower():
            raise PageError(f"{name}: contains </style")
        parts.append(BLANK_LINES.sub("\n", css).strip() + "\n")
    return "\n" + "".join(parts)


def shell(web):
    """page.html with style and script: {"open": policy -> text, "before": text, "after": text}."""
    source = read(os.path.join(web, "page.html"))
    html = re.sub(r"^<!-- SPDX.*?-->\n", "", source, flags=re.S)
    for place in PLACES:
        if html.count(f"<!-- {place} -->") != 1:
            raise PageError(f"page.html: must contain <!-- {place} --> once")
    found = FORBIDDEN_HTML.search(source)
    if found:
        raise PageError(f"page.html:{line_of(source, found.start())}: attribute {found.group(1)}: the "
                        "content security policy forbids it")
    script = "\n'use strict';\n" + "".join(module.code() for module in load(web))
    style = style_of(web)
    first, rest = html.split("<!-- POLICY -->")
    rest = rest.replace("<!-- STYLE -->", f"<style>{style}</style>")
    rest = rest.replace("<!-- SCRIPT -->", f'<script type="module" async>{script}</script>')
    before, after = rest.split("<!-- DATA -->")
    hashes = {"script": hash_of(script), "style": hash_of(style)}

    def open_with(policy):
        content = policy.format(**hashes)
        return f'{first}<meta http-equiv="Content-Security-Policy" content="{content}">'
    return {"open": open_with(POLICY), "open_served": open_with(SERVED), "before": before, "after": after}


def c_literal(text):
    """The text as a C string literal, one line for each of its lines."""
    lines = []
    for line in text.splitlines(keepends=True):
        out = []
        for byte in line.encode():
            c = chr(byte)
            if c in '"\\':
                out.append("\\" + c)
            elif c == "\n":
                out.append("\\n")
            elif c == "?" or not 32 <= byte < 127:
                out.append(f"\\{byte:03o}")
            else:
                out.append(c)
        lines.append('    "' + "".join(out) + '"')
    return "\n".join(lines) or '    ""'


def write_c(path, parts):
    text = ["/* Written by cmake/bundle_page.py from src/viewer/html/web. */",
            '#include "viewer/html/page_data.h"', ""]
    for name, part in parts.items():
        text.append(f"const char vs_page_{name}[] =\n{c_literal(part)};")
        text.append(f"const size_t vs_page_{name}_size = sizeof vs_page_{name} - 1;\n")
    write(path, "\n".join(text))


def write(path, text):
    os.makedirs(os.path.dirname(os.path.abspath(path)), exist_ok=True)
    with open(path, "w", encoding="utf-8") as f:
        f.write(text)


GOOD = {
    "page.html": '<!-- SPDX x -->\n<!doctype html>\n<!-- POLICY -->\n<!-- STYLE -->\n<!-- SCRIPT -->\n'
                 '<p class="a">\n<!-- DATA -->\n</p>\n',
    "page.css": "/* colours */\np { color: red; }\n",
    "a.css": "/* views */\nb { color: blue; }\n",
    "app.js": "import {b} from './b.js';\nimport {\n    c, d,\n} from './in/c.js';\n"
              "// alone\nfunction run() {\n    return b + c() + d; // \"ä\" ??/\n}\nrun();\n",
    "b.js": "/* top\n * of file: import('x') */\nimport {d} from './in/c.js';\nexport const b = `${d} */` + 'x';\n",
    "in/c.js": "import {e} from '../e.js';\nexport async function c() {}\nexport class d {}\n",
    "e.js": "export const e = 1;\n",
}
BAD = (
    ({"b.js": "export const b = 1;\nfunction run() {}\n"}, "run is declared in b.js too"),
    ({"b.js": "export const b = 1;\nlet b = 2;\n"}, "b.js:2: b is declared in line 1 too"),
    ({"b.js": "const b = 1;\n"}, "./b.js does not export b"),
    ({"b.js": "import {x} from './x.js';\nexport const b = x;\n"}, "b.js:1: there is no module ./x.js"),
    ({"b.js": "import {x} from '../x.js';\nexport const b = x;\n"}, "there is no module ../x.js"),
    ({"b.js": "import {c as e} from './in/c.js';\nexport const b = e;\n"}, "cannot be changed"),
    ({"b.js": "import {run} from './app.js';\nexport const b = 1;\n"}, "imports itself"),
    ({"b.js": "import * as c from './in/c.js';\nexport const b = 1;\n"}, "an import must read"),
    ({"b.js": "const b = 1;\nexport {b};\n"}, "an export must be that of a declaration"),
    ({"b.js": "export default 1;\n"}, "an export must be that of a declaration"),
    ({"b.js": "const {x, y} = {};\nexport const b = 1;\n"}, "destructuring at top level"),
    ({"b.js": "export const b = 1;\nconst f = () => import('./in/c.js');\n"}, "dynamic import"),
    ({"b.js": "export const b = '</script>';\n"}, "contains </script"),
    ({"b.js": "export const b = `\n`;\n"}, "b.js:1: a template literal must end on its line"),
    ({"page.css": "</style>"}, "page.css: contains </style"),
    ({"a.css": "</style>"}, "a.css: contains </style"),
    ({"page.html": GOOD["page.html"].replace("class", "style")}, "page.html:6: attribute style"),
    ({"page.html": GOOD["page.html"].replace("class", "onclick")}, "attribute onclick"),
    ({"page.html": GOOD["page.html"].replace("DATA", "x")}, "must contain <!-- DATA --> once"),
    ({"app.js": None}, "app.js: cannot be read"),
)


def self_test():
    def page_of(changes):
        with tempfile.TemporaryDirectory() as web:
            for name, text in {**GOOD, **changes}.items():
                if text is not None:
                    write(os.path.join(web, name), text)
            return shell(web)
    parts = page_of({})
    script = re.search(r"<script[^>]*>(.*?)</script>", parts["before"], re.S).group(1)
    assert script == ("\n'use strict';\nconst e = 1;\nasync function c() {}\nclass d {}\nconst b = `${d} */` + 'x';\n"
                      "function run() {\n    return b + c() + d; // \"ä\" ??/\n}\nrun();\n"), script
    assert f"script-src '{hash_of(script)}'" in parts["open"], parts["open"]
    style = "\np { color: red; }\nb { color: blue; }\n"
    assert f"style-src '{hash_of(style)}'" in parts["open"], parts["open"]
    assert "connect-src" not in parts["open"] and "connect-src 'self'" in parts["open_served"]
    assert parts["open"].startswith("<!doctype html>\n<meta") and parts["after"] == "\n</p>\n"
    assert c_literal('"ä" ??/\n\\') == '    "\\"\\303\\244\\" \\077\\077/\\n"\n    "\\\\"'
    for changes, expected in BAD:
        try:
            page_of(changes)
        except PageError as e:
            assert expected in str(e), (expected, str(e))
        else:
            raise AssertionError(f"not found: {expected}")
    print(f"self-test: {len(BAD)} planted errors found")


def main():
    if sys.argv[1:] == ["--self-test"]:
        self_test()
        return 0
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("web")
    parser.add_argument("--c", metavar="FILE")
    parser.add_argument("--html", metavar="FILE")
    parser.add_argument("--data", metavar="FILE")
    args = parser.parse_args()
    try:
        parts = shell(args.web)
        if args.c:
            write_c(args.c, parts)
        if args.html:
            data = read(args.data) if args.data else ""
            write(args.html, parts["open"] + parts["before"] + data + parts["after"])
    except PageError as e:
        print(*(f"bundle_page.py: {line}" for line in str(e).split("\n")), sep="\n", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
