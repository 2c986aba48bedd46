# SPDX-License-Identifier: Apache-2.0
"""Tests of a PyTorch model with limits for its GPU memory; skipped where PyTorch is not installed."""
import pytest
import vramscope

torch = pytest.importorskip("torch")


@pytest.fixture(scope="session", autouse=True)
def cublas():
    """cuBLAS allocates its workspaces in its first calls, one for each thread: that is of no test."""
    layer = torch.nn.Linear(256, 256).cuda()
    layer(layer(torch.ones(256, 256, device="cuda"))).sum().backward()


@pytest.fixture
def model():
    """A model for each test, so that no figure depends on the tests before it, or on the worker."""
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


@pytest.mark.limit_vram("80 MiB")
def test_training_fits(model):
    train(model, 1)


@pytest.mark.limit_vram_growth("0", skip=2)
def test_training_does_not_grow(model):
    train(model, 6)
