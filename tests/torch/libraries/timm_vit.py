# SPDX-License-Identifier: Apache-2.0
"""timm: ViT-Base with its own optimizer, schedule, mixup, EMA and AMP, as timm's train.py has them."""
import timm
import timm.data
import timm.loss
import timm.optim
import timm.scheduler
import timm.utils
import torch

import sums

model = timm.create_model("vit_base_patch16_224", pretrained=False, drop_path_rate=0.1).cuda()
average = timm.utils.ModelEmaV3(model, decay=0.999)
optimizer = timm.optim.create_optimizer_v2(model, opt="adamw", lr=1e-3, weight_decay=0.05)
scheduler = timm.scheduler.CosineLRScheduler(optimizer, t_initial=10)
mixup = timm.data.Mixup(mixup_alpha=0.8, cutmix_alpha=1.0, num_classes=1000)
loss_of = timm.loss.SoftTargetCrossEntropy()
scaler = timm.utils.NativeScaler()
for step in range(3):
    images, labels = mixup(torch.randn(64, 3, 224, 224).cuda(), torch.randint(1000, (64,)).cuda())
    with torch.autocast("cuda"):
        loss = loss_of(model(images), labels)
    optimizer.zero_grad()
    scaler(loss, optimizer, clip_grad=1.0, parameters=model.parameters())
    average.update(model, step=step)
    scheduler.step(step)
sums.report(torch.nn.ModuleList([model, average.module]), optimizer)
