# SPDX-License-Identifier: Apache-2.0
"""lit-gpt's own finetune/lora.py with Llama 2 7B or another MODEL, as in its table of October 2023
(tutorials/resource-tables.md there; docs/fit.md, "Published tables of large runs").

    litgpt_lora.py CHECKOUT MICROBATCH [MODEL TOKENS]

CHECKOUT: https://github.com/Lightning-AI/litgpt at commit 8641822. The weights stay random and the texts are made
here: the longest has TOKENS (1,304) and comes first, as there. It prints "Memory used", the peak of PyTorch's tensors.
"""
import pathlib
import sys
import tempfile

import torch


def main():
    sys.path.insert(0, sys.argv[1])
    from finetune import lora
    lora.micro_batch_size = int(sys.argv[2])
    lora.gradient_accumulation_iters = lora.batch_size // lora.micro_batch_size
    lora.max_iters = 3
    model, tokens = (sys.argv[3:] + ["Llama-2-7b-hf", 1304])[:2]
    lora.check_valid_checkpoint_dir = lora.load_checkpoint = lora.Tokenizer = lora.validate = lambda *_, **__: None
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        texts = [{"input_ids": torch.arange(n), "labels": torch.arange(n)} for n in (int(tokens), 200, 300, 400)]
        for file in ("train.pt", "test.pt"):
            torch.save(texts, folder / file)
        lora.setup(folder, folder / "meta-llama" / model, folder / "out", "bf16-true")


if __name__ == "__main__":
    main()
