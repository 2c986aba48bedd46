# SPDX-License-Identifier: Apache-2.0
"""The loss over a large vocabulary in chunks, each with its part of the output projection.

A linear layer outside the repeated blocks with more outputs than inputs, and many, returns a
tensor without memory that stands for its result. Views, slices and casts of it are done on the
layer's input instead, and cross_entropy runs layer and loss chunk by chunk under a checkpoint, so that
the logits of one chunk exist at a time. Any other use computes the result as usual. Where cross_entropy
gets logits from elsewhere, the loss alone runs in chunks.
"""
import contextlib
import functools

from vramscope_values import hide

from . import effects, models

_CLASSES_MIN = 1024  # of fewer, the logits are not what fills the memory
_VIEWS = {"view", "reshape", "flatten", "unflatten", "squeeze", "unsqueeze", "__getitem__", "narrow",
          "contiguous"}
_TURNS = {"transpose", "swapaxes", "permute", "movedim"}
_CASTS = {"float", "half", "bfloat16", "to"}
_ASKS = {"size", "dim", "ndimension", "numel", "nelement", "stride", "is_contiguous", "is_floating_point",
         "get_device", "element_size", "is_complex", "is_sparse", "__len__", "__hash__", "shape", "ndim",
         "dtype", "device", "is_cuda", "layout", "requires_grad", "is_meta", "is_cpu", "names", "is_mps",
         "is_nested"}

torch = _linear = _cross_entropy = _effect = None
_chunks = 0
_inner = set()  # addresses of the weights in repeated blocks
_ready = False  # there is an optimizer: the blocks are known


def start(the_torch, effect, settings):
    global torch, _linear, _cross_entropy, _effect, _chunks
    torch, _effect, _chunks = the_torch, effect, settings["chunks"]
    effect.why = f"no cross_entropy of {_CLASSES_MIN} classes or more with gradients"
    models.at_each_optimizer(effect.refuse, _learn_blocks)
    functional = torch.nn.functional
    _linear, _cross_entropy = functional.linear, functional.cross_entropy
    functional.linear, functional.cross_entropy = hide.hidden(linear), hide.hidden(cross_entropy)
    _make_class()


def _learn_blocks(_optimizer):
    """Of FSDP2's modules the weights are there during their own forward alone."""
    global _ready
    _ready = not any(cls.__name__ == "FSDPModule" for m in models.roots() for cls in type(m).__mro__)
    for blocks in models.block_lists():
        _inner.update(id(p) for p in blocks.modules.parameters())


def linear(input, weight, bias=None):
    if (not _ready or torch.compiler.is_compiling() or not torch.is_grad_enabled()
            or type(input) is not torch.Tensor or not input.is_cuda or weight.dim() != 2
            or weight.shape[0] < max(_CLASSES_MIN, weight.shape[1] + 1) or id(weight) in _inner
            or not (input.requires_grad or weight.requires_grad)):
        return _linear(input, weight, bias)
    return Logits(Head(weight, bias), input)


class Head:
    """The layer, in the autocast of its call. Its result may be split or used otherwise, but not both."""

    def __init__(self, weight, bias):
        self.weight, self.bias, self.is_split, self.used_by = weight, bias, False, None
        self.autocast = torch.get_autocast_dtype("cuda") if torch.is_autocast_enabled("cuda") else None

    def context(self):
        if self.autocast is None or torch.is_autocast_enabled("cuda"):
            return contextlib.nullcontext()
        return torch.autocast("cuda", dtype=self.autocast)

    def __call__(self, hidden):
        return _linear(hidden, self.weight, self.bias)

    def note(self, split=False, used_by=None):
        self.is_split, self.used_by = self.is_split or split, self.used_by or used_by
        if self.used_by:
            _inner.add(id(self.weight))  # no output projection, or not to be split
            if self.is_split:
                _effect.refuse(f"the logits are used by {self.used_by} as well")


def _make_class():
    """Logits is a subclass of torch.Tensor, which exists only now."""
    global Logits

    class Logits(torch.Tensor):
        """The result of *head* on *hidden*, after the *casts* in order. *turn*: (function, args, kwargs) of
        the operation that has moved the classes from the last place, to be done last."""

        @staticmethod
        def __new__(cls, head, hidden, casts=(), turn=None):
            meta = torch.empty((*hidden.shape[:-1], head.weight.shape[0]), device="meta")
            meta = turn[0](meta, *turn[1], **turn[2]) if turn else meta
            dtype = casts[-1] if casts else head.autocast or hidden.dtype
            self = torch.Tensor._make_wrapper_subclass(cls, meta.shape, strides=meta.stride(), dtype=dtype,
                                                       device=hidden.device, requires_grad=True)
            self.head, self.hidden, self.casts, self.turn, self.made = head, hidden, casts, turn, None
            return self

        @classmethod
        def __torch_function__(cls, function, types, args=(), kwargs=None):
            try:
                return _use(function, args, kwargs or {})
            except BaseException as error:
                hide.strip(error)
                raise

        @classmethod
        def __torch_dispatch__(cls, function, types, args=(), kwargs=None):
            _effect.refuse(f"the logits are used by {function}, below autograd")
            return function(*_computed(args, function), **_computed(kwargs or {}, function))


def _use(function, args, kwargs):
    name = getattr(function, "__name__", "")
    if name == "__get__":
        name = getattr(function.__self__, "__name__", "")
    logits = args[0] if args and type(args[0]) is Logits else None
    if logits is not None:
        with torch._C.DisableTorchFunctionSubclass():
            if name in _ASKS:
                return function(*args, **kwargs)
            found = _follow(logits, name, function, args[1:], kwargs) if logits.made is None else None
            if found is not None:
                return found
    if name == "cross_entropy":
        return cross_entropy(*args, **kwargs)
    by = f"{name} ({effects.place()})"
    return function(*_computed(args, by), **_computed(kwargs, by))


