# SPDX-License-Identifier: Apache-2.0
"""The module of PyTorch that runs on each thread, and the names of parameters, for the trace (--modules).

A module is named by the class of the outermost module and its path in it: GPT:layers.0.attn. Calls of modules pass
through here, which is forward. For backward, the autograd node of a module's result gets a hook that enters the
module when the pass arrives at it, and the node of its input one that goes back to the caller; of several modules
that end or begin at one node, the innermost has it. The hooks look at no tensor and allocate none: the program's
allocations are the same. Code that torch.compile compiles has no hooks: its memory belongs to the module that was
called from outside.

Parameters are recorded by address when the outermost module is first called and when they are moved, gradients and the
optimizer's state at its steps, where torch.optim's own hooks are. No tensor gets a weak reference, with which
torch.utils.swap_tensors refuses it. Whatever fails here ends the recording of modules, in one line.
"""
import atexit
import ctypes
import itertools
import os
import sys
import threading
import weakref

from . import hide, notes

_FORWARD, _BACKWARD, _RECOMPUTED = 1, 2, 3  # enum vs_torch_pass
_PARAMETER, _GRADIENT, _STATE, _RENAMED = 1, 2, 3, 4  # enum vs_torch_tensor
_MARK = "vramscope"  # in the metadata of a node
_MOST = 64           # of a list or a dictionary that are looked at
# modules that only call another one, which has the program's names
_WRAPPERS = {"DistributedDataParallel": "module", "DataParallel": "module", "DeepSpeedEngine": "module",
             "OptimizedModule": "_orig_mod", "FullyShardedDataParallel": "_fsdp_wrapped_module"}
_PARTS = {"_orig_mod", "_fsdp_wrapped_module", "_checkpoint_wrapped_module"}  # of wrappers inside

_torch = _module = _tensor = _task = _is_compiling = None
_on = False
_paths = {}    # by id of a module: (weak reference, path, or None: its caller's)
_names = {}    # by id of a parameter or buffer: (weak reference to its module, its name there, full name)
_labels = {}   # outermost modules
_enters = {}   # by path: the hook of a node
_recorded = {}  # by id of a parameter: (id, addresses, name) of each of its tensors, by kind or key in the state
_open = {}     # by thread and number of a pass that has not ended: what ends it
_guarded = set()  # functions of _safely, before the start
_graded = False  # gradients were recorded after a backward pass


class _Here(threading.local):
    def __init__(self):
        self.path, self.way = b"", 0
        self.calls = []  # of modules, the outermost first: (weak reference, path before, way before)
        self.pass_ = -1  # number of the engine's latest pass that was seen here


_here = _Here()


def start(torch):
    """Called after the import of torch."""
    global _torch, _module, _tensor, _task, _is_compiling, _on
    if os.environ.get("VRAMSCOPE_MODULES", "").lower() not in ("on", "1", "true", "yes"):  # as the library
        return
    try:
        library = ctypes.PyDLL(None)
        _module, _tensor = library.vramscope_torch_module, library.vramscope_torch_tensor
    except AttributeError:
        notes.complain("modules are not recorded", RuntimeError("the recording library is not preloaded"))
        return
    _module.argtypes = [ctypes.c_char_p, ctypes.c_uint, ctypes.c_uint]
    _tensor.argtypes = [ctypes.c_uint64, ctypes.c_int, ctypes.c_char_p, ctypes.c_uint]
    _module.restype = _tensor.restype = None
    _torch, _is_compiling = torch, torch.compiler.is_compiling
    _task = torch._C._current_graph_task_id
    if not os.environ.get("VRAMSCOPE_SIMULATE"):
        hide.start(torch)
    from torch.optim import optimizer
    _watch_calls(torch)
    optimizer.register_optimizer_step_pre_hook(_safely(_before_step))
    optimizer.register_optimizer_step_post_hook(_safely(_after_step))
    atexit.register(_forget)
    _on = True


def _forget():
    """At exit, so that Python frees the program's objects in the order in which it does without us."""
    global _on
    _on = False
    for table in (_paths, _names, _labels, _open):
        table.clear()


def _watch_calls(torch):
    call = torch.nn.Module.__call__

    def __call__(self, *args, **kwargs):
        if _is_compiling() or not _on:
            return call(self, *args, **kwargs)
        depth = _enter(self, args, kwargs)
        try:
            result = call(self, *args, **kwargs)
        except BaseException as error:
            _leave(depth, None)
            hide.strip(error)
            raise
        _leave(depth, result)
        return result

    apply = torch.nn.Module._apply

    @hide.hidden
    def _apply(self, *args, **kwargs):  # of .to(), .cuda(), .half(), for each module of the model
        result = apply(self, *args, **kwargs)
        _moved(self)
        return result

    for function in (__call__, _apply, *_guarded, *(f for f in globals().values() if hasattr(f, "__code__"))):
        _leave_out(torch, function.__code__)
    torch.nn.Module.__call__, torch.nn.Module._apply = __call__, _apply


