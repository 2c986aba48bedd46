# SPDX-License-Identifier: Apache-2.0
"""Training: optimisers, mixed precision, checkpointing."""
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.checkpoint import checkpoint, checkpoint_sequential

from feature_case import check, feature, features


def model():
    return nn.Sequential(nn.Linear(16, 32), nn.GELU(), nn.Linear(32, 16)).cuda()


def steps(make, count=3, net=None):
    net = net or model()
    optimizer = make(net.parameters())
    x = torch.randn(8, 16, device="cuda")
    for _ in range(count):
        optimizer.zero_grad()
        net(x).square().mean().backward()
        optimizer.step()
    check(all(torch.isfinite(p).all() for p in net.parameters()), "finite parameters")
    return optimizer


def against_cpu(make):
    """The parameters after three steps are those of the same steps on the CPU."""
    torch.manual_seed(3)
    cpu, x = nn.Sequential(nn.Linear(6, 6), nn.Tanh(), nn.Linear(6, 2)), torch.randn(8, 6)
    gpu = nn.Sequential(nn.Linear(6, 6), nn.Tanh(), nn.Linear(6, 2)).cuda()
    gpu.load_state_dict(cpu.state_dict())
    for net, data in ((cpu, x), (gpu, x.cuda())):
        optimizer = make(net.parameters())
        for _ in range(3):
            optimizer.zero_grad()
            net(data).square().mean().backward()
            optimizer.step()
    for a, b in zip(cpu.parameters(), gpu.parameters()):
        check(torch.allclose(a, b.cpu(), atol=1e-3), "parameters after three steps differ from the CPU's")


features({
    "SGD with momentum": lambda: (
        against_cpu(lambda p: torch.optim.SGD(p, lr=0.1, momentum=0.9, nesterov=True)),
        steps(lambda p: torch.optim.SGD(p, lr=0.1, momentum=0.9, fused=True))),
    "Adam and AdamW": lambda: (
        against_cpu(lambda p: torch.optim.Adam(p, amsgrad=True)),
        against_cpu(lambda p: torch.optim.AdamW(p))),
})


@feature("AdamW, foreach, fused and capturable")
def adam_variants():
    for options in ({"foreach": True}, {"fused": True}, {"capturable": True}, {"foreach": False}):
        optimizer = steps(lambda p, o=options: torch.optim.AdamW(p, **o))
        size = sum(t.numel() for s in optimizer.state.values() for k, t in s.items() if k != "step")
        check(size == 2 * (16 * 32 * 2 + 48), f"{size} numbers of state with {options}")


@feature("Adagrad, Adadelta, Adamax, RMSprop, Rprop")
def ada_family():
    for name in ("Adagrad", "Adadelta", "Adamax", "RMSprop", "Rprop"):
        against_cpu(lambda p, n=name: getattr(torch.optim, n)(p))


@feature("NAdam, RAdam, ASGD")
def nadam_family():
    for name in ("NAdam", "RAdam", "ASGD"):
        against_cpu(lambda p, n=name: getattr(torch.optim, n)(p))


feature("Adafactor", since="2.5")(lambda: steps(torch.optim.Adafactor))


@feature("Muon", since="2.9")
def muon():
    net = nn.Sequential(nn.Linear(16, 32, bias=False), nn.Linear(32, 16, bias=False)).cuda()
    steps(torch.optim.Muon, net=net)


@feature("LBFGS")
def lbfgs():
    net, x = model(), torch.randn(8, 16, device="cuda")
    optimizer = torch.optim.LBFGS(net.parameters(), max_iter=4)

    def closure():
        optimizer.zero_grad()
        loss = net(x).square().mean()
        loss.backward()
        return loss
    before = float(closure())
    optimizer.step(closure)
    check(float(closure()) < before, "the loss falls")


@feature("learning rate schedules, EMA and SWA")
def schedules():
    net = model()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 0.1, 10)
    average = torch.optim.swa_utils.AveragedModel(net)
    for _ in range(3):
        net(torch.randn(4, 16, device="cuda")).sum().backward()
        optimizer.step()
        schedule.step()
        average.update_parameters(net)
    check(int(average.n_averaged) == 3, f"{int(average.n_averaged)} averaged")


@feature("a loss that falls")
def loss_falls():
    torch.manual_seed(1)
    net = nn.Sequential(nn.Linear(8, 32), nn.Tanh(), nn.Linear(32, 1)).cuda()
    optimizer = torch.optim.Adam(net.parameters(), lr=0.02)
    x = torch.randn(64, 8, device="cuda")
    y = x.sum(1, keepdim=True)
    losses = []
    for _ in range(40):
        optimizer.zero_grad()
        loss = F.mse_loss(net(x), y)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    check(losses[-1] < 0.5 * losses[0], f"the loss went from {losses[0]} to {losses[-1]}")


