/* SPDX-License-Identifier: Apache-2.0
 *
 * A file that a verb writes, whole or not at all: what is written goes into a hidden file beside
 * it, which takes its name at the end. Until then, and for good where anything fails, what had
 * that name is as it was. Where a name cannot be taken so (standard output, pipes, devices, a
 * file that the shell has open for us, a folder that takes no new file) it is written directly. */
#ifndef VS_WHOLE_FILE_H
#define VS_WHOLE_FILE_H

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>

struct vs_whole_file {
    FILE *stream; /* to write to */
    const char *name; /* as it was asked for */
    /* the rest is private */
    char target[PATH_MAX]; /* where links lead */
    char *temporary; /* NULL: written directly */
    bool replaces, mapped;
};

/* vs_whole_file_open: begin to write *path*; NULL is standard output. An interrupt from here on
 * leaves nothing behind. A file that is there keeps its permissions, and a link its place. *mapped*:
 * a program may have the older one mapped, so nothing is written directly. false, and says so by
 * *who*, when it cannot be written. *path* must stay until the end. */
bool vs_whole_file_open(const char *who, const char *path, bool mapped,
                        struct vs_whole_file *file);

/* vs_whole_file_end: with *code* VS_EXIT_OK put the file in its place, else (the failure was
 * said) drop it. Returns *code*, or VS_EXIT_UNUSABLE, said by *who*, where that fails. */
int vs_whole_file_end(const char *who, struct vs_whole_file *file, int code);

#endif
