# SPDX-License-Identifier: Apache-2.0
"""Changes of a PyTorch program that are applied from outside, and the survey of what could change.

VRAMSCOPE_CHANGES names the changes (wanted.py), VRAMSCOPE_SURVEY the file of the survey (survey.py).
Both are read when torch has been imported, before the program goes on. Each change does what a user
would write into the program by PyTorch's documentation, so that the peak is the same to the byte;
docs/advise.md has that code. A change that cannot be applied is a line of the notes, and the program
goes on without it. Loaded by startup/sitecustomize.py under the name vramscope_changes.
"""
import importlib
import os

from vramscope_values import blame, notes

from . import effects, models, wanted


def start(torch):
    """Called once, after the import of torch."""
    changes = os.environ.get("VRAMSCOPE_CHANGES")
    survey = os.environ.get("VRAMSCOPE_SURVEY")
    if not (changes or survey) or not torch.version.cuda:
        return
    blame.start(torch)
    effects.start(torch)
    parsed, wrong = wanted.parse(changes or "")
    for text, why in wrong:
        notes.write("unchanged", "", why, library=text.partition(":")[0])
    if parsed or survey:
        models.start(torch)
    for name, settings in parsed:
        effect = effects.Effect(name)
        try:
            module = importlib.import_module("." + wanted.CHANGES[name].module, __name__)
            module.start(torch, effect, settings)
        except Exception as error:
            effect.refuse(f"{type(error).__name__}: {error}")
    if survey:
        importlib.import_module(".survey", __name__).start(torch, survey)
