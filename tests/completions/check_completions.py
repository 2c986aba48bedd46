#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""check_completions.py COMMAND FOLDER: the completions in FOLDER, in bash, and in zsh and fish where they are.

Each shell answers the same questions. Every option that bash offers is one that its verb knows.
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile

# what is typed, and what must be offered, and what not
CASES = [(["re"], {"report", "recover", "replay"}, {"run"}),
         (["report", "--tr"], {"--transfers"}, {"--top"}),
         (["run", "--sta"], {"--stacks", "--stack-depth"}, {"--step"}),
         (["run", "--stacks", ""], {"both", "native", "python", "none"}, {"auto"}),
         (["check", "--format", "j"], {"json", "junit"}, {"text"}),
         (["export", "-f", "per"], {"perfetto"}, {"chrome"}),
         (["diff", "--color", ""], {"auto", "always", "never"}, {"text"}),
         (["merge", "-f", "per"], {"perfetto"}, {"parquet"}),
         (["report", "--by", "s"], {"site", "step", "size"}, {"several"}),
         (["report", "one"], {"one.vst"}, {"one.txt"})]

BASH = '''source "$1"; shift
COMP_WORDS=(vramscope "$@"); COMP_CWORD=$#
_vramscope
printf '%s\\n' "${COMPREPLY[@]}"
'''
# what the function gives to zsh's own, which read the terminal
ZSH = '''_arguments() { print -rl -- "$@"; }
_describe() { print -rl -- "${(@P)2%%:*}"; }
words=(vramscope "${@:2}"); CURRENT=$#
source "$1/_vramscope"
'''


def offered_by_bash(folder, words):
    return run(["bash", "-c", BASH, "bash", folder + "/vramscope", *words]).split("\n")


def offered_by_fish(folder, words):
    lines = run(["fish", "--no-config", "-c", "source $argv[1]; complete -C $argv[2]", folder + "/vramscope.fish",
                 " ".join(["vramscope", *words])])
    return [line.split("\t")[0] for line in lines.split("\n")]


def offered_by_zsh(folder, words):
    lines = run(["zsh", "-f", "-c", ZSH, "zsh", folder, *words]).split("\n")
    if len(words) == 1:
        return [line for line in lines if line.startswith(words[0])]
    options = {re.sub(r"^\*?|=?\[.*", "", line): line for line in lines if line.startswith("*-")}
    if words[-2] in options:
        return re.search(r"\(([^()]*)\)$", options[words[-2]]).group(1).split()
    processes = [line for line in lines if line.startswith("*:pid:{compadd ")]
    if processes:
        return run(["zsh", "-fc", "print -l" + processes[0].partition("compadd")[2].rstrip("}")]).split("\n")
    return [option for option in options if option.startswith(words[-1])] or ["one.vst"] * (
        '*:trace:_files -g "*.vst(-.)"' in lines)


def run(words):
    return subprocess.run(words, capture_output=True, text=True, timeout=120, check=False).stdout


def main():
    command, folder = map(os.path.abspath, sys.argv[1:])
    os.environ["PATH"] = os.path.dirname(command) + ":" + os.environ["PATH"]
    with tempfile.TemporaryDirectory() as scratch:
        os.chdir(scratch)
        os.environ["HOME"] = scratch
        for name in ("one.vst", "one.txt", "two words.vst"):
            open(name, "w", encoding="utf-8").close()
        for shell, offered in (("bash", offered_by_bash), ("fish", offered_by_fish), ("zsh", offered_by_zsh)):
            if not shutil.which(shell):
                print(f"{shell} is not on this machine")
                continue
            for words, wanted, unwanted in CASES:
                answer = set(offered(folder, words))
                if shell == "fish" and words[-1] == "one":
                    unwanted = set()  # it offers other files behind
                answer = {word for word in answer if word.startswith(words[-1])}
                assert wanted <= answer and not unwanted & answer, (shell, words, sorted(answer))
            with subprocess.Popen(["sleep", "1000"]) as sleeper:
                answer = offered(folder, ["attach", ""])
                sleeper.kill()
            assert str(os.getpid()) in answer and str(sleeper.pid) not in answer, (shell, answer)
        assert offered_by_bash(folder, ["report", "two"])[:1] == ["two words.vst"]
        assert offered_by_bash(folder, ["report", "-o", "tw"])[:1] == ["two words.vst"]
    verbs = offered_by_bash(folder, [""])
    for verb in (v for v in verbs if v and not v.startswith("-")):
        for option in filter(None, offered_by_bash(folder, [verb, "--"])):
            done = subprocess.run([command, verb, option, "--none-such"], capture_output=True, text=True,
                                  stdin=subprocess.DEVNULL, timeout=60, check=False)
            assert f"unknown option {option}" not in done.stderr, (verb, option, done.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
