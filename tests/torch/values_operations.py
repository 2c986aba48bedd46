# SPDX-License-Identifier: Apache-2.0
"""Operations on small tensors, each compared with the CPU, for check_values_operations.py; those that
the features (features/) compare are not repeated here.

    values_operations.py table      every function of the table below, on the CPU and on the device
    values_operations.py failures   errors inside the values package do not reach the program

A function takes x (6 x 8, normal), i (40 integers below 9) and m (6 x 8, a mask). Prints one line
for each difference, and exits with 1 if there is one that DIFFERENT does not list, or one of that
list that is gone.
"""
import contextlib
import gc
import sys
from unittest import mock

import torch
from torch.nn import functional as F
from torch.utils._python_dispatch import TorchDispatchMode

DIFFERENT = {}  # name: (before which release of torch, why its values are not the CPU's)


def like(x, *shape):
    return torch.ones(*shape, device=x.device)


def numbers(x, *values):
    return torch.tensor(values, device=x.device)


def image(x):
    return x.view(1, 1, 6, 8)


def assigned(x, index, value):
    x[index] = value
    return x


def after_refused_ones(x, mask):
    for _ in range(5):
        raised(lambda: x[mask])
        raised(lambda: x.add_(mask))
    return x.add_(1)[numbers(x, 3, 1)]


SHAPES_FROM_DATA = {
    "nonzero of nothing": lambda x, i, m: x[:0].nonzero(),
    "nonzero out": lambda x, i, m: torch.nonzero(
        x > 0, out=torch.empty(0, dtype=torch.long, device=x.device)),
    "unique": lambda x, i, m: torch.unique(i),
    "unique unsorted": lambda x, i, m: torch.unique(i, sorted=False).sort()[0],
    "unique_consecutive by dimension": lambda x, i, m: torch.unique_consecutive(i.view(20, 2), dim=0),
    "bincount with weights": lambda x, i, m: torch.bincount(i, weights=i.float(), minlength=20),
    "slice by a value": lambda x, i, m: x[:int((x[0] > 0).sum())],
}

INDEXING = {
    "assignment by mask": lambda x, i, m: assigned(x, m, 3.0),
    "assignment by mask of values": lambda x, i, m: assigned(x, m, x[m] * 2),
    "assignment by index": lambda x, i, m: assigned(x, numbers(x, 1, 3), 5.0),
    "index and sum after refused ones": lambda x, i, m: after_refused_ones(x, m[0, :5]),
    "scatter": lambda x, i, m: x.scatter(1, i[:6].view(6, 1) % 8, 1.0),
    "scatter_reduce": lambda x, i, m: torch.zeros(3, 8, device=x.device).scatter_reduce(
        0, torch.zeros(6, 8, dtype=torch.long, device=x.device), x, "amax"),
    "index_copy": lambda x, i, m: x.index_copy(0, numbers(x, 1, 2), x[3:5]),
    "searchsorted": lambda x, i, m: torch.searchsorted(x.flatten().sort()[0], x.flatten()),
    "bucketize": lambda x, i, m: torch.bucketize(x, numbers(x, -1.0, 0.0, 1.0)),
    "isin": lambda x, i, m: torch.isin(i, i[:2]),
}

REDUCTIONS = {
    "argsort": lambda x, i, m: x.argsort(),
    "max": lambda x, i, m: x.max(1),
    "aminmax": lambda x, i, m: torch.aminmax(x),
    "std": lambda x, i, m: x.std(1),
    "var_mean": lambda x, i, m: torch.var_mean(x, 1),
    "cumsum in place": lambda x, i, m: x.cumsum_(1),
    "any": lambda x, i, m: (x > 0).any(1),
    "all as a number": lambda x, i, m: (x > -9).all().item(),
    "any as a condition": lambda x, i, m: bool((x > 5).any()),
    "trace": lambda x, i, m: x[:, :6].trace(),
    "renorm": lambda x, i, m: x.renorm(2, 0, 1.0),
    "sum of nothing": lambda x, i, m: x[:0].sum(),
    "sum as a number": lambda x, i, m: x.sum().item() > 0,
    "sum of a chunk": lambda x, i, m: x.chunk(2, 1)[1].sum(),
    "tolist": lambda x, i, m: i.tolist(),
    "63 bits of a large number": lambda x, i, m: numbers(x, -2).view(torch.uint64).item() & ((1 << 63) - 1),
    "numpy": lambda x, i, m: int(i.cpu().numpy().sum()),
    "multinomial of one choice": lambda x, i, m: torch.multinomial(torch.eye(8, device=x.device)[:6], 1),
}

