/* SPDX-License-Identifier: Apache-2.0
 *
 * A build without toml++, or without a C++ compiler: every document is an error that says so. */
#include <stdio.h>

#include "tools/check/toml_tree.h"

struct vs_toml *vs_toml_parse(const char *text, size_t length, unsigned *line, char *why, size_t size)
{
    (void)text;
    (void)length;
    *line = 1;
    snprintf(why, size, "this vramscope was built without toml++, so it reads no budget files; use the "
             "options of vramscope check, or build it with libtomlplusplus-dev and a C++ compiler");
    return NULL;
}

void vs_toml_free(struct vs_toml *document)
{
    (void)document;
}
