# SPDX-License-Identifier: Apache-2.0
"""The backend of scaled_dot_product_attention. Where it cannot compute a call, PyTorch's error is the
program's."""
from vramscope_values import hide

_NAMES = {"flash": "FLASH_ATTENTION", "efficient": "EFFICIENT_ATTENTION", "cudnn": "CUDNN_ATTENTION"}


def start(torch, effect, settings):
    from torch.nn.attention import SDPBackend, sdpa_kernel
    name = _NAMES[settings["backend"]]
    backend = getattr(SDPBackend, name)
    code = f"with sdpa_kernel(SDPBackend.{name}): F.scaled_dot_product_attention(…)"
    effect.why = "scaled_dot_product_attention was not called, or had this backend already"

    @hide.replace(torch.nn.functional, "scaled_dot_product_attention")
    def by_backend(attention, query, *args, **kwargs):
        if torch.compiler.is_compiling() or not query.is_cuda:
            return attention(query, *args, **kwargs)
        if torch._fused_sdp_choice(query, *args, **kwargs) == int(backend.value):
            return attention(query, *args, **kwargs)
        effect.took(code)
        with sdpa_kernel(backend):
            return attention(query, *args, **kwargs)
