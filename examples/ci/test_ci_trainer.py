# SPDX-License-Identifier: Apache-2.0
"""Tests of CUDA code with limits for its GPU memory. pytest --vramscope-simulate h100-80g"""
import ctypes
import pathlib

import pytest
import vramscope

LIBRARY = pathlib.Path(__file__).with_name("libtrainer.so")  # make


@pytest.fixture
def trainer():
    library = ctypes.CDLL(str(LIBRARY))
    assert library.trainer_open(4) == 0
    yield library
    library.trainer_close()


@pytest.mark.limit_vram("36 MiB")  # 4 activations of 8 MiB and a gradient of 4 MiB
@pytest.mark.limit_vram_leaks("0")
def test_step(trainer):
    assert trainer.trainer_step() == 0


@pytest.mark.limit_vram_growth("0")  # for each step
def test_training_does_not_grow(trainer):
    for number in range(6):
        vramscope.step(number)
        assert trainer.trainer_step() == 0
