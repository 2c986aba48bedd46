# SPDX-License-Identifier: Apache-2.0
"""How operations are seen: by a dispatch key of PyTorch that nothing else uses.

A key of the dispatcher below autograd, with kernels in Python, and set per thread once CUDA is in
use. No mode is on a stack: torch.compile, functorch, checkpointing, other modes and subclasses
work as without it, and the backward threads inherit it from the thread that calls backward.
Composite operations and views fall through the key at no cost. The kernels are registered one by one,
since PyTorch cannot call a fallback in Python while a mode is active.

Until PyTorch 2.14 the key lies above that of modes and tensor subclasses, and PyTorch excludes it while
a __torch_dispatch__ runs. There a second key, below Python's, sees the operations: all but those that
make a tensor from none and those on sparse tensors. PyTorch counts it as a backend, for which it would run
an operation's composite kernel where the tensors' own backend has a kernel: each such operation gets an
entry that passes it on, also those that are registered later.

Threads that Python starts get the key when they start; the child of a fork loses it, since it cannot
use CUDA.
"""
import atexit
import importlib.machinery
import os
import threading

from . import alias, driver, hide, kernels, notes, plans, shared

KEY = "Fake"
INNER_KEY = "CustomRNGKeyId"

_keys = [KEY]    # those in use
_libraries = {}  # by namespace; registrations end with their library objects
_on = False      # operations are seen


def start(torch, limit):
    """Called by the thread that initialises CUDA, or before that: the second call does nothing."""
    if _on or not driver.load():
        return
    try:
        _begin(torch, limit)
    except Exception:
        driver.give_up()
        raise


def _begin(torch, limit):
    global _on
    C = torch._C
    keys = _choose_keys(C)
    from . import shadow
    _on = True
    alias.start(torch)
    handler = shadow.Shadow(torch, keys, limit)
    _register(torch, handler)
    _follow_extensions(torch, handler)
    _follow_registrations(torch)
    shared.start(torch, handler)
    kernels.start(torch, handler)
    _pass_higher_order(torch, keys)
    _include(torch)
    _follow_threads(torch)
    _stay_out_of_fake_kernels(torch)
    os.register_at_fork(after_in_child=lambda: torch.cuda._initialized and _include(torch, False))
    notes.at_exit()
    if INNER_KEY in _keys:
        atexit.register(_list_replaced, torch)


def _choose_keys(C):
    """The dispatch keys, from above: KEY alone if it lies below that of Python."""
    key = C._dispatch_key_parse(KEY)
    if C._dispatch_keyset_full_after(key).has(C.DispatchKey.Python):
        _keys.append(INNER_KEY)
    keys = [C._dispatch_key_parse(name) for name in _keys]
    for name, key in zip(_keys, keys):
        if C._dispatch_has_backend_fallback(key):
            raise RuntimeError(f"PyTorch uses the dispatch key {name} itself")
    return keys


def _include(torch, on=True):
    for name in _keys:
        torch._C._dispatch_tls_set_dispatch_key_included(name, on)


def _follow_threads(torch):
    bootstrap = threading.Thread._bootstrap_inner

    def _bootstrap_inner(self):
        _include(torch)
        bootstrap(self)

    threading.Thread._bootstrap_inner = _bootstrap_inner


def _stay_out_of_fake_kernels(torch):
    """A kernel in Python is always handed over to tensor subclasses, also where PyTorch has
    switched that off to run the shape function of a fake tensor. There the key is not set."""
    C = torch._C
    original = C._set_meta_in_tls_dispatch_include

    def _set_meta_in_tls_dispatch_include(on):
        original(on)
        if on:
            _include(torch, False)  # the caller restores all keys

    C._set_meta_in_tls_dispatch_include = _set_meta_in_tls_dispatch_include


def _register(torch, handler):
    """A kernel for each operation of PyTorch's that has one of its own on CUDA. All others fall
    through: views, composites, and those that only handle memory."""
    C = torch._C
    everything = _libraries["_"] = torch.library.Library("_", "IMPL")
    for name in _keys:
        everything.fallback(torch.library.fallthrough_kernel, name)
    for full in C._dispatch_get_all_op_names():
        if _is_seen(torch, full):
            _handle(torch, handler, full)
        else:
            _pass(torch, full)


