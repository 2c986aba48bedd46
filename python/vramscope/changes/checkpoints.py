# SPDX-License-Identifier: Apache-2.0
"""Activation checkpointing of the blocks of a module list.

Of a library with a switch of its own (transformers, diffusers) that switch is used, as its
documentation says: its blocks take caches, which a second run of the block must not fill again. Every other
block runs under torch.utils.checkpoint, as checkpoint_wrapper has it. checkpoint-ops keeps the results
of matrix products and attention, by PyTorch's selective checkpointing.
"""
import functools
import weakref

from . import effects, models

_OPS = "context_fn"
_switched = weakref.WeakSet()  # models whose own switch was used, for one of several lists
_IMPORT = "from torch.distributed.algorithms._checkpoint.checkpoint_wrapper import checkpoint_wrapper"
_CONTEXT = ", context_fn=partial(create_selective_checkpoint_contexts, ops)"


def start(torch, effect, settings):
    path, every = settings["path"], settings["every"]
    options = {"use_reentrant": False}
    if effect.name == "checkpoint-ops":
        from torch.utils.checkpoint import create_selective_checkpoint_contexts
        options[_OPS] = functools.partial(create_selective_checkpoint_contexts, _kept(torch))
    done = set()
    wanted = path or f"of {settings['class'] or '(no path or class was given)'}"
    effect.why = f"there was no module list {wanted} when an optimizer was created"

    def apply(_optimizer):
        for blocks, children in models.selected(path, settings["class"]):
            if id(blocks.modules) not in done:
                done.add(id(blocks.modules))
                effect.where = effects.place()
                effect.why = "the blocks were not called"
                if not _by_switch(effect, blocks, children, every, options):
                    _by_wrapper(torch, effect, blocks, children, every, options)

    models.at_each_optimizer(effect.refuse, apply)


def _kept(torch):
    aten = torch.ops.aten
    names = ("mm", "addmm", "bmm", "baddbmm", "_scaled_dot_product_flash_attention",
             "_scaled_dot_product_efficient_attention", "_scaled_dot_product_cudnn_attention")
    return [getattr(aten, name).default for name in names]


def _by_wrapper(torch, effect, blocks, children, every, options):
    where, name = effect.where, blocks.code()
    each = f"0, len({name}), {every}" if every > 1 else f"len({name})"
    contexts = _CONTEXT if _OPS in options else ""
    code = (f"above this line: {_IMPORT}; for i in range({each}): "
            f"{name}[i] = checkpoint_wrapper({name}[i]{contexts})")
    from torch.utils.checkpoint import checkpoint

    def run(_block, call, args, kwargs):
        if not torch.is_grad_enabled():
            return call(*args, **kwargs)
        if models.inside_checkpoint():
            effect.why = "the blocks are checkpointed already"
            return call(*args, **kwargs)
        effect.took(code, where)
        return checkpoint(call, *args, **options, **kwargs)

    if models.compiled():
        effect.why = "the model is compiled: torch.compile has to see the checkpoint in the code"
    for block in children[::every]:
        if not models.around(block, run):
            effect.why = "the blocks are compiled: torch.compile has to see the checkpoint in the code"


def _by_switch(effect, blocks, children, every, options):
    """True if the library that the model is from has a switch."""
    hf = next((m for m in blocks.owners if hasattr(type(m), "gradient_checkpointing_enable")), None)
    diffusers = next((m for m in blocks.owners if hasattr(type(m), "enable_gradient_checkpointing")), None)
    owner = hf or diffusers
    if owner is None or (hf is None and (every > 1 or _OPS in options)):
        return False
    switched = any(getattr(m, "gradient_checkpointing", False) for m in owner.modules())
    if switched and owner not in _switched:
        effect.why = "the blocks are checkpointed already"
        return True
    if hf is not None and not hf.supports_gradient_checkpointing or \
            hf is None and not diffusers._supports_gradient_checkpointing:
        return False
    contexts = ', "context_fn": partial(create_selective_checkpoint_contexts, ops)' if _OPS in options else ""
    shown = f'{{"use_reentrant": False{contexts}}}'
    names = ("activation_checkpointing_enable", "gradient_checkpointing_enable")
    name = next((n for n in names if hasattr(hf, n)), "enable_gradient_checkpointing")
    arguments, shown = ((options,), shown) if hf is not None else ((), "")
    if not switched:
        getattr(owner, name)(*arguments)
    _switched.add(owner)
    code = f"above this line: {effects.variable(lambda value: value is owner)}.{name}({shown})"
    if every > 1 and not all(hasattr(block, "gradient_checkpointing") for block in children):
        effect.refuse("this release of the library checkpoints all blocks or none")
    elif every > 1:
        for i, block in enumerate(children):
            block.gradient_checkpointing = i % every == 0
        code += f"; for i, b in enumerate({blocks.code()}): b.gradient_checkpointing = i % {every} == 0"
    for module in owner.modules():
        function = module.__dict__.get("_gradient_checkpointing_func")
        if function is not None:
            module._gradient_checkpointing_func = _Counted(function, effect, code, effect.where)
    effect.why = "the program turned checkpointing on itself, or did not train"
    return True


class _Counted:
    """The library's function of a checkpoint. A plain object: it is copied with the model."""

    def __init__(self, function, effect, code, where):
        self.function, self.note = function, (effect, code, where)

    def __deepcopy__(self, memo):
        return self

    def __call__(self, *args, **kwargs):
        effect, code, where = self.note
        effect.took(code, where)
        return self.function(*args, **kwargs)
