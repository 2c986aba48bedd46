# SPDX-License-Identifier: Apache-2.0
"""Tools for vramscope, a GPU memory profiler.

`vramscope.vst` reads traces. It needs no other files than those of this folder.
"""
