# SPDX-License-Identifier: Apache-2.0
"""Several devices and several processes: NCCL, peers, memory shared between processes.

Each rank is a process of its own with its own device; a case gives the function of a rank, and
passes when every rank ends with 0.
"""
import os
import tempfile

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn

from feature_case import check, feature

FOUR = "h100-80g,devices=4"
TWO = "h100-80g,devices=2"


def rank_main(rank, function, world, folder):
    torch.cuda.set_device(rank)
    store = dist.FileStore(os.path.join(folder, "store"), world)
    dist.init_process_group("nccl", store=store, rank=rank, world_size=world,
                            device_id=torch.device("cuda", rank))
    try:
        function(rank, world)
        torch.cuda.synchronize()
    finally:
        dist.destroy_process_group()


def ranks(function, world):
    with tempfile.TemporaryDirectory() as folder:
        torch.multiprocessing.spawn(rank_main, (function, world, folder), nprocs=world)


def on_ranks(name, world, **options):
    """The decorated function is that of a rank; the case runs it in *world* ranks."""
    def register(function):
        feature(name, device=f"h100-80g,devices={world}", **options)(lambda: ranks(function, world))
        return function
    return register


def equal(tensor, values, what):
    check(tensor.flatten().tolist() == list(values), f"{what} gives {tensor.flatten().tolist()}")


@on_ranks("collectives: their values", 4)
def collectives(rank, world):
    def mine(n=2, dtype=torch.float32):
        return torch.full((n,), float(rank + 1), device="cuda").to(dtype)
    total = sum(range(1, world + 1))
    for op, value in ((dist.ReduceOp.SUM, total), (dist.ReduceOp.MAX, world), (dist.ReduceOp.MIN, 1),
                      (dist.ReduceOp.AVG, total / world), (dist.ReduceOp.PRODUCT, 24 if world == 4 else 2)):
        t = mine()
        dist.all_reduce(t, op)
        equal(t, [value] * 2, f"all_reduce {op}")
    for dtype in (torch.int64, torch.bfloat16, torch.float16, torch.float64, torch.uint8):
        t = mine(dtype=dtype)
        dist.all_reduce(t)
        equal(t, [total] * 2, f"all_reduce {dtype}")
    t = mine()
    dist.broadcast(t, world - 1)
    equal(t, [world] * 2, "broadcast")
    parts = [torch.zeros(2, device="cuda") for _ in range(world)]
    dist.all_gather(parts, mine())
    equal(torch.cat(parts), [r + 1 for r in range(world) for _ in range(2)], "all_gather")
    whole = torch.zeros(2 * world, device="cuda")
    dist.all_gather_into_tensor(whole, mine())
    equal(whole, [r + 1 for r in range(world) for _ in range(2)], "all_gather_into_tensor")
    t = mine()
    dist.reduce(t, 0)
    if rank == 0:
        equal(t, [total] * 2, "reduce")
    out = torch.zeros(2, device="cuda")
    dist.reduce_scatter_tensor(out, torch.arange(2.0 * world, device="cuda"))
    equal(out, [world * (2 * rank), world * (2 * rank + 1)], "reduce_scatter_tensor")
    objects = [None] * world
    dist.all_gather_object(objects, {"rank": rank})
    check([o["rank"] for o in objects] == list(range(world)), f"all_gather_object gives {objects}")
    dist.barrier()


@on_ranks("all_to_all, gather, scatter", 4)
def all_to_all(rank, world):
    out = torch.zeros(world, device="cuda")
    dist.all_to_all_single(out, torch.arange(world, device="cuda") + 10.0 * rank)
    equal(out, [10 * r + rank for r in range(world)], "all_to_all_single")
    sizes = [r + 1 for r in range(world)]
    received = torch.zeros(world * (rank + 1), device="cuda")
    dist.all_to_all_single(received, torch.full((sum(sizes),), float(rank), device="cuda"),
                           [rank + 1] * world, sizes)
    equal(received, [r for r in range(world) for _ in range(rank + 1)], "all_to_all with sizes")
    parts = [torch.zeros(1, device="cuda") for _ in range(world)]
    dist.all_to_all(parts, [torch.full((1,), float(rank), device="cuda") for _ in range(world)])
    equal(torch.cat(parts), range(world), "all_to_all")
    gathered = [torch.zeros(1, device="cuda") for _ in range(world)] if rank == 0 else None
    dist.gather(torch.full((1,), float(rank), device="cuda"), gathered)
    if rank == 0:
        equal(torch.cat(gathered), range(world), "gather")
    t = torch.zeros(1, device="cuda")
    dist.scatter(t, [torch.full((1,), 5.0 + r, device="cuda") for r in range(world)] if rank == 0 else None)
    equal(t, [5 + rank], "scatter")


