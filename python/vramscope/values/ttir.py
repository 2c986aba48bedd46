# SPDX-License-Identifier: Apache-2.0
"""Which pointers a Triton kernel writes, by the text of its IR (TTIR).

Follows each pointer argument of the kernel through the operations to its stores and atomics. The
text is read line by line: a value comes from everything that its line names, except that nothing
follows from a loaded value. What is not understood counts as written.
"""
import re

_FUNCTION = re.compile(r"^\s*tt\.func\s+public\s+@[^(]*\(")
_ARGUMENT = re.compile(r"(%[\w.$-]+):\s*(!tt\.(?:ptr|tensordesc)<|[\w!])")
_VALUE = re.compile(r"%[\w.$-]+")
_RESULTS = re.compile(r"^\s*((?:%[\w.$-]+(?::\d+)?\s*,?\s*)+)=\s*")
_ITERATED = re.compile(r"(%[\w.$-]+)\s*=\s*(%[\w.$-]+)")
_WRITES = re.compile(r"\btt\.(?:store|atomic_rmw|atomic_cas|descriptor_store|descriptor_scatter|"
                     r"descriptor_reduce|experimental_descriptor_store|experimental_descriptor_scatter)\b")
_LOADS = re.compile(r"\btt\.(?:load|descriptor_load|descriptor_gather|experimental_descriptor_load|"
                    r"experimental_descriptor_gather)\b")
_OPAQUE = re.compile(r"\btt\.(?:call|extern_elementwise|elementwise_inline_asm)\b")


def _arguments(text):
    """[(name, whether it is a pointer)] of the public function; None if there is none."""
    for line in text.splitlines():
        start = _FUNCTION.match(line)
        if start:
            return [(name, kind.startswith("!tt."))
                    for name, kind in _ARGUMENT.findall(line[start.end():])]
    return None


class _Flow:
    """Which arguments each value may come from."""

    def __init__(self, pointers):
        self.sources = {name: {i} for i, name in enumerate(pointers)}
        self.written = set()
        self.all = set(range(len(pointers)))

    def of(self, values):
        found = set()
        for value in values:
            found |= self.sources.get(value.split("#")[0], set())
        return found

    def line(self, line):
        """Whether something was learned."""
        before = len(self.written), sum(map(len, self.sources.values()))
        results = _RESULTS.match(line)
        body = line[results.end():] if results else line
        for name, value in _ITERATED.findall(body):  # of a loop: the value at its start
            self.sources.setdefault(name, set()).update(self.of([value]))
        if _WRITES.search(body):
            first = _VALUE.search(body[_WRITES.search(body).end():])
            pointers = self.of([first.group()]) if first else set()
            self.written |= pointers or self.all
        elif _OPAQUE.search(body):
            self.written |= self.of(_VALUE.findall(body))
        if results and not _LOADS.search(body):
            come_from = self.of(_VALUE.findall(body))
            for name in _VALUE.findall(results.group(1)):
                self.sources.setdefault(name, set()).update(come_from)
        return before != (len(self.written), sum(map(len, self.sources.values())))


def written(text):
    """The pointers that are written, as positions among the pointer arguments, and how many pointer
    arguments there are. None: *text* is not understood."""
    arguments = _arguments(text or "")
    if arguments is None:
        return None
    pointers = [name for name, is_pointer in arguments if is_pointer]
    flow = _Flow(pointers)
    lines = text.splitlines()
    while any([flow.line(line) for line in lines]):  # a loop's values come from its end as well
        pass
    return flow.written, len(pointers)