def _is_seen(torch, full):
    """Does the handler get this operation?"""
    C = torch._C
    has_kernel = C._dispatch_has_kernel_for_dispatch_key
    namespace, _, name = full.partition("::")
    base, _, overload = name.partition(".")
    if namespace == "aten":
        if base in plans.SEEN_WHOLE and not overload:
            return True
        return (base not in plans.PASSED and any(has_kernel(full, k) for k in plans.BACKENDS)
                and not _is_view(C._get_schema(full.partition(".")[0], overload)))
    if namespace in plans.COLLECTIVE_NAMESPACES:
        return has_kernel(full, "CUDA")
    return _is_extension(torch, full)


def _is_replaced(torch, full):
    """Would INNER_KEY run a composite kernel where a tensor's own backend has a kernel?"""
    has_kernel = torch._C._dispatch_has_kernel_for_dispatch_key
    return (INNER_KEY in _keys and not has_kernel(full, INNER_KEY)
            and any(has_kernel(full, key) for key in plans.COMPOSITE)
            and any(has_kernel(full, key) for key in plans.BELOW_INNER_KEY))


def _pass(torch, full):
    """The operation *full* is not handled: no key of ours may choose its kernel."""
    if _is_replaced(torch, full):
        _impl(torch, full, torch.library.fallthrough_kernel, INNER_KEY)


def _list_replaced(torch):
    """Operations of libraries that were loaded where nothing here saw it."""
    for full in torch._C._dispatch_get_all_op_names():
        if _is_replaced(torch, full):
            notes.write("replaced", full, "if called, its composite kernel ran instead of the one for CUDA")


def _handle(torch, handler, full):
    """*handler* gets the operation *full*."""
    namespace, _, name = full.partition("::")
    base, _, overload = name.partition(".")
    foreign = (namespace not in plans.PYTORCH_NAMESPACES and
               not torch._C._dispatch_has_kernel_for_dispatch_key(full, "CPU"))
    plan = plans.Plan(handler, namespace, base, overload, foreign)
    for key, below in zip(_keys, handler.below):
        _impl(torch, full, plan.kernel(below), key, with_keyset=True)


def _impl(torch, full, kernel, key, **options):
    """Registers the kernel of an operation."""
    namespace, _, name = full.partition("::")
    library = _libraries.get(namespace)
    if library is None:
        library = _libraries[namespace] = torch.library.Library(namespace, "IMPL")
    library.impl(name, kernel, key, **options)


def _is_extension(torch, full):
    """Is it an operation of a library of its own (torchvision's nms, roi_align) with a kernel on
    CUDA? One that is written in Python is not: the operations that it calls are seen."""
    namespace, _, name = full.partition("::")
    in_python = getattr(torch.library, "_impls", ())
    return (namespace not in plans.PYTORCH_NAMESPACES and
            torch._C._dispatch_has_kernel_for_dispatch_key(full, "CUDA") and
            f"{namespace}/{name}/CUDA" not in in_python and
            f"{namespace}/{name.partition('.')[0]}/CUDA" not in in_python)


def _follow_extensions(torch, handler):
    """Operations of libraries that the program loads later, as such or as modules."""
    C = torch._C
    seen = set(C._dispatch_get_all_op_names())

    modules = importlib.machinery.ExtensionFileLoader
    for place, name in ((type(torch.ops), "load_library"), (modules, "create_module")):
        @hide.after(place, name, "the operations of an extension")
        def loaded(*_, **__):
            new = sorted(set(C._dispatch_get_all_op_names()) - seen)
            seen.update(new)
            for full in new:
                _handle(torch, handler, full) if _is_extension(torch, full) else _pass(torch, full)


def _follow_registrations(torch):
    """Kernels in Python that the program registers later."""
    @hide.after(torch.library.Library, "impl", "the registration of a kernel")
    def registered(_result, self, op_name, *_, **__):
        full = op_name if isinstance(op_name, str) else op_name.name()
        full = full if "::" in full else f"{self.ns}::{full}"
        if self is not _libraries.get(self.ns):
            _pass(torch, full)


def _pass_higher_order(torch, keys):
    """Operators that take functions (flex_attention, cond) have no kernel for the keys; the operations
    in these functions are seen. Those that are made later copy the list of keys."""
    torch._ops._HIGHER_ORDER_OP_DEFAULT_FALLTHROUGH_DISPATCH_KEYS.extend(keys)
    for operator in torch._ops._higher_order_ops.values():
        for key in keys:
            operator.fallthrough(key)


def _is_view(schema):
    aliases = [a.alias_info for a in schema.arguments]
    return (any(i is not None and not i.is_write for i in aliases)
            and not any(i is not None and i.is_write for i in aliases))
