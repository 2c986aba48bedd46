# SPDX-License-Identifier: Apache-2.0
"""torchvision: Faster R-CNN with a ResNet-50, whose proposals and matches depend on data."""
import torch
import torchvision

import sums

torch.manual_seed(0)
model = torchvision.models.detection.fasterrcnn_resnet50_fpn(weights=None, weights_backbone=None, num_classes=91)
model = model.cuda().train()
optimizer = torch.optim.SGD([p for p in model.parameters() if p.requires_grad], lr=0.02, momentum=0.9)
for step in range(3):
    images = [torch.rand(3, 480, 640).cuda() for _ in range(4)]
    targets = []
    for _ in images:
        corner = torch.rand(7, 2) * 300
        boxes = torch.cat([corner, corner + 20 + torch.rand(7, 2) * 100], 1)
        targets.append({"boxes": boxes.cuda(), "labels": torch.randint(1, 91, (7,)).cuda()})
    loss = sum(model(images, targets).values())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
sums.report(model, optimizer)