@on_ranks("send, recv, batch_isend_irecv", 4)
def point_to_point(rank, world):
    t = torch.full((3,), float(rank), device="cuda")
    if rank == 0:
        dist.send(t, 1)
    elif rank == 1:
        dist.recv(t, 0)
        equal(t, [0] * 3, "recv")
    out = torch.zeros(1, device="cuda")
    operations = [dist.P2POp(dist.isend, torch.full((1,), float(rank), device="cuda"), (rank + 1) % world),
                  dist.P2POp(dist.irecv, out, (rank - 1) % world)]
    for request in dist.batch_isend_irecv(operations):
        request.wait()
    equal(out, [(rank - 1) % world], "batch_isend_irecv")


@on_ranks("asynchronous collectives and groups", 4)
def asynchronous(rank, world):
    ts = [torch.full((4,), float(rank), device="cuda") for _ in range(3)]
    for work in [dist.all_reduce(t, async_op=True) for t in ts]:
        work.wait()
    equal(ts[2], [sum(range(world))] * 4, "async all_reduce")
    group = dist.new_group(list(range(world // 2)))
    if rank < world // 2:
        t = torch.ones(1, device="cuda")
        dist.all_reduce(t, group=group)
        equal(t, [world // 2], "all_reduce of a part")
    big = torch.zeros(64 << 20, device="cuda")
    dist.all_reduce(big)
    graph_safe = torch.ones(4, device="cuda")
    dist.all_reduce(graph_safe)
    equal(graph_safe, [world] * 4, "all_reduce after a large one")


def model():
    torch.manual_seed(0)
    return nn.Sequential(*[nn.Sequential(nn.Linear(64, 64), nn.ReLU()) for _ in range(4)]).cuda()


@on_ranks("DistributedDataParallel, 2 ranks", 2)
def data_parallel(rank, world):
    net = nn.parallel.DistributedDataParallel(model(), device_ids=[rank])
    optimizer = torch.optim.AdamW(net.parameters())
    torch.manual_seed(rank)
    for _ in range(3):
        optimizer.zero_grad()
        net(torch.randn(8, 64, device="cuda")).square().mean().backward()
        optimizer.step()
    weight = net.module[0][0].weight.detach()
    parts = [torch.empty_like(weight) for _ in range(world)]
    dist.all_gather(parts, weight.contiguous())
    check(all(torch.equal(p, weight) for p in parts), "the parameters of the ranks differ")


@on_ranks("FSDP2, 4 ranks", 4, timeout=300)
def fully_sharded(rank, world):
    try:
        from torch.distributed.fsdp import MixedPrecisionPolicy, fully_shard
    except ImportError:
        from torch.distributed._composable.fsdp import MixedPrecisionPolicy, fully_shard
    net = model()
    policy = MixedPrecisionPolicy(param_dtype=torch.bfloat16, reduce_dtype=torch.float32)
    for layer in net:
        fully_shard(layer, mp_policy=policy)
    fully_shard(net, mp_policy=policy)
    optimizer = torch.optim.AdamW(net.parameters())
    for _ in range(2):
        optimizer.zero_grad()
        net(torch.randn(8, 64, device="cuda")).square().mean().backward()
        norm = nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        optimizer.step()
    norm = norm.full_tensor() if hasattr(norm, "full_tensor") else norm
    check(0 < float(norm) < 100, f"gradient norm {float(norm)}")
    local = net[0][0].weight.to_local()
    check(local.shape == (64 // world, 64), f"shard of shape {tuple(local.shape)}")


LOSSES = """
import math, os, sys, torch
import torch.distributed as dist
from torch import nn
dist.init_process_group("nccl")
rank, world = int(os.environ["LOCAL_RANK"]), dist.get_world_size()
torch.cuda.set_device(rank)
torch.manual_seed(0)
net = nn.Sequential(nn.Linear(16, 32), nn.ReLU(), nn.Linear(32, 4)).cuda()
alone = nn.Sequential(nn.Linear(16, 32), nn.ReLU(), nn.Linear(32, 4))
alone.load_state_dict(net.state_dict())
if sys.argv[1] == "ddp":
    net = nn.parallel.DistributedDataParallel(net, device_ids=[rank])
else:
    try:
        from torch.distributed.fsdp import fully_shard
    except ImportError:
        from torch.distributed._composable.fsdp import fully_shard
    fully_shard(net[0]), fully_shard(net[2]), fully_shard(net)
x, y = torch.randn(8, 16), torch.randint(0, 4, (8,))
mine = slice(rank * 8 // world, (rank + 1) * 8 // world)
ours = [torch.optim.SGD(m.parameters(), lr=0.5) for m in (net, alone)]
for step in range(4):
    for o in ours:
        o.zero_grad()
    loss = nn.functional.cross_entropy(net(x[mine].cuda()), y[mine].cuda())
    expected = nn.functional.cross_entropy(alone(x), y)
    loss.backward(), expected.backward()
    for o in ours:
        o.step()
    mean = loss.detach().clone()
    dist.all_reduce(mean, dist.ReduceOp.AVG)
    assert math.isfinite(loss.item()), loss
    assert abs(mean.item() - expected.item()) < 1e-3, (step, mean.item(), expected.item())
dist.destroy_process_group()
"""


def torchrun(world, text, *words):
    import subprocess
    import sys
    with open("program.py", "w", encoding="utf-8") as f:
        f.write(text)
    subprocess.run([sys.executable, "-m", "torch.distributed.run", "--standalone",
                    f"--nproc-per-node={world}", "program.py", *words], check=True, timeout=220)


# The mean loss of the ranks is that of one process on the CPU, in every step.
feature("losses of DistributedDataParallel, 2 ranks", device=TWO, timeout=240)(
    lambda: torchrun(2, LOSSES, "ddp"))
feature("losses of FSDP2, 4 ranks", device=FOUR, timeout=300)(
    lambda: torchrun(4, LOSSES, "fsdp2"))


@on_ranks("FSDP1, 2 ranks", 2)
def sharded_once(rank, world):
    from torch.distributed.fsdp import FullyShardedDataParallel
    net = FullyShardedDataParallel(model(), use_orig_params=True)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    net(torch.randn(8, 64, device="cuda")).square().mean().backward()
    net.clip_grad_norm_(1.0)
    optimizer.step()


@on_ranks("tensor parallelism", 2)
def tensor_parallel_rank(rank, world):
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.tensor.parallel import ColwiseParallel, RowwiseParallel, parallelize_module
    mesh = init_device_mesh("cuda", (world,))
    torch.manual_seed(0)
    plain = nn.Sequential(nn.Linear(16, 32), nn.ReLU(), nn.Linear(32, 8))
    x = torch.randn(4, 16)
    expected = plain(x)
    net = parallelize_module(plain.cuda(), mesh, {"0": ColwiseParallel(), "2": RowwiseParallel()})
    out = net(x.cuda())
    check(torch.allclose(out.detach().cpu(), expected, atol=1e-2), "values of the parallel model")
    out.sum().backward()


@on_ranks("pipeline parallelism", 2)
def pipeline_rank(rank, world):
    from torch.distributed.pipelining import PipelineStage, ScheduleGPipe
    stage = PipelineStage(nn.Linear(16, 16).cuda(), rank, world, torch.device("cuda", rank))
    schedule = ScheduleGPipe(stage, n_microbatches=2, loss_fn=F.mse_loss)
    x = torch.randn(4, 16, device="cuda")
    if rank == 0:
        schedule.step(x)
    elif rank == world - 1:
        schedule.step(target=x, losses=[])
    else:
        schedule.step()


@on_ranks("ZeroRedundancyOptimizer", 2)
def zero_rank(rank, world):
    from torch.distributed.optim import ZeroRedundancyOptimizer
    net = nn.parallel.DistributedDataParallel(model(), device_ids=[rank])
    optimizer = ZeroRedundancyOptimizer(net.parameters(), torch.optim.AdamW)
    net(torch.randn(8, 64, device="cuda")).sum().backward()
    optimizer.step()


@on_ranks("SyncBatchNorm", 2)
def sync_batch_norm_rank(rank, world):
    net = nn.SyncBatchNorm.convert_sync_batchnorm(nn.Sequential(nn.BatchNorm1d(6))).cuda()
    x = torch.full((4, 6), float(rank), device="cuda", requires_grad=True)
    net(x).sum().backward()
    mean = float(net[0].running_mean[0])
    check(abs(mean - 0.1 * (world - 1) / 2) < 1e-3, f"running mean {mean}")


@on_ranks("distributed checkpoint", 2)
def checkpoint_rank(rank, world):
    import torch.distributed.checkpoint as dcp
    folder = os.path.join(os.getcwd(), "checkpoint")
    state = {"w": torch.full((4,), 3.0, device="cuda")}
    dcp.save(state, checkpoint_id=folder)
    state["w"].zero_()
    dcp.load(state, checkpoint_id=folder)
    equal(state["w"], [3] * 4, "the loaded state")


@on_ranks("symmetric memory", 2, since="2.7", timeout=120)
def symmetric_rank(rank, world):
    import torch.distributed._symmetric_memory as symm
    t = symm.empty(1024, dtype=torch.float32, device="cuda")
    handle = symm.rendezvous(t, dist.group.WORLD.group_name)
    check(handle.world_size == world and handle.rank == rank, "handle")
    t.fill_(float(rank))
    handle.barrier()
    torch.ops.symm_mem.one_shot_all_reduce(t, "sum", dist.group.WORLD.group_name)
    torch.cuda.synchronize()


@on_ranks("symmetric memory, NVSHMEM", 2, since="2.8", timeout=120)
def nvshmem_rank(rank, world):
    import torch.distributed._symmetric_memory as symm
    symm.set_backend("NVSHMEM")
    t = symm.empty(1024, dtype=torch.float32, device="cuda").fill_(float(rank))
    symm.rendezvous(t, dist.group.WORLD.group_name)
    torch.cuda.synchronize()


@feature("copies between devices", device=TWO)
def peer_copies():
    a = torch.arange(1000, device="cuda:0")
    b = a.to("cuda:1")
    check(b.device.index == 1 and torch.equal(a.cpu(), b.cpu()), "copy to the other device")
    c = torch.zeros(1000, dtype=torch.int64, device="cuda:0").copy_(b)
    check(torch.equal(c.cpu(), a.cpu()), "copy back")
    check(torch.cuda.can_device_access_peer(0, 1), "peer access")
    from torch.nn.parallel import comm
    parts = comm.scatter(torch.arange(8.0, device="cuda:0"), [0, 1])
    check(parts[1].tolist() == [4, 5, 6, 7], "comm.scatter")
    check(comm.reduce_add(parts, 0).tolist() == [4, 6, 8, 10], "comm.reduce_add")


@feature("DataParallel", device=TWO)
def one_process_data_parallel():
    net = nn.DataParallel(nn.Linear(8, 4).cuda())
    out = net(torch.randn(6, 8, device="cuda"))
    check(out.shape == (6, 4), "shape")
    out.sum().backward()


def consume(queue, done):
    t = queue.get()
    ok = t.tolist() == [0, 1, 2, 3]
    t.add_(10)
    torch.cuda.synchronize()
    del t
    done.put(ok)


@feature("tensors shared with another process")
def shared_tensors():
    context = torch.multiprocessing.get_context("spawn")
    queue, done = context.Queue(), context.Queue()
    child = context.Process(target=consume, args=(queue, done))
    child.start()
    t = torch.arange(4, device="cuda")
    queue.put(t)
    check(done.get(timeout=90), "the other process sees the values")
    child.join()
    check(t.tolist() == [10, 11, 12, 13], f"its change is seen here: {t.tolist()}")


@feature("events shared with another process")
def shared_events():
    event = torch.cuda.Event(interprocess=True)
    event.record()
    handle = event.ipc_handle()
    check(len(handle) == 64, f"{len(handle)} bytes")


feature("torchrun", device=TWO, timeout=240)(lambda: torchrun(2, (
    "import os, torch, torch.distributed as d\n"
    "d.init_process_group('nccl')\n"
    "r = int(os.environ['LOCAL_RANK'])\ntorch.cuda.set_device(r)\n"
    "t = torch.ones(1, device='cuda')\nd.all_reduce(t)\n"
    "assert t.item() == 2, t\nd.destroy_process_group()\n")))
