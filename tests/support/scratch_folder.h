/* SPDX-License-Identifier: Apache-2.0
 *
 * One folder of the test program below TMPDIR (/tmp, where that is long). It is removed with its
 * contents when the program exits, also after a failed assertion. Children of fork share it and do
 * not remove it. */
#ifndef VS_SCRATCH_FOLDER_H
#define VS_SCRATCH_FOLDER_H

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SCRATCH_TMPDIR_MAX 30 /* paths below it fit the tests' buffers */

/* weak: one for all files of the program */
__attribute__((weak)) char scratch_root[48];
__attribute__((weak)) pid_t scratch_owner;

static int remove_scratch_entry(const char *path, const struct stat *st, int type, struct FTW *at)
{
    (void)st, (void)type, (void)at;
    return remove(path) && 0; /* the others go all the same */
}

static void remove_scratch_root(void)
{
    if (getpid() == scratch_owner)
        nftw(scratch_root, remove_scratch_entry, 16, FTW_DEPTH | FTW_PHYS);
}

/* The folder, made by the first call; NULL with errno. */
static const char *scratch_folder(void)
{
    const char *temporary = getenv("TMPDIR");
    if (scratch_owner)
        return scratch_root;
    if (!temporary || !*temporary || strlen(temporary) > SCRATCH_TMPDIR_MAX)
        temporary = "/tmp";
    snprintf(scratch_root, sizeof scratch_root, "%.*s/vs_test_XXXXXX", SCRATCH_TMPDIR_MAX, temporary);
    if (!mkdtemp(scratch_root))
        return NULL;
    scratch_owner = getpid();
    return atexit(remove_scratch_root) ? NULL : scratch_root;
}

#endif
