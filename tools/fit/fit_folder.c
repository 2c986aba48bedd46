/* SPDX-License-Identifier: Apache-2.0
 *
 * The folder of the runs: a new one below TMPDIR, removed at the end, or the user's (--keep), in
 * which files of an earlier `fit` are replaced and all others stay. */
#define _GNU_SOURCE
#include <errno.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/vs_option.h"
#include "base/vs_output_file.h"
#include "tools/common/command.h"
#include "tools/fit/fit_internal.h"

int vs_fit_folder_make(struct vs_fit_job *job)
{
    if (job->keep) {
        if (!vs_folder_make(job->keep, 0777))
            return vs_tool_fail(job->who, "cannot create %s: %s; choose another folder with --keep",
                                job->keep, strerror(errno));
        if (!realpath(job->keep, job->folder) || access(job->folder, W_OK | X_OK))
            return vs_tool_fail(job->who, "cannot write in %s: %s; choose another folder with "
                                "--keep", job->keep, strerror(errno));
        return 0;
    }
    const char *temporary = vs_environment("TMPDIR");
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/vramscope-fit-XXXXXX",
             temporary && *temporary ? temporary : "/tmp");
    if (!mkdtemp(path) || !realpath(path, job->folder))
        return vs_tool_fail(job->who, "cannot create %s: %s; set TMPDIR to a folder that can be "
                            "written to", path, strerror(errno));
    return 0;
}

static int remove_one(const char *path, const struct stat *st, int kind, struct FTW *at)
{
    (void)st;
    (void)kind;
    (void)at;
    remove(path);
    return 0; /* what cannot be removed must not keep the rest */
}

void vs_fit_folder_clear(const char *folder)
{
    nftw(folder, remove_one, 16, FTW_DEPTH | FTW_PHYS | FTW_MOUNT);
}

void vs_fit_folder_remove(const struct vs_fit_job *job)
{
    if (!job->keep && *job->folder)
        vs_fit_folder_clear(job->folder);
}
