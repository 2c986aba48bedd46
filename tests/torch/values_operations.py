# SPDX-License-Identifier: Apache-2.0
"""Operations on small tensors, each compared with the CPU, for check_values_operations.py.

    values_operations.py table      every function of the table below, on the CPU and on the device
    values_operations.py failures   errors inside the values package do not reach the program

A function takes x (6 x 8, normal), i (40 integers below 9) and m (6 x 8, a mask). Prints one line
for each difference, and exits with 1 if there is one that DIFFERENT does not list, or one of that
list that is gone.
"""
import contextlib
import gc
import sys

import torch
from torch.nn import functional as F
from torch.utils._python_dispatch import TorchDispatchMode

DIFFERENT = {}  # name: (before which release of torch, why its values are not the CPU's)


def like(x, *shape):
    return torch.ones(*shape, device=x.device)


def numbers(x, *values):
    return torch.tensor(values, device=x.device)


def spd(x):
    return x @ x.T + 9 * torch.eye(6, device=x.device)


def square(x):
    return x[:, :6] + 9 * torch.eye(6, device=x.device)


def image(x):
    return x.view(1, 1, 6, 8)


def assigned(x, index, value):
    x[index] = value
    return x


SHAPES_FROM_DATA = {
    "nonzero": lambda x, i, m: m.nonzero(),
    "nonzero as tuple": lambda x, i, m: m.nonzero(as_tuple=True),
    "nonzero of nothing": lambda x, i, m: x[:0].nonzero(),
    "nonzero out": lambda x, i, m: torch.nonzero(
        x > 0, out=torch.empty(0, dtype=torch.long, device=x.device)),
    "boolean index": lambda x, i, m: x[m],
    "masked_select": lambda x, i, m: torch.masked_select(x, m),
    "where of a condition": lambda x, i, m: torch.where(m),
    "argwhere": lambda x, i, m: torch.argwhere(m),
    "unique": lambda x, i, m: torch.unique(i),
    "unique with inverse and counts": lambda x, i, m: torch.unique(
        i, return_inverse=True, return_counts=True),
    "unique unsorted": lambda x, i, m: torch.unique(i, sorted=False).sort()[0],
    "unique by dimension": lambda x, i, m: torch.unique(
        i.view(20, 2), dim=0, return_inverse=True, return_counts=True),
    "unique_consecutive": lambda x, i, m: torch.unique_consecutive(
        i, return_inverse=True, return_counts=True),
    "unique_consecutive by dimension": lambda x, i, m: torch.unique_consecutive(i.view(20, 2), dim=0),
    "bincount": lambda x, i, m: torch.bincount(i),
    "bincount with weights": lambda x, i, m: torch.bincount(i, weights=i.float(), minlength=20),
    "repeat_interleave": lambda x, i, m: torch.repeat_interleave(i[:5]),
    "repeat_interleave of rows": lambda x, i, m: torch.repeat_interleave(x, i[:6], dim=0),
    "one_hot": lambda x, i, m: F.one_hot(i),
    "slice by a value": lambda x, i, m: x[:int((x[0] > 0).sum())],
}

INDEXING = {
    "assignment by mask": lambda x, i, m: assigned(x, m, 3.0),
    "assignment by mask of values": lambda x, i, m: assigned(x, m, x[m] * 2),
    "assignment by index": lambda x, i, m: assigned(x, numbers(x, 1, 3), 5.0),
    "gather": lambda x, i, m: x.gather(1, i[:6].view(6, 1) % 8),
    "scatter": lambda x, i, m: x.scatter(1, i[:6].view(6, 1) % 8, 1.0),
    "scatter_add": lambda x, i, m: torch.zeros(9, device=x.device).scatter_add_(0, i, i.float()),
    "scatter_reduce": lambda x, i, m: torch.zeros(3, 8, device=x.device).scatter_reduce(
        0, torch.zeros(6, 8, dtype=torch.long, device=x.device), x, "amax"),
    "index_add": lambda x, i, m: torch.zeros(6, 8, device=x.device).index_add_(
        0, numbers(x, 1, 1, 2), x[:3]),
    "index_select": lambda x, i, m: x.index_select(0, numbers(x, 1, 1)),
    "index_copy": lambda x, i, m: x.index_copy(0, numbers(x, 1, 2), x[3:5]),
    "take": lambda x, i, m: x.take(numbers(x, 1, 9)),
    "masked_fill": lambda x, i, m: x.masked_fill(m, -1.0),
    "masked_scatter": lambda x, i, m: x.masked_scatter(m, x),
    "searchsorted": lambda x, i, m: torch.searchsorted(x.flatten().sort()[0], x.flatten()),
    "bucketize": lambda x, i, m: torch.bucketize(x, numbers(x, -1.0, 0.0, 1.0)),
    "isin": lambda x, i, m: torch.isin(i, i[:2]),
    "embedding": lambda x, i, m: F.embedding(i, torch.arange(90.0, device=i.device).view(9, 10)),
    "embedding_bag": lambda x, i, m: F.embedding_bag(
        i.view(4, 10), torch.arange(90.0, device=i.device).view(9, 10)),
}

