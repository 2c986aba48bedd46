#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes what `vramscope check` and `vramscope diff` say as a comment on the pull or merge request of a CI job, or
updates the one of an earlier job.

    comment.py CHECK.md TRACE [BASE]

CHECK.md: of `vramscope check --output markdown=CHECK.md`; BASE: a trace of the target branch, which need not exist.
Prints the comment. It is sent where the job is one of a pull request of GitHub (GITHUB_TOKEN) or of a merge request of
GitLab (VRAMSCOPE_TOKEN, of a project access token with the scope api); a failure to send it fails nothing.
"""
import html
import itertools
import json
import os
import re
import subprocess
import sys
import urllib.request

MARK = "<!-- vramscope: GPU memory -->"
ROWS = 8


def size(count):
    for unit, step in (("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)):
        if abs(count) >= step:
            return f"{count / step:+.2f} {unit}"
    return f"{count:+d} B"


def plain(text):
    text = re.sub(r"([\\`*_{}\[\]|~!])", r"\\\1", html.escape(text, quote=False))
    return re.sub(r"([@#])", r"\1&#8203;", text)  # neither a person nor an issue is named, even if escaped


def difference(base, trace):
    """What changed since the target branch: a table of the lines, and a picture of those that need more."""
    found = json.loads(subprocess.run(["vramscope", "diff", "--json", base, trace], stdout=subprocess.PIPE,
                                      check=True).stdout)
    lines = ["", "## Against the target branch", "", plain(found["headline"])]
    for sites in found["sites"]:
        changes = [c for c in sites["changes"] if c["delta"]][:ROWS]
        if not changes:
            continue
        what = {"allocated": "at the peak", "live_at_end": "live at the end"}.get(sites["metric"], sites["metric"])
        lines += ["", f"**Device {sites['device']}, {plain(what)}**", "", "| | change | line |", "| --- | ---: | --- |"]
        for change in changes:
            place = change["b"] or change["a"]
            lines.append(f"| {change['change']} | {size(change['delta'])} | {plain(place['text'])} |")
        grown = {}
        for change in changes:
            if change["delta"] > 0:
                place = change["b"]
                line = f" {os.path.basename(place['file'])}:{place['line']}" if place["file"] and place["function"] else ""
                name = re.sub(r"[^\w.:/ -]", "", (place["function"] or place["text"]) + line)
                grown[name] = grown.get(name, 0) + change["delta"] / (1 << 20)
        if grown and sites["metric"] == "allocated":
            lines += ["", "```mermaid", "xychart-beta horizontal", '  title "More at the peak, MiB"',
                      "  x-axis [" + ", ".join(f'"{name}"' for name in grown) + "]", f'  y-axis "MiB" 0 --> {max(grown.values()):.3f}',
                      "  bar [" + ", ".join(f"{mib:.3f}" for mib in grown.values()) + "]", "```"]
    return "\n".join(lines) + "\n"


def call(method, url, header, content=None):
    request = urllib.request.Request(url, json.dumps(content).encode() if content else None,
                                     dict(header, **{"Content-Type": "application/json"}), method=method)
    with urllib.request.urlopen(request, timeout=30) as answer:
        return json.load(answer)


def send(body):
    env = os.environ
    if env.get("GITHUB_EVENT_PATH"):
        with open(env["GITHUB_EVENT_PATH"], encoding="utf-8") as file:
            number = json.load(file).get("pull_request", {}).get("number")
        token, header = env.get("GITHUB_TOKEN"), {"Authorization": f"Bearer {env.get('GITHUB_TOKEN')}"}
        project = f"{env.get('GITHUB_API_URL', 'https://api.github.com')}/repos/{env['GITHUB_REPOSITORY']}/issues"
        notes, one, update = f"{project}/{number}/comments", f"{project}/comments", "PATCH"
    else:
        number, token = env.get("CI_MERGE_REQUEST_IID"), env.get("VRAMSCOPE_TOKEN")
        header = {"PRIVATE-TOKEN": token or ""}
        project = f"{env.get('CI_API_V4_URL')}/projects/{env.get('CI_PROJECT_ID')}"
        notes = one = f"{project}/merge_requests/{number}/notes"
        update = "PUT"
    if not number or not token:
        print("comment.py: no comment: not the job of a pull request, or no token", file=sys.stderr)
        return
    for page in itertools.count(1):
        found = call("GET", f"{notes}?per_page=100&page={page}", header)
        mine = [note["id"] for note in found if note["body"].startswith(MARK)]
        if mine or len(found) < 100:
            break
    if mine:
        call(update, f"{one}/{mine[0]}", header, {"body": body})
    else:
        call("POST", notes, header, {"body": body})


def main():
    if len(sys.argv) not in (3, 4):
        sys.exit(__doc__)
    try:
        with open(sys.argv[1], encoding="utf-8") as file:
            body = f"{MARK}\n{file.read()}"
    except OSError as why:
        sys.exit(f"comment.py: {why}; vramscope check --output markdown={sys.argv[1]} writes this file")
    if len(sys.argv) == 4 and os.path.exists(sys.argv[3]):
        try:
            body += difference(sys.argv[3], sys.argv[2])
        except subprocess.CalledProcessError:  # it said why on standard error
            body += "\nNot compared with the target branch: `vramscope diff` failed, see the log of the job.\n"
    print(body)
    try:
        send(body)
    except (OSError, ValueError) as why:
        print(f"comment.py: the comment was not sent: {why}", file=sys.stderr)


if __name__ == "__main__":
    main()
