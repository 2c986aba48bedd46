/* SPDX-License-Identifier: Apache-2.0
 *
 * A file that a verb writes completely or not at all: output goes to a hidden file beside it, which
 * is renamed at the end. Until then, and after a failure, the old file is unchanged. Where renaming
 * is not possible (standard output, pipes, devices, a file that the shell has open for us, a folder
 * that is not writable) the file is written directly. */
#ifndef VS_WHOLE_FILE_H
#define VS_WHOLE_FILE_H

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>

struct vs_whole_file {
    FILE *stream; /* to write to */
    const char *name; /* name for messages, as given */
    /* the rest is private */
    char target[PATH_MAX]; /* the target of links */
    char *temporary; /* NULL: written directly */
    bool replaces, mapped;
};

/* vs_whole_file_open: starts writing *path*; NULL is standard output. From here on an interrupt
 * leaves no file behind. An existing file keeps its permissions, and a link stays a link. *mapped*:
 * a program may have the older file mapped, so it is never written directly. Returns false, with a
 * message from *who*, when it cannot be written. *path* must stay valid until the end. */
bool vs_whole_file_open(const char *who, const char *path, bool mapped,
                        struct vs_whole_file *file);

/* vs_whole_file_like: a file that is new gets no more permissions than *source*, whose contents go into
 * it: traces are private to their user. NULL: only the user may read it. An existing file keeps its
 * own. */
void vs_whole_file_like(struct vs_whole_file *file, const char *source);

/* vs_whole_file_end: with *code* VS_EXIT_OK puts the file in place, otherwise (the failure was
 * already reported) removes it. Returns *code*, or VS_EXIT_UNUSABLE, reported by *who*, when that
 * fails. */
int vs_whole_file_end(const char *who, struct vs_whole_file *file, int code);

#endif
