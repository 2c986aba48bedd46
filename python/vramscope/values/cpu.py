# SPDX-License-Identifier: Apache-2.0
"""The CPU's run of an operation.

Most operations have a kernel of the same name on the CPU. A few that exist on CUDA alone, or that
take arguments which the CPU refuses, have an equivalent below. Random operations draw from a
generator of this package, seeded from the state of the device's generator, so that the program's
CPU generator stays as it is and a repeated draw gives the same numbers.
"""
from . import attention, cells, synced

DEVICE = None

_torch = None
_key = None
_generator = None


def start(torch):
    global _torch, _key, _generator, DEVICE
    _torch = torch
    _key = torch._C.DispatchKeySet(torch._C.DispatchKey.CPU)
    _generator = torch.Generator(device="cpu")
    DEVICE = torch.device("cpu")


def run(plan, args, kwargs, given, given_named):
    """The results of *plan*'s operation on CPU tensors. *given*: the arguments on the device."""
    equivalent = EQUIVALENTS.get(plan.name)
    if equivalent is not None:
        return equivalent(*args, **kwargs)
    if plan.name.startswith("_fft_"):  # MKL refuses the repeated elements of an expanded tensor
        args = [args[0].contiguous(), *args[1:]]
    if plan.random:
        return _random(plan, args, kwargs, given, given_named)
    return plan.redispatch(_key, *args, **kwargs)


def _device_generator(given, given_named):
    for a in list(given) + list(given_named.values()):
        if isinstance(a, _torch.Generator):
            return a
    device = next((a.device.index for a in given
                   if isinstance(a, _torch.Tensor) and a.is_cuda), None)
    if device is None:
        device = _torch.cuda.current_device()
    generators = _torch.cuda.default_generators
    return generators[device] if device < len(generators) else None


def _random(plan, args, kwargs, given, given_named):
    device = _device_generator(given, given_named)
    seed = device.initial_seed() ^ (device.get_offset() * 0x9E3779B97F4A7C15) if device else 0
    seed &= (1 << 63) - 1
    if plan.generator:
        _generator.manual_seed(seed)
        named = dict(kwargs)
        named.pop("generator", None)
        args = [None if isinstance(a, _torch.Generator) else a for a in args]
        return plan.redispatch(_key, *args, generator=_generator, **named)
    state = _torch.random.default_generator.get_state()
    try:
        _torch.random.default_generator.manual_seed(seed)
        return plan.redispatch(_key, *args, **kwargs)
    finally:
        _torch.random.default_generator.set_state(state)


# ---- equivalents of operations that the CPU lacks ----

def _of_halves(name):
    """A softmax, and its gradient, whose result may be wider than its input."""
    def forward(x, dim, half_to_float):
        return getattr(_torch.ops.aten, name).default(x.float() if half_to_float else x, dim, False)

    def backward(grad, output, dim, input_dtype):
        operation = getattr(_torch.ops.aten, f"{name}_backward_data").default
        return operation(grad, output, dim, output.dtype).to(input_dtype)

    return {name: forward, f"{name}_backward_data": backward}


def _batch_norm(x, weight, bias, mean, variance, training, momentum, epsilon):
    result = _torch.ops.aten.native_batch_norm.default(
        x, weight, bias, mean, variance, training, momentum, epsilon)
    return result + (_torch._VF.empty(0, dtype=_torch.uint8, device="cpu"),)


def _batch_norm_backward(x, grad, weight, mean, variance, saved_mean, saved_variance, epsilon,
                         reserve):
    return _torch.ops.aten.native_batch_norm_backward.default(
        grad, x, weight, mean, variance, saved_mean, saved_variance, True, epsilon,
        [True, True, True])


def _rms_norm_backward(grad, x, shape, rstd, weight, wanted):
    grad, normal = grad.to(rstd.dtype), x.to(rstd.dtype) * rstd
    inner = list(range(x.dim() - len(shape), x.dim()))
    to_normal = grad if weight is None else grad * weight
    to_x = (to_normal - normal * (to_normal * normal).mean(inner, keepdim=True)) * rstd
    to_weight = None
    if wanted[1] and weight is not None:
        to_weight = (grad * normal).flatten(0, inner[0] - 1).sum(0) if inner[0] else grad * normal
        to_weight = to_weight.to(weight.dtype)
    return to_x.to(x.dtype) if wanted[0] else None, to_weight


EQUIVALENTS = {
    "_fused_rms_norm_backward": _rms_norm_backward,
    **_of_halves("_softmax"),
    **_of_halves("_log_softmax"),
    "cudnn_batch_norm": _batch_norm,
    "cudnn_batch_norm_backward": _batch_norm_backward,
    **attention.EQUIVALENTS,
    **cells.EQUIVALENTS,
    **synced.EQUIVALENTS,
}