def _leave_out(torch, code):
    """torch.compile compiles what is called from *code*, as without us, and not *code* itself."""
    frames = torch._C._dynamo.eval_frame
    if hasattr(frames, "skip_code"):
        frames.skip_code(code)
    else:
        frames.set_code_exec_strategy(code, frames._FrameExecStrategy(frames._FrameAction.SKIP,
                                                                      frames._FrameAction.DEFAULT))
    for inner in code.co_consts:
        if hasattr(inner, "co_code"):
            _leave_out(torch, inner)


def _stop(error):
    global _on
    if _on:
        _on = False
        notes.complain("modules are no longer recorded", error)


def _safely(function):
    if not _on:
        _guarded.add(function)

    def call(*args):
        if _on and not _is_compiling():
            try:
                with _torch._C.DisableTorchFunction():  # the program's functions and modes do not see ours
                    return function(*args)
            except Exception as error:
                _stop(error)
        return None
    return call


def _run(path, way, tid=0):
    """This thread runs the module *path* from here on."""
    here = _here
    if here.path is not path or here.way != way:
        here.path, here.way = path, way
        _module(path, way, tid)


@_safely
def _enter(module, args, kwargs):
    here, task = _here, _task()
    if not here.calls and task == -1:
        for ends in reversed(list(_open.values())):  # of passes that failed
            ends()
        _run(b"", 0)
    known, path = _path_of(module)
    here.calls.append((known, here.path, here.way))
    if path is not None:
        _mark(args, here.path)
        if kwargs:
            _mark(kwargs, here.path)
        _run(path, _FORWARD if task == -1 else _RECOMPUTED)
    return len(here.calls)


@_safely
def _leave(depth, result):
    here = _here
    if depth is None or len(here.calls) < depth:
        return
    _, path, way = here.calls[depth - 1]
    del here.calls[depth - 1:]
    if here.path is not path:
        _mark(result, here.path)
    _run(path, way)


def _mark(value, path, deep=2):
    """The backward pass enters *path* at the nodes of the tensors in *value*, where it enters none yet."""
    if isinstance(value, _torch.Tensor):
        try:
            node = value.grad_fn
        except (RuntimeError, ValueError):  # a view of what was changed in place
            return
        if node is None or _compiled_autograd():
            return
        known = node.metadata
        if _MARK not in known:
            known[_MARK] = True
            enter = _enters.get(path)
            if enter is None:
                enter = _enters[path] = _safely(lambda grads: _backward(path))
            node.register_prehook(enter)
    elif deep and isinstance(value, (list, tuple)):
        for part in itertools.islice(value, _MOST):
            _mark(part, path, deep - 1)
    elif deep and isinstance(value, dict):
        for part in itertools.islice(value.values(), _MOST):
            _mark(part, path, deep - 1)


def _compiled_autograd():
    """Whether hooks would become part of a compiled backward pass."""
    module = sys.modules.get("torch._dynamo.compiled_autograd")
    return module is not None and getattr(module, "compiled_autograd_enabled", False)


def _backward(path):
    here, task = _here, _task()
    if here.pass_ != task:
        here.pass_ = task
        outside = (here.path, here.way) if here.calls else (b"", 0)
        key = threading.get_native_id(), task
        there = here.__dict__  # of this thread
        _open[key] = _safely(lambda: _backward_ends(key, there, *outside))
        _torch.autograd.Variable._execution_engine.queue_callback(_open[key])
    _run(path, _BACKWARD if path else 0)


def _backward_ends(key, there, path, way):
    """On any thread; *key* and *there* are of the thread that ran the pass."""
    global _graded
    if _open.pop(key, None) is None:
        return
    _module(path, way, key[0])
    there.update(path=path, way=way, pass_=-1)
    if not _graded:
        _graded = True
        for number, (known, leaf, name) in list(_names.items()):
            parameters = getattr(known(), "_parameters", {})  # of torch.jit without get
            tensor = parameters[leaf] if leaf in parameters else None
            if id(tensor) == number and tensor.is_leaf and tensor.grad is not None:
                _record(tensor, _GRADIENT, tensor.grad, name, _GRADIENT, set())


# --- names ---

def _path_of(module):
    """(weak reference, path)"""
    known = _paths.get(id(module))
    if known is None or known[0]() is not module:
        calls = _here.calls
        outermost = calls[0][0]() if calls else module
        alone = calls and not module._parameters and not module._modules  # such as nn.ReLU()(x) in a forward
        if not alone and not getattr(module, "_is_replica", False) and any(m is module for m in outermost.modules()):
            _name(outermost)
        known = _paths.get(id(module))
        if known is None or known[0]() is not module:
            known = _remember(_paths, module, module, None)
    return known


