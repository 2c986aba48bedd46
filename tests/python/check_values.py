# SPDX-License-Identifier: Apache-2.0
"""Parts of the values of small tensors that need no torch: what the source does with a value that
was not computed, which pointers a Triton kernel writes, how uses are counted.

    check_values.py PYTHON-FOLDER
"""
import array
import importlib
import importlib.machinery
import os
import random
import runpy
import struct
import sys
import tempfile
import types


def load(folder):
    """The package under a name of its own, without what python/vramscope/values starts."""
    package = types.ModuleType("vramscope_values")
    package.__path__ = [os.path.join(folder, "vramscope", "values")]
    startup = os.path.join(folder, "startup", "sitecustomize.py")
    package.AfterImport = runpy.run_path(startup)["_AfterImport"]
    sys.modules["vramscope_values"] = package
    return lambda name: importlib.import_module("vramscope_values." + name)


PROGRAM = '''\
class Value:
    def __bool__(self):
        see(self)
        return False
    def item(self):
        see(self)
        return 0
    def __gt__(self, other):
        return self
def truth():
    if x.any():
        pass
def compared():
    if x > 3:
        pass
def two():
    if limit and x.any().item():
        pass
def loop():
    while x.item():
        pass
def either():
    return 1 if x.item() else 2
def checked():
    assert not x.item()
def sliced():
    return data[:x.item()]
def sized():
    return torch.zeros(x.item() + 1, 2)
def ranged():
    return [i for i in range(x.item())]
def filtered():
    return [i for i in (1, 2) if x.item()]
def named():
    v = x.item()
    print(v)
    if v > 3:
        pass
def placed():
    v = x.item()
    if limit > 1 and v.data_ptr() != 0:
        pass
def named_otherwise():
    v = x.item()
    if limit:
        return v
def summed():
    total = 0
    total += x.item()
    return limit
def printed():
    print(f"{x.item():.3f}")
def inside():
    if limit:
        print(x.item())
def helper():
    return x.any().item()
def called():
    if helper():
        pass
def key():
    return [sorted([1], key=lambda _: x.item())]
'''

EXPECTED = {
    "truth": ("decides", "if x.any()"), "compared": ("decides", "if x > 3"),
    "two": ("decides", "if limit and x.any().item()"), "loop": ("decides", "while x.item()"),
    "either": ("decides", "… if x.item()"), "checked": ("decides", "assert not x.item()"),
    "sliced": ("decides", "data[:x.item()]"), "sized": ("decides", "torch.zeros(x.item() + 1, 2)"),
    "ranged": ("decides", "range(x.item())"), "filtered": ("decides", "… if x.item()"),
    "named": ("decides", "v = x.item()`, then `if v > 3"), "named_otherwise": ("reads", "x.item()"),
    "placed": ("reads", "x.item()"),
    "summed": ("reads", "x.item()"), "printed": ("reads", "x.item()"), "inside": ("reads", "x.item()"),
    "called": ("decides", "if helper()")}


class Anything:
    def __getattr__(self, name):
        return lambda *args: self

    def __getitem__(self, key):
        return self


def program(folder, see):
    path = os.path.join(folder, "program.py")
    with open(path, "w", encoding="utf-8") as f:
        f.write(PROGRAM)
    space = {"see": see, "limit": 1, "torch": Anything(), "data": Anything(), "print": lambda *a: None}
    exec(compile(PROGRAM, path, "exec"), space)
    value = space["Value"]()
    space["Value"].any = lambda self: self
    space["x"] = value
    return space


def the_source_tells_what_a_value_decides(load):
    if sys.version_info < (3, 11):
        return  # without columns only the line is known
    source, found = load("source"), []

    def see(_):
        frame = sys._getframe(2)
        while True:
            answer = source.use(frame)
            if answer[0] != source.RETURNS:
                break
            frame = frame.f_back
        found.append(answer)

    with tempfile.TemporaryDirectory() as folder:
        space = program(folder, see)
        for name, expected in EXPECTED.items():
            found.clear()
            try:
                space[name]()
            except AssertionError:
                pass
            assert found[:1] == [expected], (name, found, expected)


def without_columns_the_statement_is_named(load):
    source = load("source")
    with tempfile.TemporaryDirectory() as folder:
        space = program(folder, lambda _: None)
        path = space["truth"].__code__.co_filename
        tree, lines = source._file(path)
        line = 1 + PROGRAM.splitlines().index("    if x.any():")
        place = (line, line, None, None)
        assert source._judge(lines, source._path(tree, place), place) == ("decides", "if x.any()")
        place = (line + 1, line + 1, None, None)
        assert source._judge(lines, source._path(tree, place), place) == ("reads", "pass")


