/* SPDX-License-Identifier: Apache-2.0
 *
 * Text of source files. Their paths come from a trace, which may be of another machine, or hostile: only
 * regular files of a usual size are read. */
#ifndef VS_SOURCE_TEXT_H
#define VS_SOURCE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* vs_source_is_code: whether *path* has the extension of a file with source code: ".py", ".cu", … */
bool vs_source_is_code(const char *path);

struct vs_source_file {
    char *text; /* *bytes* of it, and a zero byte; malloc'ed */
    size_t bytes;
    uint64_t changed_ns; /* since the Unix epoch: when the file was changed last */
};

/* vs_source_text_read: false for what is not a regular file of at most 16 MiB, or has a zero byte. The caller
 * frees *text*. */
bool vs_source_text_read(const char *path, struct vs_source_file *out);

/* vs_source_line: line *number* of *path*, without its indentation and a comment of Python at its end, in *out*
 * of *size* bytes, "…" for the rest of a longer one; *changed_ns* (may be NULL) as above. False where there is
 * no such line, or an empty one. */
bool vs_source_line(const char *path, unsigned number, char *out, size_t size, uint64_t *changed_ns);

#endif
