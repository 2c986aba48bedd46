# SPDX-License-Identifier: Apache-2.0
"""Matrix products: cuBLAS and cuBLASLt."""
import torch
import torch.nn.functional as F

from feature_case import alike_gradients, check, feature, features, leaf, same, same_gradients


def product(dtype):
    same_gradients(torch.matmul, leaf(24, 40, dtype=dtype), leaf(40, 16, dtype=dtype),
                   tolerance=0.1 if dtype.itemsize == 2 else 1e-3)


features({
    "linear with bias and GELU": lambda: same_gradients(
        lambda layer, x: F.gelu(layer(x)), torch.nn.Linear(32, 48), leaf(4, 7, 32)),
    "matmul float32": lambda: product(torch.float32),
    "matmul float64": lambda: product(torch.float64),
    "matmul float16": lambda: product(torch.float16),
    "matmul bfloat16": lambda: product(torch.bfloat16),
    "matmul complex64": lambda: same_gradients(torch.matmul, leaf(8, 12, dtype=torch.complex64),
                                               leaf(12, 8, dtype=torch.complex64)),
    "_addmm_activation": lambda: (
        same(lambda m, a, b: torch._addmm_activation(m, a, b, use_gelu=False),
             torch.randn(5), torch.randn(6, 8), torch.randn(8, 5))),
    "mv, dot, vdot, outer": lambda: (
        same(lambda m, v: (m @ v, v @ v, torch.outer(v, v)), torch.randn(7, 9), torch.randn(9)),
        same(torch.vdot, torch.randn(9, dtype=torch.complex64),
             torch.randn(9, dtype=torch.complex64))),
    "einsum and tensordot": lambda: (
        same(lambda a, b: torch.einsum("bij,bkj->bik", a, b), torch.randn(2, 5, 7),
             torch.randn(2, 4, 7)),
        same(lambda a, b: torch.tensordot(a, b, dims=2), torch.randn(3, 4, 5),
             torch.randn(4, 5, 2))),
    "int8 matrix product": lambda: (
        same(torch._int_mm, torch.randint(-8, 8, (32, 64), dtype=torch.int8),
             torch.randint(-8, 8, (64, 32), dtype=torch.int8))),
    "preferred BLAS library cuBLASLt": lambda: (
        torch.backends.cuda.preferred_blas_library("cublaslt"),
        same(torch.matmul, torch.randn(24, 40), torch.randn(40, 16))),
})


@feature("matmul of several GiB")
def matmul_large():
    a = torch.empty(32768, 8192, device="cuda", dtype=torch.bfloat16, requires_grad=True)
    b = torch.empty(8192, 32768, device="cuda", dtype=torch.bfloat16, requires_grad=True)
    before = torch.cuda.memory_allocated()
    c = a @ b
    grown = torch.cuda.memory_allocated() - before
    workspace = grown - c.numel() * 2
    check(0 <= workspace <= 64 << 20, f"the product took {grown} bytes for {c.numel() * 2}")
    c.backward(c)
    check(a.grad.shape == a.shape and b.grad.shape == b.shape, "shapes of the gradients")


@feature("addmm, addmv, addbmm, addr")
def addmm():
    a, b, m = torch.randn(6, 8), torch.randn(8, 5), torch.randn(6, 5)
    same(lambda m, a, b: (torch.addmm(m, a, b), torch.addmv(m[:, 0], a, b[:, 0]),
                          torch.addr(m, a[:, 0], b[0])), m, a, b)
    same(torch.addbmm, m, torch.randn(3, 6, 8), torch.randn(3, 8, 5))


@feature("bmm and baddbmm")
def bmm():
    for dtype in (torch.float32, torch.float64, torch.bfloat16, torch.float16):
        same_gradients(torch.bmm, leaf(3, 8, 4, dtype=dtype), leaf(3, 4, 6, dtype=dtype),
                       tolerance=0.1)
    same(torch.baddbmm, torch.randn(3, 8, 6), torch.randn(3, 8, 4), torch.randn(3, 4, 6))


@feature("scaled_mm float8")
def scaled_mm():
    a = torch.randn(64, 128, device="cuda").to(torch.float8_e4m3fn)
    b = torch.randn(64, 128, device="cuda").to(torch.float8_e4m3fn).t()
    one = torch.ones((), device="cuda")
    out = torch._scaled_mm(a, b, scale_a=one, scale_b=one, out_dtype=torch.bfloat16)
    check(out.shape == (64, 64) and out.dtype == torch.bfloat16, "shape and type")


@feature("scaled_mm float8, scales by row")
def scaled_mm_rowwise():
    a = torch.randn(64, 128, device="cuda").to(torch.float8_e4m3fn)
    b = torch.randn(64, 128, device="cuda").to(torch.float8_e4m3fn).t()
    out = torch._scaled_mm(a, b, scale_a=torch.ones(64, 1, device="cuda"),
                           scale_b=torch.ones(1, 64, device="cuda"), out_dtype=torch.bfloat16)
    check(out.shape == (64, 64), "shape")


@feature("grouped_mm", since="2.8")
def grouped_mm():
    a = torch.randn(64, 128, device="cuda", dtype=torch.bfloat16)
    b = torch.randn(4, 128, 64, device="cuda", dtype=torch.bfloat16)
    offsets = torch.tensor([16, 32, 48, 64], device="cuda", dtype=torch.int32)
    out = torch._grouped_mm(a, b, offs=offsets)
    check(out.shape == (64, 64), "shape")
    torch.cuda.synchronize()


@feature("TF32 and reduced precision switches")
def tf32():
    torch.backends.cuda.matmul.allow_tf32 = True
    torch.backends.cuda.matmul.allow_bf16_reduced_precision_reduction = False
    torch.set_float32_matmul_precision("high")
    alike_gradients(torch.matmul, leaf(24, 40), leaf(40, 16))

