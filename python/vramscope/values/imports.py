# SPDX-License-Identifier: Apache-2.0
"""Acts on modules that the program imports later, right after their import. An action that raises costs one
line on standard error.
"""
import sys

from . import AfterImport, notes  # the class that waits for torch: startup/sitecustomize.py


def after(name, action):
    """action(module) now, if the module *name* is imported, or when it is."""
    def act(module):
        try:
            action(module)
        except Exception as error:
            notes.complain(f"{name} is used as it is", error)

    module = sys.modules.get(name)
    if module is not None and not getattr(getattr(module, "__spec__", None), "_initializing", False):
        act(module)
    else:
        sys.meta_path.insert(0, AfterImport(name, act))