ADD = '''module {
  tt.func public @add(%x_ptr: !tt.ptr<f32> {tt.divisibility = 16 : i32} loc("a.py":1:2), %y_ptr: !tt.ptr<f32>, %n: i32) attributes {noinline = false} {
    %0 = tt.get_program_id x : i32
    %1 = tt.splat %x_ptr : !tt.ptr<f32> -> tensor<8x!tt.ptr<f32>>
    %2 = tt.addptr %1, %0 : tensor<8x!tt.ptr<f32>>, tensor<8xi32>
    %3 = tt.load %2, %m : tensor<8x!tt.ptr<f32>>
    %4 = arith.addf %3, %3 : tensor<8xf32>
    %5 = tt.splat %y_ptr : !tt.ptr<f32> -> tensor<8x!tt.ptr<f32>>
    tt.store %5, %4 : tensor<8x!tt.ptr<f32>>
    tt.return
  }
}
'''
LOOP = '''tt.func public @k(%arg0: !tt.ptr<f32>, %arg1: !tt.ptr<f32>, %arg2: !tt.ptr<f32>) {
    %2:2 = scf.for %i = %c0 to %n step %c1 iter_args(%p = %arg1, %q = %arg0) -> (!tt.ptr<f32>, !tt.ptr<f32>) : i32 {
      %3 = tt.addptr %p, %c1 : !tt.ptr<f32>, i32
      %4 = tt.load %q : !tt.ptr<f32>
      tt.store %p, %4 : !tt.ptr<f32>
      scf.yield %3, %q : !tt.ptr<f32>, !tt.ptr<f32>
    }
    %5 = tt.atomic_rmw fadd, acq_rel, gpu, %arg2, %one, %true : (!tt.ptr<f32>, f32, i1) -> f32
'''


def packages_outside_pythons_folders_are_not_the_program(load):
    """Those of a user or of the system, which sysconfig does not name."""
    frame = lambda name: types.SimpleNamespace(f_code=types.SimpleNamespace(co_filename=name))
    for name, users in (("/home/u/.local/lib/python3.11/site-packages/p/a.py", False),
                        ("/usr/lib/python3/dist-packages/p/a.py", False), ("/home/u/packages/a.py", True)):
        assert load("blame").is_users(frame(name)) == users, name
    found = {}  # as by `python -m`: runpy is never the line of a use
    exec(compile("found['names'] = [f.f_code.co_filename for f in frames()]", "<frozen runpy>", "exec"),
         {"found": found, "frames": load("blame").frames})
    assert __file__ in found["names"] and "<frozen runpy>" not in found["names"], found


def the_ir_of_a_kernel_tells_what_it_writes(load):
    ttir = load("ttir")
    assert ttir.written(ADD) == ({1}, 2), ttir.written(ADD)
    assert ttir.written(LOOP) == ({1, 2}, 3), ttir.written(LOOP)
    inplace = ADD.replace("%5 = tt.splat %y_ptr", "%5 = tt.splat %x_ptr")
    assert ttir.written(inplace) == ({0}, 2)
    # a pointer that comes from nowhere may be any
    assert ttir.written(ADD.replace("tt.store %5", "tt.store %unknown")) == ({0, 1}, 2)
    assert ttir.written("") is None and ttir.written("no function") is None
    assert ttir.written("tt.func public @k(%n: i32) {\n") == (set(), 0)


def uses_are_counted_without_a_line_each(load):
    notes = load("notes")
    with tempfile.NamedTemporaryFile("r", suffix=".tsv") as file:
        os.environ["VRAMSCOPE_SIMULATE_NOTES"] = file.name
        for _ in range(1000):
            notes.count("decided", "a.py:1: `if x`", "read as False")
        for i in range(5):
            notes.count("read", "a.py:2: `y`", f"read as {min(i, 1)}")
        notes._write_counts()
        notes._write_counts()
        rows = [line.rstrip("\n").split("\t") for line in file]
    del os.environ["VRAMSCOPE_SIMULATE_NOTES"]
    assert all(len(r) == 6 and r[2] == "values" for r in rows), rows
    decided = [r for r in rows if r[0] == "decided"]
    assert sum(int(r[4]) for r in decided) == 1000 and len(decided) < 20, decided
    assert sum(int(r[4]) for r in rows if r[0] == "read") == 5
    assert {r[5] for r in rows if r[0] == "read"} == {"read as 0", "read as 1"}, rows


def later_imports_are_acted_on(load):
    imports, seen = load("imports"), []
    imports.after("json", lambda module: seen.append(module.__name__))
    import json
    assert seen == ["json"] and json.dumps(1) == "1"
    sys.modules.pop("colorsys", None)
    imports.after("colorsys", lambda module: seen.append(module.__name__))
    assert seen == ["json"]
    import colorsys
    assert seen == ["json", "colorsys"] and colorsys.rgb_to_hsv


def numbers_that_are_not_drawn_are_skipped_exactly(modules):
    draws, generator = modules("draws"), random.Random(7)  # Python's is the same generator

    def state():
        *words, used = generator.getstate()[1]
        return (bytes(8) + struct.pack("=iiQ", 625 - used, 1, used) + array.array("Q", words).tobytes() + bytes(32))

    for count in (1, 623, 624, 625, 1248, 1249, 54321):
        before = state()
        generator.getrandbits(32 * count)
        assert draws._after(before, count) == state(), count


CASES = [the_source_tells_what_a_value_decides, without_columns_the_statement_is_named,
         packages_outside_pythons_folders_are_not_the_program,
         the_ir_of_a_kernel_tells_what_it_writes, uses_are_counted_without_a_line_each,
         later_imports_are_acted_on, numbers_that_are_not_drawn_are_skipped_exactly]


def main():
    modules = load(sys.argv[1])
    for case in CASES:
        case(modules)
        print("ok", case.__name__, flush=True)


if __name__ == "__main__":
    main()
