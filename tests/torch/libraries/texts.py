# SPDX-License-Identifier: Apache-2.0
"""A tokenizer and texts of made-up words, for libraries that read them from files."""
import json
import pathlib

from tokenizers import Tokenizer, models, pre_tokenizers

WORDS = 2000


def tokenizer(folder):
    """Writes tokenizer.json and tokenizer_config.json."""
    words = {w: i for i, w in enumerate(["<pad>", "<s>", "</s>", "<unk>"] + [f"w{i}" for i in range(WORDS)])}
    made = Tokenizer(models.WordLevel(words, unk_token="<unk>"))
    made.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    made.save(str(folder / "tokenizer.json"))
    config = {"bos_token": "<s>", "eos_token": "</s>", "pad_token": "<pad>", "unk_token": "<unk>",
              "tokenizer_class": "PreTrainedTokenizerFast"}
    (folder / "tokenizer_config.json").write_text(json.dumps(config))


def texts(count, length):
    return [" ".join(f"w{(i * k) % WORDS}" for k in range(length)) for i in range(count)]