def _remember(table, what, module, *value):
    """Until *module* goes."""
    key = id(what)

    def forget(known):
        if table.get(key, value)[0] is known:
            del table[key]
            _recorded.pop(key, None)
    table[key] = weakref.ref(module, forget), *value
    return table[key]


def _name_of(tensor):
    known, leaf, name = _names.get(id(tensor), (type(None), None, None))
    tables = [getattr(known(), "_parameters", {}), getattr(known(), "_buffers", {})]
    return name if any(leaf in table and table[leaf] is tensor for table in tables) else None


def _name(outermost):
    """Names *outermost*, its modules and its parameters, and records the addresses of these."""
    inner = [outermost]
    while type(inner[-1]).__name__ in _WRAPPERS:
        inner.append(getattr(inner[-1], _WRAPPERS[type(inner[-1]).__name__]))
    root = inner.pop()
    base = next(c.__name__ for c in type(root).__mro__ if "FSDPModule" not in [b.__name__ for b in c.__mro__])
    label = next((label for label, known in _labels.items() if known() is root), base)
    number = 1
    while label in _labels and _labels[label]() is not None and _labels[label]() is not root:
        number += 1
        label = f"{base} {number}"
    _labels[label] = weakref.ref(root)
    seen = set()
    for name, module in root.named_modules():
        path = f"{label}:{'.'.join(part for part in name.split('.') if part not in _PARTS)}".encode()
        _remember(_paths, module, module, path)
        _name_own(module, path, seen)
    for module in inner:
        _remember(_paths, module, module, _paths[id(root)][1])


def _name_own(module, path, seen, moved=False):
    """The parameters and buffers of *module* itself that are not in *seen*. *moved*: they keep the names they have."""
    for leaf, tensor in [*module._parameters.items(), *module._buffers.items()]:
        if tensor is None or id(tensor) in seen:
            continue
        seen.add(id(tensor))
        name = _name_of(tensor) if moved else None
        if name is None:
            name = path + (b"" if path.endswith(b":") else b".") + leaf.encode()
            _remember(_names, tensor, module, leaf, name)
        _record(tensor, _PARAMETER, tensor, name, _PARAMETER, seen)


@_safely
def _moved(module):
    known = _paths.get(id(module))
    if known is not None and known[0]() is module and known[1] is not None:
        _name_own(module, known[1], set(), moved=True)


# --- parameters, gradients, the optimizer's state ---

def _parts(tensor):
    """The tensors with storage that *tensor* consists of: a shard, the parts of a quantised one."""
    if type(tensor).__name__ == "FakeTensor":
        return []
    local = getattr(tensor, "_local_tensor", None)
    if local is not None:
        return _parts(local)
    flatten = getattr(tensor, "__tensor_flatten__", None)
    if flatten is not None:
        return [part for name in flatten()[0] for part in _parts(getattr(tensor, name))]
    return [tensor]


def _addresses(tensor):
    """Of storages; no storage is made an object of Python, which would keep its memory until after the program's end."""
    found = []
    for part in _parts(tensor):
        try:
            if part.is_cuda and part.layout is _torch.strided and part.data_ptr():
                found.append((part.data_ptr() - part.storage_offset() * part.element_size(), part.device.index))
        except (RuntimeError, ValueError):  # without storage: of vmap, not initialised
            pass
    return found


def _record(parameter, key, tensor, name, what, seen):
    """*key*: of *tensor* among those of *parameter*. *seen*: the addresses that have their new names."""
    known = _recorded.setdefault(id(parameter), {})
    before, now = known.get(key), (id(tensor), _addresses(tensor), name)
    known[key] = now
    for address in () if what == _STATE and now == before else now[1]:
        renamed = before and before[2] != name and address not in seen
        seen.add(address)
        _tensor(*address, name, what | _RENAMED if renamed else what)


def _named(optimizer):
    for group in optimizer.param_groups:
        for parameter in group["params"]:
            name = _name_of(parameter)
            if name is not None:
                yield parameter, name


def _before_step(optimizer, args, kwargs):
    seen = set()
    for parameter, name in _named(optimizer):
        if parameter.grad is not None:
            _record(parameter, _GRADIENT, parameter.grad, name, _GRADIENT, seen)


def _after_step(optimizer, args, kwargs):
    seen = set()
    for parameter, name in _named(optimizer):
        for key, value in optimizer.state.get(parameter, {}).items():
            if isinstance(value, _torch.Tensor):
                _record(parameter, key, value, name, _STATE, seen)
