# SPDX-License-Identifier: Apache-2.0
"""Tests of a PyTorch model with limits for its GPU memory; skipped where PyTorch is not installed."""
import pytest
import vramscope

torch = pytest.importorskip("torch")


@pytest.fixture(scope="module")
def model():
    layers = [torch.nn.Sequential(torch.nn.Linear(256, 256), torch.nn.ReLU()) for _ in range(8)]
    return torch.nn.Sequential(*layers).cuda()


def train(model, steps):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for number in range(steps):
        vramscope.step(number)
        loss = model(torch.ones(4096, 256, device="cuda")).sum()
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()


@pytest.mark.limit_vram("80 MiB", warmup=1)  # warmup: cuBLAS allocates its workspace in the first run
def test_training_fits(model):
    train(model, 1)


@pytest.mark.limit_vram_growth("0", skip=2)
def test_training_does_not_grow(model):
    train(model, 6)
