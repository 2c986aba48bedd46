# SPDX-License-Identifier: Apache-2.0
"""Convolutions, normalisation and pooling: cuDNN and PyTorch's own kernels."""
import torch
import torch.nn.functional as F
from torch import nn

from feature_case import alike_gradients, check, feature, features, leaf, same, same_gradients


features({
    "pooling": lambda: (
        same_gradients(lambda x: (F.max_pool2d(x, 2), F.avg_pool2d(x, 3),
                                  F.adaptive_avg_pool2d(x, 5), F.adaptive_max_pool2d(x, 1)),
                       leaf(2, 4, 12, 12)),
        same(lambda x: F.max_pool2d(x, 2, return_indices=True), torch.randn(2, 4, 12, 12))),
    "conv1d": lambda: (
        same_gradients(lambda m, x: m(x), nn.Conv1d(4, 6, 3, padding=1), leaf(2, 4, 20))),
    "conv2d": lambda: (
        same_gradients(lambda m, x: m(x), nn.Conv2d(4, 6, 3, stride=2, dilation=2),
                       leaf(2, 4, 16, 16))),
    "conv3d": lambda: same_gradients(lambda m, x: m(x), nn.Conv3d(2, 4, 3), leaf(1, 2, 8, 8, 8)),
    "conv2d, groups and depthwise": lambda: (
        same_gradients(lambda m, x: m(x), nn.Conv2d(8, 8, 3, groups=2), leaf(2, 8, 9, 9)),
        same_gradients(lambda m, x: m(x), nn.Conv2d(8, 8, 3, groups=8), leaf(2, 8, 9, 9))),
    "transposed convolutions": lambda: (
        same_gradients(lambda m, x: m(x), nn.ConvTranspose1d(4, 2, 3), leaf(2, 4, 9)),
        same_gradients(lambda m, x: m(x), nn.ConvTranspose2d(4, 2, 3, stride=2, output_padding=1),
                       leaf(2, 4, 9, 9)),
        same_gradients(lambda m, x: m(x), nn.ConvTranspose3d(2, 2, 2), leaf(1, 2, 4, 4, 4))),
    "conv2d, bfloat16 and float64": lambda: (
        same_gradients(lambda x, w: F.conv2d(x, w), leaf(1, 4, 8, 8, dtype=torch.float64),
                       leaf(4, 4, 3, 3, dtype=torch.float64)),
        alike_gradients(lambda x, w: F.conv2d(x, w), leaf(1, 4, 8, 8, dtype=torch.bfloat16),
                        leaf(4, 4, 3, 3, dtype=torch.bfloat16))),
})


@feature("conv2d, AMP and channels_last")
def conv_channels_last():
    model = nn.Conv2d(8, 16, 3).cuda().to(memory_format=torch.channels_last)
    x = torch.randn(2, 8, 12, 12, device="cuda").to(memory_format=torch.channels_last)
    with torch.autocast("cuda", dtype=torch.float16):
        out = model(x)
    check(out.dtype == torch.float16, "type of the result")
    check(out.is_contiguous(memory_format=torch.channels_last), "the result is channels_last")
    out.float().sum().backward()
    check(model.weight.grad.shape == model.weight.shape, "shape of the gradient")


@feature("conv2d, cudnn.benchmark")
def conv_benchmark():
    torch.backends.cudnn.benchmark = True
    same_gradients(lambda m, x: m(x), nn.Conv2d(4, 6, 3), leaf(2, 4, 16, 16))


@feature("conv2d, deterministic")
def conv_deterministic():
    torch.backends.cudnn.deterministic = True
    torch.use_deterministic_algorithms(True)
    same_gradients(lambda m, x: m(x), nn.Conv2d(4, 6, 3), leaf(2, 4, 16, 16))


@feature("conv2d without cuDNN")
def conv_without_cudnn():
    torch.backends.cudnn.enabled = False
    same_gradients(lambda m, x: m(x), nn.Conv2d(4, 6, 3), leaf(2, 4, 16, 16))


@feature("batch normalisation")
def batch_norm():
    model = nn.BatchNorm2d(6)
    same_gradients(lambda m, x: m(x), model, leaf(4, 6, 8, 8))
    same(lambda m, x: m(x), model.eval(), torch.randn(4, 6, 8, 8))
    alike_gradients(lambda m, x: m(x), nn.BatchNorm1d(6), leaf(4, 6))
    large = torch.randn(8, 64, 32, 32, device="cuda").to(memory_format=torch.channels_last)
    nn.BatchNorm2d(64).cuda()(large)


@feature("layer, group, instance, RMS norm")
def norms():
    same_gradients(lambda m, x: m(x), nn.LayerNorm(16), leaf(4, 16))
    same_gradients(lambda m, x: m(x), nn.GroupNorm(2, 6), leaf(2, 6, 5, 5))
    same_gradients(lambda m, x: m(x), nn.InstanceNorm2d(6), leaf(2, 6, 5, 5)) \
        if list(nn.InstanceNorm2d(6).parameters()) else same(
            lambda m, x: m(x), nn.InstanceNorm2d(6), torch.randn(2, 6, 5, 5))
    same_gradients(lambda m, x: m(x), nn.RMSNorm(16), leaf(4, 16))


@feature("interpolate and grid_sample")
def interpolate():
    x = leaf(2, 3, 6, 6)
    same_gradients(lambda x: (F.interpolate(x, scale_factor=2),
                              F.interpolate(x, size=9, mode="bilinear"),
                              F.interpolate(x, size=9, mode="bicubic")), x)
    same_gradients(F.grid_sample, x, (torch.rand(2, 4, 4, 2) * 2 - 1).requires_grad_())


@feature("spatial transformer of cuDNN")
def affine_grid():
    theta = torch.tensor([[[1.0, 0, 0], [0, 1, 0]]], requires_grad=True)
    same_gradients(lambda t, x: F.grid_sample(x, F.affine_grid(t, (1, 3, 8, 8)),
                                              align_corners=False), theta, leaf(1, 3, 8, 8))
    torch.cudnn_grid_sampler(torch.randn(1, 3, 8, 8, device="cuda"),
                             torch.randn(1, 8, 8, 2, device="cuda"))


@feature("a residual network, AMP and channels_last")
def residual():
    block = nn.Sequential(nn.Conv2d(64, 64, 3, padding=1, bias=False), nn.BatchNorm2d(64), nn.ReLU(),
                          nn.Conv2d(64, 64, 1, bias=False), nn.BatchNorm2d(64))
    model = nn.Sequential(nn.Conv2d(3, 64, 7, stride=2, padding=3), nn.MaxPool2d(2), block,
                          nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(64, 10))
    model = model.cuda().to(memory_format=torch.channels_last)
    x = torch.randn(16, 3, 64, 64, device="cuda").to(memory_format=torch.channels_last)
    with torch.autocast("cuda", dtype=torch.bfloat16):
        loss = F.cross_entropy(model(x), torch.zeros(16, dtype=torch.long, device="cuda"))
    loss.backward()
    check(all(p.grad is not None for p in model.parameters()), "every parameter has a gradient")
