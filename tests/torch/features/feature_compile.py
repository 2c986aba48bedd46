# SPDX-License-Identifier: Apache-2.0
"""Compilers: inductor and Triton, TorchScript, export, NVRTC, function transforms."""
import os
import shutil

import torch
import torch.nn.functional as F
from torch import nn

from feature_case import NotRun, check, feature, leaf, same, same_gradients


def network():
    return nn.Sequential(nn.Linear(32, 64), nn.GELU(), nn.LayerNorm(64), nn.Linear(64, 8)).cuda()


@feature("torch.compile, forward and backward", timeout=400)
def inductor():
    model, x = network(), torch.randn(16, 32, device="cuda")
    out = torch.compile(model)(x)
    check(out.shape == (16, 8), "shape")
    out.sum().backward()
    check(model[0].weight.grad.shape == (64, 32), "gradient")


@feature("torch.compile, reduce-overhead", timeout=400)
def reduce_overhead():
    model = network()
    compiled = torch.compile(model, mode="reduce-overhead")
    for _ in range(4):
        torch.compiler.cudagraph_mark_step_begin()
        model.zero_grad(set_to_none=True)
        compiled(torch.randn(16, 32, device="cuda")).sum().backward()
    torch.cuda.synchronize()


@feature("torch.compile, max-autotune", timeout=500)
def max_autotune():
    model = torch.compile(network(), mode="max-autotune-no-cudagraphs")
    check(model(torch.randn(16, 32, device="cuda")).shape == (16, 8), "shape")


@feature("torch.compile, dynamic shapes", timeout=400)
def dynamic():
    f = torch.compile(lambda x: (x * 2).softmax(1).sum(0), dynamic=True)
    for n in (4, 7, 9):
        check(f(torch.randn(n, 5, device="cuda")).shape == (5,), "shape")


@feature("torch.compile with an optimiser", timeout=400)
def compiled_optimizer():
    model = network()
    optimizer = torch.optim.AdamW(model.parameters())
    step = torch.compile(optimizer.step)
    for _ in range(2):
        model(torch.randn(4, 32, device="cuda")).sum().backward()
        step()


