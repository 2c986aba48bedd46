# SPDX-License-Identifier: Apache-2.0
"""torchtitan's own train.py with Llama 3.1 8B, as in its table of figures of December 2024
(benchmarks/llama3_h100_202412_torchtitan.md there; docs/fit.md, "Published tables of large runs").

    torchrun --nproc-per-node 8 torchtitan_llama.py CHECKOUT [OPTIONS OF train.py]

CHECKOUT: https://github.com/pytorch/torchtitan at commit 9dec370. The tokenizer, of Llama's number of words, and
the texts are made here. Batch and sequence are those of the table; the rest is the repository's configuration.
"""
import base64
import itertools
import json
import os
import pathlib
import runpy
import sys
import tempfile

WORDS = 128000  # train.py adds 256


def tokenizer(path):
    """Ranks of byte pairs in tiktoken's format: all single bytes, all pairs, and as many of three as needed."""
    words = (bytes(w) for n in (1, 2, 3) for w in itertools.product(range(256), repeat=n))
    lines = (f"{base64.b64encode(word).decode()} {rank}\n" for rank, word in enumerate(itertools.islice(words, WORDS)))
    path.write_text("".join(lines))


def main():
    checkout = pathlib.Path(sys.argv[1]).resolve()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        os.environ["HF_HOME"] = str(folder / "cache")
        tokenizer(folder / "tokenizer.model")
        (folder / "c4").mkdir()
        text = " ".join(f"{i % 977}" for i in range(5000))
        (folder / "c4/data.json").write_text("".join(json.dumps({"text": text}) + "\n" for _ in range(1024)))
        sys.path.insert(0, str(checkout))
        sys.argv[:] = ["train.py", "--job.config_file", str(checkout / "train_configs/llama3_8b.toml"),
                       "--job.dump_folder", str(folder / "outputs"), "--model.tokenizer_path",
                       str(folder / "tokenizer.model"), "--training.dataset", "c4_test", "--training.dataset_path",
                       str(folder / "c4"), "--training.batch_size", "2", "--training.seq_len", "8192", *sys.argv[2:]]
        runpy.run_path(str(checkout / "train.py"), run_name="__main__")


if __name__ == "__main__":
    main()
