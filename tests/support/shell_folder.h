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

/* The last script wrote each of *parts*, which "|" separates: to standard output, or with "!" before
 * it to standard error. Behind that, "=": nothing else; "~": it did not; "^": in its only line. */
__attribute__((unused)) static void assert_wrote(const char *parts)
{
    char copy[4096];
    snprintf(copy, sizeof copy, "%s", parts);
    for (char *next, *part = strtok_r(copy, "|", &next); part; part = strtok_r(NULL, "|", &next)) {
        bool lacks = *part == '~';
        part += lacks;
        const char *text = *part == '!' ? err : out;
        part += *part == '!';
        bool whole = *part == '=', line = *part == '^';
        part += whole || line;
        if (whole ? strcmp(text, part) != 0 : (strstr(text, part) != NULL) == lacks)
            fail_msg("'%s' is %s:\n%s", part, lacks ? "in" : "not", text);
        if (line && strchr(text, '\n') != text + strlen(text) - 1)
            fail_msg("more than one line:\n%s", text);
    }
}

__attribute__((constructor)) static void make_folder(void)
{
    const char *made = scratch_folder();
    if (!made)
        abort();
    snprintf(folder, sizeof folder, "%s", made);
}

#endif
