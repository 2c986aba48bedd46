# SPDX-License-Identifier: Apache-2.0
"""ResNet-50 in mixed precision and channels_last, with GradScaler and a pinned loader."""
import argparse

import torch
import torch.nn.functional as F
import torchvision


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--batch", type=int, default=64)
    p.add_argument("--steps", type=int, default=3)
    args = p.parse_args()
    torch.backends.cudnn.benchmark = True
    model = torchvision.models.resnet50().cuda().to(memory_format=torch.channels_last)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9, weight_decay=1e-4)
    scaler = torch.amp.GradScaler("cuda")
    data = torch.utils.data.TensorDataset(torch.randn(args.batch, 3, 224, 224), torch.randint(1000, (args.batch,)))
    loader = torch.utils.data.DataLoader(data, batch_size=args.batch, pin_memory=True)
    for step in range(args.steps):
        for images, labels in loader:
            images = images.cuda(non_blocking=True).to(memory_format=torch.channels_last)
            with torch.autocast("cuda", dtype=torch.float16):
                loss = F.cross_entropy(model(images), labels.cuda(non_blocking=True))
            optimizer.zero_grad(set_to_none=True)
            scaler.scale(loss).backward()
            scaler.step(optimizer)
            scaler.update()
            print(f"step {step}: loss {loss.item():.3f}", flush=True)


if __name__ == "__main__":
    main()
