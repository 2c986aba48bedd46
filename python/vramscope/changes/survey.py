# SPDX-License-Identifier: Apache-2.0
"""What could be changed in the program, as JSON in the file of VRAMSCOPE_SURVEY (%p: the process id).

Written after the first two steps of the optimizer that was created first, and at the end of the process,
which an uncaught out-of-memory error is too. The activations of a block are the growth of PyTorch's
allocated memory while it runs forward with gradients, in the first step. Nothing here allocates on the
device.
"""
import atexit
import ctypes
import functools
import json
import os
import weakref

from vramscope_values import hide, notes

from . import advised, effects, models

SCHEMA = "vramscope.survey/1"
BACKENDS = dict(enumerate(("math", "flash", "efficient", "cudnn")))  # torch.nn.attention.SDPBackend

torch = None
_path = ""
_optimizers, _lists = {}, {}  # by weak reference: facts of each optimizer, and module list
_calls = {"losses": {}, "attention": {}}  # by place: facts of the first call there
_entries = {"forward": None, "backward": None}
_steps = 0
_autocast = None
_kept = {"parameters": {"bytes": 0}, "distributed": None}  # at the end of the process they may be gone


def start(the_torch, path):
    global torch, _path
    torch, _path = the_torch, path.replace("%p", str(os.getpid()))
    models.at_each_optimizer(_failed, _survey_optimizer)
    _see(torch.nn.functional, "cross_entropy", _see_loss)
    _see(torch.nn.functional, "scaled_dot_product_attention", _see_attention)
    _see(torch.autograd, "_engine_run_backward", lambda *_, **__: _enter("backward"))
    for cls in (torch.optim.Optimizer, torch.nn.Module):
        _see(cls, "zero_grad", _see_zero_grad)
    from torch.optim import optimizer
    optimizer.register_optimizer_step_post_hook(_after_step)
    atexit.register(_end, os.getpid())


def _failed(text):
    notes.once("failed", "survey", text)


def _see(owner, name, see):
    """*see* gets the arguments of each call, before it."""
    @hide.replace(owner, name)
    def call(original, *args, **kwargs):
        if not torch.compiler.is_compiling():
            try:
                see(*args, **kwargs)
            except Exception as error:  # of wrong arguments as well, of which the call speaks itself
                _failed(f"{name}: {type(error).__name__}: {error}")
        return original(*args, **kwargs)


def _enter(what):
    if _entries[what] is None:
        _entries[what] = {"place": effects.place()}


def _see_call(table, tensor, facts):
    if tensor.is_cuda and torch.is_grad_enabled() and (place := effects.place()) not in _calls[table]:
        _calls[table][place] = {"place": place, **facts(), "bytes": _bytes([tensor])}


