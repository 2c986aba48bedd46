# SPDX-License-Identifier: Apache-2.0
"""python/startup/sitecustomize.py in a Python that has no torch, or a torch of three lines.

    check_startup.py STARTUP_FOLDER [NAME…]

Each case is a program of its own, run by this interpreter with the folder at the front of
PYTHONPATH, as `vramscope run --simulate` has it.
"""
import os
import subprocess
import sys
import tempfile
import textwrap

STARTUP = os.path.abspath(sys.argv[1])
WITHOUT_CUDA = "class version: cuda = None\n"
LATER = """\
class version: cuda = '13.0'
class cuda:
    waiting = []
    is_initialized = staticmethod(lambda: False)
    _lazy_call = staticmethod(waiting.append)
"""


class Place:
    """A folder with the modules of one case, and the programs that run in it."""

    def __init__(self, folder):
        self.folder = folder

    def put(self, name, text):
        path = os.path.join(self.folder, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as f:
            f.write(textwrap.dedent(text))

    def run(self, program, **environment):
        self.put("program.py", program)
        env = {**os.environ, "VRAMSCOPE_SIMULATE": "t4-16g", **environment}
        env = {k: v for k, v in env.items() if v is not None}
        env["PYTHONPATH"] = os.pathsep.join([STARTUP, os.path.join(self.folder, "modules")])
        done = subprocess.run([sys.executable, os.path.join(self.folder, "program.py")], env=env,
                              capture_output=True, text=True, timeout=600)
        return done.returncode, done.stdout.strip(), done.stderr.strip()


def expect(result, status, out, err=(), lines=None):
    """*err*: parts of the errors; without any there are none. *lines*: how many at most."""
    assert result[:2] == (status, out) and all(e in result[2] for e in err), result
    assert len(result[2].splitlines()) <= (lines or (99 if err else 0)), result


def a_program_without_torch_or_jax_gets_two_finders_and_nothing_else(place):
    expect(place.run("""\
        import sys
        print([f for f in sys.modules if 'vramscope' in f or f == 'torch'])
        print(len([f for f in sys.meta_path if type(f).__name__ == '_AfterImport']))
        """), 0, "[]\n2")


def another_startup_folder_is_passed_over(place):
    place.put("modules/vramscope_attach.py", "")
    place.put("modules/sitecustomize.py", "raise SystemExit('of another vramscope')")
    expect(place.run("print('done')"), 0, "done")


def jax_finds_a_gpu_on_the_simulated_one_only(place):
    place.put("modules/jax/__init__.py", "from jax._src import hardware_utils\n")
    place.put("modules/jax/_src/__init__.py", "")
    place.put("modules/jax/_src/hardware_utils.py", "has_visible_nvidia_gpu = lambda: False\n")
    program = """\
        import jax, sys
        print(jax.hardware_utils.has_visible_nvidia_gpu())
        print(len([f for f in sys.meta_path if type(f).__name__ == '_AfterImport']))
        """
    expect(place.run(program), 0, "True\n1")
    expect(place.run(program, VRAMSCOPE_SIMULATE=None), 0, "False\n0")


def nothing_happens_without_the_simulated_gpu(place):
    place.put("modules/torch/__init__.py", "raise_if_used = 1\n")
    expect(place.run("""\
        import sys, torch
        print([f for f in sys.modules if 'vramscope' in f])
        print(len([f for f in sys.meta_path if type(f).__name__ == '_AfterImport']))
        """, VRAMSCOPE_SIMULATE=None), 0, "[]\n0")


def torch_is_started_after_its_import(place):
    place.put("modules/torch/__init__.py", LATER)
    expect(place.run("""\
        import sys, torch
        print('vramscope_values' in sys.modules, len(torch.cuda.waiting))
        print(sys.modules['vramscope_values'].start.__code__.co_filename)
        """), 0, "True 1\n<vramscope>/__init__.py")


def a_submodule_may_be_imported_first(place):
    place.put("modules/torch/__init__.py", LATER)
    place.put("modules/torch/nn.py", "")
    expect(place.run("""\
        import torch.nn, sys
        print('vramscope_values' in sys.modules, len(torch.cuda.waiting))
        """), 0, "True 1")


def torch_without_cuda_is_left_alone(place):
    place.put("modules/torch/__init__.py", WITHOUT_CUDA)
    expect(place.run("import torch; print('done')"), 0, "done")


def a_torch_that_is_not_understood_costs_one_line(place):
    place.put("modules/torch/__init__.py", "strange = True\n")
    expect(place.run("import torch; print(torch.strange)"), 0, "True",
           ["values of small tensors are off: AttributeError"], lines=1)


def what_fails_when_cuda_starts_costs_one_line(place):
    place.put("modules/torch/__init__.py", LATER)
    expect(place.run("import torch; torch.cuda.waiting[0](); print('done')",
                     VRAMSCOPE_VALUES="4KiB"), 0, "done", [], lines=1)


def values_that_cannot_start_leave_the_recording_of_reads_on(place):
    simulator = os.environ.get("VS_SIMULATOR", "")
    if not os.path.exists(os.path.join(simulator, "libcuda.so.1")):
        return
    place.put("modules/torch/__init__.py", LATER)
    expect(place.run("""\
        import ctypes, torch
        from vramscope_values import driver, switch
        try:
            switch.start(torch, 1)
        except AttributeError:  # there is no torch._C
            print(driver.present, ctypes.CDLL("libcuda.so.1").vramscopeSimDataAtSubmit(0))
        """, LD_LIBRARY_PATH=simulator), 0, "True 0")


def a_wrong_size_is_named(place):
    place.put("modules/torch/__init__.py", LATER)
    expect(place.run("import torch; print('done')", VRAMSCOPE_VALUES="much"), 0, "done",
           ["VRAMSCOPE_VALUES=much is neither off nor a size"])


def a_change_that_is_unknown_or_wrong_is_noted(place):
    place.put("modules/torch/__init__.py", LATER)
    notes = os.path.join(place.folder, "notes.tsv")
    expect(place.run("import torch; print('done')", VRAMSCOPE_SIMULATE_NOTES=notes, VRAMSCOPE_CHANGES=(
        "fuse; checkpoint:every=0;chunked-loss:chunk=4;;")), 0, "done")
    with open(notes, encoding="utf-8") as f:
        lines = [line.rstrip("\n").split("\t") for line in f]
    assert [line[:1] + line[2:3] for line in lines] == [
        ["unchanged", "fuse"], ["unchanged", "checkpoint"], ["unchanged", "chunked-loss"]], lines
    for line, text in zip(lines, ("no change `fuse`; changes: ", "every=0 of checkpoint is not a whole number",
                                  "`chunk=4` is not a setting of chunked-loss; its settings: chunks=")):
        assert text in line[5], line


def an_import_that_fails_fails_as_without_it(place):
    expect(place.run("""\
        for i in range(2):
            try:
                import torch
            except ImportError as e:
                print(type(e).__name__, e.name)
        """), 0, "ModuleNotFoundError torch\nModuleNotFoundError torch")
    place.put("modules/torch/__init__.py", "raise OSError('no library')\n")
    expect(place.run("""\
        for i in range(2):
            try:
                import torch
            except OSError as e:
                print(e)
        """), 0, "no library\nno library")


def its_traceback_has_no_frame_of_this_file(place):
    place.put("modules/torch/__init__.py", "raise OSError('no library')\n")
    expect(place.run("""\
        import os, traceback
        try:
            import torch
        except OSError as e:
            print(*[os.path.basename(f.filename) for f in traceback.extract_tb(e.__traceback__)
                    if not f.filename.startswith('<frozen')])
        """), 0, "program.py __init__.py")


def the_programs_own_sitecustomize_runs(place):
    place.put("modules/sitecustomize.py", "import sys; sys.own = __file__\n")
    expect(place.run("""\
        import sys, sitecustomize
        print(sys.own == sitecustomize.__file__,
              len([f for f in sys.meta_path if type(f).__name__ == '_AfterImport']))
        """), 0, "True 2")


def a_sitecustomize_that_raises_is_reported_by_python(place):
    place.put("modules/sitecustomize.py", "raise ValueError('mine')\n")
    expect(place.run("print('done')"), 0, "done", ["ValueError: mine"])


def children_have_it_too(place):
    place.put("modules/torch/__init__.py", LATER)
    expect(place.run("""\
        import multiprocessing, subprocess, sys
        def child():
            import torch
            print(len(torch.cuda.waiting), flush=True)
        if __name__ == '__main__':
            for method in 'spawn', 'fork':
                p = multiprocessing.get_context(method).Process(target=child)
                p.start()
                p.join()
            subprocess.run([sys.executable, '-c',
                            'import torch; print(len(torch.cuda.waiting))'], check=True)
        """), 0, "1\n1\n1")


CASES = [c for c in list(globals().values())
         if callable(c) and c.__module__ == "__main__" and c is not expect and c is not Place]


def main():
    for case in CASES:
        if sys.argv[2:] and case.__name__ not in sys.argv[2:]:
            continue
        with tempfile.TemporaryDirectory() as folder:
            case(Place(folder))
            print("ok", case.__name__, flush=True)


if __name__ == "__main__":
    main()
