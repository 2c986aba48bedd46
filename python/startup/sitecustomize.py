# SPDX-License-Identifier: Apache-2.0
"""Loaded by Python at start, from PYTHONPATH, in programs on the simulated GPU, and with --modules and --pools.

Waits until the program imports torch, then starts the values of small tensors and the modules of tensors (folder
vramscope/values), what answers for the other ranks of a rank that runs alone (vramscope/ranks), and
changes of the program and its survey (vramscope/changes), if they are asked for. On the simulated GPU it also waits
for JAX, which looks for /dev/nvidia0 and uses the CPU without it, and with --pools for CuPy, whose pool reports its
blocks (vramscope/pools). A program that imports none of them pays for an entry each in sys.meta_path. Runs the
program's own sitecustomize, which this file hides. Nothing that fails here may reach the program: it is reported in
one line, and the program goes on without that part.
"""
import _thread
import os
import sys


def _complain(what, error):
    try:
        text = " ".join(f"{type(error).__name__}: {error}".split())
        os.write(2, f"vramscope[{os.getpid()}]: {what}: {text}\n".encode(errors="replace"))
    except OSError:
        pass


class _AfterImport:
    """Finds nothing itself: it has the other finders find the module *name*, and calls *start* with it after its
    import. Also for what vramscope_values.imports waits for."""

    def __init__(self, name, start):
        self.name, self.start = name, start
        self.looking = set()  # threads that have the other finders look

    def find_spec(self, name, path=None, target=None):
        thread = _thread.get_ident()
        if name != self.name or thread in self.looking:
            return None
        import importlib.util
        self.looking.add(thread)
        try:
            spec = importlib.util.find_spec(name)
        except (ImportError, ValueError):
            return None  # the import reports it
        finally:
            self.looking.discard(thread)
        if spec is None or not hasattr(spec.loader, "exec_module"):
            return None
        execute, finder = spec.loader.exec_module, self

        def exec_module(module):
            try:
                execute(module)
            except BaseException as error:
                error.__traceback__ = error.__traceback__.tb_next  # as without this frame
                raise
            if finder in sys.meta_path:
                sys.meta_path.remove(finder)
            finder.start(module)

        try:
            spec.loader.exec_module = exec_module
        except AttributeError:
            return None  # a loader without a dictionary, such as a frozen one
        return spec


class _OwnModules:
    """Finds and loads the packages vramscope_NAME, the folders vramscope/NAME, under file names of its own:
    the recorder leaves frames of such files out of the program's stacks."""

    packages = ("vramscope_values", "vramscope_ranks", "vramscope_changes", "vramscope_pools")
    folder = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "vramscope")

    def find_spec(self, name, path=None, target=None):
        package, _, module = name.partition(".")
        if package not in self.packages:
            return None
        import importlib.machinery
        spec = importlib.machinery.ModuleSpec(name, self, is_package=not module)
        spec.origin = os.path.join(self.folder, package.partition("_")[2], (module or "__init__") + ".py")
        return spec

    def create_module(self, spec):
        return None

    def exec_module(self, module):
        path = module.__spec__.origin
        with open(path, encoding="utf-8") as f:
            code = compile(f.read(), "<vramscope>/" + os.path.basename(path), "exec")
        exec(code, module.__dict__)


def _start(torch):
    parts = [("vramscope_values", "values of small tensors are off")]
    if os.environ.get("VRAMSCOPE_MODULES"):
        parts.append(("vramscope_values.modules", "modules of PyTorch are not recorded"))
    if os.environ.get("VRAMSCOPE_SIMULATE_ALONE"):
        parts.append(("vramscope_ranks", "nothing answers for the other ranks"))
    if os.environ.get("VRAMSCOPE_CHANGES") or os.environ.get("VRAMSCOPE_SURVEY"):
        parts.append(("vramscope_changes", "the program's changes and survey are off"))
    _start_parts(parts, torch)


def _start_pools(cupy):
    _start_parts([("vramscope_pools", "the arrays in CuPy's pool are not recorded")], cupy)


def _start_parts(parts, of):
    import importlib
    if not any(isinstance(finder, _OwnModules) for finder in sys.meta_path):
        sys.meta_path.append(_OwnModules())
    for package, what in parts:
        try:
            module = importlib.import_module(package)
            module.AfterImport = _AfterImport  # for vramscope_values.imports
            module.start(of)
        except Exception as error:
            _complain(what, error)


def _next_sitecustomize():
    """The sitecustomize that Python would have loaded without this file's folder."""
    import importlib.machinery
    import importlib.util
    # nor the folder of another vramscope, which would come back to this one
    path = [p for p in sys.path if not os.path.exists(os.path.join(p, "vramscope_attach.py"))]
    spec = importlib.machinery.PathFinder.find_spec("sitecustomize", path)
    if spec is None or spec.loader is None:
        return
    own = sys.modules.get("sitecustomize")
    module = importlib.util.module_from_spec(spec)
    sys.modules["sitecustomize"] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        sys.modules["sitecustomize"] = own
        raise


def _wait_for_torch():
    if not (os.environ.get("VRAMSCOPE_SIMULATE") or os.environ.get("VRAMSCOPE_MODULES")):
        return
    loaded = sys.modules.get("torch")
    if loaded is not None:
        _start(loaded)
    else:
        sys.meta_path.insert(0, _AfterImport("torch", _start))


def _show_gpu_to_jax(hardware):
    hardware.has_visible_nvidia_gpu = lambda: True


try:
    if os.environ.get("VRAMSCOPE_SIMULATE"):
        sys.meta_path.insert(0, _AfterImport("jax._src.hardware_utils", _show_gpu_to_jax))
    if os.environ.get("VRAMSCOPE_POOLS", "").lower() in ("on", "1", "true", "yes"):  # as the library
        sys.meta_path.insert(0, _AfterImport("cupy", _start_pools))
    _wait_for_torch()
except Exception as error:
    _complain("values of small tensors are off", error)
_next_sitecustomize()
