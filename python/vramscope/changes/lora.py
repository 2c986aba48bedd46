# SPDX-License-Identifier: Apache-2.0
"""Low-rank adapters of peft on the linear layers of the blocks, which alone are trained.

They are put into the model when the program creates its optimizer, which gets their parameters.
"""
from vramscope_values import hide

from . import models


def start(torch, effect, settings):
    effect.why = "no optimizer was created for a model"

    @hide.replace(torch.optim.Optimizer, "__init__")
    def adapted(create, self, params, *args, **kwargs):
        params = list(params)
        try:
            params = _adapted(torch, effect, settings["rank"], params)
        except Exception as error:
            effect.refuse(f"{type(error).__name__}: {error}")
        create(self, params, *args, **kwargs)


def _adapted(torch, effect, rank, params):
    """The parameters of the adapters, in the program's first group; *params* where there are none."""
    import peft
    tensors = [p for g in params for p in (g["params"] if isinstance(g, dict) else [g])]
    wanted = {id(p) for p in tensors}
    for root in models.roots():
        if not any(id(p) in wanted for p in root.parameters()):
            continue
        if any("lora_" in name for name, _ in root.named_parameters()):
            effect.refuse("the model has adapters already")
            return params
        inner = {id(m) for blocks in models.block_lists() for m in blocks.modules.modules()}
        names = [n for n, m in root.named_modules() if id(m) in inner and type(m) is torch.nn.Linear]
        if not names:
            continue
        peft.get_peft_model(root, peft.LoraConfig(r=rank, target_modules=names))  # changes *root*
        effect.took(f"model = get_peft_model(model, LoraConfig(r={rank}, target_modules=…))  # linear layers "
                    "of the blocks; then the optimizer for parameters with requires_grad")
        trained = [p for p in root.parameters() if p.requires_grad]
        return [{**params[0], "params": trained}] if isinstance(params[0], dict) else trained
    return params
