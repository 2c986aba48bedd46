# SPDX-License-Identifier: Apache-2.0
"""litgpt: its command finetune_lora, from a checkpoint with random weights that is made here."""
import json
import pathlib
import sys
import tempfile

import torch
from litgpt import GPT, Config
from litgpt.__main__ import main
from litgpt.utils import save_config

import sums
import texts

with tempfile.TemporaryDirectory() as folder:
    checkpoint = pathlib.Path(folder, "EleutherAI", "pythia-14m")
    texts.tokenizer(checkpoint)
    config = Config.from_name("pythia-14m")
    torch.save(GPT(config).state_dict(), checkpoint / "lit_model.pth")
    save_config(config, checkpoint)
    samples = [{"instruction": text, "output": text[::-1]} for text in texts.texts(64, 100)]
    (checkpoint / "data.json").write_text(json.dumps(samples))
    sys.argv[1:] = ["finetune_lora", str(checkpoint), "--precision", "bf16-true", "--out_dir", folder + "/out",
                    "--data", "JSON", "--data.json_path", str(checkpoint / "data.json"), "--data.num_workers", "0",
                    "--data.val_split_fraction", "0.1", "--train.global_batch_size", "8",
                    "--train.micro_batch_size", "4", "--train.lr_warmup_steps", "1", "--train.max_steps", "3",
                    "--train.max_seq_length", "128", "--eval.initial_validation", "false", "--eval.max_new_tokens", "4",
                    "--eval.max_iters", "1"]
    main()
    sums.report()
