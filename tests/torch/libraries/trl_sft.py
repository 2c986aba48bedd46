# SPDX-License-Identifier: Apache-2.0
"""trl: SFTTrainer on texts."""
import tempfile

import datasets
from transformers import AutoTokenizer, LlamaConfig, LlamaForCausalLM
from trl import SFTConfig, SFTTrainer

import sums
import texts

model = LlamaForCausalLM(LlamaConfig(hidden_size=768, intermediate_size=3072, num_hidden_layers=12,
                                     num_attention_heads=12, vocab_size=4096))
with tempfile.TemporaryDirectory() as folder:
    texts.tokenizer(folder)
    config = SFTConfig(folder, per_device_train_batch_size=4, max_steps=3, max_length=512, bf16=True,
                       save_strategy="no", report_to="none", logging_steps=1)
    trainer = SFTTrainer(model, args=config, train_dataset=datasets.Dataset.from_dict({"text": texts.texts(64, 600)}),
                         processing_class=AutoTokenizer.from_pretrained(folder))
    trainer.train()
sums.report(model, trainer.optimizer)
