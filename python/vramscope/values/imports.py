# SPDX-License-Identifier: Apache-2.0
"""Acts on modules that the program imports later, right after their import.

The finder finds nothing itself: it has the others find the module. An action that raises costs one
line on standard error.
"""
import importlib.util
import sys
import threading

from . import hide, notes

_actions = {}  # by module name
_looking = threading.local()  # .now: this thread has the other finders look


class _Finder:
    def find_spec(self, name, path=None, target=None):
        if name not in _actions or getattr(_looking, "now", False):
            return None
        _looking.now = True
        try:
            spec = importlib.util.find_spec(name)
        except (ImportError, ValueError):
            return None  # the import reports it
        finally:
            _looking.now = False
        if spec is None or not hasattr(spec.loader, "exec_module"):
            return None
        execute = spec.loader.exec_module

        @hide.hidden
        def exec_module(module):
            execute(module)
            _act(name, module)

        try:
            spec.loader.exec_module = exec_module
        except AttributeError:
            return None  # a loader without a dictionary, such as a frozen one
        return spec


def _act(name, module):
    action = _actions.pop(name, None)
    if action is None:
        return
    try:
        action(module)
    except Exception as error:
        notes.complain(f"{name} is used as it is", error)


def after(name, action):
    """action(module) now, if the module *name* is imported, or when it is."""
    if not any(isinstance(f, _Finder) for f in sys.meta_path):
        sys.meta_path.insert(0, _Finder())
    _actions[name] = action
    module = sys.modules.get(name)
    if module is not None and not getattr(getattr(module, "__spec__", None), "_initializing", False):
        _act(name, module)