def _follow(logits, name, function, args, kwargs):
    """The tensor that stands for the result of a view or cast; None if there is none."""
    if logits.turn is None and name in _VIEWS:
        hidden = _view(logits, name, function, args, kwargs)
        return None if hidden is None else Logits(logits.head, hidden, logits.casts)
    if logits.turn is None and name in _TURNS:
        return Logits(logits.head, logits.hidden, logits.casts, (function, args, kwargs))
    if name in _CASTS:
        meta = torch.empty(0, dtype=logits.dtype, device="meta")
        dtype = _to(args, kwargs) if name == "to" else function(meta).dtype
        if dtype is not None:
            casts = logits.casts if dtype == logits.dtype else (*logits.casts, dtype)
            return Logits(logits.head, logits.hidden, casts, logits.turn)
    return None


def _to(args, kwargs):
    """The dtype of a to() that changes nothing else; None if it may."""
    dtype = kwargs.get("dtype")
    for a in args:
        if type(a) is torch.dtype:
            dtype = a
        elif isinstance(a, (str, torch.device)) and torch.device(a).type != "cuda":
            return None
    return dtype


def _view(logits, name, function, args, kwargs):
    """The layer's input after the same view; None if the view splits or mixes classes."""
    hidden, classes = logits.hidden, logits.shape[-1]
    index = args[0] if args else None
    if name == "__getitem__" and type(index) is torch.Tensor:
        return function(hidden, index) if index.dtype == torch.bool and index.dim() < hidden.dim() else None
    meta = function(torch.empty(logits.shape, device="meta"), *args, **kwargs)
    if meta.dim() == 0 or meta.shape[-1] != classes:
        return None
    if name in ("view", "reshape", "flatten", "unflatten"):
        return hidden.reshape(*meta.shape[:-1], hidden.shape[-1])
    result = function(hidden, *args, **kwargs)
    return result if (*result.shape[:-1], classes) == tuple(meta.shape) and \
        result.shape[-1] == hidden.shape[-1] else None


def _computed(value, used_by):
    """*value* with real tensors."""
    if isinstance(value, (tuple, list)):
        return type(value)(_computed(v, used_by) for v in value)
    if isinstance(value, dict):
        return {k: _computed(v, used_by) for k, v in value.items()}
    if type(value) is not Logits:
        return value
    value.head.note(used_by=used_by)
    if value.made is None:
        with torch._C.DisableTorchFunctionSubclass(), value.head.context():
            real = value.head(value.hidden)
            for dtype in value.casts:
                real = real.to(dtype)
            value.made = value.turn[0](real, *value.turn[1], **value.turn[2]) if value.turn else real
    return value.made


def cross_entropy(input, target, weight=None, size_average=None, ignore_index=-100, reduce=None,
                  reduction="mean", label_smoothing=0.0):
    call = functools.partial(_cross_entropy, weight=weight, size_average=size_average,
                             ignore_index=ignore_index, reduce=reduce, reduction=reduction,
                             label_smoothing=label_smoothing)
    if torch.compiler.is_compiling():
        return call(input, target)
    lazy = type(input) is Logits
    with torch._C.DisableTorchFunctionSubclass():
        large = input.dim() > 1 and input.is_cuda and input.shape[1] >= _CLASSES_MIN
    plain = type(input) is torch.Tensor and input.requires_grad and input.dim() == 2
    if (not large or not torch.is_grad_enabled() or not (lazy or plain)
            or weight is not None or size_average is not None or reduce is not None
            or reduction == "none" or target.is_floating_point() or type(target) is not torch.Tensor
            or lazy and target.shape != input.hidden.shape[:-1]):
        if large and torch.is_grad_enabled():
            _effect.why = "cross_entropy has weights or probabilities, or reduction='none'"
        return call(_computed(input, "cross_entropy"), target)
    options = {"ignore_index": ignore_index, "label_smoothing": label_smoothing, "reduction": "sum"}
    head = input.head if lazy else None
    casts = input.casts if lazy else ()
    rows = input.hidden.reshape(-1, input.hidden.shape[-1]) if lazy else input
    what, of = ("logits", "h") if not lazy else ("hidden", "model.head(h)" + (".float()" if casts else ""))
    code = (f"loss = sum(checkpoint(lambda h, t: F.cross_entropy({of}, t, reduction='sum'), h, t, "
            f"use_reentrant=False) for h, t in zip({what}.chunk({_chunks}), targets.chunk({_chunks})))"
            f" / (targets != {ignore_index}).sum()" + ("" if lazy else "  # the loss alone: the logits stay"))

    def of_chunk(part, targets):
        logits = head(part) if head else part
        for dtype in casts:
            logits = logits.to(dtype)
        return _cross_entropy(logits, targets, **options)

    targets = target.reshape(-1)
    from torch.utils.checkpoint import checkpoint
    _effect.took(code)
    if lazy:
        head.note(split=True)
    with torch._C.DisableTorchFunctionSubclass(), head.context() if head else contextlib.nullcontext():
        loss = sum(checkpoint(of_chunk, p, t, use_reentrant=False)
                   for p, t in zip(rows.chunk(_chunks), targets.chunk(_chunks)))
        return loss / (targets != ignore_index).sum() if reduction == "mean" else loss
