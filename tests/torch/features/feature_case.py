# SPDX-License-Identifier: Apache-2.0
"""What the feature cases share: the table of cases and the comparison with the CPU.

A case is a function with the decorator `feature`, or in a table of `features`. It passes when it
returns. A case that computes something calls `same`, which runs one function on the CPU and on the
device and compares shapes, types and values; or `alike`, which leaves out the values, for results
that are random by design.
"""
import copy

import torch

CASES = {}


class NotRun(Exception):
    """Raised by a case that needs something which this machine lacks."""


class Unsupported(Exception):
    """Raised by a case when PyTorch refuses because of what the device says of itself."""


class Case:
    def __init__(self, function, name, options):
        self.function, self.name = function, name
        self.group = function.__module__.removeprefix("feature_")
        self.since = options.pop("since", None)  # first torch release that has the feature
        self.device = options.pop("device", "h100-80g")  # the simulated GPU
        self.timeout = options.pop("timeout", 180)  # seconds
        self.env = options.pop("env", {})
        if options:
            raise TypeError(f"{name}: unknown options {sorted(options)}")


def feature(name, **options):
    def register(function):
        if name in CASES:
            raise ValueError(f"two features are called {name}")
        CASES[name] = Case(function, name, options)
        return function
    return register


def features(table):
    """*table*: the cases by name; those of several comparisons are a tuple of them."""
    for name, function in table.items():
        feature(name)(function)


def tensors(value):
    """The tensors of a nested result, in order."""
    if isinstance(value, torch.Tensor):
        return [value]
    if isinstance(value, dict):
        value = [value[key] for key in sorted(value)]
    if isinstance(value, (list, tuple)):
        return [t for part in value for t in tensors(part)]
    return []


def to_device(value):
    if isinstance(value, torch.Tensor):
        moved = value.detach().cuda()
        return moved.requires_grad_(value.requires_grad)
    if isinstance(value, torch.nn.Module):
        return copy.deepcopy(value).cuda()
    if isinstance(value, (list, tuple)):
        return type(value)(to_device(part) for part in value)
    return value


def check(held, what):
    if not held:
        raise AssertionError(what)


def compare_layout(expected, found):
    check(len(expected) == len(found), f"{len(found)} tensors, the CPU gives {len(expected)}")
    for i, (cpu, gpu) in enumerate(zip(expected, found)):
        check(gpu.device.type == "cuda", f"result {i} is on {gpu.device}")
        check(cpu.shape == gpu.shape, f"result {i} has shape {tuple(gpu.shape)}, "
                                      f"the CPU gives {tuple(cpu.shape)}")
        check(cpu.dtype == gpu.dtype, f"result {i} has type {gpu.dtype}, the CPU gives {cpu.dtype}")


def dense(tensor):
    return tensor.to_dense() if tensor.layout != torch.strided else tensor


def alike(function, *inputs):
    """Same number, shapes and types of tensors as on the CPU."""
    expected, found = tensors(function(*inputs)), tensors(function(*to_device(inputs)))
    compare_layout(expected, found)
    return found


def same(function, *inputs, tolerance=1e-2):
    """The CPU's shapes, types and values."""
    expected, found = tensors(function(*inputs)), tensors(function(*to_device(inputs)))
    compare_layout(expected, found)
    for i, (cpu, gpu) in enumerate(zip(expected, found)):
        cpu, gpu = dense(cpu.detach()), dense(gpu.detach()).cpu()
        if cpu.dtype.is_floating_point or cpu.dtype.is_complex:
            wide = torch.complex128 if cpu.dtype.is_complex else torch.float64
            equal = torch.allclose(cpu.to(wide), gpu.to(wide), rtol=tolerance, atol=tolerance,
                                   equal_nan=True)
        else:
            equal = torch.equal(cpu, gpu)
        check(equal, f"result {i} of {len(expected)} has other values than on the CPU: "
                     f"{gpu.flatten()[:4].tolist()} instead of {cpu.flatten()[:4].tolist()}")
    return found


def gradients(function, *inputs):
    """Runs *function*, backward from the sum of its results, and gives results and gradients."""
    leaves = [t for t in tensors(list(inputs)) if t.requires_grad]
    leaves += [p for m in inputs if isinstance(m, torch.nn.Module) for p in m.parameters()]
    results = tensors(function(*inputs))
    grads = torch.autograd.grad(sum(r.float().sum() if not r.dtype.is_complex else r.abs().sum()
                                    for r in results if r.requires_grad), leaves)
    return [r.detach() for r in results] + list(grads)


def same_gradients(function, *inputs, tolerance=1e-2):
    return same(lambda *a: gradients(function, *a), *inputs, tolerance=tolerance)


def alike_gradients(function, *inputs):
    return alike(lambda *a: gradients(function, *a), *inputs)


def leaf(*shape, dtype=torch.float32, scale=1.0):
    return (torch.randn(*shape) * scale).to(dtype).requires_grad_()