REDUCTIONS = {
    "topk": lambda x, i, m: x.topk(3),
    "sort": lambda x, i, m: x.sort(stable=True),
    "argsort": lambda x, i, m: x.argsort(),
    "kthvalue": lambda x, i, m: x.kthvalue(2),
    "max": lambda x, i, m: x.max(1),
    "median": lambda x, i, m: x.median(),
    "aminmax": lambda x, i, m: torch.aminmax(x),
    "prod": lambda x, i, m: x.prod(1),
    "std": lambda x, i, m: x.std(1),
    "var_mean": lambda x, i, m: torch.var_mean(x, 1),
    "logsumexp": lambda x, i, m: x.logsumexp(1),
    "cumsum": lambda x, i, m: x.cumsum(1),
    "cumsum in place": lambda x, i, m: x.cumsum_(1),
    "cummax": lambda x, i, m: x.cummax(1),
    "histc": lambda x, i, m: torch.histc(x, 5),
    "any": lambda x, i, m: (x > 0).any(1),
    "all as a number": lambda x, i, m: (x > -9).all().item(),
    "any as a condition": lambda x, i, m: bool((x > 5).any()),
    "allclose": lambda x, i, m: torch.allclose(x, x),
    "equal": lambda x, i, m: torch.equal(x, x + 1),
    "count_nonzero": lambda x, i, m: torch.count_nonzero(m),
    "trace": lambda x, i, m: x[:, :6].trace(),
    "renorm": lambda x, i, m: x.renorm(2, 0, 1.0),
    "sum of nothing": lambda x, i, m: x[:0].sum(),
    "sum as a number": lambda x, i, m: x.sum().item() > 0,
    "sum of a chunk": lambda x, i, m: x.chunk(2, 1)[1].sum(),
    "tolist": lambda x, i, m: i.tolist(),
    "numpy": lambda x, i, m: int(i.cpu().numpy().sum()),
    "multinomial of one choice": lambda x, i, m: torch.multinomial(torch.eye(8, device=x.device)[:6], 1),
}

LAYERS = {
    "softmax": lambda x, i, m: x.softmax(1),
    "log_softmax": lambda x, i, m: x.log_softmax(1),
    "layer_norm": lambda x, i, m: F.layer_norm(x, (8,)),
    "rms_norm": lambda x, i, m: F.rms_norm(x, (8,)),
    "group_norm": lambda x, i, m: F.group_norm(x, 2),
    "instance_norm": lambda x, i, m: F.instance_norm(x.view(1, 6, 8)),
    "batch_norm": lambda x, i, m: F.batch_norm(x, like(x, 8) * 0, like(x, 8), training=True),
    "gelu": lambda x, i, m: F.gelu(x),
    "silu": lambda x, i, m: F.silu(x),
    "logsigmoid": lambda x, i, m: F.logsigmoid(x),
    "conv1d": lambda x, i, m: F.conv1d(x.view(1, 6, 8), like(x, 4, 6, 3)),
    "conv2d": lambda x, i, m: F.conv2d(image(x), like(x, 2, 1, 3, 3), padding=1),
    "conv_transpose2d": lambda x, i, m: F.conv_transpose2d(image(x), like(x, 1, 2, 3, 3)),
    "max_pool2d": lambda x, i, m: F.max_pool2d(image(x), 2),
    "adaptive_avg_pool2d": lambda x, i, m: F.adaptive_avg_pool2d(image(x), 2),
    "interpolate": lambda x, i, m: F.interpolate(image(x), scale_factor=2, mode="bilinear"),
    "grid_sample": lambda x, i, m: F.grid_sample(image(x), like(x, 1, 2, 2, 2) * 0, align_corners=False),
    "pad": lambda x, i, m: F.pad(x, (1, 1)),
    "unfold": lambda x, i, m: F.unfold(image(x), 3),
    "cross_entropy": lambda x, i, m: F.cross_entropy(x, i[:6] % 8),
    "mse_loss": lambda x, i, m: F.mse_loss(x, x * 2),
    "binary_cross_entropy_with_logits": lambda x, i, m: F.binary_cross_entropy_with_logits(
        x, (x > 0).float()),
    "ctc_loss": lambda x, i, m: F.ctc_loss(
        x.view(6, 1, 8).log_softmax(2), numbers(x, [1, 2]), torch.tensor([6]), torch.tensor([2])),
    "attention": lambda x, i, m: F.scaled_dot_product_attention(
        x.view(1, 1, 6, 8), x.view(1, 1, 6, 8), x.view(1, 1, 6, 8), is_causal=True),
    "LSTM cell": lambda x, i, m: torch.lstm_cell(
        x, (x, x), like(x, 32, 8), like(x, 32, 8), like(x, 32), like(x, 32)),
    "GRU cell": lambda x, i, m: torch.gru_cell(
        x, x, like(x, 24, 8), like(x, 24, 8), like(x, 24), like(x, 24)),
}

