# SPDX-License-Identifier: Apache-2.0
"""Lightning: a LightningModule with a transformer encoder, bf16-mixed, and the Trainer's own loop."""
import lightning
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

import sums


class Module(lightning.LightningModule):
    def __init__(self):
        super().__init__()
        layer = nn.TransformerEncoderLayer(768, 12, 3072, batch_first=True, norm_first=True)
        self.embed = nn.Embedding(8000, 768)
        self.layers = nn.TransformerEncoder(layer, 12, enable_nested_tensor=False)
        self.head = nn.Linear(768, 8000)

    def training_step(self, batch, index):
        ids, = batch
        loss = nn.functional.cross_entropy(self.head(self.layers(self.embed(ids))).flatten(0, 1), ids.flatten())
        self.log("loss", loss, prog_bar=True)
        return loss

    def on_train_end(self):  # afterwards it moves the state to the host
        sums.report(self, self.optimizers())

    def configure_optimizers(self):
        return torch.optim.AdamW(self.parameters(), lr=1e-4, fused=True)


module = Module()
loader = DataLoader(TensorDataset(torch.randint(8000, (64, 512))), batch_size=16)
trainer = lightning.Trainer(max_steps=3, precision="bf16-mixed", accelerator="gpu", devices=1, logger=False,
                            enable_checkpointing=False)
trainer.fit(module, loader)
