# SPDX-License-Identifier: Apache-2.0
"""torchtitan: its own train.py with its debug model, on FSDP2; the tokenizer and the texts are made here."""
import json
import os
import sys
import tempfile

from torchtitan import train

import texts

with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    texts.tokenizer("tests/assets/tokenizer")
    os.makedirs("tests/assets/c4_test")
    with open("tests/assets/c4_test/data.json", "w", encoding="utf-8") as f:
        f.writelines(json.dumps({"text": text}) + "\n" for text in texts.texts(200, 1000))
    sys.argv[1:] = ["--module", "llama3", "--config", "llama3_debugmodel", "--training.steps", "3"]
    train.main()
