# SPDX-License-Identifier: Apache-2.0
"""vramscope: where every byte of GPU memory went.

`vramscope.vst` reads traces; it needs nothing but this file's folder.
"""
