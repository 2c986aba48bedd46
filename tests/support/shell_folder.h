/* SPDX-License-Identifier: Apache-2.0
 *
 * A folder of the test program below TMPDIR, and scripts that run in it: shared by the tests of the
 * command. Header-only; each test program is one file. */
#ifndef VS_SHELL_FOLDER_H
#define VS_SHELL_FOLDER_H

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/cmocka_test.h"
#include "support/scratch_folder.h"

static char folder[PATH_MAX];
static char out[65536], err[65536]; /* of the last script */

/* The file *name* of the folder, as text; returns its size. */
static size_t slurp(const char *name, char *text, size_t max)
{
    char path[PATH_MAX + 32];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *f = fopen(path, "rb");
    assert_non_null(f);
    size_t n = fread(text, 1, max - 1, f);
    text[n] = 0;
    fclose(f);
    return n;
}

/* Runs *before* and *script* by bash with job control in the folder; returns its exit status. */
static __attribute__((unused)) int run_script(const char *before, const char *script)
{
    char path[PATH_MAX + 32], command[2 * PATH_MAX + 64];
    snprintf(path, sizeof path, "%s/script.sh", folder);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fprintf(f, "set -m\n%s\n%s\n", before, script);
    fclose(f);
    snprintf(command, sizeof command, "cd '%s' && bash script.sh >out.txt 2>err.txt", folder);
    int status = system(command);
    assert_true(status >= 0);
    slurp("out.txt", out, sizeof out);
    slurp("err.txt", err, sizeof err);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

__attribute__((constructor)) static void make_folder(void)
{
    const char *made = scratch_folder();
    if (!made)
        abort();
    snprintf(folder, sizeof folder, "%s", made);
}

#endif