@feature("a Triton kernel", timeout=400)
def triton_kernel():
    import importlib.util
    with open("kernel.py", "w", encoding="utf-8") as f:
        f.write("import triton\nimport triton.language as tl\n\n\n@triton.jit\n"
                "def double(x, y, n, BLOCK: tl.constexpr):\n"
                "    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)\n"
                "    tl.store(y + i, tl.load(x + i, mask=i < n) * 2, mask=i < n)\n")
    spec = importlib.util.spec_from_file_location("kernel", "kernel.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    x = torch.ones(1000, device="cuda")
    y = torch.empty_like(x)
    module.double[(8,)](x, y, 1000, BLOCK=128)
    torch.cuda.synchronize()


@feature("torch.export")
def export():
    model, x = network(), torch.randn(4, 32, device="cuda")
    program = torch.export.export(model, (x,))
    check(program.module()(x).shape == (4, 8), "shape")


def use_toolkit():
    """AOTInductor compiles C++ against the headers of a CUDA toolkit, which no wheel has in full, and
    links with the driver, which is the simulated one here."""
    from torch.utils import cpp_extension
    with open("/proc/self/maps", encoding="utf-8") as maps:
        driver = next(line.split()[-1] for line in maps if "/libcuda.so.1" in line)
    os.symlink(driver, "libcuda.so")
    os.environ["LIBRARY_PATH"] = os.getcwd()
    if not shutil.which("g++"):
        raise NotRun("needs g++")
    for folder in (os.environ.get("CUDA_HOME"), cpp_extension.CUDA_HOME, "/usr/local/cuda"):
        if folder and all(os.path.exists(os.path.join(folder, "include", name))
                          for name in ("cuda.h", "cuda_runtime_api.h", "crt/host_defines.h")):
            os.environ["CUDA_HOME"] = cpp_extension.CUDA_HOME = folder
            return
    raise NotRun("needs the headers of a CUDA toolkit (CUDA_HOME)")


@feature("AOTInductor", since="2.7", timeout=500)
def aot_inductor():
    use_toolkit()
    model, x = network().eval(), torch.randn(4, 32, device="cuda")
    with torch.no_grad():
        path = torch._inductor.aoti_compile_and_package(torch.export.export(model, (x,)))
        check(torch._inductor.aoti_load_package(path)(x).shape == (4, 8), "shape")


@feature("torch.jit.script and trace")
def jit():
    @torch.jit.script
    def f(x):
        return (x * 2 + 1).relu()
    x = torch.randn(8, 8, device="cuda")
    for _ in range(3):
        f(x)
    traced = torch.jit.trace(network(), torch.randn(4, 32, device="cuda"))
    check(traced(torch.randn(4, 32, device="cuda")).shape == (4, 8), "shape")


@feature("TorchScript fusion by NVRTC")
def nvrtc_fusion():
    torch._C._jit_set_profiling_executor(True)
    torch._C._jit_set_texpr_fuser_enabled(True)

    def f(x, y):
        return ((x * y + 1).sigmoid() * x).tanh()
    scripted = torch.jit.script(f)
    x = torch.randn(64, 64, device="cuda")
    with torch.no_grad():
        for _ in range(4):
            check(scripted(x, x).shape == (64, 64), "shape")
    torch.cuda.synchronize()


@feature("jiterator")
def jiterator():
    f = torch.cuda.jiterator._create_jit_fn(
        "template <typename T> T twice(T x, T y) { return x * 2 + y; }")
    x = torch.ones(100, device="cuda")
    check(f(x, x).shape == (100,), "shape")
    torch.cuda.synchronize()


@feature("special functions compiled by NVRTC")
def special():
    x = torch.rand(20, device="cuda") + 0.5
    for name in ("i1", "zeta", "bessel_j0", "log_ndtr", "airy_ai", "polygamma"):
        f = getattr(torch.special, name)
        f(x, x) if name == "zeta" else f(1, x) if name == "polygamma" else f(x)
    torch.lcm(torch.arange(5, device="cuda"), torch.arange(5, device="cuda"))
    torch.exp(torch.rand(9, device="cuda", dtype=torch.complex64))
    torch.cuda.synchronize()


@feature("torch.func: vmap, grad, jacrev, hessian")
def functional():
    f = torch.func
    same(lambda x: (f.vmap(lambda v: v @ v)(x), f.vmap(f.grad(lambda v: (v ** 3).sum()))(x),
                    f.jacrev(lambda v: v.sin())(x[0]), f.hessian(lambda v: (v ** 3).sum())(x[0])),
         torch.randn(4, 5))
    same(lambda x: f.jvp(torch.sin, (x,), (torch.ones_like(x),)), torch.randn(5))


@feature("torch.func: model ensembles")
def ensembles():
    models = [nn.Linear(8, 4).cuda() for _ in range(3)]
    params, buffers = torch.func.stack_module_state(models)
    out = torch.func.vmap(lambda p, b, x: torch.func.functional_call(models[0], (p, b), (x,)),
                          in_dims=(0, 0, None))(params, buffers, torch.randn(5, 8, device="cuda"))
    check(out.shape == (3, 5, 4), "shape")


@feature("nested tensors")
def nested():
    parts = [torch.randn(n, 8, device="cuda") for n in (2, 5, 3)]
    jagged = torch.nested.nested_tensor(parts, layout=torch.jagged)
    check((jagged * 2).values().shape == (10, 8), "values")
    check(jagged.to_padded_tensor(0.0).shape == (3, 5, 8), "padded")
    strided = torch.nested.nested_tensor(parts)
    check([t.shape[0] for t in F.linear(strided, torch.randn(4, 8, device="cuda")).unbind()] == [2, 5, 3],
          "linear")


@feature("quantization: fake quantize, int8 and int4 weights")
def quantization():
    same(lambda x: torch.fake_quantize_per_tensor_affine(x, 0.1, 0, -128, 127), torch.randn(5, 6))
    same(lambda x: torch.fake_quantize_per_channel_affine(
        x, torch.full((5,), 0.1, device=x.device), torch.zeros(5, dtype=torch.int32, device=x.device),
        0, -128, 127), torch.randn(5, 6))
    q = torch.quantize_per_tensor(torch.randn(5, 6, device="cuda"), 0.1, 0, torch.qint8)
    check(q.dequantize().shape == (5, 6), "dequantize")


@feature("int4 weight matrix product")
def int4():
    x = torch.randn(4, 64, device="cuda", dtype=torch.bfloat16)
    packed = torch.randint(0, 255, (32, 32), dtype=torch.uint8, device="cuda")
    weight = torch._convert_weight_to_int4pack(packed, 4)
    scales = torch.ones(2, 32, 2, device="cuda", dtype=torch.bfloat16)
    check(torch._weight_int4pack_mm(x, weight, 32, scales).shape == (4, 32), "shape")


@feature("complex numbers")
def complex_numbers():
    same_gradients(lambda x: (x.abs(), x.real, torch.view_as_real(x * x.conj())),
                   leaf(5, 6, dtype=torch.complex64))


@feature("meta tensors, fake tensors, empty weights")
def fake():
    with torch.device("meta"):
        model = nn.Linear(1024, 1024)
    model = model.to_empty(device="cuda")
    check(torch.cuda.memory_allocated() == 4 * 1024 * 1025, f"{torch.cuda.memory_allocated()} bytes")
    from torch._subclasses.fake_tensor import FakeTensorMode
    with FakeTensorMode():
        check((torch.empty(4, 4, device="cuda") @ torch.empty(4, 4, device="cuda")).shape == (4, 4),
              "fake product")


@feature("a custom operator and autograd function")
def custom():
    class Square(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        def backward(ctx, g):
            return 2 * ctx.saved_tensors[0] * g
    same_gradients(Square.apply, leaf(4, 5))

    @torch.library.custom_op("vs_feature::twice", mutates_args=())
    def twice(x: torch.Tensor) -> torch.Tensor:
        return x * 2
    same(lambda x: torch.ops.vs_feature.twice(x), torch.randn(4))