def _see_loss(input, target, *_, **__):
    classes = input.shape[1 if input.dim() > 1 else 0]
    _see_call("losses", input, lambda: {"rows": input.numel() // classes, "classes": classes})


def _see_attention(query, *args, **kwargs):
    _see_call("attention", query,
              lambda: {"backend": BACKENDS.get(torch._fused_sdp_choice(query, *args, **kwargs))})


def _see_zero_grad(_self, set_to_none=True):
    for facts in _optimizers.values():
        facts["set_to_none"] = set_to_none and facts["set_to_none"] is not False


def _survey_optimizer(optimizer):
    parameters = [p for group in optimizer.param_groups for p in group["params"]]
    group = optimizer.param_groups[0] if optimizer.param_groups else {}
    _optimizers[weakref.ref(optimizer)] = {
        "class": type(optimizer).__name__, "place": effects.place(), "fused": group.get("fused"),
        "foreach": group.get("foreach"), "parameter_bytes": _bytes(parameters), "state_bytes": 0,
        "dtypes": sorted({_name(p.dtype) for p in parameters}), "set_to_none": None}
    for blocks in models.block_lists():
        if (key := weakref.ref(blocks.modules)) not in _lists:
            facts = _lists[key] = {
                "path": blocks.path, "class": blocks.class_name, "count": blocks.count,
                "place": blocks.place(), "activation_bytes": 0, "measured": 0,
                "parameter_bytes": _bytes(blocks.modules.parameters()), "checkpointed": False,
                "compiled": models.compiled()}
            for block in blocks.children:
                models.around(block, functools.partial(_measure, facts))
    for module in models.trained(optimizer):
        models.around(module, _see_forward)


def _see_forward(_module, call, args, kwargs):
    if torch.is_grad_enabled():
        _enter("forward")
    return call(*args, **kwargs)


def _measure(facts, block, call, args, kwargs):
    global _autocast
    if _steps or not torch.is_grad_enabled() or torch._C._current_graph_task_id() != -1:
        return call(*args, **kwargs)
    if torch.is_autocast_enabled("cuda"):
        _autocast = _name(torch.get_autocast_dtype("cuda"))
    if models.inside_checkpoint() or (getattr(block, "gradient_checkpointing", False) and block.training):
        facts["checkpointed"] = True
    before = torch.cuda.memory_allocated()
    result = call(*args, **kwargs)
    facts["activation_bytes"] += torch.cuda.memory_allocated() - before
    facts["measured"] += 1
    return result


def _after_step(optimizer, _args, _kwargs):
    global _steps
    facts = _optimizers.get(weakref.ref(optimizer))
    if facts is None or _steps >= 2:
        return
    try:
        facts["state_bytes"] = _bytes(v for s in optimizer.state.values() for v in s.values()
                                      if isinstance(v, torch.Tensor) and v.is_cuda)
    except Exception as error:
        _failed(f"state of {type(optimizer).__name__}: {type(error).__name__}: {error}")
    if facts is next(iter(_optimizers.values())):
        _steps += 1
        _write(os.getpid())


def _bytes(tensors):
    """Of distributed tensors, the part in this process."""
    local = (getattr(t, "_local_tensor", t) for t in tensors)
    return sum(t.numel() * t.element_size() for t in local)


def _name(dtype):
    return str(dtype).removeprefix("torch.")


def _parameters():
    """Bytes of the parameters on the device, trained or not, by type."""
    sizes = {}
    seen = set()
    for root in models.roots():
        for p in root.parameters():
            if id(p) not in seen and p.is_cuda:
                seen.add(id(p))
                sizes[_name(p.dtype)] = sizes.get(_name(p.dtype), 0) + _bytes([p])
    return {"bytes": sum(sizes.values()), **sizes}


def _distributed():
    dist = torch.distributed
    if not dist.is_available() or not dist.is_initialized():
        return None
    kinds = {"DistributedDataParallel": "ddp", "FullyShardedDataParallel": "fsdp", "FSDPModule": "fsdp2"}
    names = {c.__name__ for m in models.roots() for x in m.modules() for c in type(x).__mro__}
    kind = next((kinds[name] for name in kinds if name in names), "other")
    return {"world_size": dist.get_world_size(), "kind": kind}


def _end(pid):
    """After an interrupt Python ends by the signal, without the end of the recording: kernels that have not
    run yet would be missing in the trace."""
    _write(pid)
    try:
        if pid == os.getpid() and torch.cuda.is_initialized():
            torch.cuda.synchronize()
            ctypes.CDLL(None).vramscope_flush()
    except Exception as error:
        _failed(f"kernels of the last step are missing: {type(error).__name__}: {error}")


def _write(pid):
    if pid != os.getpid() or not effects.is_programs():
        return
    try:
        now = _parameters()
        if now["bytes"] > _kept["parameters"]["bytes"]:
            _kept["parameters"] = now
        _kept["distributed"] = _distributed() or _kept["distributed"]
        survey = {
            "schema": SCHEMA, "rank": int(os.environ.get("RANK") or 0),
            "torch": torch.__version__.split("+")[0],
            "module_lists": sorted(_lists.values(), key=lambda f: (-f["activation_bytes"], f["path"])),
            "optimizers": list(_optimizers.values()), "autocast": _autocast,
            **{table: list(calls.values()) for table, calls in _calls.items()},
            **_entries, "steps": _steps, **_kept}
        text = json.dumps({**survey, "changes": advised.rows(survey)})
        part = f"{_path}.{pid}.part"
        with open(part, "w", encoding="utf-8") as f:
            f.write(text + "\n")
        os.replace(part, _path)
    except Exception as error:
        _failed(f"not written: {type(error).__name__}: {error}")