MATRICES = {
    "matmul": lambda x, i, m: x @ x.T,
    "bmm": lambda x, i, m: torch.bmm(x.view(2, 3, 8), x.view(2, 3, 8).mT),
    "einsum": lambda x, i, m: torch.einsum("ij,kj->ik", x, x),
    "addmm": lambda x, i, m: torch.addmm(x[:, :6], x, x.T),
    "baddbmm": lambda x, i, m: torch.baddbmm(x.view(2, 3, 8)[:, :, :3], x.view(2, 3, 8), x.view(2, 3, 8).mT),
    "outer": lambda x, i, m: torch.outer(x[0], x[1]),
    "kron": lambda x, i, m: torch.kron(x[:2], x[:2]),
    "cdist": lambda x, i, m: torch.cdist(x, x),
    "cholesky": lambda x, i, m: torch.linalg.cholesky(spd(x)),
    "inv": lambda x, i, m: torch.linalg.inv(square(x)),
    "solve": lambda x, i, m: torch.linalg.solve(square(x), x),
    "det": lambda x, i, m: torch.linalg.det(square(x) / 9),
    "eigvalsh": lambda x, i, m: torch.linalg.eigvalsh(spd(x)),
    "svdvals": lambda x, i, m: torch.linalg.svdvals(x),
    "qr": lambda x, i, m: torch.linalg.qr(x)[1].abs(),
    "lstsq": lambda x, i, m: torch.linalg.lstsq(x.T, x.T).solution,
    "matrix_norm": lambda x, i, m: torch.linalg.matrix_norm(x),
    "half matmul": lambda x, i, m: (x.half() @ x.half().T).float(),
    "fft": lambda x, i, m: torch.fft.fft(x),
    "rfft and irfft": lambda x, i, m: torch.fft.irfft(torch.fft.rfft(x)),
    "stft": lambda x, i, m: torch.view_as_real(
        torch.stft(x.flatten(), 8, return_complex=True, window=like(x, 8))),
}

ELEMENTS = {
    "nan_to_num": lambda x, i, m: torch.nan_to_num(x / 0 * 0),
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
    "foreach norm": lambda x, i, m: torch._foreach_norm([x, x]),
}

SHAPES = {
    "roll": lambda x, i, m: x.roll(1, 1),
    "flip": lambda x, i, m: x.flip(0),
    "tril": lambda x, i, m: x.tril(),
    "diag": lambda x, i, m: x[0].diag(),
    "tril_indices": lambda x, i, m: torch.tril_indices(3, 3, device=x.device),
    "arange": lambda x, i, m: torch.arange(1, 9, 2, device=x.device),
    "linspace": lambda x, i, m: torch.linspace(0, 1, 5, device=x.device),
    "cat": lambda x, i, m: torch.cat([x, x[:2]]),
    "cat with nothing": lambda x, i, m: torch.cat([x[:0], x]),
    "stack": lambda x, i, m: torch.stack([x, x], 1),
    "expand": lambda x, i, m: x[:1].expand(6, 8) + x,
    "transpose": lambda x, i, m: x.T.contiguous().view(-1)[:5],
    "channels last": lambda x, i, m: x.view(1, 2, 3, 8).to(memory_format=torch.channels_last) * 2,
    "split_with_sizes_copy": lambda x, i, m: torch.split_with_sizes_copy(x, [2, 4]),
    "split_with_sizes_copy out": lambda x, i, m: torch.split_with_sizes_copy(
        x, [2, 4], out=(out := [like(x, 2, 8), like(x, 4, 8)])) or out,
}

SPARSE = {
    "COO": lambda x, i, m: (x * m).to_sparse().to_dense(),
    "COO product": lambda x, i, m: torch.sparse.mm((x * m).to_sparse(), x.T),
    "COO sum": lambda x, i, m: ((x * m).to_sparse() + x.to_sparse()).coalesce().values(),
    "COO of equal indices": lambda x, i, m: torch.sparse_coo_tensor(
        i.view(1, 40), like(x, 40), (9,)).coalesce().values(),
    "COO transposed": lambda x, i, m: (x * m).to_sparse().t().coalesce().indices(),
    "COO in place": lambda x, i, m: x.add_((x * m).to_sparse()),
    "COO of another type": lambda x, i, m: (x * m).to_sparse().double().to_dense(),
    "COO to the CPU": lambda x, i, m: (x * m).to_sparse().cpu().to_dense().tolist(),
    "CSR": lambda x, i, m: (x * m).to_sparse_csr().values(),
    "CSR product": lambda x, i, m: (x * m).to_sparse_csr() @ x.T,
    "CSR to COO": lambda x, i, m: (x * m).to_sparse_csr().to_sparse().to_dense(),
    "CSC": lambda x, i, m: (x * m).to_sparse_csc().to_dense(),
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


def table():
    torch.manual_seed(0)
    release = tuple(int(part) for part in torch.__version__.split(".")[:2])
    different = {name for name, (before, _) in DIFFERENT.items() if release < before}
    inputs = torch.randn(6, 8), torch.randint(0, 9, (40,)), torch.rand(6, 8) > 0.5
    count = unexpected = 0
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
                (package.threads, "one"), (package.owners, "uncount"), (package.cpu, "run"),
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
