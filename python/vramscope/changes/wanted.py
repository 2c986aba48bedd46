# SPDX-License-Identifier: Apache-2.0
"""The table of changes, and the text of VRAMSCOPE_CHANGES: changes separated by `;`, each `name` or
`name:key=value,key=value`. Needs nothing of torch."""
from collections import namedtuple

# *module*: the file here that applies it; *settings*: each with its default
Change = namedtuple("Change", "module settings")
_BLOCKS = {"path": "", "class": "", "every": 1}
CHANGES = {
    "accumulate": Change("accumulate", {"steps": 4}),
    "autocast": Change("window", {}),
    "checkpoint": Change("checkpoints", _BLOCKS),
    "checkpoint-ops": Change("checkpoints", _BLOCKS),
    "chunked-loss": Change("loss", {"chunks": 8}),
    "foreach-off": Change("optimizers", {}),
    "fsdp2": Change("sharding", {"wrap": ""}),
    "fused": Change("optimizers", {}),
    "lora": Change("lora", {"rank": 16}),
    "offload-activations": Change("window", {}),
    "offload-optimizer": Change("states", {}),
    "optimizer-8bit": Change("states", {}),
    "optimizer-bf16": Change("states", {}),
    "sdpa": Change("attention", {"backend": "flash"}),
    "set-to-none": Change("optimizers", {}),
}
_CHOICES = {"backend": ("flash", "efficient", "cudnn")}


def parse(text):
    """([(name, settings)], [(text of a change that is wrong, why)])"""
    parsed, wrong = [], []
    for part in filter(None, (p.strip() for p in text.split(";"))):
        try:
            parsed.append(_parse_change(part))
        except ValueError as error:
            wrong.append((part, str(error)))
    return parsed, wrong


def _parse_change(text):
    name, _, rest = text.partition(":")
    if name not in CHANGES:
        raise ValueError(f"there is no change `{name}`; changes: {', '.join(sorted(CHANGES))}")
    settings = dict(CHANGES[name].settings)
    for part in filter(None, rest.split(",")):
        key, equals, value = part.partition("=")
        if key not in settings or not equals:
            known = ", ".join(f"{k}=" for k in settings) or "none"
            raise ValueError(f"`{part}` is not a setting of {name}; its settings: {known}")
        if isinstance(settings[key], int):
            if not value.isdecimal() or int(value) < 1:
                raise ValueError(f"{key}={value} of {name} is not a whole number from 1 on")
            value = int(value)
        elif value not in _CHOICES.get(key, (value,)):
            raise ValueError(f"{key}={value} of {name} is none of {', '.join(_CHOICES[key])}")
        settings[key] = value
    return name, settings
