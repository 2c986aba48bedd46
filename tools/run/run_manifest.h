/* SPDX-License-Identifier: Apache-2.0
 *
 * The manifest of `vramscope run`: the file to which every process that it started appends a
 * line (run_summary.c says what lines there are), whatever user that process has become. */
#ifndef VS_RUN_MANIFEST_H
#define VS_RUN_MANIFEST_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* vs_run_manifest_create: a new one; *path*: PATH_MAX bytes. false with errno. */
bool vs_run_manifest_create(char *path);
void vs_run_manifest_remove(const char *path);

/* vs_run_manifest_line: the next line into *line*, without its newline; those of the name are
 * back in it. false at the end. */
bool vs_run_manifest_line(FILE *manifest, char *line, size_t max);

/* vs_run_manifest_record_end: the program, process *pid*, ended with *status* (of waitpid): note
 * it for readers of its trace, if that one has no end. */
void vs_run_manifest_record_end(const char *path, uint64_t pid, int status);

#endif
