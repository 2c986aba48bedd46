/* SPDX-License-Identifier: Apache-2.0
 *
 * The manifest of `vramscope run`: the file to which every process that it started appends a line
 * (run_summary.c lists the kinds of lines), whatever user that process runs as. */
#ifndef VS_RUN_MANIFEST_H
#define VS_RUN_MANIFEST_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* vs_run_manifest_create: creates a new one; *path*: PATH_MAX bytes. Returns false with errno. */
bool vs_run_manifest_create(char *path);
void vs_run_manifest_remove(const char *path);

/* vs_run_manifest_line: reads the next line into *line*, without its newline; newlines within the
 * name are restored. Returns false at the end. */
bool vs_run_manifest_line(FILE *manifest, char *line, size_t max);

/* vs_run_manifest_record_end: records that the program, process *pid*, ended with *status* (of
 * waitpid), for readers of its trace, if that one has no end. */
void vs_run_manifest_record_end(const char *path, uint64_t pid, int status);

#endif
