# SPDX-License-Identifier: Apache-2.0
"""Traces of programs on the simulated GPU, for tests of what the verbs print: a training program
without and with a leak, partly recorded, and programs that fail for several reasons."""
import os
import shlex
import subprocess
import sys

# Traces of real programs: the name, options of `vramscope run`, arguments of train_lm.
RECORDED = (
    ("plain", "--simulate t4-16g", "--steps 6"),
    ("larger", "--simulate t4-16g", "--steps 6 --batch 24"),
    ("leak", "--simulate t4-16g,capacity=500MiB,context=400MiB", "--steps 30 --leak 8MiB"),
    ("observed", "--simulate t4-16g --allocator=observe", "--steps 6"),
    ("sampled", "--simulate t4-16g --sample 4 --min-size 4KiB", "--steps 6"),
)

# Traces of failures: the name, options of `vramscope run`, the program, its lines (scenario.c), and
# how often the lines are repeated.
DEVICE = "--simulate t4-16g,capacity=400MiB,context=100MiB"
FAILURES = (
    ("tensors", DEVICE + " --allocator=observe", "scenario_tensors",
     "push step;a make_activation tensor 9000000 -1;a append_history tensor 20000000 -1;pop", 30),
    ("limited", DEVICE + " --limit=200MiB --allocator=observe", "scenario_plain",
     "a load_weights device 30000000 -1", 30),
    ("host", DEVICE + ",fail=host:3+", "scenario_plain", "a fill_queue host 30000000 -1", 30),
    ("refused", DEVICE + ",fail=device:4 --allocator=observe", "scenario_plain",
     "a load_weights device 10000000 -1", 30),
    ("recovered", DEVICE, "scenario_plain",
     "t probe_memory device 900000000 1;a load_weights device 30000000 -1;exit 0", 1),
    ("others", DEVICE + ",others=200MiB", "scenario_plain", "a load_weights device 30000000 -1", 30),
    ("spike", DEVICE, "scenario_plain",
     "push step;a stage_batch device 1000000 1;f 1;pop;" * 8 + "a build_index device 800000000 2", 1),
)


def record(command, train_lm, programs, folder):
    runs = [(name, options, [train_lm, *arguments.split()]) for name, options, arguments in RECORDED]
    for name, options, program, lines, times in FAILURES:
        script = os.path.join(folder, name + ".txt")
        with open(script, "w", encoding="utf-8") as file:
            file.write("\n".join(lines.split(";") * times) + "\n")
        runs.append((name, options, [os.path.join(programs, program), script]))
    for name, options, program in runs:
        path = os.path.join(folder, name + ".vst")
        subprocess.run([command, "run", "-q", *options.split(), "-o", path, "--", *program],
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=600, check=False)
        if not os.path.exists(path):
            sys.exit(f"{name}: no trace was recorded")
    with open(os.path.join(folder, "plain.vst"), "rb") as whole:
        with open(os.path.join(folder, "cut.vst"), "wb") as cut:
            cut.write(whole.read(os.path.getsize(whole.name) // 2))


def commands(path, command, root, train_lm, programs, folder):
    """Records, and the lines of the file *path*, each with its words, whose variables have their values."""
    record(command, train_lm, programs, folder)
    variables = (("$GOLDEN", os.path.join(root, "tests", "golden")), ("$TRAIN_LM", train_lm), ("$FOLDER", folder),
                 ("$PROGRAMS", programs), ("$", folder + "/"))
    with open(path, encoding="utf-8") as file:
        for line in map(str.strip, file):
            if line and not line.startswith("#"):
                words = shlex.split(line)
                for variable, value in variables:
                    words = [word.replace(variable, value) for word in words]
                yield line, words
