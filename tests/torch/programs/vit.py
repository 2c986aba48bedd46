# SPDX-License-Identifier: Apache-2.0
"""Training a vision transformer of torchvision from random weights."""
import argparse

import torch
import torch.nn.functional as F
import torchvision


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--batch", type=int, default=16)
    p.add_argument("--steps", type=int, default=2)
    args = p.parse_args()
    model = torchvision.models.vit_b_16(num_classes=1000).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    for step in range(args.steps):
        images = torch.randn(args.batch, 3, 224, 224, device="cuda")
        targets = torch.randint(1000, (args.batch,), device="cuda")
        loss = F.cross_entropy(model(images), targets)
        optimizer.zero_grad(set_to_none=False)
        loss.backward()
        optimizer.step()
        print(f"step {step}: loss {loss.item():.3f}", flush=True)


if __name__ == "__main__":
    main()
