# SPDX-License-Identifier: Apache-2.0
"""The program's models: their lists of blocks, and calls that pass through here.

When an optimizer has been created, the models exist: the module lists of all live modules are looked
for then, once for each optimizer. Nothing of the program is kept alive by this. A call of a module is
replaced by `_compiled_call_impl`, the place that Module.compile() uses: its hooks run inside, as with
checkpoint_wrapper, and neither copies nor saved files of the module have it. FSDP2's hooks stay outside
(a wrapper comes before fully_shard): of its modules forward is replaced.
"""
import gc
import itertools
import os
import weakref

from vramscope_values import blame, hide

from . import effects

WRAPPERS = {"module", "_orig_mod", "_fsdp_wrapped_module", "_checkpoint_wrapped_module"}

_OPTIMIZERS_MAX = 16  # some programs have one for each parameter

_torch = None
_watchers = []  # (function that gets each new optimizer, function that gets its error)
_places = None  # by module list: the line of the program that created it


class BlockList:
    """A module list whose elements are blocks of one class, some perhaps of others. *owners*: the modules
    around it, from the outermost."""

    def __init__(self, path, modules, owners):
        self.path, self.modules, self.owners = path, modules, owners
        self.children = [m for m in modules.children() if any(True for _ in m.children())]
        names = [type(m).__name__ for m in self.children]
        self.class_name = max(names, key=names.count) if names else ""
        self.count = names.count(self.class_name)

    def code(self):
        """As the program would write it where it creates the optimizer."""
        names = self.path.split(".") if self.path else []
        model = effects.variable(lambda value: _follow(value, names) is self.modules)
        return model + "".join(f"[{n}]" if n.isdigit() else f".{n}" for n in names) if names else "blocks"

    def place(self):
        return next((_places[m] for m in (self.modules, *reversed(self.owners)) if m in _places), "?")


def _follow(module, names):
    for name in names:
        module = getattr(module, "_modules", {}).get(name)
    return module


def start(torch):
    """Called once, before any change."""
    global _torch, _places
    _torch, _places = torch, weakref.WeakKeyDictionary()
    for cls in (torch.nn.ModuleList, torch.nn.Sequential):
        @hide.after(cls, "__init__", "the place of a module list")
        def note_place(_result, self, *_, **__):
            _places[self] = effects.place()

    number = itertools.count()

    @hide.after(torch.optim.Optimizer, "__init__", "an optimizer")
    def watch(_result, self, *_, **__):
        for function, failed in _watchers if next(number) < _OPTIMIZERS_MAX else ():
            try:
                function(self)
            except Exception as error:
                failed(f"{type(error).__name__}: {error}")


def at_each_optimizer(failed, function):
    """*function* gets each optimizer when it exists. Its errors are given to *failed* as text."""
    _watchers.append((function, failed))


def roots():
    """Modules that are in no other one."""
    live = [o for o in gc.get_objects() if issubclass(type(o), _torch.nn.Module)]
    inner = {id(child) for m in live for child in m._modules.values()}
    return [m for m in live if id(m) not in inner]


def block_lists():
    found = []
    for root in roots():
        for owners, path, modules in _walk(root, (), ""):
            blocks = BlockList(path, modules, owners)
            if blocks.count > 1:
                found.append(blocks)
    return found


def _walk(module, owners, path):
    if isinstance(module, (_torch.nn.ModuleList, _torch.nn.Sequential)):
        yield owners, path, module
    for name, child in module._modules.items():
        if child is not None and child not in owners:
            below = path if name in WRAPPERS else f"{path}.{name}" if path else name
            yield from _walk(child, (*owners, module), below)


def selected(path, class_name):
    """(block list, the blocks of it) by the settings of a change."""
    for blocks in block_lists():
        children = [m for m in blocks.children if class_name in ("", type(m).__name__)]
        if children and (path == blocks.path if path else class_name == blocks.class_name):
            yield blocks, children


def around(module, function):
    """*function*(module, its call, args, kwargs) runs in place of the module's calls. False: the program has
    compiled it."""
    sharded = any(cls.__name__ == "FSDPModule" for cls in type(module).__mro__)
    name = "forward" if sharded else "_compiled_call_impl"
    inner = module.__dict__.get(name)
    compiled_by_program = inner is not None and not hasattr(inner, "is_vramscopes")
    if compiled_by_program or isinstance(module, _torch.jit.ScriptModule):
        return False
    ref = weakref.ref(module)  # without a cycle: the module is freed when the program drops it

    @hide.hidden
    def call(*args, **kwargs):
        module = ref()
        original = inner or (type(module).forward.__get__(module) if sharded else module._call_impl)
        if _torch.compiler.is_compiling():
            return original(*args, **kwargs)
        return function(module, original, args, kwargs)

    call.is_vramscopes = True
    module.__dict__[name] = call
    return True


def trained(optimizer):
    """The modules that the program itself calls, of the models whose parameters the optimizer has: the
    outermost ones with a forward."""
    parameters = {id(p) for group in optimizer.param_groups for p in group["params"]}
    waiting = [m for m in roots() if any(id(p) in parameters for p in m.parameters())]
    while waiting:
        module = waiting.pop(0)
        if type(module).forward is _torch.nn.Module.forward:  # a container
            waiting += module.children()
        else:
            yield module


def around_trained(effect, function):
    """*function* as in `around`, for the modules of `trained`, of each optimizer."""
    seen = set()
    effect.why = "no model whose parameters are in an optimizer was called with gradients"

    def watch(optimizer):
        for module in trained(optimizer):
            if id(module) not in seen:
                seen.add(id(module))
                if not around(module, function):
                    effect.why = "the model is compiled"

    at_each_optimizer(effect.refuse, watch)


def inside_checkpoint():
    """Is a caller torch.utils.checkpoint?"""
    own = os.path.join(os.path.dirname(_torch.__file__), "utils", "checkpoint.py")
    return any(frame.f_code.co_filename == own for frame in blame.frames())


def compiled():
    """Is a live model one of torch.compile's?"""
    return any(type(o).__name__ == "OptimizedModule" for o in gc.get_objects()
               if issubclass(type(o), _torch.nn.Module))
