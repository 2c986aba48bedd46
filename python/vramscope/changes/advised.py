# SPDX-License-Identifier: Apache-2.0
"""The changes that `vramscope advise` can try, in the order of their cost, each with the reason why it can do
nothing for this program. Needs nothing of torch.

A row has `change` (as VRAMSCOPE_CHANGES has it), `label`, `tier`, `needs` (what there must be at the peak for it to
help), `groups` (changes that share one exclude each other), `absent` (the reason; null: it may help) and `few`:
null, or what to say if its `bytes` are less than a hundredth of the peak.
"""

_FUSED = {"Adam", "AdamW", "SGD", "Adagrad"}
_LOSS_COPIES = 4  # of logits in 16 bits: in 32 bits, and its gradient
_AFTER_BLOCKS = "chunked-loss:chunks=8"
# In the order in which they are tried. {} is the path of a list of modules.
_FORMS = (
    ("set-to-none", "set_to_none=True", "free", "gradients", "gradients"),
    ("fused", "fused optimizer", "free", "optimizer", "step"),
    ("foreach-off", "foreach=False", "free", "optimizer", "step"),
    ("sdpa:backend=efficient", "sdpa efficient", "free", "", "attention"),
    ("checkpoint:path={},every=2", "checkpoint every 2nd", "recomputation", "activations", "blocks"),
    ("checkpoint-ops:path={}", "selective checkpoint", "recomputation", "activations", "blocks"),
    ("checkpoint:path={},every=1", "checkpoint each block", "recomputation", "activations", "blocks"),
    (_AFTER_BLOCKS, "loss in 8 chunks", "recomputation", "", "loss"),
    ("offload-activations", "offload activations", "copies", "activations", "offload"),
    ("offload-optimizer", "offload optimizer", "copies", "state", "state step"),
    ("autocast", "bf16 autocast", "precision", "activations", "type"),
    ("optimizer-bf16", "bf16 optimizer state", "precision", "state", "state step"),
    ("optimizer-8bit", "8-bit optimizer state", "precision", "state", "state step"),
    ("accumulate:steps=2", "batch in 2 parts", "batch", "activations", "batch"),
    ("accumulate:steps=4", "batch in 4 parts", "batch", "activations", "batch"),
    ("accumulate:steps=8", "batch in 8 parts", "batch", "activations", "batch"),
    ("lora:rank=16", "LoRA rank 16", "model", "", "adapter state step"),
)


def rows(survey):
    lists = sorted((b for b in survey["module_lists"] if b["path"]), key=lambda b: (-b["activation_bytes"], b["path"]))
    optimizers = survey["optimizers"]
    ready = [bool(b.get("checkpointed") or b.get("compiled")) for b in lists]
    block_bytes = sum(b["activation_bytes"] for b, done in zip(lists, ready) if not done)
    loss_bytes = max((c["bytes"] for c in survey["losses"]), default=0)
    backends = [c["backend"] for c in survey["attention"]]
    unfused = [o for o in optimizers if not o.get("fused")]
    no_state = not any(o["state_bytes"] for o in optimizers)
    absent = {  # by the change, or by its need
        "set-to-none": None if any(o["set_to_none"] is False for o in optimizers)
        else "zero_grad() frees the gradients already",
        "fused": None if any(o["class"] in _FUSED for o in unfused)
        else "the optimizer is fused, or has no fused form",
        "foreach-off": None if any(o.get("foreach") is not False for o in unfused)
        else "the optimizer makes no lists of temporaries",
        "sdpa": None if "math" in backends else "attention does not use the math backend" if backends
        else "scaled_dot_product_attention is not called",
        "blocks": "no list of repeated modules was found" if not lists
        else "the repeated blocks are checkpointed or compiled already" if all(ready) else None,
        "chunked-loss": None if loss_bytes else "no loss over classes was found",
        "autocast": "autocast is used already" if survey["autocast"]
        else None if survey["parameters"].get("float32") else "the parameters are not float32",
        "optimizer-bf16": None if no_state or any("float32" in o["dtypes"] for o in optimizers)
        else "the optimizer's state is not float32",
        "state": "the optimizer has no state" if no_state else None,
    }
    few = {"blocks": (block_bytes, "the repeated blocks hold few activations"),
           "chunked-loss": (loss_bytes, "the loss holds little memory")}
    forms = list(_FORMS)
    if lists and _LOSS_COPIES * loss_bytes > lists[0]["activation_bytes"]:
        # of the two that compute again, the one that holds more comes first
        loss = next(f for f in forms if f[0] == _AFTER_BLOCKS)
        forms.remove(loss)
        forms.insert(next(i for i, f in enumerate(forms) if f[4] == "blocks"), loss)
    found = []
    for change, label, tier, needs, groups in forms:
        keys = change.partition(":")[0], needs, groups
        why = next((absent[k] for k in keys if absent.get(k)), None)
        if not optimizers and change != "autocast":
            why = "no optimizer was created: this is no training"
        nbytes, too_few = next((few[k] for k in keys if k in few), (0, None))
        found.append({"change": _of_lists(change, lists, ready), "label": label, "tier": tier, "needs": needs,
                      "groups": groups.split(), "absent": why, "bytes": nbytes, "few": too_few})
    return found


def _of_lists(change, lists, ready):
    """*change*, once for each list of blocks that holds much: those with a tenth of the activations of the
    largest, of lists that contain each other the one with more."""
    def is_within(inner, outer):
        return inner == outer or inner.startswith(outer + ".")

    free = [b for b, done in zip(lists, ready) if not done]
    paths = []
    for i, b in enumerate(free):
        path, before = b["path"], [other["path"] for other in free[:i]]
        if b["activation_bytes"] * 10 >= lists[0]["activation_bytes"] and not any(
                is_within(path, p) or is_within(p, path) for p in before):
            paths.append(path)
    return ";".join(change.format(path) for path in paths or [""]) if "{}" in change else change