@feature("autocast float16 and bfloat16")
def autocast():
    for dtype in (torch.float16, torch.bfloat16):
        net = model()
        with torch.autocast("cuda", dtype=dtype):
            out = net(torch.randn(4, 16, device="cuda"))
            loss = F.mse_loss(out.float(), torch.zeros(4, 16, device="cuda"))
        check(out.dtype == dtype, f"type {out.dtype}")
        loss.backward()
        check(net[0].weight.grad.dtype == torch.float32, "type of the gradient")


@feature("GradScaler")
def grad_scaler():
    net = model()
    optimizer = torch.optim.AdamW(net.parameters())
    scaler = torch.amp.GradScaler("cuda", init_scale=1024.0)
    for _ in range(3):
        optimizer.zero_grad()
        with torch.autocast("cuda", dtype=torch.float16):
            loss = net(torch.randn(4, 16, device="cuda")).square().mean()
        scaler.scale(loss).backward()
        scaler.unscale_(optimizer)
        nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        scaler.step(optimizer)
        scaler.update()
    check(scaler.get_scale() == 1024.0, f"scale {scaler.get_scale()} without an overflow")
    state = optimizer.state[next(net.parameters())]
    check(int(state["step"]) == 3, f"{int(state['step'])} steps of 3")


@feature("GradScaler skips a step after an overflow")
def grad_scaler_overflow():
    net = model()
    before = net[0].weight.detach().clone()
    optimizer = torch.optim.SGD(net.parameters(), lr=1.0)
    scaler = torch.amp.GradScaler("cuda", init_scale=1024.0)
    scaler.scale(net(torch.randn(4, 16, device="cuda")).sum() * float("inf")).backward()
    scaler.step(optimizer)
    scaler.update()
    check(scaler.get_scale() == 512.0, f"scale {scaler.get_scale()}")
    check(torch.equal(before, net[0].weight), "the step is left out")


@feature("activation checkpointing")
def checkpointing():
    net, x = model(), torch.randn(4096, 16, device="cuda", requires_grad=True)
    for reentrant in (True, False):
        checkpoint(net, x, use_reentrant=reentrant).sum().backward()
    layers = nn.Sequential(*[nn.Linear(256, 256) for _ in range(16)]).cuda()
    peaks = []
    for run in (layers, lambda x: checkpoint_sequential(layers, 4, x, use_reentrant=False)):
        x = torch.randn(8192, 256, device="cuda", requires_grad=True)
        layers.zero_grad()
        torch.cuda.reset_peak_memory_stats()
        run(x).sum().backward()
        peaks.append(torch.cuda.max_memory_allocated())
    check(peaks[1] < 0.8 * peaks[0], f"peaks {peaks}: checkpointing saves memory")


@feature("saved tensors on the CPU")
def save_on_cpu():
    net, x = model(), torch.randn(512, 16, device="cuda")
    with torch.autograd.graph.save_on_cpu(pin_memory=True):
        net(x).sum().backward()
    check(net[0].weight.grad is not None, "gradient")


@feature("gradient accumulation, hooks, double backward")
def autograd():
    net, x = model(), torch.randn(4, 16, device="cuda", requires_grad=True)
    seen = []
    net[0].weight.register_post_accumulate_grad_hook(lambda p: seen.append(p.shape))
    for _ in range(2):
        net(x).sum().backward()
    check(len(seen) == 2, "hooks")
    g, = torch.autograd.grad(net(x).square().sum(), x, create_graph=True)
    g.square().sum().backward()
    with torch.autograd.detect_anomaly(check_nan=False):
        net(x).sum().backward()


@feature("save and load a model")
def save_and_load():
    import io
    net, file = model(), io.BytesIO()
    torch.save(net.state_dict(), file)
    file.seek(0)
    state = torch.load(file, map_location="cuda", weights_only=True)
    check(all(torch.equal(state[k], v) for k, v in net.state_dict().items()), "values")


@feature("weight and spectral norm, parametrizations")
def parametrizations():
    p = nn.utils.parametrizations
    net = nn.Sequential(p.weight_norm(nn.Linear(8, 8)), p.spectral_norm(nn.Linear(8, 8)),
                        p.orthogonal(nn.Linear(8, 8))).cuda()
    net(torch.randn(2, 8, device="cuda")).sum().backward()
    check(all(q.grad is not None for q in net.parameters()), "gradients")
