#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the completions of the command for bash, zsh and fish.

    completions.py COMMAND FOLDER

They come from what COMMAND prints itself: its verbs, the options in the help of each, and the table of options,
which `run`, `fit` and `attach`'s environment share. In FOLDER: vramscope (bash), _vramscope (zsh), vramscope.fish.
"""
import pathlib
import re
import subprocess
import sys

LIST = re.compile(r"(?:^|: |default: )((?:[\w-]+(?: \([^)]*\))?, )+[\w-]+(?: \([^)]*\))?,? or [\w-]+)")
PIDS, TRACES, GPUS, FILES = "PID", "TRACE", "GPU", "FILE"


class Option:
    def __init__(self, letter, name, takes, text, words=()):
        self.letter, self.name, self.takes, self.text = letter, name, takes, text
        self.words = list(words)

    def fill(self, formats):
        """Which words, or what, the option takes."""
        if not self.takes or self.words:
            return
        found = LIST.search(self.text)
        if "|" in self.takes:
            self.words = [w for w in re.split(r"\|", self.takes.strip("[]")) if w.islower()]
        elif self.name == "format" and formats:
            self.words = formats
        elif re.search(r"one of [\w-]+: ", self.text):
            self.words = re.findall(r"([\w-]+): ", self.text)
        elif found:
            self.words = re.findall(r"[\w-]+", re.sub(r"\([^)]*\)|\bor\b", " ", found.group(1)))


def printed(command, *words):
    return subprocess.run([command, *words], capture_output=True, text=True, check=True).stdout


def options_of_table(command):
    rows = re.split(r"\n(?=\w)", printed(command, "options"))
    for row in rows:
        name, *rest = row.split(None, 1)
        if not re.search(r"^ +VRAMSCOPE_", row, re.M):
            continue
        text = " ".join(line.strip() for line in row.splitlines()[1:-1])
        unit = re.search(r" \[([^\]]*)\]$", text)
        words = unit.group(1).split("|") if unit and "|" in unit.group(1) else []
        yield Option(None, name.replace("_", "-"), "on|off" not in (unit.group(1) if unit else "") and "VALUE",
                     text[:unit.start()] if unit else text, words)


def options_of_help(text):
    formats = re.findall(r"^  ([\w-]+): ", text, re.M)
    found, column = [], 0
    for line in text.splitlines():
        start = re.match(r" {2,6}(?=-)", line)
        if start and len(line) - len(line.lstrip()) <= 6:
            parts = re.split(r"  +", line.strip(), maxsplit=1)
            group = []
            for word in re.split(r", (?=--)", re.sub(r"^-(\w), --", r"-\1,--", parts[0])):
                letter, long = re.match(r"(?:-(\w)(?:,|(?= |$)))?(.*)", word).groups()
                match = re.match(r"(?:--([\w-]+))?(?:\[?[ =](.+))?", long.strip() if letter else word)
                name, takes = match.groups() if match else (None, None)
                if letter and not name:
                    takes = long.strip() or None
                group.append(Option(letter, name, takes, parts[1] if len(parts) > 1 else ""))
            found += group
            column = len(line) - len(parts[1]) if len(parts) > 1 else 0
        elif found and line.startswith(" " * 12):
            for option in found[-1:]:
                option.text = (option.text + " " + line.strip()).strip()
    for option in found:
        option.fill(formats)
    return found


def read(command):
    """{verb: (its summary, options, what its arguments are)}"""
    verbs = {}
    for verb, summary in re.findall(r"^  ([a-z]+) {2,}(.+)$", printed(command, "--help"), re.M):
        text = printed(command, verb, "--help")
        options = options_of_help(text)
        if verb in ("run", "fit"):
            table = {option.name: option for option in options_of_table(command)}
            options = [table.pop(option.name, option) for option in options] + list(table.values())
        for option in options:
            if option.name in ("simulate", "gpu"):
                option.takes = GPUS
        usage = text.partition("\n\n")[0]
        takes = "PROGRAM" if "PROGRAM" in usage else PIDS if verb in ("attach", "top") else TRACES if "TRACE" in usage else FILES
        verbs[verb] = summary, options + [Option(None, "help", None, "print the options")], takes
    return verbs


GPU_NAMES = "vramscope doctor --gpus 2>/dev/null | sed -n 's/^\\([a-z0-9]*-[0-9]*g\\) .*/\\1/p'"
PROCESSES = "grep -lsE '/(python[0-9.]*|lib(cuda|vramscope)\\.so[0-9.]*)$' /proc/*/maps | cut -d/ -f3 | grep '[0-9]'"


def flags(option):
    return ([f"-{option.letter}"] if option.letter else []) + ([f"--{option.name}"] if option.name else [])


def bash(verbs):
    lines = ["# bash completion of vramscope", "_vramscope_files()", "{ # names of files may contain blanks and wildcards",
             "    compopt -o filenames 2>/dev/null", "    mapfile -t COMPREPLY < <(compgen \"$@\" -- \"$cur\")", "}",
             "_vramscope()", "{",
             "    local cur prev words cword verb options takes",
             "    _init_completion -n = 2>/dev/null || { cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]}",
             "        words=(\"${COMP_WORDS[@]}\") cword=$COMP_CWORD; }", "    verb=${words[1]}",
             "    if [ \"$cword\" -le 1 ]; then",
             f"        COMPREPLY=($(compgen -W '{' '.join(verbs)} --help --version' -- \"$cur\"))", "        return", "    fi",
             "    case $verb in"]
    for verb, (_, options, takes) in verbs.items():
        names = " ".join(flag for option in options for flag in flags(option) if flag.startswith("--"))
        lines.append(f"    {verb}) options='{names}' takes={takes} ;;")
    lines += ["    help) options='" + " ".join(verbs) + "' ;;", "    *) return ;;", "    esac",
              "    if [[ $cur == --*=* ]]; then prev=${cur%%=*} cur=${cur#*=}; fi", "    case $verb$prev in"]
    for verb, (_, options, _) in verbs.items():
        for option in options:
            pattern = "|".join(verb + flag for flag in flags(option))
            if option.takes == GPUS:
                lines.append(f"    {pattern}) COMPREPLY=($(compgen -W \"$({GPU_NAMES})\" -- \"$cur\")); return ;;")
            elif option.words:
                lines.append(f"    {pattern}) COMPREPLY=($(compgen -W '{' '.join(option.words)}' -- \"$cur\")); return ;;")
            elif option.takes and re.match(r"FILE|DIR|FOLDER|PATTERN|FORMAT=FILE", option.takes):
                lines.append(f"    {pattern}) _vramscope_files -f; return ;;")
            elif option.takes and not option.takes.startswith("["):
                lines.append(f"    {pattern}) return ;;")
    lines += ["    esac", "    if [[ $cur == -* || $verb == help ]]; then",
              "        COMPREPLY=($(compgen -W \"$options\" -- \"$cur\"))", "        return", "    fi",
              "    case $takes in",
              f"    PID) COMPREPLY=($(compgen -W \"$({PROCESSES})\" -- \"$cur\")) ;;",
              "    TRACE) _vramscope_files -f -X '!*.vst' -o plusdirs ;;",
              "    PROGRAM) _vramscope_files -c -f ;;", "    *) _vramscope_files -f ;;", "    esac", "}", "complete -F _vramscope vramscope", ""]
    return "\n".join(lines)


def short(text, length=70):
    text = re.split(r"[;:(] ?|\. ", text)[0].strip().rstrip(",")
    return text if len(text) <= length else text[:length].rpartition(" ")[0]


def zsh(verbs):
    def quote(text):
        return re.sub(r"([\[\]:\\])", r"\\\1", short(text)).replace("'", "'\\''")

    def output_of(shell_command):
        return "{compadd $(" + shell_command.replace("'", "'\\''") + ")}"

    lines = ["#compdef vramscope", "# zsh completion of vramscope", "_vramscope() {", "  local -a verbs", "  verbs=("]
    lines += [f"    '{verb}:{quote(summary)}'" for verb, (summary, _, _) in verbs.items()]
    lines += ["  )", "  if (( CURRENT == 2 )); then", "    _describe 'verb' verbs", "    return", "  fi",
              "  local verb=$words[2]", "  shift words", "  (( CURRENT-- ))", "  case $verb in"]
    actions = {PIDS: output_of(PROCESSES), TRACES: "_files -g \"*.vst(-.)\"", FILES: "_files", "PROGRAM": "_normal"}
    for verb, (_, options, takes) in verbs.items():
        lines.append(f"  ({verb}) _arguments -s -S \\")
        for option in options:
            action = ""
            if option.takes:
                values = f"({' '.join(option.words)})" if option.words else "_files" if "FILE" in option.takes else " "
                if option.takes == GPUS:
                    values = output_of(GPU_NAMES)
                action = f":{re.sub(r'[^A-Za-z]+', ' ', option.takes).strip().lower() or 'value'}:{values}"
            for flag in flags(option):
                equals = "=" if action and flag.startswith("--") else ""
                lines.append(f"    '*{flag}{equals}[{quote(option.text)}]{action}' \\")
        end = "'*::program: _normal'" if takes == "PROGRAM" else f"'*:{takes.lower()}:{actions[takes]}'"
        lines.append(f"    {end} ;;")
    lines += ["  esac", "}", "_vramscope \"$@\"", ""]
    return "\n".join(lines)


def fish(verbs):
    def quote(text):
        return "'" + short(text).replace("\\", "\\\\").replace("'", "\\'") + "'"

    def output_of(shell_command):
        return f"\"({shell_command})\"".replace("\\", "\\\\").replace("$", "\\$")

    lines = ["# fish completion of vramscope", "complete -c vramscope -f",
             "complete -c vramscope -n __fish_use_subcommand -l version -d 'print the version'"]
    for verb, (summary, options, takes) in verbs.items():
        seen = f"complete -c vramscope -n '__fish_seen_subcommand_from {verb}'"
        lines.append(f"complete -c vramscope -n __fish_use_subcommand -a {verb} -d {quote(summary)}")
        for option in options:
            words = (f" -x -a '{' '.join(option.words)}'" if option.words else
                     f" -x -a {output_of(GPU_NAMES)}" if option.takes == GPUS else
                     " -r" if option.takes and not option.takes.startswith("[") else "")
            names = (f" -s {option.letter}" if option.letter else "") + (f" -l {option.name}" if option.name else "")
            lines.append(f"{seen}{names}{words} -d {quote(option.text)}")
        what = {PIDS: f"-a {output_of(PROCESSES)}", TRACES: "-a '(__fish_complete_suffix .vst)'", FILES: "-F",
                "PROGRAM": "-a '(__fish_complete_subcommand --fcs-skip=2)'"}[takes]
        lines.append(f"{seen} {what}")
    return "\n".join(lines) + "\n"


def main():
    command, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    verbs = read(command)
    folder.mkdir(parents=True, exist_ok=True)
    for name, write in (("vramscope", bash), ("_vramscope", zsh), ("vramscope.fish", fish)):
        (folder / name).write_text(write(verbs), encoding="utf-8")


if __name__ == "__main__":
    main()