LAYERS = {
    "softmax": lambda x, i, m: x.softmax(1),
    "log_softmax": lambda x, i, m: x.log_softmax(1),
    "batch_norm": lambda x, i, m: F.batch_norm(x, like(x, 8) * 0, like(x, 8), training=True),
    "gelu": lambda x, i, m: F.gelu(x),
    "silu": lambda x, i, m: F.silu(x),
    "logsigmoid": lambda x, i, m: F.logsigmoid(x),
    "conv2d": lambda x, i, m: F.conv2d(image(x), like(x, 2, 1, 3, 3), padding=1),
    "conv_transpose2d": lambda x, i, m: F.conv_transpose2d(image(x), like(x, 1, 2, 3, 3)),
    "pad": lambda x, i, m: F.pad(x, (1, 1)),
    "unfold": lambda x, i, m: F.unfold(image(x), 3),
    "attention": lambda x, i, m: F.scaled_dot_product_attention(
        x.view(1, 1, 6, 8), x.view(1, 1, 6, 8), x.view(1, 1, 6, 8), is_causal=True),
    "LSTM cell": lambda x, i, m: torch.lstm_cell(
        x, (x, x), like(x, 32, 8), like(x, 32, 8), like(x, 32), like(x, 32)),
    "GRU cell": lambda x, i, m: torch.gru_cell(
        x, x, like(x, 24, 8), like(x, 24, 8), like(x, 24), like(x, 24)),
}

MATRICES = {
    "matmul": lambda x, i, m: x @ x.T,
    "addmm": lambda x, i, m: torch.addmm(x[:, :6], x, x.T),
    "baddbmm": lambda x, i, m: torch.baddbmm(x.view(2, 3, 8)[:, :, :3], x.view(2, 3, 8), x.view(2, 3, 8).mT),
    "kron": lambda x, i, m: torch.kron(x[:2], x[:2]),
    "qr": lambda x, i, m: torch.linalg.qr(x)[1].abs(),
    "matrix_norm": lambda x, i, m: torch.linalg.matrix_norm(x),
    "half matmul": lambda x, i, m: (x.half() @ x.half().T).float(),
    "fft": lambda x, i, m: torch.fft.fft(x),
}

ELEMENTS = {
    "lerp": lambda x, i, m: x.lerp(x * 2, 0.3),
    "addcmul": lambda x, i, m: x.addcmul(x, x, value=0.5),
    "power of a number": lambda x, i, m: 2 ** x,
    "number minus": lambda x, i, m: 1 - x,
    "clamp": lambda x, i, m: x.clamp(min=0),
    "integer division": lambda x, i, m: i // 2,
    "remainder": lambda x, i, m: i % 3,
    "bitwise and": lambda x, i, m: i & 1,
    "shift": lambda x, i, m: i << 1,
    "to double": lambda x, i, m: x.double(),
    "bfloat16": lambda x, i, m: (x.bfloat16() * 2).float(),
    "float8": lambda x, i, m: x.to(torch.float8_e4m3fn).float(),
    "int8": lambda x, i, m: (x * 10).to(torch.int8) + 1,
    "complex conjugate": lambda x, i, m: torch.view_as_real(torch.complex(x, x).conj() * 2),
    "add out": lambda x, i, m: torch.add(x, 1, out=torch.empty(0, device=x.device)),
    "add to a view": lambda x, i, m: (x[1:3].add_(1), x)[1],
    "multiply a column": lambda x, i, m: (x[:, 2].mul_(3), x)[1],
    "foreach add": lambda x, i, m: torch._foreach_add([x, x[0]], 1.0),
}

SHAPES = {
    "tril": lambda x, i, m: x.tril(),
    "diag": lambda x, i, m: x[0].diag(),
    "cat with nothing": lambda x, i, m: torch.cat([x[:0], x]),
    "expand": lambda x, i, m: x[:1].expand(6, 8) + x,
    "transpose": lambda x, i, m: x.T.contiguous().view(-1)[:5],
    "channels last": lambda x, i, m: x.view(1, 2, 3, 8).to(memory_format=torch.channels_last) * 2,
    "split_with_sizes_copy": lambda x, i, m: torch.split_with_sizes_copy(x, [2, 4]),
    "split_with_sizes_copy out": lambda x, i, m: torch.split_with_sizes_copy(
        x, [2, 4], out=(out := [like(x, 2, 8), like(x, 4, 8)])) or out,
}

