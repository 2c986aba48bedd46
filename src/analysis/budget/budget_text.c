/* SPDX-License-Identifier: Apache-2.0
 *
 * The file may be a pipe (check --budget <(command)), so its size is not asked for:
 * one byte more than allowed is read. */
#include "analysis/budget/budget_text.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/reading/vs_xalloc.h"

enum vs_err vs_budget_text_read(const char *path, size_t max, char **out, size_t *length)
{
    FILE *file = fopen(path, "re");
    if (!file)
        return errno == ENOENT ? VS_ERR_NOT_FOUND : VS_ERR_IO;
    char *text = vs_xcalloc(1, max + 1);
    size_t bytes = fread(text, 1, max + 1, file);
    int code = ferror(file) ? errno : 0;
    fclose(file);
    enum vs_err err = code ? VS_ERR_IO : bytes > max ? VS_ERR_LIMIT : VS_OK;
    if (err) {
        free(text);
        errno = code;
        return err;
    }
    text[bytes] = 0;
    *out = text;
    *length = bytes;
    return VS_OK;
}
