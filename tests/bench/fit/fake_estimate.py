# SPDX-License-Identifier: Apache-2.0
"""Estimates the memory of the shared snapshots' program as PyTorch itself offers it: the model on
fake tensors, counted by MemTracker (torch.distributed._tools.mem_tracker).

    fake_estimate.py MODEL-FOLDER LENGTH inference|training autocast|plain

Prints one JSON object: the peak that MemTracker counts, in bytes. No kernel runs and no memory
is allocated; tensors are counted, the allocator's segments are not.
"""
import json
import sys

import torch
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.distributed._tools.mem_tracker import MemTracker


def main():
    folder, length, kind, autocast = sys.argv[1:]
    sys.path.insert(0, folder)
    from cs336_basics.model import BasicsTransformerLM
    from cs336_basics.nn_utils import cross_entropy
    from cs336_basics.optimizer import AdamW
    tracker = MemTracker()
    with FakeTensorMode(allow_non_fake_inputs=True):
        with torch.device("cuda"):
            model = BasicsTransformerLM(vocab_size=10000, context_length=int(length), d_model=1024, num_layers=24,
                                        num_heads=16, d_ff=4096)
        optimizer = AdamW(model.parameters())
        ids = torch.randint(10000, (4, int(length)), device="cuda")
        tracker.track_external(model, optimizer, ids)
        with tracker:
            for _ in range(1 if kind == "inference" else 2):  # the second has the optimiser's state
                step(model, optimizer, ids, kind, autocast == "autocast", cross_entropy)
                tracker.reset_mod_stats()
    snapshot = tracker.get_tracker_snapshot("peak")
    peak = max(sum_of(values) for device, values in snapshot.items() if "cuda" in str(device))
    print(json.dumps({"peak_bytes": peak}))


def step(model, optimizer, ids, kind, autocast, cross_entropy):
    if kind == "inference":
        model.eval()
        with torch.inference_mode(), torch.autocast("cuda", dtype=torch.bfloat16, enabled=autocast):
            model(ids)
        return
    with torch.autocast("cuda", dtype=torch.bfloat16, enabled=autocast):
        loss = cross_entropy(model(ids), ids)
    loss.backward()
    optimizer.step()
    optimizer.zero_grad(set_to_none=True)


def sum_of(values):
    named = {getattr(key, "value", key): count for key, count in values.items()}
    return named["Total"]


if __name__ == "__main__":
    main()