SPARSE = {
    "COO transposed": lambda x, i, m: (x * m).to_sparse().t().coalesce().indices(),
    "CSR": lambda x, i, m: (x * m).to_sparse_csr().values(),
    "BSR": lambda x, i, m: (x * m).to_sparse_bsr((2, 2)).to_dense(),
    "nested to padded": lambda x, i, m: torch.nested.nested_tensor(
        [x[0], x[1]], layout=torch.jagged).to_padded_tensor(0.0),
}


class Plain(TorchDispatchMode):
    """Calls each operation as it is."""

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        return function(*args, **(kwargs or {}))


class Wrapped(torch.Tensor):
    """Calls each operation with the tensor inside."""

    @staticmethod
    def __new__(cls, inside):
        self = torch.Tensor._make_wrapper_subclass(cls, inside.shape, dtype=inside.dtype, device=inside.device)
        self.inside = inside
        return self

    @classmethod
    def __torch_dispatch__(cls, function, types, args=(), kwargs=None):
        plain = [a.inside if isinstance(a, Wrapped) else a for a in args]
        return cls(function(*plain, **(kwargs or {})))


def in_modes(function, count=1):
    def call(x, i, m):
        with contextlib.ExitStack() as stack:
            for _ in range(count):
                stack.enter_context(Plain())
            return function(x, i, m)
    return call


INSIDE_DISPATCH = {
    "in a mode": in_modes(lambda x, i, m: (x * 2 + 1).relu().sum(0)),
    "in two modes": in_modes(lambda x, i, m: x.softmax(-1) @ x.T, 2),
    "in a mode, in place": in_modes(lambda x, i, m: x.add_(1).mul_(2)),
    "in a mode, created": in_modes(lambda x, i, m: torch.arange(8., device=x.device) + x.new_zeros(8)),
    "in a mode, shape from data": in_modes(lambda x, i, m: x[m].sort()[0]),
    "in a mode, a number": in_modes(lambda x, i, m: numbers(x, x.sum().item(), float(m.sum()))),
    "in a subclass": lambda x, i, m: (Wrapped(x) * 2).relu().sum(1).inside,
    "in a subclass, product": lambda x, i, m: (Wrapped(x) @ Wrapped(x.T)).inside,
    "in a subclass, in a mode": in_modes(lambda x, i, m: Wrapped(x).exp().clone().inside),
}

GROUPS = (SHAPES_FROM_DATA, INDEXING, REDUCTIONS, LAYERS, MATRICES, ELEMENTS, SHAPES, SPARSE,
          INSIDE_DISPATCH)


def as_list(value):
    return list(value) if isinstance(value, (tuple, list)) else [value]


def difference(expected, found):
    """Why *found* is not *expected*, or an empty text."""
    if not isinstance(expected, torch.Tensor):
        return "" if expected == found else f"{found} instead of {expected}"
    if found.shape != expected.shape or found.dtype != expected.dtype:
        return f"{found.dtype} {tuple(found.shape)} instead of {expected.dtype} {tuple(expected.shape)}"
    found = found.cpu()
    if expected.dtype.is_floating_point or expected.dtype.is_complex:
        wide = torch.complex128 if expected.dtype.is_complex else torch.float64
        same = torch.allclose(expected.to(wide), found.to(wide), atol=1e-2, rtol=1e-3, equal_nan=True)
    else:
        same = torch.equal(expected, found)
    return "" if same else f"{found.flatten()[:4].tolist()} instead of {expected.flatten()[:4].tolist()}"


def compare(function, inputs):
    try:
        expected = as_list(function(*[t.clone() for t in inputs]))
        found = as_list(function(*[t.cuda() for t in inputs]))
        if len(expected) != len(found):
            return f"{len(found)} results instead of {len(expected)}"
        return next(filter(None, map(difference, expected, found)), "")
    except Exception as error:
        return f"{type(error).__name__}: {error}"


