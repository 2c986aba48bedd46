/* SPDX-License-Identifier: Apache-2.0
 *
 * See the header. Other processes, this one before an exec, or earlier ones with the same number
 * may have used a name; no trace is overwritten, so the next name is tried. */
#define _GNU_SOURCE
#include "intercept/process/process_internal.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/vs_clock.h"
#include "base/vs_link.h"
#include "base/vs_option.h"

#define NUMBERS_MAX 100u

enum vs_err vs_trace_name(const char *pattern, unsigned attempt, char *path)
{
    char number[32] = "";
    struct stat st;
    size_t folder = 0; /* absolute, as the program may change its folder */
    if (*pattern != '/' && getcwd(path, PATH_MAX)) {
        folder = strlen(path);
        path[folder++] = '/';
    }
    enum vs_err err = folder >= PATH_MAX ? VS_ERR_LIMIT
                                         : vs_output_expand(pattern, program_invocation_short_name,
                                                            (long)getpid(), path + folder,
                                                            PATH_MAX - folder);
    if (err)
        return err;
    if (!attempt) { /* /dev/stdout, if it is a pipe, is a link whose target is not a path */
        bool followed = !stat(path, &st) || vs_link_follow(path, PATH_MAX);
        (void)followed; /* still a link: it is not followed for writing */
        return VS_OK;
    }
    char *slash = strrchr(path, '/'), *dot = strrchr(path, '.');
    if (dot && (!slash || dot > slash + 1) && strcmp(dot, ".vst") == 0)
        *dot = 0;
    if (attempt >= NUMBERS_MAX)
        snprintf(number, sizeof number, ".%llu", (unsigned long long)vs_clock_realtime_ns());
    else if (attempt > 1)
        snprintf(number, sizeof number, ".%u", attempt);
    size_t n = strlen(path);
    int m = snprintf(path + n, PATH_MAX - n, ".%ld%s.vst", (long)getpid(), number);
    return m < 0 || (size_t)m >= PATH_MAX - n ? VS_ERR_LIMIT : VS_OK;
}
