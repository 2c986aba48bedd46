#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every format of `vramscope check`, read by a parser that is not ours, in one call that writes them
all; also for a trace whose name has characters that the formats treat specially.

    check_formats.py BIN_DIR PROGRAM ROOT
"""
import json
import os
import re
import shlex
import shutil
import sys

import format_parsers

format_parsers.require()

import jsonschema  # noqa: E402
import junitparser  # noqa: E402
from markdown_it import MarkdownIt  # noqa: E402
from prometheus_client.openmetrics import parser as openmetrics  # noqa: E402
from pydantic_sarif import model as sarif_model  # noqa: E402

from gate_runs import Gate  # noqa: E402

FORMATS = ("json", "github", "junit", "markdown", "gitlab", "sarif", "openmetrics", "text")
ODD = "a|b`c`<i>&x\"y'%41,:@all#12*_[z](q) \u00e9.vst"
# https://docs.gitlab.com/ci/testing/code_quality: what GitLab requires of each issue
GITLAB = {
    "type": "array",
    "items": {
        "type": "object",
        "properties": {
            "description": {"type": "string", "minLength": 1},
            "check_name": {"type": "string", "minLength": 1},
            "fingerprint": {"type": "string", "minLength": 1},
            "severity": {"enum": ["info", "minor", "major", "critical", "blocker"]},
            "location": {
                "type": "object",
                "properties": {
                    "path": {"type": "string", "pattern": "^(?!\\./)"},
                    "lines": {"type": "object", "properties": {"begin": {"type": "integer", "minimum": 1}},
                              "required": ["begin"], "additionalProperties": False},
                },
                "required": ["path", "lines"], "additionalProperties": False,
            },
        },
        "required": ["description", "check_name", "fingerprint", "severity", "location"],
        "additionalProperties": False,
    },
}


def github_commands(text):
    """(command, properties, message) of each line, by GitHub's rules: the runner splits at the first
    "::" after the command, properties at ',', and undoes %25 last."""
    for line in text.splitlines():
        match = re.fullmatch(r"::([a-z]+)(?: ([^:]*(?:%3A[^:]*)*))?::(.*)", line)
        assert match, "not a workflow command: " + line
        values = {}
        for pair in (match.group(2) or "").split(",") if match.group(2) else ():
            key, _, value = pair.partition("=")
            for code, plain in (("%0D", "\r"), ("%0A", "\n"), ("%3A", ":"), ("%2C", ","), ("%25", "%")):
                value = value.replace(code, plain)
            assert key in ("title", "file", "line", "endLine", "col", "endColumn"), key
            values[key] = value
        message = match.group(3)
        for code, plain in (("%0D", "\r"), ("%0A", "\n"), ("%25", "%")):
            message = message.replace(code, plain)
        yield match.group(1), values, message


def documents(gate, trace, *options):
    """{format: text} of one call."""
    out = {name: gate.path("out." + name) for name in FORMATS}
    arguments = [part for name in FORMATS for part in ("--output", "%s=%s" % (name, out[name]))]
    done = gate.check(trace, *arguments, *options)
    texts = {}
    for name in FORMATS:
        with open(out[name], encoding="utf-8") as f:
            texts[name] = f.read()
        os.unlink(out[name])
    gate.expect("standard output is the text", done.stdout.strip() == texts["text"].strip(), done)
    return done.returncode, texts


def check_documents(gate, what, code, texts, exceeded, held):
    result = json.loads(texts["json"])
    rows = [row for trace in result["traces"] for row in trace["limits"]]
    bad = [row for row in rows if not row["held"]]
    leading = [row for row in bad if not row["follows"]]
    shown = leading + [row for row in rows if row["held"] and not row["of_baseline"]]
    gate.expect(what + ": %d exceeded, %d held" % (exceeded, held),
                (len(bad), len(rows) - len(bad)) == (exceeded, held))
    gate.expect(what + ": exit code", result["exit_code"] == code)

    suites = junitparser.JUnitXml.fromstring(texts["junit"].encode())
    cases = [case for suite in suites for case in suite]
    failures = [c for c in cases if any(isinstance(r, junitparser.Failure) for r in c.result)]
    errors = [c for c in cases if any(isinstance(r, junitparser.Error) for r in c.result)]
    gate.expect(what + ": JUnit", (len(failures), len(cases) - len(errors)) == (exceeded, len(rows)))
    gate.expect(what + ": JUnit's sums", [s.tests for s in suites] == [len(list(s)) for s in suites] and
                sum(s.failures for s in suites) == exceeded and sum(s.errors for s in suites) == len(errors))
    gate.expect(what + ": JUnit's messages", [c.result[0].message for c in failures] ==
                [row["sentence"] for row in bad])
    names = [(s.name, c.classname, c.name) for s in suites for c in s]
    gate.expect(what + ": JUnit's names are unique", len(set(names)) == len(names))

    sarif = json.loads(texts["sarif"])
    sarif_model.StaticAnalysisResultsFormatSarifVersion210JsonSchema.model_validate(sarif)
    run = sarif["runs"][0]
    rules = {rule["id"] for rule in run["tool"]["driver"]["rules"]}
    gate.expect(what + ": SARIF", len(run["results"]) == len(leading) and
                all(r["ruleId"] in rules for r in run["results"]))
    prints = [r["partialFingerprints"]["vramscopeLimit/v1"] for r in run["results"]]
    gate.expect(what + ": fingerprints differ", len(set(prints)) == len(prints))

    issues = json.loads(texts["gitlab"])
    jsonschema.validate(issues, GITLAB)
    prints = [issue["fingerprint"] for issue in issues]
    gate.expect(what + ": GitLab's fingerprints differ", len(set(prints)) == len(prints))
    gate.expect(what + ": GitLab", len(issues) == len(leading) + len(result["unusable"]) and
                all(not i["location"]["path"].startswith("/") or "gate" in i["location"]["path"] for i in issues))

    commands = list(github_commands(texts["github"]))
    gate.expect(what + ": GitHub", sum(c[0] == "error" for c in commands) == len(leading) + len(result["unusable"]))
    gate.expect(what + ": GitHub's sentences", all(any(row["sentence"] in c[2] for c in commands) for row in leading))

    tokens = MarkdownIt("commonmark").enable("table").parse(texts["markdown"])
    body = [t for t in tokens if t.type == "tr_open"]
    filled = [t for t in result["traces"] if any(not r["follows"] if not r["held"] else not r["of_baseline"]
                                                 for r in t["limits"])]
    gate.expect(what + ": Markdown has no empty table", sum(t.type == "thead_open" for t in tokens) == len(filled))
    gate.expect(what + ": Markdown's table has a row per limit shown",
                len(body) == len(shown) + sum(t.type == "thead_open" for t in tokens))
    cells = [sum(x.type in ("td_open", "th_open") for x in tokens[i:tokens.index(close, i)])
             for i, t in enumerate(tokens) if t.type == "tr_open"
             for close in [next(x for x in tokens[i:] if x.type == "tr_close")]]
    gate.expect(what + ": Markdown's rows have five cells", set(cells) <= {5})
    inline = [child.type for t in tokens for child in (t.children or ())]
    gate.expect(what + ": Markdown has no markup from names", not {"html_inline", "link_open", "image"} & set(inline)
                and not any(t.type == "html_block" for t in tokens))

    families = list(openmetrics.text_string_to_metric_families(texts["openmetrics"]))
    samples = {f.name: f.samples for f in families}
    keys = [(s.name, tuple(sorted(s.labels.items()))) for f in families for s in f.samples]
    gate.expect(what + ": no sample of OpenMetrics is there twice", len(set(keys)) == len(keys))
    gate.expect(what + ": OpenMetrics", len(samples["vramscope_check_held"]) == len(rows) and
                sum(s.value == 0 for s in samples["vramscope_check_held"]) == exceeded and
                samples["vramscope_check_exit_code"][0].value == code)
    measured = sorted(s.value for s in samples["vramscope_check_measured_bytes"])
    gate.expect(what + ": OpenMetrics' bytes", measured ==
                sorted(row["bytes"] for row in rows if row["unit"] == "bytes" and
                       row["metric"] not in ("exit status", "out of memory")))


def check_odd_labels(gate):
    """A budget file whose name is not UTF-8; two runs that end badly, whose samples must differ."""
    budget = os.path.join(os.fsencode(gate.path("")), b"bad\xff\x80.toml")
    with open(budget, "w", encoding="utf-8") as file:
        file.write('max-peak = "1TiB"\n')
    ends = [gate.record("status"), gate.record("status", "-2")]
    done = gate.run([gate.tool, "check", "--format", "openmetrics", "--budget", budget, "--take", "max", *ends])
    gate.expect("OpenMetrics is UTF-8", "bad\ufffd\ufffd.toml:1" in done.stdout, done)
    families = {f.name: f.samples for f in openmetrics.text_string_to_metric_families(done.stdout)}
    labels = [tuple(sorted(s.labels.items())) for s in families["vramscope_check_held"]]
    gate.expect("two bad ends are two samples", len(labels) == 3 and len(set(labels)) == 3, done)
    rows = gate.json_of(ends, "--max-peak", "1TiB", "--take", "max")["traces"][0]["limits"]
    ended = [row for row in rows if row["metric"] == "exit status"]
    gate.expect("an exit status is no number of bytes", len(ended) == 2 and
                all(row["unit"] is None and row["bytes"] is None and row["limit_bytes"] is None and
                    row["excess_bytes"] is None and row["exit_status"] == 3 for row in ended))
    row = gate.json_of(gate.record("oom"), "--max-peak", "1TiB")["traces"][0]["limits"][0]
    gate.expect("out of memory has no limit", row["metric"] == "out of memory" and row["bytes"] > 0 and
                row["limit_bytes"] is None and row["excess_bytes"] is None and row["exit_status"] is None)


def check_repeated(gate):
    """Rows and problems that are alike are told apart: OpenMetrics allows no sample twice, and GitLab
    keeps one issue of each fingerprint."""
    status = gate.record("status")
    code, texts = documents(gate, [status, status, gate.record("status", again="-2")], "--take", "max", "--max-peak",
                            "1TiB")
    check_documents(gate, "runs that failed", code, texts, 3, 1)
    with open(gate.path("two.toml"), "w", encoding="utf-8") as f:
        f.write('max-peak = "1MiB"\n[[limit]]\ndevice = 0\nmax-peak = "2MiB"\n')
    code, texts = documents(gate, [gate.record("peak"), gate.path("missing.vst"), gate.path("missing.vst")],
                            "--budget", gate.path("two.toml"))
    check_documents(gate, "two limits of one quantity", code, texts, 2, 0)
    with open(gate.path("list.toml"), "w", encoding="utf-8") as f:
        f.write('max-peak = ["1MiB", "2MiB", "1TiB"]\n')
    code, texts = documents(gate, gate.record("peak"), "--budget", gate.path("list.toml"), "--max-peak", "3MiB",
                            "--max-peak", "2TiB")
    check_documents(gate, "several limits of one place", code, texts, 3, 2)


def check_odd_name(gate):
    odd = gate.path(ODD)
    shutil.copy(gate.record("peak"), odd)
    code, texts = documents(gate, odd, "--max-peak", "1MiB", "--no-leaks")
    check_documents(gate, "an odd name", code, texts, 1, 1)
    suites = junitparser.JUnitXml.fromstring(texts["junit"].encode())
    gate.expect("the odd name in JUnit", [s.name for s in suites] == [odd])
    gate.expect("the odd name in a workflow command", any(odd in c[2] for c in github_commands(texts["github"])))
    _, missing = documents(gate, gate.path("no" + ODD), "--max-peak", "1MiB")
    outside = "".join(child.content for t in MarkdownIt("commonmark").parse(missing["markdown"])
                      for child in (t.children or ()) if child.type == "text")
    # GitHub finds names and numbers in the text of the page, whatever wrote them; code is left alone
    gate.expect("nobody and no issue is named", not re.search(r"[@#]\w", outside) and re.search(r"@\W+all.*#\W+12", outside))
    code = [child.content for t in MarkdownIt("commonmark").parse(texts["markdown"]) for child in (t.children or ())
            if child.type == "code_inline"]
    gate.expect("a shell reads the odd name in Markdown's command", [shlex.split(c)[:3] for c in code] ==
                [["vramscope", "report", odd]] * len(code) and code)
    runs = json.loads(texts["json"])["traces"][0]["runs"]
    gate.expect("the odd name in JSON", runs == [odd])


def main():
    gate = Gate(*sys.argv[1:4])
    gate.check(gate.record(""), "--baseline", gate.path("memory.json"), "--update-baseline")
    done = gate.check(gate.record("peak"), "--max-transfers", "1copies/step", "--test", "tests/test_gate.py::*")
    gate.expect("a phase has no copies", done.returncode == 2 and "whole program only" in done.stderr, done)
    code, texts = documents(gate, gate.record("peak"), "--max-peak", "94MiB", "--max-transfers", "1copies/step",
                            "--no-leaks", "--max-growth-per-step", "0")
    check_documents(gate, "limits", code, texts, 2, 2)
    code, texts = documents(gate, gate.record("peak"), "--baseline", gate.path("memory.json"))
    rows = json.loads(texts["json"])["traces"][0]["limits"]
    check_documents(gate, "baseline", code, texts, sum(not r["held"] for r in rows), sum(r["held"] for r in rows))
    code, texts = documents(gate, gate.record(""), "--baseline", gate.path("memory.json"))
    check_documents(gate, "a baseline that holds", code, texts, 0, len(json.loads(texts["json"])["traces"][0]["limits"]))
    code, texts = documents(gate, gate.record("oom"), "--max-peak", "1TiB")
    check_documents(gate, "out of memory", code, texts, 1, 1)
    code, texts = documents(gate, gate.record("status"), "--max-peak", "1TiB")
    check_documents(gate, "exit status", code, texts, 1, 1)
    code, texts = documents(gate, [gate.record(""), gate.path("missing.vst")], "--max-peak", "1TiB")
    check_documents(gate, "a missing trace", code, texts, 0, 1)
    gate.expect("a missing trace is no success", code == 2 and "could not be checked" in texts["markdown"])
    for name in ("github", "markdown", "openmetrics", "junit", "sarif", "gitlab"):
        gate.expect("%s names the missing trace and the reason" % name, "missing.vst" in texts[name] and
                    "no such file" in texts[name].lower())
    families = {f.name: f.samples for f in openmetrics.text_string_to_metric_families(texts["openmetrics"])}
    gate.expect("OpenMetrics has the missing trace", [(s.labels["trace"], s.value) for s in
                families["vramscope_check_unusable"]] == [(gate.path("missing.vst"), 1)])
    check_odd_labels(gate)
    check_repeated(gate)
    check_odd_name(gate)
    return gate.finish()


if __name__ == "__main__":
    sys.exit(main())