def constructors_replaced():
    """As in DeepSpeed's zero.Init: torch.empty and others make bfloat16, on the device."""
    def replaced(make):
        def made(*args, **kwargs):
            tensor = make(*args, **{"device": "cuda", **kwargs})
            return tensor.bfloat16() if tensor.is_floating_point() else tensor
        return made

    names = "arange", "empty", "empty_strided", "full", "ones", "tensor", "zeros"
    return mock.patch.multiple(torch, **{name: replaced(getattr(torch, name)) for name in names})


def under_replaced(x, i, m):
    return x * 0.37, x[m], i.clone()[2:5].fill_(7), F.batch_norm(x, None, None, training=True)


def table():
    torch.manual_seed(0)
    release = tuple(int(part) for part in torch.__version__.split(".")[:2])
    different = {name for name, (before, _) in DIFFERENT.items() if release < before}
    inputs = torch.randn(6, 8), torch.randint(0, 9, (40,)), torch.rand(6, 8) > 0.5
    with constructors_replaced():  # first: the package keeps the tensors that it makes
        what = compare(under_replaced, inputs)
    count = unexpected = 0
    if what:
        unexpected += 1
        print(f"constructors replaced: {what}")
    for name, function in ((n, f) for group in GROUPS for n, f in group.items()):
        count += 1
        what = compare(function, inputs)
        if bool(what) != (name in different):
            unexpected += 1
            print(f"{name}: {what or 'has the values of the CPU now'}", flush=True)
    print(f"{count} operations, {len(different)} known to differ, {unexpected} unexpected")
    return unexpected


def raising(*_args, **_kwargs):
    raise NotImplementedError("an error of the values package")


def raised(function):
    try:
        function()
    except Exception as error:
        return type(error).__name__
    return ""


def broken_parts():
    """Functions of the package, each of which is replaced by one that fails."""
    import vramscope_values as package  # loaded by the startup file of simulated runs
    shadow = package.shadow.Shadow
    yield from ((shadow, name) for name in ("collect", "is_small", "flat", "has_values", "state_of",
                                            "compute", "write", "finish", "not_computed",
                                            "device_of", "ordinary", "unseen", "copied"))
    yield from ((package.driver, "settle"), (package.alias, "of"), (package.blame, "read"),
                (package.threads, "one"), (package.cpu, "run"),
                (package.sparse, "run"))


def steps_of_program():
    x = torch.ones(4, 4, device="cuda", requires_grad=True)
    (x * 2 @ x).relu().sum().backward()
    mask = torch.ones(3, dtype=torch.bool, device="cuda")
    sparse = torch.eye(4, device="cuda").to_sparse()
    with torch.no_grad():
        x.add_(1).cpu()
    return x.grad.shape, mask.nonzero().shape[1], (sparse @ x).shape, x.sum().item()


def kept_after_error():
    """Bytes that an operation's own error keeps, without Python's search for cycles."""
    gc.collect()
    gc.disable()
    before = torch.cuda.memory_allocated()
    raised(lambda: torch.ones(2, 3, device="cuda") @ torch.ones(2, 3, device="cuda"))
    kept = torch.cuda.memory_allocated() - before
    gc.enable()
    return kept


def failures():
    failed = 0
    steps_of_program()
    kept = kept_after_error()
    if kept:
        failed += 1
        print(f"an error of an operation keeps {kept} bytes of its tensors")
    from vramscope_values import notes
    x, before, subclass = torch.ones(4, 4, device="cuda"), notes.read, type("Subclass", (torch.Tensor,), {})
    torch.sparse.mm(x.to_sparse(), x.as_subclass(subclass)).as_subclass(torch.Tensor).cpu()
    if notes.failed or notes.read == before:
        failed += 1
        print("a product of a sparse tensor and a subclass fails, or its read is not reported")
    for owner, name in broken_parts():
        original = getattr(owner, name)
        setattr(owner, name, raising)
        try:
            what = raised(steps_of_program)
            own = raised(lambda: torch.ones(2, 3, device="cuda") @ torch.ones(2, 3, device="cuda"))
        finally:
            setattr(owner, name, original)
        if what or own != "RuntimeError":
            failed += 1
            print(f"{owner.__name__}.{name} fails: {what or 'nothing'} reaches the program, and "
                  f"{own or 'no error'} instead of its own RuntimeError")
    print(f"{failed} errors reached the program")
    return failed


if __name__ == "__main__":
    sys.exit(1 if {"table": table, "failures": failures}[sys.argv[1]]() else 0)
