# SPDX-License-Identifier: Apache-2.0
"""What a program holds, by its own tensors: for libraries.py, which compares it with the answer of fit."""
import json


def tensors(value):
    """The plain tensors on a device in *value*, those inside subclasses included."""
    import torch
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, (list, tuple)):
        return [t for v in value for t in tensors(v)]
    if not isinstance(value, torch.Tensor):
        return []
    if hasattr(value, "__tensor_flatten__"):
        return [t for name in value.__tensor_flatten__()[0] for t in tensors(getattr(value, name))]
    if hasattr(value, "to_local"):
        return tensors(value.to_local())
    return [value] if value.is_cuda else []


def total(value):
    """(bytes, number) of the storages of *value*."""
    found = {t.untyped_storage().data_ptr(): t.untyped_storage().nbytes() for t in tensors(value)}
    return sum(found.values()), len(found)


def report(model=None, optimizer=None):
    import torch
    held = {"peak": torch.cuda.max_memory_allocated()}
    if model is not None:
        held["parameters"] = total(list(model.parameters()))
        held["optimizer_state"] = total(list(optimizer.state.values()))
    print("sums", json.dumps(held), flush=True)
