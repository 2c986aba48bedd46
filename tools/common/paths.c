/* SPDX-License-Identifier: Apache-2.0
 *
 * Relative paths: ../lib beside bin in a build tree, ../<libdir> when installed. */
#include "tools/common/paths.h"

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

/* Without /proc, the path that it was started with. */
static bool own_path(char *out, size_t max)
{
    char given[PATH_MAX];
    ssize_t n = readlink("/proc/self/exe", given, sizeof given);
    if (n > 0 && (size_t)n < max) {
        memcpy(out, given, (size_t)n);
        out[n] = 0;
        return true;
    }
    const char *started = (const char *)getauxval(AT_EXECFN);
    return started && max >= PATH_MAX && realpath(started, out);
}

static enum vs_err find(const char *name, char *out, size_t max)
{
    static const char *const folders[] = {"lib", VS_INSTALL_LIBDIR};
    char exe[PATH_MAX], path[2 * PATH_MAX], resolved[PATH_MAX];
    if (!own_path(exe, sizeof exe))
        return VS_ERR_NOT_FOUND;
    char *slash = strrchr(exe, '/');
    if (!slash)
        return VS_ERR_NOT_FOUND;
    *slash = 0;
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        snprintf(path, sizeof path, "%s/../%s/%s", exe, folders[i], name);
        if (!realpath(path, resolved) || access(resolved, R_OK) != 0)
            continue;
        if (strlen(resolved) >= max)
            return VS_ERR_LIMIT;
        strcpy(out, resolved);
        return VS_OK;
    }
    return VS_ERR_NOT_FOUND;
}

enum vs_err vs_path_preload(char *out, size_t max)
{
    return find("libvramscope.so", out, max);
}

enum vs_err vs_path_simulator(char *out, size_t max)
{
    return find("vramscope/simulator", out, max);
}

enum vs_err vs_path_audit(char *out, size_t max)
{
    return find("vramscope/libvramscope_audit.so", out, max);
}

enum vs_err vs_path_python_startup(char *out, size_t max)
{
    return find("vramscope/python/startup", out, max);
}
