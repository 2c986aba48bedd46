/* SPDX-License-Identifier: Apache-2.0
 *
 * Whether a Python file is the user's or a library's, by where it is installed: site-packages and
 * dist-packages, the folder of Python's own library, vramscope's Python part, code that
 * torch.compile writes, code without a file. A folder that only has the name of a library (torch/,
 * numba/) is the user's, unless it is a checkout in the src folder of an environment. */
#ifndef VS_PYTHON_FILE_H
#define VS_PYTHON_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace/read/reader.h"

#define VS_PACKAGE_MAX 32

/* vs_python_is_library: whether the Python file at *path* is not the user's. Judges by the path
 * alone. */
bool vs_python_is_library(const char *path);

/* vs_python_library: likewise, with the other paths of the trace as evidence: a known library in
 * PREFIX/src is installed ("pip install -e git+…") if the trace has files of Python's library or
 * packages in PREFIX/lib. Writes the name of the library ("torch", "python" for Python's own,
 * "vramscope"), or "" for the user's. Returns whether it is a library. Cost: for paths in a src
 * folder with a library's name, a walk over the modules. */
bool vs_python_library(const struct vs_reader *reader, const char *path, char name[VS_PACKAGE_MAX]);

/* vs_python_user_stack: whether *stack* has a Python function of the user's. Judges by the path
 * alone. */
bool vs_python_user_stack(const struct vs_reader *reader, uint64_t stack);

#endif
